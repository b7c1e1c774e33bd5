// Package upstream keeps the upstreams of companies, and hands out their passes: see
// domain/upstream.
package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/upstream"
	"simgraph/domain/webhook"
	"simgraph/internal/seal"
)

// Options are what a Store needs beside its pool.
type Options struct {
	// Key returns the key that keys of other servers are sealed with.
	Key func() (seal.Key, error)
	// Rules say which addresses may be called.
	Rules webhook.Rules
	// Now is the clock.
	Now func() time.Time
}

// Store keeps upstreams in PostgreSQL.
type Store struct {
	kept.Store[int64, upstreamRow, upstream.Upstream, *upstreamRow]
	Options
}

var _ upstream.Upstreams = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB, options Options) *Store {
	s := &Store{Options: options}
	s.Store = kept.New(pool, options.Now, kept.Kind[int64, upstreamRow, upstream.Upstream]{
		Type: "Upstream", Name: "upstream", Table: upstreamsTable, Lock: ` FOR NO KEY UPDATE`,
		Read: func(r *upstreamRow) (*upstream.Upstream, error) { return r.upstream(s.Moment()), nil },
		ID:   func(of *upstream.Upstream) *int64 { return &of.UpstreamID }, Version: func(of *upstream.Upstream) string { return of.Version() },
		Complete: func(ctx context.Context, scope domain.Scope, of ...*upstream.Upstream) error {
			return countWritesOf(ctx, pool, scope, of...)
		},
	})
	return s
}

const (
	upstreamColumns = `u.upstream_id, u.name, u.base_url, u.source, u.labels, u.is_written_through, u.days, u.currency, u.is_copying_alerts, u.is_copying_recipients,
  u.created_at, u.paused_at, u.due_at, u.claimed_until, u.last_synced_at, u.last_swept_at, u.data_complete_until, u.progress,
  u.last_error, u.failed_at, u.subscribers, u.missing, u.records, u.refused, u.lowered, u.refusals,
  u.held_removals, u.held_at, u.confirmed_removals, u.confirmed_at, u.write_error, u.writes_due_at`
	fromUpstreams = `
FROM upstreams u
WHERE u.company_id = $1`
)

type upstreamRow struct {
	UpstreamID                                      int64
	Name, BaseURL, Source                           string
	Labels                                          upstream.Side
	IsWrittenThrough                                bool
	Days                                            int
	Currency                                        string
	IsCopyingAlerts, IsCopyingRecipients            bool
	CreatedAt                                       time.Time
	PausedAt                                        *time.Time
	DueAt                                           time.Time
	ClaimedUntil                                    *time.Time
	LastSyncedAt, LastSweptAt, DataCompleteUntil    *time.Time
	Progress                                        string
	LastError                                       *string
	FailedAt                                        *time.Time
	Subscribers, Missing, Records, Refused, Lowered int64
	Refusals                                        pg.TextList[string]
	HeldRemovals, ConfirmedRemovals                 *int64
	HeldAt, ConfirmedAt                             *time.Time
	WriteError                                      *string
	WritesDueAt                                     *time.Time
	keyset.Keyed
}

// upstream is the row at a time.
func (r *upstreamRow) upstream(now time.Time) *upstream.Upstream {
	of := &upstream.Upstream{
		UpstreamID: r.UpstreamID, CreatedAt: r.CreatedAt, PausedAt: r.PausedAt, LastSyncedAt: r.LastSyncedAt, LastSweptAt: r.LastSweptAt,
		DataCompleteUntil: r.DataCompleteUntil, LastError: r.LastError, FailedAt: r.FailedAt, Refusals: r.Refusals,
		Spec: upstream.Spec{
			Name: r.Name, BaseURL: r.BaseURL, SourceName: r.Source, Labels: r.Labels, Days: r.Days, Currency: r.Currency,
			IsCopyingAlerts: r.IsCopyingAlerts, IsCopyingRecipients: r.IsCopyingRecipients,
		},
		Counts: upstream.Counts{Subscribers: r.Subscribers, Missing: r.Missing, Records: r.Records, Refused: r.Refused, Lowered: r.Lowered},
	}
	if r.PausedAt == nil {
		of.DueAt = &r.DueAt
	}
	if r.IsWrittenThrough {
		of.Labels = upstream.WrittenThrough
	}
	if r.HeldRemovals != nil && r.HeldAt != nil {
		of.Removals = &upstream.Removals{Subscribers: *r.HeldRemovals, HeldAt: *r.HeldAt, ConfirmedAt: r.ConfirmedAt}
		if r.ConfirmedRemovals != nil {
			of.Removals.Confirmed = *r.ConfirmedRemovals
		}
	}
	of.Writes.LastError, of.Writes.RetryAt = r.WriteError, r.WritesDueAt
	_ = json.Unmarshal([]byte(r.Progress), &of.Progress) // an older form says nothing
	of.State = of.StateAt(now, r.ClaimedUntil)
	return of
}

// upstreamsTable is the list of upstream.Fields.
var upstreamsTable = keyset.Table{
	Key: query.Field{Name: "upstreamId", Type: query.Integer}, Order: []query.Order{{Field: query.Field{Name: "name", Type: query.Text}}},
	Select: upstreamColumns, From: fromUpstreams, WholeOnly: "upstreams",
	Columns: map[string]keyset.Column{
		"upstreamId": {SQL: "u.upstream_id"}, "name": {SQL: "u.name"}, "baseUrl": {SQL: "u.base_url"}, "sourceName": {SQL: "u.source"},
		"createdAt": {SQL: "u.created_at"}, "pausedAt": {SQL: "u.paused_at", Nullable: true}, "lastSyncedAt": {SQL: "u.last_synced_at", Nullable: true},
		"lastSweptAt": {SQL: "u.last_swept_at", Nullable: true}, "failedAt": {SQL: "u.failed_at", Nullable: true},
	},
}

const (
	countUpstreams = `SELECT count(*) FROM upstreams WHERE company_id = $1`
	countNamed     = `SELECT count(*) FROM upstreams WHERE company_id = $1 AND name = $2 AND upstream_id <> $3`
	countUsing     = `SELECT count(*) FROM upstreams WHERE company_id = $1 AND source = $2`
	countSources   = `SELECT count(*) FROM sources WHERE company_id = $1 AND name = $2`
	// newUpstream takes the number first: the key is sealed for it.
	newUpstream    = `SELECT nextval(pg_get_serial_sequence('upstreams', 'upstream_id'))`
	insertUpstream = `
INSERT INTO upstreams (company_id, upstream_id, name, base_url, source, labels, days, currency, is_copying_alerts, is_copying_recipients, key, created_at, due_at, is_written_through)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13)`
)

// Create implements upstream.Upstreams. The first pass begins at once.
func (s *Store) Create(ctx context.Context, scope domain.Scope, spec upstream.Spec, key upstream.Key) (*upstream.Upstream, error) {
	if err := s.Table.Check(scope); err != nil {
		return nil, err
	}
	spec = spec.WithDefaults()
	if err := spec.Check(s.Rules); err != nil {
		return nil, err
	}
	return s.Store.Create(ctx, scope, func(tx *sqlx.Tx) (id int64, err error) {
		if err := s.mayCreate(ctx, tx, scope, &spec); err != nil {
			return 0, err
		}
		if err := tx.GetContext(ctx, &id, newUpstream); err != nil {
			return 0, err
		}
		sealed, err := s.seal(scope.Company, id, key)
		if err != nil {
			return 0, err
		}
		_, err = pg.Affected(ctx, tx, insertUpstream, scope.Company, id, spec.Name, spec.BaseURL, spec.SourceName, labelsOf(&spec), spec.Days, spec.Currency,
			spec.IsCopyingAlerts, spec.IsCopyingRecipients, sealed, s.Moment(), spec.Labels == upstream.WrittenThrough)
		return id, err
	}, func(of *upstream.Upstream) *domain.AuditEntry {
		return s.Note(domain.AuditUpstreamCreate, of.UpstreamID, domain.Differences(nil, &spec, audited)...)
	})
}

// labelsOf is whose nicknames and tags a sweep stores.
func labelsOf(spec *upstream.Spec) upstream.Side {
	if spec.Labels == upstream.WrittenThrough {
		return upstream.Theirs
	}
	return spec.Labels
}

func (s *Store) mayCreate(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, spec *upstream.Spec) error {
	n, err := pg.Count(ctx, tx, countUpstreams, scope.Company)
	if err != nil {
		return err
	}
	if n >= upstream.MaxUpstreams {
		return domain.Invalid("name", "a company has at most %d upstreams", upstream.MaxUpstreams)
	}
	for _, sql := range []string{countUsing, countSources} {
		n, err := pg.Count(ctx, tx, sql, scope.Company, spec.SourceName)
		if err != nil {
			return err
		}
		if n > 0 {
			return domain.Invalid("sourceName", "the company has a source or upstream whose usage has the source %q already", spec.SourceName)
		}
	}
	return free(ctx, tx, scope, spec.Name, 0)
}

// free refuses a name that another upstream has.
func free(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, name string, id int64) error {
	n, err := pg.Count(ctx, tx, countNamed, scope.Company, name, id)
	if err == nil && n > 0 {
		err = domain.Invalid("name", "the company has an upstream %q already", name)
	}
	return err
}

var audited = []domain.AuditField[upstream.Spec]{
	{Name: "name", Text: func(s *upstream.Spec) string { return s.Name }},
	{Name: "baseUrl", Text: func(s *upstream.Spec) string { return s.BaseURL }},
	{Name: "sourceName", Text: func(s *upstream.Spec) string { return s.SourceName }},
	{Name: "nicknamesAndTags", Text: func(s *upstream.Spec) string { return string(s.Labels) }},
	{Name: "days", Text: func(s *upstream.Spec) string { return strconv.Itoa(s.Days) }},
	{Name: "currency", Text: func(s *upstream.Spec) string { return s.Currency }},
	{Name: "isCopyingAlerts", Text: func(s *upstream.Spec) string { return strconv.FormatBool(s.IsCopyingAlerts) }},
	{Name: "isCopyingRecipients", Text: func(s *upstream.Spec) string { return strconv.FormatBool(s.IsCopyingRecipients) }},
}

const (
	// writeUpstream has a pass begin at once: what was edited may be why the last one failed.
	writeUpstream = `
UPDATE upstreams
SET name = $3, base_url = $4, labels = $5, days = $6, currency = $7, is_copying_alerts = $8, is_copying_recipients = $9, due_at = $10, requested_at = $10,
  is_sweep_requested = is_sweep_requested OR $11, attempts = 0, cursor = '', write_attempts = 0, write_error = NULL, writes_due_at = NULL,
  is_written_through = $12
WHERE company_id = $1 AND upstream_id = $2`
	// removeWrites forgets edits that nobody sends any more.
	removeWrites = `DELETE FROM upstream_writes WHERE company_id = $1 AND upstream_id = $2`
	writeKey     = `UPDATE upstreams SET key = $3 WHERE company_id = $1 AND upstream_id = $2`
)

// Edit implements upstream.Upstreams. A pass that was interrupted begins anew.
func (s *Store) Edit(ctx context.Context, scope domain.Scope, id int64, edit upstream.Edit) (*upstream.Upstream, error) {
	return s.Store.Edit(ctx, scope, id, func(tx *sqlx.Tx, of *upstream.Upstream) (*domain.AuditEntry, error) {
		spec := edit.Apply(of.Spec)
		if err := spec.Check(s.Rules); err != nil {
			return nil, err
		}
		if err := edit.CheckKey(&of.Spec, &spec); err != nil {
			return nil, err
		}
		if spec == of.Spec && edit.Key == nil {
			return nil, nil
		}
		if err := free(ctx, tx, scope, spec.Name, id); err != nil {
			return nil, err
		}
		all := domain.Differences(&of.Spec, &spec, audited)
		if edit.Key != nil {
			sealed, err := s.seal(scope.Company, id, *edit.Key)
			if err != nil {
				return nil, err
			}
			if _, err := pg.Affected(ctx, tx, writeKey, scope.Company, id, sealed); err != nil {
				return nil, err
			}
			all = append(all, domain.Became("key", edit.Key.ID))
		}
		if spec.Labels != upstream.WrittenThrough {
			if _, err := pg.Affected(ctx, tx, removeWrites, scope.Company, id); err != nil {
				return nil, err
			}
		}
		_, err := pg.Affected(ctx, tx, writeUpstream, scope.Company, id, spec.Name, spec.BaseURL, labelsOf(&spec), spec.Days, spec.Currency,
			spec.IsCopyingAlerts, spec.IsCopyingRecipients, s.Moment(), spec != of.Spec, spec.Labels == upstream.WrittenThrough)
		return s.Note(domain.AuditUpstreamEdit, id, all...), err
	})
}

const switchUpstream = `UPDATE upstreams SET paused_at = $3, due_at = $4, attempts = 0 WHERE company_id = $1 AND upstream_id = $2`

// Switch implements upstream.Upstreams.
func (s *Store) Switch(ctx context.Context, scope domain.Scope, id int64, paused bool) (*upstream.Upstream, error) {
	return s.Change(ctx, scope, id, func(tx *sqlx.Tx, of *upstream.Upstream) (*domain.AuditEntry, error) {
		if paused == of.IsPaused() {
			return nil, nil
		}
		action, at := domain.AuditUpstreamResume, (*time.Time)(nil)
		if paused {
			action, at = domain.AuditUpstreamPause, new(s.Moment())
		}
		_, err := pg.Affected(ctx, tx, switchUpstream, scope.Company, id, at, s.Moment())
		return s.Note(action, id), err
	})
}

const requestPass = `
UPDATE upstreams SET due_at = $3, requested_at = $3, is_sweep_requested = is_sweep_requested OR $4, attempts = 0
WHERE company_id = $1 AND upstream_id = $2`

// Request implements upstream.Upstreams.
func (s *Store) Request(ctx context.Context, scope domain.Scope, id int64, sweep bool) (*upstream.Upstream, error) {
	return s.Change(ctx, scope, id, func(tx *sqlx.Tx, of *upstream.Upstream) (*domain.AuditEntry, error) {
		if of.IsPaused() {
			return nil, domain.Invalid("upstreamId", "the upstream %q is paused", of.Name)
		}
		_, err := pg.Affected(ctx, tx, requestPass, scope.Company, id, s.Moment(), sweep)
		return s.Note(domain.AuditUpstreamSync, id, domain.Became("sweep", strconv.FormatBool(sweep))), err
	})
}

const confirmRemovals = `
UPDATE upstreams SET confirmed_removals = held_removals, confirmed_at = $3, due_at = $3, requested_at = $3, is_sweep_requested = true, attempts = 0
WHERE company_id = $1 AND upstream_id = $2`

// ConfirmRemovals implements upstream.Upstreams.
func (s *Store) ConfirmRemovals(ctx context.Context, scope domain.Scope, id, subscribers int64) (*upstream.Upstream, error) {
	return s.Change(ctx, scope, id, func(tx *sqlx.Tx, of *upstream.Upstream) (*domain.AuditEntry, error) {
		switch {
		case of.IsPaused():
			return nil, domain.Invalid("upstreamId", "the upstream %q is paused", of.Name)
		case of.Removals == nil:
			return nil, domain.Invalid("subscribers", "the upstream %q has no subscribers that wait to be made inactive", of.Name)
		case of.Removals.Subscribers != subscribers:
			return nil, domain.Invalid("subscribers", "%d subscribers wait to be made inactive, not %d", of.Removals.Subscribers, subscribers)
		}
		_, err := pg.Affected(ctx, tx, confirmRemovals, scope.Company, id, s.Moment())
		return s.Note(domain.AuditUpstreamConfirm, id, domain.Became("subscribers", pg.FormatInt(subscribers))), err
	})
}

const (
	removeGroups      = `DELETE FROM upstream_groups WHERE company_id = $1 AND upstream_id = $2`
	removeSubscribers = `DELETE FROM upstream_subscribers WHERE company_id = $1 AND upstream_id = $2`
	removeDeleted     = `DELETE FROM upstream_deleted_alerts WHERE company_id = $1 AND upstream_id = $2`
	removeUpstream    = `DELETE FROM upstreams WHERE company_id = $1 AND upstream_id = $2`
)

// Remove implements upstream.Upstreams. It counts the writes before it removes them, too.
func (s *Store) Remove(ctx context.Context, scope domain.Scope, id int64) (*upstream.Upstream, error) {
	store := s.Store
	store.Lock, store.Complete = ` FOR UPDATE`, nil
	return store.Locked(ctx, scope, id, func(tx *sqlx.Tx, of *upstream.Upstream) (*domain.AuditEntry, error) {
		if err := countWritesOf(ctx, tx, scope, of); err != nil {
			return nil, err
		}
		err := pg.Each(ctx, tx, []string{removeGroups, removeSubscribers, removeWrites, removeDeleted, removeUpstream}, scope.Company, id)
		return s.Note(domain.AuditUpstreamRemove, id, domain.Was("name", of.Name), domain.Was("baseUrl", of.BaseURL)), err
	})
}

// purpose binds a key to its upstream.
func purpose(company domain.CompanyID, id int64) []byte {
	return fmt.Appendf(nil, "upstream %d %d", company, id)
}

func (s *Store) seal(company domain.CompanyID, id int64, key upstream.Key) ([]byte, error) {
	with, err := s.Key()
	if err != nil {
		return nil, err
	}
	return with.Seal([]byte(key.Text()), purpose(company, id))
}

func (s *Store) open(company domain.CompanyID, id int64, sealed []byte) (upstream.Key, error) {
	with, err := s.Key()
	if err != nil {
		return upstream.Key{}, err
	}
	text, err := with.Open(sealed, purpose(company, id))
	if err != nil {
		return upstream.Key{}, fmt.Errorf("the key of the upstream %d: %w", id, err)
	}
	return upstream.ParseKey(string(text))
}
