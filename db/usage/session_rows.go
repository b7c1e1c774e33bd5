package usage

import (
	"context"
	"database/sql"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

// SessionColumns are the columns of a SessionRow, of sessions under the name n.
const SessionColumns = `
n.identity AS id, n.generation, n.subscriber_key, n.source, n.nas, n.session_id, n.physical_id, n.imsi, n.msisdn,
n.began_at, n.as_of, n.reported_at, n.interval_seconds, n.ended_at, n.cause, n.mobile_originated, n.mobile_terminated,
n.reports, n.booked, n.is_transferring, n.decreased, n.clock_off, n.apn, coalesce(host(n.ip_address), '') AS address,
coalesce(text(n.ipv6_prefix), '') AS prefix, n.imei, n.rat_type, n.visited_network,
n.latest_begin AS latest, n.session_seconds, n.has_start, n.dating, n.charging_id, n.other_sources AS others, n.cell`

// SessionRow is a session as it is stored.
type SessionRow struct {
	ID              uuid.UUID
	Address, Prefix string
	Latest          *time.Time
	SessionSeconds  int64
	Others          pq.StringArray
	domain.Session
}

// Read returns the session of the row.
func (r *SessionRow) Read() *domain.Session {
	r.Identity = domain.SessionIdentity(r.ID)
	r.IPAddress, _ = netip.ParseAddr(r.Address)
	r.IPv6Prefix, _ = netip.ParsePrefix(r.Prefix)
	r.LatestBegin, r.SessionTime = timeOr(r.Latest), time.Duration(r.SessionSeconds)*time.Second
	if len(r.Others) > 0 {
		r.OtherSources = r.Others
	}
	return &r.Session
}

const sessionsByIdentity = `
SELECT ` + SessionColumns + `
FROM sessions n
WHERE n.company_id = $1 AND n.identity = ANY($2::uuid[])
ORDER BY n.identity, n.generation`

// sessionsByName finds sessions by their names, of which the identity is one, and returns
// the others too. What is looked for are arrays, so that both tables are read by index
// however many rows PostgreSQL expects.
const sessionsByName = `
SELECT ` + SessionColumns + `,
  ARRAY(SELECT k.name::text FROM session_names k WHERE k.company_id = $1 AND k.identity = n.identity) AS names
FROM sessions n
WHERE n.company_id = $1
  AND n.identity = ANY($2::uuid[] || ARRAY(SELECT s.identity FROM session_names s WHERE s.company_id = $1 AND s.name = ANY($2::uuid[])))
ORDER BY n.identity, n.generation`

// loadSessions reads the sessions of the readings, all their generations.
func loadSessions(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, readings []*reading) (*touchedSessions, error) {
	t := newTouchedSessions(len(readings))
	type row struct {
		SessionRow
		Names pq.StringArray
	}
	rows, err := pg.SelectAll[row](ctx, tx, sessionsByName, company, sessionArray(namesOf(readings)))
	for _, row := range rows {
		s := &touchedSession{Session: *row.Read(), wasOpen: row.EndedAt == nil, wasTransferring: row.IsTransferring}
		t.generations[s.Identity] = append(t.generations[s.Identity], s)
		if _, known := t.named[s.Identity]; !known { // its first name may be another's since
			t.named[s.Identity] = s.Identity
		}
		t.names[s.Identity] = len(row.Names)
		for _, name := range row.Names {
			t.named[domain.SessionIdentity(uuid.MustParse(name))] = s.Identity
		}
	}
	return t, err
}

// namesOf returns the names of the sessions of readings, each once.
func namesOf(readings []*reading) []domain.SessionIdentity {
	seen := make(map[domain.SessionIdentity]bool, len(readings))
	names := make([]domain.SessionIdentity, 0, len(readings))
	for _, r := range readings {
		for _, name := range r.names {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

func sessionArray(of []domain.SessionIdentity) identityArray {
	return pg.Pluck(of, func(s domain.SessionIdentity) domain.UsageIdentity { return domain.UsageIdentity(s) })
}

// storeSessions stores the names that sessions were given, too. Both are beside one another,
// since Citus gives the rows that conflict a wrong name in an INSERT below an INSERT.
const storeSessions = `
WITH named AS (
  INSERT INTO session_names (company_id, name, identity)
  SELECT own.company_id, k.name, k.identity
  FROM companies own
  CROSS JOIN unnest($37::uuid[], $38::uuid[]) AS k(name, identity)
  WHERE own.company_id = $1
  ORDER BY k.name
  ON CONFLICT (company_id, name) DO UPDATE SET identity = excluded.identity
), stored AS (
INSERT INTO sessions (company_id, identity, generation, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn,
  began_at, as_of, reported_at, interval_seconds, ended_at, cause, mobile_originated, mobile_terminated,
  reports, booked, is_transferring, decreased, clock_off, apn, ip_address, ipv6_prefix, imei, rat_type, visited_network,
  latest_begin, session_seconds, has_start, dating, charging_id, other_sources, cell)
SELECT own.company_id, n.identity, n.generation, n.subscriber_key, n.source, n.nas, n.session_id, n.physical_id, n.imsi, n.msisdn,
  n.began_at, n.as_of, n.reported_at, n.interval_seconds, n.ended_at, n.cause, n.mobile_originated, n.mobile_terminated,
  n.reports, n.booked, n.is_transferring, n.decreased, n.clock_off, n.apn, n.ip_address, n.ipv6_prefix, n.imei, n.rat_type, n.visited_network,
  n.latest_begin, n.session_seconds, n.has_start, n.dating, n.charging_id, n.other_sources::text[], n.cell
FROM companies own
CROSS JOIN unnest($2::uuid[], $3::int[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
  $11::timestamptz[], $12::timestamptz[], $13::timestamptz[], $14::int[], $15::timestamptz[], $16::text[], $17::bigint[], $18::bigint[],
  $19::bigint[], $20::int[], $21::boolean[], $22::boolean[], $23::boolean[], $24::text[], $25::inet[], $26::cidr[],
  $27::text[], $28::text[], $29::text[], $30::timestamptz[], $31::bigint[], $32::boolean[], $33::smallint[], $34::text[], $35::text[], $36::text[])
  AS n(identity, generation, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn,
    began_at, as_of, reported_at, interval_seconds, ended_at, cause, mobile_originated, mobile_terminated,
    reports, booked, is_transferring, decreased, clock_off, apn, ip_address, ipv6_prefix, imei, rat_type, visited_network,
    latest_begin, session_seconds, has_start, dating, charging_id, other_sources, cell)
WHERE own.company_id = $1
ON CONFLICT (company_id, identity, generation) DO UPDATE
SET subscriber_key = excluded.subscriber_key, began_at = excluded.began_at, as_of = excluded.as_of, reported_at = excluded.reported_at,
  interval_seconds = excluded.interval_seconds, ended_at = excluded.ended_at, cause = excluded.cause,
  mobile_originated = excluded.mobile_originated, mobile_terminated = excluded.mobile_terminated, reports = excluded.reports,
  booked = excluded.booked, is_transferring = excluded.is_transferring, decreased = excluded.decreased, clock_off = excluded.clock_off,
  apn = excluded.apn, ip_address = excluded.ip_address, ipv6_prefix = excluded.ipv6_prefix, imei = excluded.imei,
  rat_type = excluded.rat_type, visited_network = excluded.visited_network, latest_begin = excluded.latest_begin,
  session_seconds = excluded.session_seconds, has_start = excluded.has_start, dating = excluded.dating,
  charging_id = excluded.charging_id, other_sources = excluded.other_sources, cell = excluded.cell
)` + seenByReports + `
SELECT 1 FROM companies own WHERE own.company_id = $1`

// store writes what was touched.
func (t *touchedSessions) store(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) error {
	if len(t.order) == 0 {
		return nil
	}
	if err := t.storeValues(ctx, tx, company); err != nil {
		return err
	}
	newNames := slices.Collect(maps.Keys(t.newNames))
	texts := func(field func(*touchedSession) string) any { return textArray(t.order, field) }
	numbers := func(field func(*touchedSession) int64) any { return intArray(t.order, field) }
	flags := func(field func(*touchedSession) bool) any { return pq.BoolArray(pg.Pluck(t.order, field)) }
	_, err := tx.ExecContext(ctx, storeSessions, company,
		identityArray(pg.Pluck(t.order, func(s *touchedSession) domain.UsageIdentity { return domain.UsageIdentity(s.Identity) })),
		numbers(func(s *touchedSession) int64 { return int64(s.Generation) }),
		pq.Array(pg.Pluck(t.order, (*touchedSession).subscriber)),
		texts(func(s *touchedSession) string { return s.Source }), texts(func(s *touchedSession) string { return s.NAS }),
		texts(func(s *touchedSession) string { return s.SessionID }), texts(func(s *touchedSession) string { return s.PhysicalID }),
		texts(func(s *touchedSession) string { return s.IMSI }), texts(func(s *touchedSession) string { return s.MSISDN }),
		TimeArray(pg.Pluck(t.order, func(s *touchedSession) time.Time { return s.BeganAt })),
		TimeArray(pg.Pluck(t.order, func(s *touchedSession) time.Time { return s.AsOf })),
		TimeArray(pg.Pluck(t.order, func(s *touchedSession) time.Time { return s.ReportedAt })),
		numbers(func(s *touchedSession) int64 { return int64(s.IntervalSeconds) }),
		pq.Array(pg.Pluck(t.order, (*touchedSession).ended)), texts(func(s *touchedSession) string { return s.Cause }),
		numbers(func(s *touchedSession) int64 { return s.MobileOriginated }), numbers(func(s *touchedSession) int64 { return s.MobileTerminated }),
		numbers(func(s *touchedSession) int64 { return s.Reports }), numbers(func(s *touchedSession) int64 { return int64(s.Booked) }),
		flags(func(s *touchedSession) bool { return s.IsTransferring }), flags(func(s *touchedSession) bool { return s.Decreased }),
		flags(func(s *touchedSession) bool { return s.ClockOff }), texts(func(s *touchedSession) string { return s.APN }),
		addressArray(pg.Pluck(t.order, func(s *touchedSession) netip.Addr { return s.IPAddress })),
		pq.Array(pg.Pluck(t.order, (*touchedSession).prefix)), texts(func(s *touchedSession) string { return s.IMEI }),
		texts(func(s *touchedSession) string { return s.RATType }), texts(func(s *touchedSession) string { return s.VisitedNetwork }),
		pq.Array(pg.Pluck(t.order, func(s *touchedSession) sql.NullTime { return nullTime(s.LatestBegin) })),
		numbers(func(s *touchedSession) int64 { return int64(s.SessionTime / time.Second) }),
		flags(func(s *touchedSession) bool { return s.HasStart }), numbers(func(s *touchedSession) int64 { return int64(s.Dating) }),
		texts(func(s *touchedSession) string { return s.ChargingID }), pq.Array(pg.Pluck(t.order, (*touchedSession).others)),
		texts(func(s *touchedSession) string { return s.Cell }),
		sessionArray(newNames), sessionArray(pg.Pluck(newNames, func(name domain.SessionIdentity) domain.SessionIdentity { return t.named[name] })))
	return err
}

// storeSessionValues gives the values the next places: the lock on the company keeps
// others from them. Places do not come again when those before are gone.
const storeSessionValues = `
INSERT INTO session_values (company_id, place, subscriber_key, identity, as_of, apn, imei, address, network, protocol)
SELECT own.company_id, l.last + n.place, n.subscriber_key, n.identity, n.as_of, n.apn, n.imei, n.address, n.network, n.protocol
FROM companies own
CROSS JOIN (` + lastPlace + `) l
CROSS JOIN unnest($2::bigint[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]) WITH ORDINALITY
  AS n(subscriber_key, identity, as_of, apn, imei, address, network, protocol, place)
WHERE own.company_id = $1`

const lastPlace = `
  SELECT greatest(
    (SELECT max(v.place) FROM session_values v WHERE v.company_id = $1),
    (SELECT k.place FROM condition_learned k WHERE k.company_id = $1), 0) AS last`

// sessionValues are new values of a session.
type sessionValues struct {
	of *touchedSession
	domain.SessionValues
}

func (t *touchedSessions) storeValues(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) error {
	if len(t.values) == 0 {
		return nil
	}
	texts := func(field func(sessionValues) string) any { return textArray(t.values, field) }
	_, err := tx.ExecContext(ctx, storeSessionValues, company, pq.Array(pg.Pluck(t.values, func(v sessionValues) sql.NullInt64 { return v.of.subscriber() })),
		identityArray(pg.Pluck(t.values, func(v sessionValues) domain.UsageIdentity { return domain.UsageIdentity(v.of.Identity) })),
		TimeArray(pg.Pluck(t.values, func(v sessionValues) time.Time { return v.AsOf })),
		texts(func(v sessionValues) string { return v.APN }), texts(func(v sessionValues) string { return v.IMEI }),
		texts(func(v sessionValues) string { return v.Address }), texts(func(v sessionValues) string { return v.VisitedNetwork }),
		texts(func(v sessionValues) string { return v.RATType }))
	return pg.Translate(err)
}

func (s *touchedSession) subscriber() sql.NullInt64 {
	if s.SubscriberKey == nil {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: *s.SubscriberKey, Valid: true}
}

func (s *touchedSession) ended() sql.NullTime {
	if s.EndedAt == nil {
		return sql.NullTime{}
	}
	return nullTime(*s.EndedAt)
}

// others is an array as a text, since arrays of PostgreSQL hold none of several lengths.
func (s *touchedSession) others() string {
	text, _ := pq.StringArray(s.OtherSources).Value() // it does not fail
	if text == nil {
		return "{}"
	}
	return text.(string)
}

// nullTime is NULL for the zero time.
func nullTime(t time.Time) sql.NullTime { return sql.NullTime{Time: t, Valid: !t.IsZero()} }

func (s *touchedSession) prefix() sql.NullString {
	return sql.NullString{String: s.IPv6Prefix.String(), Valid: s.IPv6Prefix.IsValid()}
}
