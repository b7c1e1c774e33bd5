// Package source keeps sources, profiles and rejects: see domain/source.
package source

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/imported"
	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/source"
	"simgraph/internal/seal"
)

// Options are what a Store needs beside its pool.
type Options struct {
	// Key returns the key that secrets are sealed with.
	Key func() (seal.Key, error)
	// Check refuses a profile that cannot be used.
	Check func(source.Profile) error
	// Ready are the profiles that come with the program.
	Ready []*source.Profile
	// Now is the clock.
	Now func() time.Time
	// MostRejects and MostVersions bound what is kept of a source and of a profile; 0 stands for
	// source.MaxRejects and source.MaxVersions.
	MostRejects, MostVersions int
}

// Store keeps sources in PostgreSQL.
type Store struct {
	kept.Store[string, sourceRow, source.Source, *sourceRow]
	Options
}

var _ source.Sources = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB, options Options) *Store {
	options.MostRejects, options.MostVersions = cmp.Or(options.MostRejects, source.MaxRejects), cmp.Or(options.MostVersions, source.MaxVersions)
	return &Store{kept.New(pool, options.Now, kind), options}
}

// kind is how sources are kept.
var kind = kept.Kind[string, sourceRow, source.Source]{
	Type: "Source", Name: "source", Field: "sourceName", Table: sourcesTable, Lock: ` FOR NO KEY UPDATE`,
	Read: func(r *sourceRow) (*source.Source, error) { return r.source(), nil },
	ID:   func(of *source.Source) *string { return &of.Name }, Version: (*source.Source).Version,
}

const (
	sourceColumns = `s.source_id, s.name, s.profile, s.authentication, s.signature_header, s.created_at, s.paused_at, s.received_at, s.previous_until,
  s.accepted, s.duplicates, s.waiting, s.rejected, s.skipped`
	fromSources = `
FROM sources s
WHERE s.company_id = $1`
	countSources = `SELECT count(*) FROM sources WHERE company_id = $1`
	insertSource = `
INSERT INTO sources (company_id, source_id, name, profile, authentication, signature_header, secret, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	countNamed    = `SELECT count(*) FROM sources WHERE company_id = $1 AND name = $2`
	countUpstream = `SELECT count(*) FROM upstreams WHERE company_id = $1 AND source = $2`
)

type sourceRow struct {
	SourceID, Name, Profile                          string
	Authentication                                   source.Authentication
	SignatureHeader                                  string
	CreatedAt                                        time.Time
	PausedAt, ReceivedAt, PreviousUntil              *time.Time
	Accepted, Duplicates, Waiting, Rejected, Skipped int64
	keyset.Keyed
}

func (r *sourceRow) source() *source.Source {
	return &source.Source{
		SourceID: r.SourceID, CreatedAt: r.CreatedAt, PausedAt: r.PausedAt, ReceivedAt: r.ReceivedAt, PreviousUntil: r.PreviousUntil,
		Spec:   source.Spec{Name: r.Name, Profile: r.Profile, Authentication: r.Authentication, SignatureHeader: r.SignatureHeader},
		Counts: source.Counts{Accepted: r.Accepted, Duplicates: r.Duplicates, Waiting: r.Waiting, Rejected: r.Rejected, Skipped: r.Skipped},
	}
}

// sourcesTable is the list of source.ListFields.
var sourcesTable = keyset.Table{
	Key: query.Field{Name: "name"}, Select: sourceColumns, From: fromSources, WholeOnly: "sources",
	Columns: map[string]keyset.Column{
		"name": {SQL: "s.name"}, "profileName": {SQL: "s.profile"}, "authentication": {SQL: "s.authentication"}, "createdAt": {SQL: "s.created_at"},
		"pausedAt": {SQL: "s.paused_at", Nullable: true}, "receivedAt": {SQL: "s.received_at", Nullable: true},
	},
}

// newID names the company, so that a request leads to its node.
func newID(company domain.CompanyID) string { return fmt.Sprintf("src_%d_%s", company, rand.Text()) }

// companyOf returns the company that an id names; false for what is no id.
func companyOf(sourceID string) (domain.CompanyID, bool) {
	parts := strings.Split(sourceID, "_")
	if len(parts) != 3 || parts[0] != "src" || len(sourceID) > 80 {
		return 0, false
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	return domain.CompanyID(n), err == nil && n > 0
}

// Create implements source.Sources.
func (s *Store) Create(ctx context.Context, scope domain.Scope, spec source.Spec) (created *source.Source, secret source.Secret, err error) {
	if err := s.Table.Check(scope); err != nil {
		return nil, nil, err
	}
	spec = spec.WithDefaults()
	if err := spec.Check(); err != nil {
		return nil, nil, err
	}
	id, secret := newID(scope.Company), source.NewSecret()
	sealed, err := s.seal(scope.Company, id, secret)
	if err != nil {
		return nil, nil, err
	}
	created, err = s.Store.Create(ctx, scope, func(tx *sqlx.Tx) (string, error) {
		if _, err := s.profile(ctx, tx, scope.Company, spec.Profile); err != nil {
			return "", err
		}
		n, err := pg.Count(ctx, tx, countSources, scope.Company)
		if err != nil {
			return "", err
		}
		if n >= source.MaxSources {
			return "", domain.Invalid("name", "a company has at most %d sources", source.MaxSources)
		}
		if n, err = pg.Count(ctx, tx, countNamed, scope.Company, spec.Name); err != nil {
			return "", err
		}
		if n > 0 {
			return "", domain.Invalid("name", "the company has a source %q already", spec.Name)
		}
		if n, err = pg.Count(ctx, tx, countUpstream, scope.Company, spec.Name); err != nil {
			return "", err
		}
		if n > 0 {
			return "", domain.Invalid("name", "the usage of an upstream of the company has the source %q already", spec.Name)
		}
		_, err = pg.Affected(ctx, tx, insertSource, scope.Company, id, spec.Name, spec.Profile, spec.Authentication, spec.SignatureHeader, sealed, s.Moment())
		return spec.Name, err
	}, func(*source.Source) *domain.AuditEntry {
		return s.Note(domain.AuditSourceCreate, spec.Name, domain.Became("profileName", spec.Profile), domain.Became("authentication", string(spec.Authentication)))
	})
	return created, secret, err
}

const writeSource = `
UPDATE sources SET profile = $3, authentication = $4, signature_header = $5
WHERE company_id = $1 AND source_id = $2`

// Edit implements source.Sources.
func (s *Store) Edit(ctx context.Context, scope domain.Scope, name string, edit source.Edit) (*source.Source, error) {
	if err := s.Table.Check(scope); err != nil {
		return nil, err
	}
	if err := edit.Check(); err != nil {
		return nil, err
	}
	return s.Store.Edit(ctx, scope, name, func(tx *sqlx.Tx, of *source.Source) (*domain.AuditEntry, error) {
		spec := edit.Apply(of.Spec)
		if of.Spec == spec {
			return nil, nil
		}
		if err := spec.Check(); err != nil {
			return nil, err
		}
		if _, err := s.profile(ctx, tx, scope.Company, spec.Profile); err != nil {
			return nil, err
		}
		changes := domain.Changed("profileName", of.Profile, spec.Profile)
		changes = append(changes, domain.Changed("authentication", string(of.Authentication), string(spec.Authentication))...)
		changes = append(changes, domain.Changed("signatureHeader", of.SignatureHeader, spec.SignatureHeader)...)
		_, err := pg.Affected(ctx, tx, writeSource, scope.Company, of.SourceID, spec.Profile, spec.Authentication, spec.SignatureHeader)
		return s.Note(domain.AuditSourceEdit, spec.Name, changes...), err
	})
}

const rotateSource = `
UPDATE sources SET previous_secret = secret, previous_until = $4, secret = $3
WHERE company_id = $1 AND source_id = $2`

// Rotate implements source.Sources.
func (s *Store) Rotate(ctx context.Context, scope domain.Scope, name string) (*source.Source, source.Secret, error) {
	secret := source.NewSecret()
	rotated, err := s.Change(ctx, scope, name, func(tx *sqlx.Tx, of *source.Source) (*domain.AuditEntry, error) {
		sealed, err := s.seal(scope.Company, of.SourceID, secret)
		if err != nil {
			return nil, err
		}
		_, err = pg.Affected(ctx, tx, rotateSource, scope.Company, of.SourceID, sealed, s.Moment().Add(source.SecretOverlap))
		return s.Note(domain.AuditSourceRotate, name), err
	})
	return rotated, secret, err
}

const pauseSource = `UPDATE sources SET paused_at = $3 WHERE company_id = $1 AND source_id = $2`

// Switch implements source.Sources.
func (s *Store) Switch(ctx context.Context, scope domain.Scope, name string, paused bool) (*source.Source, error) {
	return s.Change(ctx, scope, name, func(tx *sqlx.Tx, of *source.Source) (*domain.AuditEntry, error) {
		if paused == (of.PausedAt != nil) {
			return nil, nil
		}
		action, at := domain.AuditSourceResume, (*time.Time)(nil)
		if paused {
			action, at = domain.AuditSourcePause, new(s.Moment())
		}
		_, err := pg.Affected(ctx, tx, pauseSource, scope.Company, of.SourceID, at)
		return s.Note(action, name), err
	})
}

const (
	removeRejects = `DELETE FROM source_rejects WHERE company_id = $1 AND source_id = $2`
	removeSource  = `DELETE FROM sources WHERE company_id = $1 AND source_id = $2`
)

// Remove implements source.Sources.
func (s *Store) Remove(ctx context.Context, scope domain.Scope, name string) error {
	_, err := s.Locked(ctx, scope, name, func(tx *sqlx.Tx, of *source.Source) (*domain.AuditEntry, error) {
		err := pg.Each(ctx, tx, []string{removeRejects, removeSource}, scope.Company, of.SourceID)
		return s.Note(domain.AuditSourceRemove, name, domain.Was("profileName", of.Profile)), err
	})
	return err
}

const (
	openSource = `
SELECT s.source_id, s.name, s.profile, s.authentication, s.signature_header, s.created_at, s.paused_at, s.received_at, s.previous_until,
  s.secret, s.previous_secret
FROM sources s
WHERE s.company_id = $1 AND s.source_id = $2`
	openNamed = `
SELECT s.source_id, s.name, s.profile, s.authentication, s.signature_header, s.created_at, s.paused_at, s.received_at, s.previous_until
FROM sources s
WHERE s.company_id = $1 AND s.name = $2`
)

// Open returns a source by its id, with its secrets; NotFound for none.
func (s *Store) Open(ctx context.Context, sourceID string) (*source.Opened, error) {
	none := domain.NotFound("sourceId", "source", sourceID)
	company, ok := companyOf(sourceID)
	if !ok {
		return nil, none
	}
	return s.open(ctx, company, none, openSource, sourceID)
}

// OpenNamed returns a source by its name, without its secrets: it needs no key.
func (s *Store) OpenNamed(ctx context.Context, scope domain.Scope, name string) (*source.Opened, error) {
	if err := s.Table.Check(scope); err != nil {
		return nil, err
	}
	return s.open(ctx, scope.Company, s.NotFound(name), openNamed, name)
}

func (s *Store) open(ctx context.Context, company domain.CompanyID, none error, sql, by string) (*source.Opened, error) {
	type row struct {
		sourceRow
		Secret, PreviousSecret []byte
	}
	r, err := pg.GetOne[row](ctx, s.Pool, none, sql, company, by)
	if err != nil {
		return nil, err
	}
	of := &source.Opened{Source: *r.source(), Company: company}
	for i, sealed := range [][]byte{r.Secret, r.PreviousSecret} {
		if sealed == nil || i == 1 && !s.Options.Now().Before(*r.PreviousUntil) {
			continue
		}
		secret, err := s.unseal(company, of.SourceID, sealed)
		if err != nil {
			return nil, err
		}
		of.Secrets = append(of.Secrets, secret)
	}
	profile, err := s.profile(ctx, s.Pool, company, of.Source.Profile)
	if err != nil {
		return nil, err
	}
	of.Profile = *profile
	return of, nil
}

// purpose binds a secret to its source.
func purpose(company domain.CompanyID, id string) []byte {
	return fmt.Appendf(nil, "source %d %s", company, id)
}

func (s *Store) unseal(company domain.CompanyID, id string, sealed []byte) (source.Secret, error) {
	key, err := s.Key()
	if err != nil {
		return nil, err
	}
	secret, err := key.Open(sealed, purpose(company, id))
	if err != nil {
		return nil, fmt.Errorf("the secret of the source %s: %w", id, err)
	}
	return secret, nil
}

func (s *Store) seal(company domain.CompanyID, id string, secret source.Secret) ([]byte, error) {
	key, err := s.Key()
	if err != nil {
		return nil, err
	}
	return key.Seal(secret, purpose(company, id))
}

const (
	countRecords = `
UPDATE sources SET received_at = greatest(received_at, $3), accepted = accepted + $4, duplicates = duplicates + $5, waiting = waiting + $6,
  rejected = rejected + $7, skipped = skipped + $8
WHERE company_id = $1 AND source_id = $2`
	keepRejects = `
INSERT INTO source_rejects AS r (company_id, source_id, digest, reason, field, payload, is_record, times, first_at, last_at)
SELECT own.company_id, $2, n.digest, n.reason, n.field, n.payload, n.is_record, n.times, $3::timestamptz, $3::timestamptz
FROM companies own
CROSS JOIN unnest($4::uuid[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::bigint[]) AS n(digest, reason, field, payload, is_record, times)
WHERE own.company_id = $1
ORDER BY n.digest
ON CONFLICT (company_id, digest) DO UPDATE
SET reason = excluded.reason, field = excluded.field, times = r.times + excluded.times, last_at = excluded.last_at`
	boundRejects = `
DELETE FROM source_rejects
WHERE company_id = $1 AND source_id = $2 AND digest IN (
  SELECT o.digest FROM source_rejects o WHERE o.company_id = $1 AND o.source_id = $2 ORDER BY o.last_at DESC, o.digest OFFSET $3)`
)

// Keep adds rejects and what became of the other records of a body.
func (s *Store) Keep(ctx context.Context, of *source.Opened, counts source.Counts, rejects []source.Reject) error {
	return pg.Retry(ctx, func() error {
		return pg.InTx(ctx, s.Pool, func(tx *sqlx.Tx) error {
			if _, err := pg.Affected(ctx, tx, countRecords, of.Company, of.SourceID, s.Moment(), counts.Accepted, counts.Duplicates, counts.Waiting, counts.Rejected, counts.Skipped); err != nil {
				return err
			}
			return s.keepRejects(ctx, tx, of, rejects)
		})
	})
}

func (s *Store) keepRejects(ctx context.Context, tx *sqlx.Tx, of *source.Opened, rejects []source.Reject) error {
	byDigest := map[[16]byte]*source.Reject{}
	var each []*source.Reject
	for i := range rejects {
		if known := byDigest[rejects[i].Digest]; known != nil {
			known.Times++
			continue
		}
		r := rejects[i]
		byDigest[r.Digest] = &r
		each = append(each, &r)
	}
	if len(each) == 0 {
		return nil
	}
	texts := func(text func(*source.Reject) string) any { return pq.StringArray(pg.Pluck(each, text)) }
	_, err := pg.Affected(ctx, tx, keepRejects, of.Company, of.SourceID, s.Moment(),
		texts((*source.Reject).ID), texts(func(r *source.Reject) string { return r.Reason }),
		texts(func(r *source.Reject) string { return r.Field }), texts(func(r *source.Reject) string { return withoutNUL(r.Payload) }),
		pq.BoolArray(pg.Pluck(each, func(r *source.Reject) bool { return r.IsRecord })), pq.Int64Array(pg.Pluck(each, func(r *source.Reject) int64 { return r.Times })))
	if err != nil {
		return err
	}
	_, err = pg.Affected(ctx, tx, boundRejects, of.Company, of.SourceID, s.MostRejects)
	return err
}

// withoutNUL is a text that PostgreSQL holds.
func withoutNUL(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

const (
	rejectColumns = `r.digest::text AS id, s.name AS source_name, r.reason, r.field, r.payload, r.is_record, r.times, r.first_at, r.last_at`
	fromRejects   = `
FROM source_rejects r
JOIN sources s ON s.company_id = r.company_id AND s.source_id = r.source_id
WHERE r.company_id = $1 AND s.company_id = $1`
	selectRejects = `SELECT ` + rejectColumns
	findRejects   = selectRejects + fromRejects + ` AND r.digest = ANY($2::uuid[])`
	// nextRejects are records after a digest, in the order of digests.
	nextRejects = selectRejects + fromRejects + ` AND r.source_id = $2 AND r.is_record AND r.digest > $3::uuid
ORDER BY r.digest
LIMIT $4`
)

type rejectRow struct {
	source.Reject
	ID uuid.UUID
	keyset.Keyed
}

func (r *rejectRow) reject() *source.Reject {
	r.Digest = r.ID
	return &r.Reject
}

// rejectsTable is the list of source.RejectFields.
var rejectsTable = keyset.Table{
	Key: rejectKey, Order: append(keyset.Newest("lastAt"), query.Order{Field: rejectKey, Desc: true}), Select: rejectColumns, From: fromRejects, WholeOnly: "sources",
	Columns: map[string]keyset.Column{
		rejectKey.Name: {SQL: "r.digest", UUID: true}, "sourceName": {SQL: "s.name"}, "reason": {SQL: "r.reason"}, "field": {SQL: "r.field"},
		"isReplayable": {SQL: "r.is_record"}, "times": {SQL: "r.times"}, "firstAt": {SQL: "r.first_at"}, "lastAt": {SQL: "r.last_at"},
	},
}

var rejectKey = query.Field{Name: "id"}

// Rejects implements source.Sources.
func (s *Store) Rejects(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*source.Reject], error) {
	return keyset.Page(ctx, s.Pool, rejectsTable, scope, listing, (*rejectRow).reject)
}

// CountRejects implements source.Sources.
func (s *Store) CountRejects(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return rejectsTable.Count(ctx, s.Pool, scope, listing)
}

// FindRejects implements source.Sources.
func (s *Store) FindRejects(ctx context.Context, scope domain.Scope, ids []string) (map[string]*source.Reject, error) {
	if err := s.Table.Check(scope); err != nil {
		return nil, err
	}
	rows, err := pg.SelectAll[rejectRow](ctx, s.Pool, findRejects, scope.Company, pg.UUIDs(ids))
	return pg.Keyed(pg.Pluck(rows, (*rejectRow).reject), (*source.Reject).ID), err
}

// NextRejects returns the rejects of a source that can be replayed after a digest, in the
// order of digests, up to a number.
func (s *Store) NextRejects(ctx context.Context, of *source.Opened, after [16]byte, most int) ([]*source.Reject, error) {
	rows, err := pg.SelectAll[rejectRow](ctx, s.Pool, nextRejects, of.Company, of.SourceID, uuid.UUID(after).String(), most)
	return pg.Pluck(rows, (*rejectRow).reject), err
}

const (
	forgetRejects = `DELETE FROM source_rejects WHERE company_id = $1 AND source_id = $2 AND digest = ANY($3::uuid[])`
	restateReject = `
UPDATE source_rejects r SET reason = n.reason, field = n.field
FROM unnest($3::uuid[], $4::text[], $5::text[]) AS n(digest, reason, field)
WHERE r.company_id = $1 AND r.source_id = $2 AND r.digest = n.digest`
)

// Settle removes the rejects of a replay that were used after all, and states why the
// others were not.
func (s *Store) Settle(ctx context.Context, scope domain.Scope, of *source.Opened, outcome source.Replayed) error {
	texts := func(of []*source.Reject, text func(*source.Reject) string) any {
		return pq.StringArray(pg.Pluck(of, text))
	}
	id := (*source.Reject).ID
	return pg.InTx(ctx, s.Pool, func(tx *sqlx.Tx) error {
		if len(outcome.Rejected) > 0 {
			_, err := pg.Affected(ctx, tx, restateReject, of.Company, of.SourceID, texts(outcome.Rejected, id),
				texts(outcome.Rejected, func(r *source.Reject) string { return r.Reason }), texts(outcome.Rejected, func(r *source.Reject) string { return r.Field }))
			if err != nil {
				return err
			}
		}
		if len(outcome.Used) == 0 {
			return nil
		}
		n, err := pg.Affected(ctx, tx, forgetRejects, of.Company, of.SourceID, texts(outcome.Used, id))
		if err != nil {
			return err
		}
		return audit.Record(ctx, tx, scope, *s.Note(domain.AuditSourceReplay, of.Name, domain.Became("records", strconv.Itoa(n))))
	})
}

const (
	newestProfile = `
SELECT p.name, p.version, p.spec, p.created_at FROM source_profiles p
WHERE p.company_id = $1 AND p.name = $2
ORDER BY p.version DESC
LIMIT 1`
	// ListProfiles are the newest versions of the profiles of a company.
	ListProfiles = `
SELECT DISTINCT ON (p.name) p.name, p.version, p.spec, p.created_at FROM source_profiles p
WHERE p.company_id = $1
ORDER BY p.name, p.version DESC`
	profileVersions = `
SELECT p.name, p.version, p.spec, p.created_at FROM source_profiles p
WHERE p.company_id = $1 AND p.name = $2
ORDER BY p.version DESC`
	countProfiles = `SELECT count(DISTINCT name) FROM source_profiles WHERE company_id = $1`
	insertProfile = `INSERT INTO source_profiles (company_id, name, version, spec, created_at) VALUES ($1, $2, $3, $4, $5)`
	pruneProfile  = `DELETE FROM source_profiles WHERE company_id = $1 AND name = $2 AND version <= $3`
	profileInUse  = `SELECT count(*) FROM sources WHERE company_id = $1 AND profile = $2`
)

// ProfileRow is a version of a profile as it is stored.
type ProfileRow struct {
	Name      string
	Version   int
	Spec      string
	CreatedAt time.Time
}

// Profile reads the row.
func (r *ProfileRow) Profile() (*source.Profile, error) {
	var p source.Profile
	err := json.Unmarshal([]byte(r.Spec), &p)
	p.Version, p.ChangedAt = r.Version, &r.CreatedAt
	return &p, err
}

func noProfile(name string) error { return domain.NotFound("profileName", "profile", name) }

// profile finds the newest version of a profile of the company, or a ready one.
func (s *Store) profile(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID, name string) (*source.Profile, error) {
	row, err := pg.GetOne[ProfileRow](ctx, in, noProfile(name), newestProfile, company, name)
	if err == nil {
		return row.Profile()
	}
	if missing, ok := domain.AsError(err); ok && missing.Kind == domain.KindNotFound {
		for _, ready := range s.Ready {
			if ready.Name == name {
				return ready, nil
			}
		}
	}
	return nil, err
}

// Profiles implements source.Sources.
func (s *Store) Profiles(ctx context.Context, scope domain.Scope) ([]*source.Profile, error) {
	all, err := s.profiles(ctx, scope, ListProfiles)
	if err != nil {
		return nil, err
	}
	for _, ready := range s.Ready {
		if !slices.ContainsFunc(all, func(p *source.Profile) bool { return p.Name == ready.Name }) {
			all = append(all, ready)
		}
	}
	slices.SortFunc(all, func(x, y *source.Profile) int { return strings.Compare(x.Name, y.Name) })
	return all, nil
}

// Profile implements source.Sources.
func (s *Store) Profile(ctx context.Context, scope domain.Scope, name string) (*source.Profile, error) {
	if err := s.Table.Check(scope); err != nil {
		return nil, err
	}
	return s.profile(ctx, s.Pool, scope.Company, name)
}

// ProfileVersions implements source.Sources.
func (s *Store) ProfileVersions(ctx context.Context, scope domain.Scope, name string) ([]*source.Profile, error) {
	return s.profiles(ctx, scope, profileVersions, name)
}

func (s *Store) profiles(ctx context.Context, scope domain.Scope, sql string, args ...any) ([]*source.Profile, error) {
	if err := s.Table.Check(scope); err != nil {
		return nil, err
	}
	rows, err := pg.SelectAll[ProfileRow](ctx, s.Pool, sql, append([]any{scope.Company}, args...)...)
	if err != nil {
		return nil, err
	}
	all := make([]*source.Profile, len(rows))
	for i, row := range rows {
		if all[i], err = row.Profile(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// SaveProfile implements source.Sources. What changes nothing makes no version.
func (s *Store) SaveProfile(ctx context.Context, scope domain.Scope, p source.Profile) (saved *source.Profile, err error) {
	if err := s.Table.Check(scope); err != nil {
		return nil, err
	}
	p = p.WithDefaults()
	if err := s.Check(p); err != nil {
		return nil, err
	}
	err = s.Transact(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		version, outcome, err := s.keepProfile(ctx, tx, scope.Company, p)
		if err != nil {
			return nil, err
		}
		if saved = version; outcome == domain.Unchanged {
			return nil, nil
		}
		return &domain.AuditEntry{
			Action: domain.AuditProfileSave, SubjectType: "SourceProfile", SubjectID: p.Name,
			Changes: []domain.AuditChange{domain.Became("version", strconv.Itoa(saved.Version))},
		}, nil
	})
	return saved, err
}

// KeepProfiles adds profiles of an import, as versions where they differ from the newest.
func (s *Store) KeepProfiles(ctx context.Context, scope domain.Scope, profiles []*source.Profile) (kept []domain.Imported, err error) {
	err = s.Transact(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		kept = make([]domain.Imported, len(profiles))
		for i, p := range profiles {
			refused := s.Check(*p)
			if refused == nil {
				_, kept[i].Outcome, refused = s.keepProfile(ctx, tx, scope.Company, *p)
			}
			public, ok := domain.AsError(refused)
			if refused != nil && (!ok || public.Kind != domain.KindInvalid) {
				return nil, refused
			}
			kept[i].Err = public
		}
		return audit.Import("source-profile", imported.TallyAnswers(kept)), nil
	})
	return kept, err
}

// keepProfile adds a version of a profile of a company that is locked, unless the newest one
// says the same. An Invalid error leaves the transaction as it was.
func (s *Store) keepProfile(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, p source.Profile) (*source.Profile, domain.Outcome, error) {
	spec, err := json.Marshal(p)
	if err != nil {
		return nil, 0, err
	}
	outcome := domain.Updated
	row, err := pg.GetOne[ProfileRow](ctx, tx, noProfile(p.Name), newestProfile, company, p.Name)
	if missing, ok := domain.AsError(err); ok && missing.Kind == domain.KindNotFound {
		outcome, row = domain.Created, &ProfileRow{}
		n, err := pg.Count(ctx, tx, countProfiles, company)
		if err != nil {
			return nil, 0, err
		}
		if n >= source.MaxProfiles {
			return nil, 0, domain.Invalid("name", "a company has at most %d profiles", source.MaxProfiles)
		}
	} else if err != nil {
		return nil, 0, err
	}
	if row.Spec == string(spec) {
		same, err := row.Profile()
		return same, domain.Unchanged, err
	}
	p.Version, p.ChangedAt = row.Version+1, new(s.Moment())
	if _, err := tx.ExecContext(ctx, insertProfile, company, p.Name, p.Version, string(spec), *p.ChangedAt); err != nil {
		return nil, 0, err
	}
	_, err = pg.Affected(ctx, tx, pruneProfile, company, p.Name, p.Version-s.MostVersions)
	return &p, outcome, err
}

const removeProfile = `DELETE FROM source_profiles WHERE company_id = $1 AND name = $2`

// RemoveProfile implements source.Sources.
func (s *Store) RemoveProfile(ctx context.Context, scope domain.Scope, name string) error {
	return s.Transact(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		n, err := pg.Count(ctx, tx, profileInUse, scope.Company, name)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return nil, domain.Invalid("profileName", "%d sources have the profile %q", n, name)
		}
		if n, err = pg.Affected(ctx, tx, removeProfile, scope.Company, name); err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, noProfile(name)
		}
		return &domain.AuditEntry{Action: domain.AuditProfileRemove, SubjectType: "SourceProfile", SubjectID: name}, nil
	})
}
