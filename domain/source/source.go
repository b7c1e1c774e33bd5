package source

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	"simgraph/domain"
	"simgraph/domain/query"
)

const (
	// MaxSources bounds the sources of a company.
	MaxSources = 200
	// MaxProfiles bounds the profiles of a company.
	MaxProfiles = 200
	// MaxVersions bounds the versions of a profile that are kept.
	MaxVersions = 100
	// MaxSample bounds a sample in bytes.
	MaxSample = 256 << 10
	// MaxPreviewed bounds the records of a sample.
	MaxPreviewed = 100
	// MaxRejects bounds the rejects of a source that are kept; the oldest go first.
	MaxRejects = 10_000
	// SecretOverlap is how long the secret before a rotation is accepted.
	SecretOverlap = 24 * time.Hour
)

// Authentication is how a sender shows that it knows the secret.
type Authentication string

// The ways.
const (
	// Basic is the password of HTTP Basic; the user may be any.
	Basic Authentication = "basic"
	// Bearer is the token of the header Authorization.
	Bearer Authentication = "bearer"
	// Signature is the HMAC-SHA256 of the body in a header, in hexadecimal or base64,
	// with or without sha256= before it.
	Signature Authentication = "signature"
)

// DefaultSignatureHeader holds the signature where a source names no other.
const DefaultSignatureHeader = "X-Signature"

// Secret is what a sender knows.
type Secret []byte

// NewSecret returns a new one, of more than 256 random bits.
func NewSecret() Secret { return Secret("sgs_" + rand.Text() + rand.Text()) }

// Spec is what a source is made of.
type Spec struct {
	// Name is the source of its usage records, unique in the company.
	Name string
	// Profile names the profile that its records are read by.
	Profile        string
	Authentication Authentication
	// SignatureHeader holds the signature.
	SignatureHeader string
}

// Version changes with what can be edited.
func (s *Spec) Version() string { return domain.VersionOf(*s) }

// WithDefaults names the header of a signature where none is named.
func (s Spec) WithDefaults() Spec {
	if s.Authentication == Signature && s.SignatureHeader == "" {
		s.SignatureHeader = DefaultSignatureHeader
	}
	return s
}

// Check refuses a spec that breaks a rule of its fields.
func (s *Spec) Check() error {
	if err := domain.CheckName("name", s.Name); err != nil {
		return err
	}
	if err := domain.CheckName("profileName", s.Profile); err != nil {
		return err
	}
	switch s.Authentication {
	case Basic, Bearer, Signature:
	default:
		return domain.Invalid("authentication", "authentication must be basic, bearer or signature, not %.40q", string(s.Authentication))
	}
	for _, c := range []byte(s.SignatureHeader) {
		if c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return domain.Invalid("signatureHeader", "a header has letters, digits and -, not %.40q", s.SignatureHeader)
		}
	}
	switch {
	case s.Authentication != Signature && s.SignatureHeader != "":
		return domain.Invalid("signatureHeader", "signatureHeader goes with the authentication by signature only")
	case len(s.SignatureHeader) > 64 || s.Authentication == Signature && s.SignatureHeader == "":
		return domain.Invalid("signatureHeader", "a header has 1 to 64 characters")
	}
	return nil
}

// Counts are records by what became of them.
type Counts struct{ Accepted, Duplicates, Waiting, Rejected, Skipped int64 }

// Add adds others.
func (c *Counts) Add(other Counts) {
	c.Accepted += other.Accepted
	c.Duplicates += other.Duplicates
	c.Waiting += other.Waiting
	c.Rejected += other.Rejected
	c.Skipped += other.Skipped
}

// Source is what posts records to an address of its own.
type Source struct {
	// SourceID is in the address; it names the company, too.
	SourceID string
	Spec
	CreatedAt time.Time
	// PausedAt is nil while records are taken.
	PausedAt *time.Time
	// ReceivedAt is when the last body came; nil before the first.
	ReceivedAt *time.Time
	// PreviousUntil is how long the secret before the last rotation is accepted; nil for none.
	PreviousUntil *time.Time
	Counts        Counts
}

// Path is where its records are posted to.
func (s *Source) Path() string { return "/sources/" + s.SourceID + "/records" }

// Opened is a source with its secrets and the profile that it has now.
type Opened struct {
	Source
	Company domain.CompanyID
	Secrets []Secret
	Profile Profile
}

// Reject is a record that could not be used.
type Reject struct {
	// Digest is unique in the company.
	Digest [16]byte
	// SourceName is that of its source.
	SourceName    string
	Reason, Field string
	// Payload is the record as JSON; of one that could not be read, its beginning.
	Payload string
	// IsRecord is set where the record could be read: it can be replayed.
	IsRecord        bool
	Times           int64
	FirstAt, LastAt time.Time
}

// NewReject returns the reject of a record; the same one again is counted.
func (o *Opened) NewReject(payload string, isRecord bool, why error) Reject {
	r := Reject{SourceName: o.Name, Payload: payload, IsRecord: isRecord, Times: 1}
	r.because(why)
	text := o.SourceID + "\x00" + payload
	if !isRecord {
		text += "\x00" + r.Reason
	}
	sum := sha256.Sum256([]byte(text))
	r.Digest = [16]byte(sum[:16])
	return r
}

func (r *Reject) because(why error) {
	r.Reason, r.Field = "the record cannot be read", ""
	if public, ok := domain.AsError(why); ok {
		r.Reason, r.Field = public.Message, public.Field
	}
}

// Replayed is what became of rejects that were read again.
type Replayed struct {
	Counts Counts
	// Used were booked, or left out by the profile; Rejected are kept, with new reasons.
	Used, Rejected []*Reject
}

// Reject keeps a reject for another reason.
func (r *Replayed) Reject(of *Reject, why error) {
	of.because(why)
	r.Counts.Rejected++
	r.Rejected = append(r.Rejected, of)
}

// ID is the digest as text.
func (r *Reject) ID() string { return uuid.UUID(r.Digest).String() }

// Previewed is how a record of a sample is read.
type Previewed struct {
	// Place counts from 1.
	Place     int
	Payload   string
	IsSkipped bool
	// Error and Field say why the record cannot be used; nil where it can.
	Error, Field *string
	// Record is nil where none would be booked.
	Record *Read
}

// Read is what a profile read of a record.
type Read struct {
	PhysicalID, IMSI, MSISDN, RecordID, SessionID string
	// StartedAt is nil where that is not reported.
	StartedAt                          *time.Time
	EndedAt                            time.Time
	MobileOriginated, MobileTerminated int64
	IsCumulative                       bool
}

// Edit changes a source; nil leaves a field as it is.
type Edit struct {
	Profile         *string
	Authentication  *Authentication
	SignatureHeader *string
}

// Apply returns the spec after the edit.
func (e Edit) Apply(to Spec) Spec {
	if e.Profile != nil {
		to.Profile = *e.Profile
	}
	if e.Authentication != nil {
		to.Authentication = *e.Authentication
		to.SignatureHeader = ""
	}
	if e.SignatureHeader != nil {
		to.SignatureHeader = *e.SignatureHeader
	}
	return to.WithDefaults()
}

// Check refuses an edit that no source can take.
func (e Edit) Check() error {
	spec := e.Apply(Spec{Name: "name", Profile: "profile", Authentication: Signature, SignatureHeader: "X-Signature"})
	return spec.Check()
}

// Sources keeps the sources and profiles of companies. Restricted scopes are Forbidden.
type Sources interface {
	// List returns sources, by their names unless the listing has another order.
	List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Source], error)
	Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	// FindMany returns sources by their names.
	FindMany(ctx context.Context, scope domain.Scope, names []string) (map[string]*Source, error)
	Create(ctx context.Context, scope domain.Scope, spec Spec) (*Source, Secret, error)
	Edit(ctx context.Context, scope domain.Scope, name string, edit Edit) (*Source, error)
	// Rotate makes a new secret; the one before is accepted for SecretOverlap.
	Rotate(ctx context.Context, scope domain.Scope, name string) (*Source, Secret, error)
	// Switch pauses and resumes a source.
	Switch(ctx context.Context, scope domain.Scope, name string, paused bool) (*Source, error)
	// Remove removes a source with its rejects. What it reported stays.
	Remove(ctx context.Context, scope domain.Scope, name string) error
	// Rejects returns rejects, the newest first unless the listing has another order.
	Rejects(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Reject], error)
	CountRejects(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	// FindRejects returns rejects by their ids.
	FindRejects(ctx context.Context, scope domain.Scope, ids []string) (map[string]*Reject, error)
	// Profiles returns the profiles that sources can have, by name.
	Profiles(ctx context.Context, scope domain.Scope) ([]*Profile, error)
	// Profile returns the profile that sources have by the name.
	Profile(ctx context.Context, scope domain.Scope, name string) (*Profile, error)
	// ProfileVersions returns the versions of a profile of the company, the newest first.
	ProfileVersions(ctx context.Context, scope domain.Scope, name string) ([]*Profile, error)
	// SaveProfile adds a version, which is checked before.
	SaveProfile(ctx context.Context, scope domain.Scope, profile Profile) (*Profile, error)
	// RemoveProfile removes a profile of the company that no source has.
	RemoveProfile(ctx context.Context, scope domain.Scope, name string) error
}

// Intake reads what sources sent.
type Intake interface {
	// Preview reads a sample by a profile.
	Preview(ctx context.Context, scope domain.Scope, profile Profile, sample string) ([]*Previewed, error)
	// Replay reads the rejects of a source again.
	Replay(ctx context.Context, scope domain.Scope, name string) (Counts, error)
}

// ListFields are what sources can be filtered and ordered by.
var ListFields = query.NewFields(
	query.Field{Name: "name", Type: query.Text},
	query.Field{Name: "profileName", Type: query.Text},
	query.Enumerated("authentication", []Authentication{Basic, Bearer, Signature}),
	query.Field{Name: "createdAt", Type: query.Time},
	query.Field{Name: "pausedAt", Type: query.Time},
	query.Field{Name: "receivedAt", Type: query.Time},
)

// RejectFields are what rejects can be filtered and ordered by.
var RejectFields = query.NewFields(
	query.Field{Name: "sourceName", Type: query.Text},
	query.Field{Name: "reason", Type: query.Text},
	query.Field{Name: "field", Type: query.Text},
	query.Field{Name: "isReplayable", Type: query.Boolean},
	query.Field{Name: "times", Type: query.Integer},
	query.Field{Name: "firstAt", Type: query.Time},
	query.Field{Name: "lastAt", Type: query.Time},
)
