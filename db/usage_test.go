package db_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/bundle"
	"simgraph/db/dbtest"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// usageNow is when the tests of usage happen.
var usageNow = time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)

// usageFleet is a company with groups 1 and 2 and subscribers s0, s1 …, whose
// group is their number modulo 3, where 0 is none.
type usageFleet struct {
	*testing.T
	pool  *sqlx.DB
	usage *usage.Store
	scope domain.Scope
	keys  map[string]int64
}

const seedFleet = `
WITH company AS (
  INSERT INTO company_lookup (external_id) VALUES ($1) RETURNING company_id
), companies AS (
  INSERT INTO companies (company_id, external_id, name) SELECT company_id, $1, $1 FROM company
)
SELECT company_id FROM company`

func newUsageFleet(t *testing.T, subscribers int) *usageFleet {
	return newUsageFleetOn(t, dbtest.New(t), "acme", subscribers)
}

func newUsageFleetOn(t *testing.T, pool *sqlx.DB, company string, subscribers int) *usageFleet {
	f := &usageFleet{T: t, pool: pool, keys: map[string]int64{}}
	f.usage = usage.New(f.pool, nil, usage.Options{Now: func() time.Time { return usageNow }})
	fatal.If(t, f.pool.Get(&f.scope.Company, seedFleet, company))
	f.pool.MustExec(`INSERT INTO operators VALUES ('23415', 'One') ON CONFLICT DO NOTHING`)
	f.pool.MustExec(`INSERT INTO tariffs VALUES ($1, 'IoT', 100, 'GBP')`, f.scope.Company)
	f.pool.MustExec(`INSERT INTO groups (company_id, group_id, name) VALUES ($1, 1, 'One'), ($1, 2, 'Two')`, f.scope.Company)
	for n := range subscribers {
		f.add(fmt.Sprintf("s%d", n), n%3)
	}
	return f
}

// add makes a subscriber that was in the group from 2026 on.
func (f *usageFleet) add(physicalID string, group int) {
	f.Helper()
	var key int64
	err := f.pool.Get(&key, `
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, group_id, subscriber_type, is_transferring, is_online)
VALUES ($1, 'cellular', $2, 'n-' || $2, '', '', '23415', 'IoT', '2026-01-01', '2030-01-01', 12, false, true, nullif($3, 0), 'physical', false, false)
RETURNING key`, f.scope.Company, physicalID, group)
	fatal.If(f, err)
	f.keys[physicalID] = key
	f.join(physicalID, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), group)
}

func (f *usageFleet) join(physicalID string, since time.Time, group int) {
	f.Helper()
	f.pool.MustExec(`INSERT INTO group_memberships VALUES ($1, $2, $3, nullif($4, 0))`, f.scope.Company, f.keys[physicalID], since, group)
}

func (f *usageFleet) record(records ...domain.UsageRecord) []domain.Recorded {
	f.Helper()
	results, err := f.usage.Record(f.Context(), f.scope, records)
	fatal.If(f, err)
	return results
}

func (f *usageFleet) statuses(records ...domain.UsageRecord) string {
	f.Helper()
	var all []string
	for _, r := range f.record(records...) {
		all = append(all, string(r.Status))
	}
	return strings.Join(all, " ")
}

// int reads one number; $1 is the company.
func (f *usageFleet) int(sql string, args ...any) (n int64) {
	f.Helper()
	fatal.If(f, f.pool.Get(&n, sql, append([]any{f.scope.Company}, args...)...))
	return n
}

// mustAgree fails when a total differs from the ledger.
func (f *usageFleet) mustAgree() {
	f.Helper()
	differences, n, err := f.usage.Rebuild(f.Context(), f.scope)
	fatal.If(f, err)
	for _, d := range differences {
		f.Errorf("%s %s: stored %s, derived %s", d.Total, d.Key, d.Stored, d.Derived)
	}
	if n > 0 {
		f.FailNow()
	}
}

// usageOf returns a sound record that a test changes as it likes.
func usageOf(physicalID, id string, started time.Time) domain.UsageRecord {
	return domain.UsageRecord{
		RecordID: id, Source: "pgw", PhysicalID: physicalID, SessionID: "s-" + id,
		StartedAt: started, EndedAt: started.Add(5 * time.Minute),
		MobileOriginated: 10, MobileTerminated: 100, Protocol: "TCP", IPAddress: netip.MustParseAddr("10.0.0.1"),
	}
}

func TestUsageIsAnsweredRecordByRecord(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 3)
	at := usageNow.Add(-time.Hour)
	good := usageOf("s1", "a", at)
	other := good
	other.MobileOriginated++
	later := good
	later.StartedAt = at.AddDate(0, 0, -20)
	unknown := usageOf("nobody", "u", at)
	negative := usageOf("s1", "n", at)
	negative.MobileTerminated = -1

	if got, want := f.statuses(good, good, other, unknown, negative), "accepted duplicate conflict quarantined rejected"; got != want {
		t.Errorf("first: %s, want %s", got, want)
	}
	if got, want := f.statuses(later, good, unknown, other), "conflict duplicate quarantined conflict"; got != want {
		t.Errorf("again: %s, want %s", got, want)
	}
	if n := f.int(`SELECT count(*) FROM usage_records WHERE company_id = $1`); n != 1 {
		t.Errorf("the ledger has %d records", n)
	}
	f.mustAgree()
}

func TestRecordsThatBreakARuleAreRejected(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	for name, spoil := range map[string]func(*domain.UsageRecord){
		"ends before it starts":  func(r *domain.UsageRecord) { r.EndedAt = r.StartedAt.Add(-time.Second) },
		"in the future":          func(r *domain.UsageRecord) { r.StartedAt = usageNow.Add(11 * time.Minute); r.EndedAt = r.StartedAt },
		"ends in the future":     func(r *domain.UsageRecord) { r.EndedAt = usageNow.Add(11 * time.Minute) },
		"older than the ledger":  func(r *domain.UsageRecord) { r.StartedAt = usageNow.AddDate(-2, 0, 0); r.EndedAt = r.StartedAt },
		"longer than a month":    func(r *domain.UsageRecord) { r.StartedAt = usageNow.AddDate(0, -2, 0) },
		"absurd size":            func(r *domain.UsageRecord) { r.MobileOriginated = 1 << 62 },
		"negative sequence":      func(r *domain.UsageRecord) { r.Sequence = -1 },
		"sequence too large":     func(r *domain.UsageRecord) { r.Sequence = 1 << 31 },
		"NUL":                    func(r *domain.UsageRecord) { r.SessionID = "a\x00b" },
		"not UTF-8":              func(r *domain.UsageRecord) { r.RecordID = "\xff" },
		"no protocol":            func(r *domain.UsageRecord) { r.Protocol = "" },
		"long protocol":          func(r *domain.UsageRecord) { r.Protocol = strings.Repeat("x", 33) },
		"no source":              func(r *domain.UsageRecord) { r.Source = "" },
		"no physicalId":          func(r *domain.UsageRecord) { r.PhysicalID = "" },
		"physicalId of 26":       func(r *domain.UsageRecord) { r.PhysicalID = strings.Repeat("1", 26) },
		"recordId of 129":        func(r *domain.UsageRecord) { r.RecordID = strings.Repeat("1", 129) },
		"negative bytes":         func(r *domain.UsageRecord) { r.MobileOriginated = -1 },
		"a time before the year": func(r *domain.UsageRecord) { r.StartedAt = time.Time{} },
	} {
		bad := usageOf("s1", "bad", usageNow.Add(-time.Hour))
		spoil(&bad)
		results := f.record(usageOf("s1", "good", usageNow.Add(-time.Hour)), bad)
		if results[1].Status != domain.UsageRejected || results[1].Err == nil || results[1].Err.Message == "" {
			t.Errorf("%s: %+v", name, results[1])
		}
		if results[0].Err != nil {
			t.Errorf("%s spoiled another record: %v", name, results[0].Err)
		}
	}
	f.mustAgree()
}

func TestRecordsWithoutIDAreOneWhenEqual(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	a := usageOf("s1", "", usageNow.Add(-time.Hour))
	b := a
	b.MobileOriginated++
	if got, want := f.statuses(a, b, a), "accepted accepted duplicate"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestUsageBelongsToTheGroupOfItsTime(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 0)
	noon := usageNow.Truncate(24 * time.Hour).Add(12 * time.Hour)
	f.add("mover", 1)
	f.join("mover", noon, 2)
	f.add("leaver", 1)
	f.join("leaver", noon, 0)
	records := []domain.UsageRecord{
		usageOf("mover", "1", noon.Add(-time.Minute)), usageOf("mover", "2", noon), usageOf("mover", "3", noon.AddDate(-1, 0, 0)),
		usageOf("leaver", "4", noon.Add(-time.Second)), usageOf("leaver", "5", noon),
	}
	f.record(records...)
	for group, want := range map[int]int64{1: 330, 2: 110} {
		if got := f.int(`SELECT sum(mobile_originated + mobile_terminated) FROM group_hours WHERE company_id = $1 AND group_id = $2`, group); got != want {
			t.Errorf("group %d has %d bytes, want %d", group, got, want)
		}
		if got := f.int(`SELECT sum(sessions) FROM group_sessions WHERE company_id = $1 AND group_id = $2`, group); got != want/110 {
			t.Errorf("group %d has %d sessions", group, got)
		}
	}
	f.mustAgree()
}

func TestASessionCountsInTheHourOfItsFirstRecord(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	hour := usageNow.Truncate(time.Hour).Add(-24 * time.Hour)
	steps := []struct {
		sequence int
		at, want time.Time
	}{
		{3, hour.Add(3 * time.Hour), hour.Add(3 * time.Hour)},
		{2, hour.Add(2 * time.Hour), hour.Add(2 * time.Hour)},
		{4, hour.Add(4 * time.Hour), hour.Add(2 * time.Hour)},
		{0, hour.Add(5 * time.Hour), hour.Add(5 * time.Hour)},
		{1, hour.Add(time.Hour), hour.Add(5 * time.Hour)},
		{0, hour.Add(-48 * time.Hour), hour.Add(-48 * time.Hour)},
	}
	for i, step := range steps {
		r := usageOf("s1", fmt.Sprint(i), step.at)
		r.SessionID, r.Sequence = "one", step.sequence
		f.record(r)
		n := f.int(`SELECT sum(sessions) FROM company_sessions WHERE company_id = $1`)
		if at := f.int(`SELECT sessions FROM company_sessions WHERE company_id = $1 AND hour = $2`, step.want); n != 1 || at != 1 {
			t.Fatalf("step %d: %d sessions, %d in the hour of the first record", i, n, at)
		}
		f.mustAgree()
	}
}

func TestQuarantinedUsageIsBookedWhenItsSubscriberAppears(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	late := usageOf("late", "l", usageNow.Add(-50*time.Hour))
	late.IPAddress = netip.MustParseAddr("2001:db8::1")
	if got := f.statuses(late); got != "quarantined" {
		t.Fatal(got)
	}
	f.add("late", 1)
	fatal.If(t, f.usage.ReconcileAll(t.Context()))
	current, err := f.usage.CurrentOf(t.Context(), f.scope, time.Date(usageNow.Year(), usageNow.Month(), 1, 0, 0, 0, 0, time.UTC), []int64{f.keys["late"], f.keys["s0"]})
	if err != nil || len(current) != 1 || current[f.keys["late"]] != 110 {
		t.Errorf("%v, %v", current, err)
	}
	if got := f.statuses(late); got != "duplicate" {
		t.Error(got)
	}
	if n := f.int(`SELECT count(*) FROM usage_quarantine WHERE company_id = $1`); n != 0 {
		t.Errorf("%d records are still quarantined", n)
	}
	if n := f.int(`SELECT count(*) FROM audit_log WHERE company_id = $1 AND action = 'usage.replay'`); n != 1 {
		t.Errorf("the audit log has it %d times", n)
	}
	f.mustAgree()
}

// refuse makes the database refuse what is written of the company to a table.
func (f *usageFleet) refuse(table string) {
	f.Helper()
	f.pool.MustExec(fmt.Sprintf(`ALTER TABLE %s ADD CHECK (company_id <> %d) NOT VALID`, table, f.scope.Company))
}

func TestUsageOfACompanyIsReconciledThoughThatOfAnotherFails(t *testing.T) {
	t.Parallel()
	broken := newUsageFleet(t, 1)
	sound := newUsageFleetOn(t, broken.pool, "zenith", 1)
	for _, f := range []*usageFleet{broken, sound} {
		f.record(usageOf("s0", "moved", usageNow.Add(-time.Hour)), usageOf("late", "late", usageNow.Add(-time.Hour)))
		f.add("late", 1)
		answers, err := bundle.NewImporter(f.pool).Memberships(t.Context(), f.scope, []domain.Membership{
			{PhysicalID: "s0", Since: usageNow.Add(-2 * time.Hour), GroupID: new(int64(2))},
		})
		if err != nil || answers[0].Err != nil {
			t.Fatal(answers, err)
		}
	}
	broken.refuse("group_hours")
	if err := sound.usage.ReconcileAll(t.Context()); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("company %d:", broken.scope.Company)) {
		t.Errorf("the failure is not reported: %v", err)
	}
	if late, moved := sound.bytesOfGroup(1), sound.bytesOfGroup(2); late != 110 || moved != 110 {
		t.Errorf("the groups of the other company have %d and %d bytes", late, moved)
	}
	sound.mustAgree()
}

func TestRebuildReportsAndCorrectsWhatIsWrong(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 4)
	for n := range 4 {
		f.record(usageOf(fmt.Sprintf("s%d", n), fmt.Sprint(n), usageNow.Add(-time.Duration(n)*10*time.Hour)))
	}
	for table, harm := range map[string]string{
		"company_hours":      `UPDATE company_hours SET mobile_originated = mobile_originated + 1`,
		"group_hours":        `DELETE FROM group_hours WHERE group_id = 1`,
		"company_sessions":   `UPDATE company_sessions SET sessions = 7`,
		"group_sessions":     `INSERT INTO group_sessions SELECT company_id, 2, hour, 5 FROM company_sessions ON CONFLICT DO NOTHING`,
		"subscriber_days":    `UPDATE subscriber_days SET cells[2] = cells[2] + 1`,
		"ip_days":            `UPDATE subscriber_days SET ip_last_seen = to_timestamp(0)`,
		"subscriber_periods": `DELETE FROM subscriber_periods`,
		"group_periods":      `UPDATE group_periods SET mobile_terminated = 0`,
		"usage_sessions":     `UPDATE usage_sessions SET is_opened = false`,
		"subscriber_seen":    `UPDATE subscriber_seen SET last_seen_at = to_timestamp(0)`,
		"usage_sources":      `UPDATE usage_sources SET complete_until = to_timestamp(0)`,
	} {
		f.pool.MustExec(harm)
		differences, n, err := f.usage.Rebuild(t.Context(), f.scope)
		if err != nil {
			t.Fatal(table, err)
		}
		if n == 0 || n != len(differences) || differences[0].Total != table {
			t.Errorf("%s: %d differences: %v", table, n, differences)
		}
		f.mustAgree()
	}
}
