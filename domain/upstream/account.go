package upstream

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/webhook"
)

const (
	// MaxUpstreams bounds the upstreams of a company.
	MaxUpstreams = 20
	// DefaultDays are the days of usage that a sweep compares where none are given.
	DefaultDays = 60
	// DefaultCurrency is that of tariffs where none is given.
	DefaultCurrency = "GBP"
	// MaxSubscribers bounds the subscribers that a pass reads.
	MaxSubscribers = 2_000_000
	// PassTime bounds a pass. What it has stored by then stays, so that the next one comes
	// further.
	PassTime = 24 * time.Hour
	// MaxRefusals bounds the refusals of a pass that are kept; more are counted.
	MaxRefusals = 20
	// Settled is how long before now usage is still being reported.
	Settled = time.Hour
	// SweepEvery is the time between two sweeps.
	SweepEvery = 24 * time.Hour
	// firstPause and longestPause are between passes that fail.
	firstPause, longestPause = time.Minute, time.Hour
)

// Side is one of the two servers.
type Side string

// The sides. WrittenThrough is both: what is edited here is sent to the other server, and
// what is edited there comes with a sweep.
const (
	Ours           Side = "ours"
	Theirs         Side = "theirs"
	WrittenThrough Side = "written through"
)

// Sides are all of them.
var Sides = []Side{Ours, Theirs, WrittenThrough}

// Spec is what an upstream is made of.
type Spec struct {
	// Name is unique in the company.
	Name string
	// BaseURL is where the documented paths begin.
	BaseURL string
	// SourceName is the source of the usage that is copied, unique among the upstreams and
	// sources of the company. It stays.
	SourceName string
	// Labels is whose nicknames and tags count. Of Ours, those of the other server are copied
	// with a subscriber that is new, and never again.
	Labels Side
	// Days are how many days of usage a sweep compares, today among them.
	Days int
	// Currency is that of tariffs, which the documented API does not return.
	Currency string
	// IsCopyingAlerts and IsCopyingRecipients say whether these are copied.
	IsCopyingAlerts, IsCopyingRecipients bool
}

// Version changes with what can be edited.
func (s *Spec) Version() string { return domain.VersionOf(*s) }

// WithDefaults fills what may be left out: the source is named by the host, as
// "simgraph move" names it, so that usage which that has copied is not copied again.
func (s Spec) WithDefaults() Spec {
	s.BaseURL = strings.TrimSuffix(s.BaseURL, "/")
	if address, err := url.Parse(s.BaseURL); err == nil && s.SourceName == "" {
		s.SourceName = address.Hostname()
	}
	return s
}

// Check refuses a spec that breaks a rule of its fields.
func (s *Spec) Check(rules webhook.Rules) error {
	if err := domain.CheckName("name", s.Name); err != nil {
		return err
	}
	if err := rules.CheckURL(s.BaseURL); err != nil {
		return domain.At("baseUrl", err)
	}
	if strings.Contains(s.BaseURL, "?") {
		return domain.Invalid("baseUrl", "a base URL must not have a query")
	}
	if err := domain.CheckName("sourceName", s.SourceName); err != nil {
		return err
	}
	if !slices.Contains(Sides, s.Labels) {
		return domain.Invalid("nicknamesAndTags", "nicknames and tags are ours, theirs or written through, not %.40q", string(s.Labels))
	}
	if s.Days < 1 || s.Days > MaxDays {
		return domain.Invalid("days", "days must be 1 to %d, not %d", MaxDays, s.Days)
	}
	tariff := domain.Tariff{Name: "tariff", Currency: s.Currency}
	return tariff.Check()
}

// Edit changes an upstream; nil leaves a field as it is.
type Edit struct {
	Name, BaseURL                        *string
	Key                                  *Key
	Labels                               *Side
	Days                                 *int
	Currency                             *string
	IsCopyingAlerts, IsCopyingRecipients *bool
}

// Apply returns the spec after the edit.
func (e *Edit) Apply(to Spec) Spec {
	set(&to.Name, e.Name)
	set(&to.BaseURL, e.BaseURL)
	set(&to.Labels, e.Labels)
	set(&to.Days, e.Days)
	set(&to.Currency, e.Currency)
	set(&to.IsCopyingAlerts, e.IsCopyingAlerts)
	set(&to.IsCopyingRecipients, e.IsCopyingRecipients)
	return to.WithDefaults()
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// CheckKey refuses another address without a key: who may edit an upstream could have the
// key that is stored sent to a server of theirs.
func (e *Edit) CheckKey(before, after *Spec) error {
	if e.Key == nil && before.BaseURL != after.BaseURL {
		return domain.Invalid("key", "another base URL needs a key, since the stored one is of the other server")
	}
	return nil
}

// State is what an upstream does.
type State string

// The states, of which the first that fits counts.
const (
	Paused  State = "paused"
	Syncing State = "syncing"
	Failing State = "failing"
	// Held is set where a sweep would make many subscribers inactive, and waits for a person.
	Held  State = "held"
	New   State = "new"
	Ready State = "ready"
)

// Resource is a part of the account.
type Resource string

// The resources, in the order of a sweep.
const (
	Groups        Resource = "groups"
	Subscribers   Resource = "subscribers"
	Tags          Resource = "tags on subscribers"
	Alerts        Resource = "alerts"
	AlertLog      Resource = "entries of the alert log"
	DaysCompared  Resource = "days of usage compared"
	RecordsBooked Resource = "usage records"
)

// Resources are all of them.
var Resources = []Resource{Groups, Subscribers, Tags, Alerts, AlertLog, DaysCompared, RecordsBooked}

// Progress is how far a pass is with a resource.
type Progress struct {
	Resource Resource
	Done     int64
	// Total is nil where the other server does not report it.
	Total *int64
}

// Counts are what passes found.
type Counts struct {
	// Subscribers are those that the other server had in the last sweep, or that came since.
	Subscribers int64
	// Missing are those of them that the last sweep did not find.
	Missing int64
	// Records are the usage records that were booked since the upstream was made.
	Records int64
	// Refused counts what the last pass could not store.
	Refused int64
	// Lowered counts the hours of the last pass that have fewer bytes there than here.
	Lowered int64
}

// Upstream is another server whose account is kept in step with here.
type Upstream struct {
	UpstreamID int64
	Spec
	State     State
	CreatedAt time.Time
	// PausedAt is nil unless it is paused.
	PausedAt *time.Time
	// DueAt is when the next pass begins, nil where it is paused.
	DueAt *time.Time
	// LastSyncedAt and LastSweptAt are when the last pass and the last sweep that succeeded
	// began; nil before the first.
	LastSyncedAt, LastSweptAt *time.Time
	// DataCompleteUntil is up to when the usage that the other server had is here.
	DataCompleteUntil *time.Time
	// Progress is of the pass that runs, or of the last one.
	Progress []Progress
	// LastError is why the last pass failed, at FailedAt; nil where it succeeded.
	LastError *string
	FailedAt  *time.Time
	Counts    Counts
	// Refusals are the first MaxRefusals of what the last pass could not store, and why.
	Refusals []string
	// Removals are those that wait for a person; nil for none.
	Removals *Removals
	// Writes are the edits that are written through.
	Writes Writes
}

// Removals are subscribers that two sweeps have not found, and that are too many to be made
// inactive without a person.
type Removals struct {
	// Subscribers counts them.
	Subscribers int64
	HeldAt      time.Time
	// ConfirmedAt is when a person confirmed them; nil before. The sweep that follows makes as
	// many inactive.
	ConfirmedAt *time.Time
	// Confirmed is how many were confirmed.
	Confirmed int64
}

// Reason says why they wait.
func (r *Removals) Reason() string {
	return fmt.Sprintf("two sweeps in a row did not find %d subscribers: they are made inactive when a person confirms it, and stay where a later sweep finds them", r.Subscribers)
}

// Writes are edits of nicknames and tags that are sent to the other server.
type Writes struct {
	// Waiting counts those that are not sent yet, Refused those that the other server refused.
	Waiting, Refused int64
	// Refusals are the newest MaxRefusals of these, and why.
	Refusals []string
	// LastError is why none could be sent last, and RetryAt when that is tried again; nil where
	// it succeeded.
	LastError *string
	RetryAt   *time.Time
}

// Census is how many subscribers of an upstream are active here.
type Census struct {
	// Active counts all, Found those of them that the sweep has found, and Missing those that
	// neither it nor the sweep before has.
	Active, Found, Missing int64
}

const (
	// handful is how many subscribers a sweep makes inactive without a person.
	handful = 10
	// share is the part of all, as one of so many, that it makes inactive without a person.
	share = 5
)

// IsHeld reports whether a person must confirm that what is missing is made inactive, where
// so many were confirmed: a key that sees a part of the other company alone must not end a
// fleet.
func (c Census) IsHeld(confirmed int64) bool {
	return c.Missing > confirmed && (c.Found == 0 || c.Missing > handful && c.Missing*share > c.Active)
}

// IsPaused reports whether no pass begins.
func (u *Upstream) IsPaused() bool { return u.PausedAt != nil }

// StateAt is the state at a time, where a lease lasts until claimedUntil.
func (u *Upstream) StateAt(now time.Time, claimedUntil *time.Time) State {
	switch {
	case u.PausedAt != nil:
		return Paused
	case claimedUntil != nil && now.Before(*claimedUntil):
		return Syncing
	case u.LastError != nil:
		return Failing
	case u.Removals != nil:
		return Held
	case u.LastSyncedAt == nil:
		return New
	}
	return Ready
}

// Fields are what upstreams can be filtered and ordered by.
var Fields = query.NewFields(
	query.Field{Name: "upstreamId", Type: query.Integer},
	query.Field{Name: "name", Type: query.Text},
	query.Field{Name: "baseUrl", Type: query.Text},
	query.Field{Name: "sourceName", Type: query.Text},
	query.Field{Name: "createdAt", Type: query.Time},
	query.Field{Name: "pausedAt", Type: query.Time},
	query.Field{Name: "lastSyncedAt", Type: query.Time},
	query.Field{Name: "lastSweptAt", Type: query.Time},
	query.Field{Name: "failedAt", Type: query.Time},
)

// Upstreams keeps the upstreams of companies. Restricted scopes are Forbidden.
type Upstreams interface {
	// List returns upstreams, by their names unless the listing has another order.
	List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Upstream], error)
	Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	// FindMany returns upstreams by their ids.
	FindMany(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]*Upstream, error)
	Create(ctx context.Context, scope domain.Scope, spec Spec, key Key) (*Upstream, error)
	Edit(ctx context.Context, scope domain.Scope, id int64, edit Edit) (*Upstream, error)
	// Switch pauses and resumes an upstream. A pass that runs ends within seconds.
	Switch(ctx context.Context, scope domain.Scope, id int64, paused bool) (*Upstream, error)
	// Request has a pass begin at once, or after the one that runs; a sweep where that is asked
	// for.
	Request(ctx context.Context, scope domain.Scope, id int64, sweep bool) (*Upstream, error)
	// ConfirmRemovals has a sweep begin that makes subscribers inactive which wait for it; so
	// many as a person was shown.
	ConfirmRemovals(ctx context.Context, scope domain.Scope, id, subscribers int64) (*Upstream, error)
	// Remove removes an upstream and returns it. What it brought stays.
	Remove(ctx context.Context, scope domain.Scope, id int64) (*Upstream, error)
}

// Card is a subscriber that an upstream brought.
type Card struct {
	PhysicalID, SubscriberID string
	IsTerminated             bool
	// IsFound is set where the sweep has found it, IsNew where no sweep before had it.
	IsFound, IsNew bool
}

// Due is an upstream of which a pass may begin.
type Due struct {
	CompanyID  domain.CompanyID
	UpstreamID int64
}

// Job is a pass that a worker has claimed.
type Job struct {
	Company  *domain.Company
	Upstream *Upstream
	Key      Key
	// Claim is the number of the claim: a later one ends the right to go on.
	Claim int64
	// Sweep is the number of the sweep that this pass is, or that comes next.
	Sweep int64
	// IsSweep is set where all of the account is read, and not recent usage alone.
	IsSweep bool
	// StartedAt is when it began, and ClaimedAt when it was claimed: later where it goes on with
	// one that was interrupted.
	StartedAt, ClaimedAt time.Time
	// Cursor is where it stands.
	Cursor Cursor
	// IsWriting is set where no pass is due, and edits wait to be sent.
	IsWriting bool
	// Attempts counts this pass and those before it that failed.
	Attempts int
}

// Days are how many days of usage the pass compares, today among them: of a sweep all, else
// those since the day before the last pass.
func (j *Job) Days() int {
	last := j.Upstream.LastSyncedAt
	if j.IsSweep || last == nil {
		return j.Upstream.Days
	}
	day := 24 * time.Hour
	since := j.ClaimedAt.UTC().Truncate(day).Sub(last.UTC().Truncate(day)) / day
	return min(j.Upstream.Days, 2+max(0, int(since)))
}

// CompleteUntil is up to when usage is here once the pass has succeeded.
func (j *Job) CompleteUntil() time.Time {
	return j.StartedAt.UTC().Add(-Settled).Truncate(time.Hour)
}

// Next is the time from a pass to the next one, after failures so many times as attempts.
func Next(every time.Duration, attempts int) time.Duration {
	if attempts == 0 {
		return every
	}
	return min(longestPause, firstPause<<min(attempts-1, 10))
}

// Outcome is how a pass ended.
type Outcome struct {
	// Err is why it failed; "" where it succeeded.
	Err string
	// Every is the time between passes.
	Every    time.Duration
	Progress []Progress
	// Records, Refused and Lowered are as in Counts, of this pass.
	Records, Refused, Lowered int64
	Refusals                  []string
	// Held counts the subscribers that wait for a person to be made inactive.
	Held int64
}
