package fleettest

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// UsageNow is when the tests of usage happen.
var UsageNow = time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)

// UsageFleet is a company with groups 1 and 2 and subscribers s0, s1 …, whose
// group is their number modulo 3, where 0 is none.
type UsageFleet struct {
	*testing.T
	Pool  *sqlx.DB
	Usage *usage.Store
	Scope domain.Scope
	Keys  map[string]int64
}

const seedFleet = `
WITH company AS (
  INSERT INTO company_lookup (external_id) VALUES ($1) RETURNING company_id
), companies AS (
  INSERT INTO companies (company_id, external_id, name) SELECT company_id, $1, $1 FROM company
)
SELECT company_id FROM company`

// NewUsageFleet makes the company acme in a database of its own.
func NewUsageFleet(t *testing.T, subscribers int) *UsageFleet {
	return NewUsageFleetOn(t, dbtest.New(t), "acme", subscribers)
}

// NewUsageFleetOn makes a company of the name on the pool.
func NewUsageFleetOn(t *testing.T, pool *sqlx.DB, company string, subscribers int) *UsageFleet {
	f := &UsageFleet{T: t, Pool: pool, Keys: map[string]int64{}}
	f.Usage = usage.New(f.Pool, nil, usage.Options{Now: func() time.Time { return UsageNow }})
	fatal.If(t, f.Pool.Get(&f.Scope.Company, seedFleet, company))
	f.Pool.MustExec(`INSERT INTO operators VALUES ('23415', 'One') ON CONFLICT DO NOTHING`)
	f.Pool.MustExec(`INSERT INTO tariffs VALUES ($1, 'IoT', 100, 'GBP')`, f.Scope.Company)
	f.Pool.MustExec(`INSERT INTO groups (company_id, group_id, name) VALUES ($1, 1, 'One'), ($1, 2, 'Two')`, f.Scope.Company)
	for n := range subscribers {
		f.Add(fmt.Sprintf("s%d", n), n%3)
	}
	return f
}

// Add makes a subscriber that was in the group from 2026 on.
func (f *UsageFleet) Add(physicalID string, group int) {
	f.Helper()
	var key int64
	err := f.Pool.Get(&key, `
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, group_id, subscriber_type, is_transferring, is_online)
VALUES ($1, 'cellular', $2, 'n-' || $2, '', '', '23415', 'IoT', '2026-01-01', '2030-01-01', 12, false, true, nullif($3, 0), 'physical', false, false)
RETURNING key`, f.Scope.Company, physicalID, group)
	fatal.If(f, err)
	f.Keys[physicalID] = key
	f.Join(physicalID, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), group)
}

// Join puts a subscriber into a group, or for 0 into none.
func (f *UsageFleet) Join(physicalID string, since time.Time, group int) {
	f.Helper()
	f.Pool.MustExec(`INSERT INTO group_memberships VALUES ($1, $2, $3, nullif($4, 0))`, f.Scope.Company, f.Keys[physicalID], since, group)
}

// Record stores records, and returns what became of each.
func (f *UsageFleet) Record(records ...domain.UsageRecord) []domain.Recorded {
	f.Helper()
	results, err := f.Usage.Record(f.Context(), f.Scope, records)
	fatal.If(f, err)
	return results
}

// Statuses stores records, and returns what became of them as a text.
func (f *UsageFleet) Statuses(records ...domain.UsageRecord) string {
	f.Helper()
	var all []string
	for _, r := range f.Record(records...) {
		all = append(all, string(r.Status))
	}
	return strings.Join(all, " ")
}

// Int reads one number; $1 is the company.
func (f *UsageFleet) Int(sql string, args ...any) (n int64) {
	f.Helper()
	fatal.If(f, f.Pool.Get(&n, sql, append([]any{f.Scope.Company}, args...)...))
	return n
}

// MustAgree fails when a total differs from the ledger.
func (f *UsageFleet) MustAgree() {
	f.Helper()
	differences, n, err := f.Usage.Rebuild(f.Context(), f.Scope)
	fatal.If(f, err)
	for _, d := range differences {
		f.Errorf("%s %s: stored %s, derived %s", d.Total, d.Key, d.Stored, d.Derived)
	}
	if n > 0 {
		f.FailNow()
	}
}

// UsageOf returns a sound record that a test changes as it likes.
func UsageOf(physicalID, id string, started time.Time) domain.UsageRecord {
	return domain.UsageRecord{
		RecordID: id, Source: "pgw", PhysicalID: physicalID, SessionID: "s-" + id,
		StartedAt: started, EndedAt: started.Add(5 * time.Minute),
		MobileOriginated: 10, MobileTerminated: 100, Protocol: "TCP", IPAddress: netip.MustParseAddr("10.0.0.1"),
	}
}

// ReadingOf is a cumulative record of a session that began at a time.
func ReadingOf(physicalID, session string, began time.Time, minutes int, originated, terminated int64) domain.UsageRecord {
	event := domain.SessionUpdated
	if minutes == 0 {
		event = domain.SessionStarted
	}
	return domain.UsageRecord{
		Source: "pgw", PhysicalID: physicalID, SessionID: session, StartedAt: began, EndedAt: began.Add(time.Duration(minutes) * time.Minute),
		MobileOriginated: originated, MobileTerminated: terminated, Protocol: "IP",
		Report: &domain.SessionReport{Event: event, NAS: "pgw1", APN: "iot.example", RATType: "EUTRAN"},
	}
}

// NameSubscribers gives subscribers an IMSI and an MSISDN.
func (f *UsageFleet) NameSubscribers() {
	f.Pool.MustExec(`UPDATE subscribers SET imsi = '23415' || substr(physical_id, 2), subscriber_id = '4477' || substr(physical_id, 2) WHERE company_id = $1`, f.Scope.Company)
}

// BookedBytes sums the ledger of a company: what it sent times 1000, and what it received.
const BookedBytes = `SELECT coalesce(sum(mobile_originated), 0)::bigint * 1000 + coalesce(sum(mobile_terminated), 0)::bigint FROM usage_records WHERE company_id = $1`
