package bundle

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"net/netip"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/companies"
	dashboards "simgraph/db/dashboard"
	notes "simgraph/db/note"
	"simgraph/db/pg"
	"simgraph/db/question"
	reports "simgraph/db/report"
	sources "simgraph/db/source"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/domain/dashboard"
	"simgraph/domain/note"
	"simgraph/domain/report"
	"simgraph/domain/source"
)

// Snapshots opens snapshots of companies in PostgreSQL.
type Snapshots struct{ pool *sqlx.DB }

// NewSnapshots returns the store on the pool.
func NewSnapshots(pool *sqlx.DB) *Snapshots { return &Snapshots{pool} }

// Open begins a snapshot, which the caller closes.
func (s *Snapshots) Open(ctx context.Context, scope domain.Scope) (*Snapshot, error) {
	tx, err := s.pool.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, pg.Translate(err)
	}
	return &Snapshot{tx, scope}, nil
}

// Snapshot is a company in a transaction whose statements all see the same moment.
type Snapshot struct {
	tx    *sqlx.Tx
	scope domain.Scope
}

// Close ends the snapshot.
func (s *Snapshot) Close() error {
	if err := s.tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return pg.Translate(err)
	}
	return nil
}

// stream scans one row after the other while the server sends them, so memory
// stays the same however many there are.
func stream[T any](ctx context.Context, s *Snapshot, statement string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := s.tx.QueryxContext(ctx, statement, s.scope.Company)
		if err != nil {
			yield(none, pg.Translate(err))
			return
		}
		defer func() { _ = rows.Close() }() // Err reports it
		for rows.Next() {
			var row T
			if err := rows.StructScan(&row); err != nil {
				yield(none, pg.Translate(err))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, pg.Translate(err))
		}
	}
}

// read makes what a row holds what the domain calls it.
func read[Row, T any](rows iter.Seq2[Row, error], from func(*Row) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for row, err := range rows {
			var value T
			if err == nil {
				value, err = from(&row)
			}
			if !yield(value, err) {
				return
			}
		}
	}
}

// turn is read for rows of which each can be read.
func turn[Row, T any](rows iter.Seq2[Row, error], into func(Row) T) iter.Seq2[T, error] {
	return read(rows, func(row *Row) (T, error) { return into(*row), nil })
}

func pointer[T any](row T) *T { return &row }

// Company implements bundle.Snapshot.
func (s *Snapshot) Company(ctx context.Context) (*domain.Company, error) {
	return companies.Find(ctx, s.tx, s.scope.Company)
}

const exportOperators = `
SELECT o.code, o.name
FROM operators o
WHERE EXISTS (SELECT FROM subscribers s WHERE s.company_id = $1 AND s.operator_code = o.code)
ORDER BY o.code`

// Operators implements bundle.Snapshot.
func (s *Snapshot) Operators(ctx context.Context) iter.Seq2[*domain.Operator, error] {
	return turn(stream[domain.Operator](ctx, s, exportOperators), pointer)
}

const exportTariffs = `
SELECT name, line_rental, currency
FROM tariffs
WHERE company_id = $1
ORDER BY name`

// Tariffs implements bundle.Snapshot.
func (s *Snapshot) Tariffs(ctx context.Context) iter.Seq2[*domain.Tariff, error] {
	return turn(stream[domain.Tariff](ctx, s, exportTariffs), pointer)
}

const exportGroups = `
SELECT group_id, name, hide_tariff_details
FROM groups
WHERE company_id = $1
ORDER BY group_id`

// Groups implements bundle.Snapshot.
func (s *Snapshot) Groups(ctx context.Context) iter.Seq2[*domain.Group, error] {
	return turn(stream[domain.Group](ctx, s, exportGroups), pointer)
}

const exportUsers = `
SELECT u.email, u.permissions, u.disabled,
  ARRAY(SELECT g.group_id FROM user_groups g WHERE g.company_id = $1 AND g.user_id = u.user_id ORDER BY g.group_id) AS groups
FROM users u
WHERE u.company_id = $1
ORDER BY u.email`

// Users implements bundle.Snapshot.
func (s *Snapshot) Users(ctx context.Context) iter.Seq2[*domain.UserImport, error] {
	type row struct {
		Email       string
		Permissions pq.StringArray
		Disabled    bool
		Groups      pq.Int64Array
	}
	return turn(stream[row](ctx, s, exportUsers), func(r row) *domain.UserImport {
		permissions := pg.Pluck(r.Permissions, func(p string) domain.Permission { return domain.Permission(p) })
		return &domain.UserImport{User: domain.User{Email: r.Email, Permissions: permissions, Groups: r.Groups, Disabled: r.Disabled}}
	})
}

const exportSubscribers = `
SELECT s.kind, s.physical_id, s.subscriber_id, s.data_number, s.imsi, s.nickname, s.operator_code, s.tariff_name,
  s.connection_date, s.expiry_date, s.contract_length, s.is_barred, s.is_active, s.terminate_date, s.group_id, s.subscriber_type,
  s.is_transferring, s.is_online, s.eid, s.smdp_provider, s.fixed_ip_address, p.physical_id AS parent_physical_id, s.is_enabled_on_parent
FROM subscribers s
LEFT JOIN subscribers p ON p.company_id = $1 AND p.key = s.parent_key
WHERE s.company_id = $1
ORDER BY s.parent_key IS NOT NULL, s.physical_id`

// Subscribers implements bundle.Snapshot.
func (s *Snapshot) Subscribers(ctx context.Context) iter.Seq2[*domain.Subscriber, error] {
	return turn(stream[domain.Subscriber](ctx, s, exportSubscribers), pointer)
}

// exportMemberships leaves out what says the same as the one before, and
// subscribers that were always in one group.
const exportMemberships = `
SELECT physical_id, since, group_id
FROM (
  SELECT *, count(*) OVER (PARTITION BY physical_id) AS changes
  FROM (
    SELECT s.physical_id, m.since, m.group_id,
      row_number() OVER history = 1 OR m.group_id IS DISTINCT FROM lag(m.group_id) OVER history AS is_change
    FROM group_memberships m
    JOIN subscribers s ON s.company_id = $1 AND s.key = m.subscriber_key
    WHERE m.company_id = $1
    WINDOW history AS (PARTITION BY m.subscriber_key ORDER BY m.since)
  ) membership
  WHERE is_change
) changed
WHERE changes > 1
ORDER BY physical_id, since`

// Memberships implements bundle.Snapshot.
func (s *Snapshot) Memberships(ctx context.Context) iter.Seq2[domain.Membership, error] {
	return stream[domain.Membership](ctx, s, exportMemberships)
}

const exportTags = `
SELECT s.physical_id, t.tag_name
FROM subscriber_tags t
JOIN subscribers s ON s.company_id = $1 AND s.key = t.subscriber_key
WHERE t.company_id = $1
ORDER BY s.physical_id, t.tag_name`

// Tags implements bundle.Snapshot.
func (s *Snapshot) Tags(ctx context.Context) iter.Seq2[domain.TagImport, error] {
	return stream[domain.TagImport](ctx, s, exportTags)
}

// Alerts implements bundle.Snapshot.
func (s *Snapshot) Alerts(ctx context.Context) iter.Seq2[domain.AlertSpec, error] {
	return turn(stream[domain.AlertImport](ctx, s, exportAlerts), func(a domain.AlertImport) domain.AlertSpec { return a.AlertSpec })
}

const exportRecipients = `
SELECT email
FROM alert_recipients
WHERE company_id = $1
ORDER BY email_key`

// Recipients implements bundle.Snapshot.
func (s *Snapshot) Recipients(ctx context.Context) iter.Seq2[string, error] {
	type row struct{ Email string }
	return turn(stream[row](ctx, s, exportRecipients), func(r row) string { return r.Email })
}

const exportSuppressions = `
SELECT email, suppressed_since AS since, suppressed_reason AS reason, suppressed_detail AS detail
FROM alert_recipients
WHERE company_id = $1 AND suppressed_since IS NOT NULL
ORDER BY email_key`

// Suppressions implements bundle.Snapshot.
func (s *Snapshot) Suppressions(ctx context.Context) iter.Seq2[domain.Suppression, error] {
	return stream[domain.Suppression](ctx, s, exportSuppressions)
}

// AlertLog implements bundle.Snapshot.
func (s *Snapshot) AlertLog(ctx context.Context) iter.Seq2[domain.Firing, error] {
	return turn(stream[exportedFiring](ctx, s, exportAlertLog), exportedFiring.firing)
}

// SourceProfiles implements bundle.Snapshot.
func (s *Snapshot) SourceProfiles(ctx context.Context) iter.Seq2[*source.Profile, error] {
	return read(stream[sources.ProfileRow](ctx, s, sources.ListProfiles), (*sources.ProfileRow).Profile)
}

// exportSessions leaves out numbers that no subscriber has, as exportQuarantine does.
const exportSessions = `
SELECT ` + usage.SessionColumns + `, coalesce(s.physical_id, '') AS subscriber,
  ARRAY(SELECT k.name::text FROM session_names k WHERE k.company_id = $1 AND k.identity = n.identity ORDER BY k.name) AS names
FROM sessions n
LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = n.subscriber_key
WHERE n.company_id = $1 AND (n.subscriber_key IS NOT NULL OR n.physical_id <> '')
ORDER BY n.began_at, n.identity, n.generation`

// Sessions implements bundle.Snapshot.
func (s *Snapshot) Sessions(ctx context.Context) iter.Seq2[*domain.SessionImport, error] {
	type row struct {
		usage.SessionRow
		Subscriber string
		Names      pq.StringArray
	}
	return turn(stream[row](ctx, s, exportSessions), func(r row) *domain.SessionImport {
		names := pg.Pluck(r.Names, func(name string) domain.SessionIdentity { return domain.SessionIdentity(uuid.MustParse(name)) })
		return &domain.SessionImport{Session: *r.Read(), Subscriber: r.Subscriber, Names: names}
	})
}

const exportUsage = `
SELECT u.record_id, u.source, s.physical_id, u.session_id, u.sequence, u.started_at, u.ended_at,
  u.mobile_originated, u.mobile_terminated, u.protocol, coalesce(host(u.ip_address), '') AS ip_address
FROM usage_records u
JOIN subscribers s ON s.company_id = $1 AND s.key = u.subscriber_key
WHERE u.company_id = $1
ORDER BY u.started_at, u.identity`

const exportQuarantine = `
SELECT record_id, source, physical_id, imsi, msisdn, session_id, sequence, started_at, ended_at,
  mobile_originated, mobile_terminated, protocol, coalesce(host(ip_address), '') AS ip_address
FROM usage_quarantine
WHERE company_id = $1 AND started_at >= (SELECT l.first_month FROM usage_ledger l)
ORDER BY started_at, identity`

// Usage implements bundle.Snapshot.
func (s *Snapshot) Usage(ctx context.Context) iter.Seq2[domain.UsageRecord, error] {
	return func(yield func(domain.UsageRecord, error) bool) {
		for _, statement := range []string{exportUsage, exportQuarantine} {
			for record, err := range turn(stream[exportedUsage](ctx, s, statement), exportedUsage.record) {
				if !yield(record, err) {
					return
				}
			}
		}
	}
}

// exportedUsage has the address as a text, "" for none.
type exportedUsage struct {
	domain.UsageRecord
	IPAddress string
}

func (e exportedUsage) record() domain.UsageRecord {
	// What the database calls an address is one.
	e.UsageRecord.IPAddress, _ = netip.ParseAddr(e.IPAddress)
	return e.UsageRecord
}

// Dashboards implements bundle.Snapshot.
func (s *Snapshot) Dashboards(ctx context.Context) iter.Seq2[*dashboard.Dashboard, error] {
	return read(stream[dashboards.Row](ctx, s, dashboards.ExportDashboards), (*dashboards.Row).Dashboard)
}

// Reports implements bundle.Snapshot.
func (s *Snapshot) Reports(ctx context.Context) iter.Seq2[*report.Report, error] {
	return turn(stream[reports.Row](ctx, s, reports.ExportReports), func(r reports.Row) *report.Report { return r.Exported() })
}

// Notes implements bundle.Snapshot.
func (s *Snapshot) Notes(ctx context.Context) iter.Seq2[*note.Note, error] {
	return turn(stream[notes.Row](ctx, s, notes.ExportNotes), func(r notes.Row) *note.Note { return r.Read() })
}

// Questions implements bundle.Snapshot.
func (s *Snapshot) Questions(ctx context.Context) iter.Seq2[*domain.Question, error] {
	return turn(stream[question.Row](ctx, s, question.Export), question.Row.Question)
}
