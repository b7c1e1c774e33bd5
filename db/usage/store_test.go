package usage_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"simgraph/db/bundle"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestUsageIsAnsweredRecordByRecord(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 3)
	at := fleettest.UsageNow.Add(-time.Hour)
	good := fleettest.UsageOf("s1", "a", at)
	other := good
	other.MobileOriginated++
	later := good
	later.StartedAt = at.AddDate(0, 0, -20)
	unknown := fleettest.UsageOf("nobody", "u", at)
	negative := fleettest.UsageOf("s1", "n", at)
	negative.MobileTerminated = -1

	if got, want := f.Statuses(good, good, other, unknown, negative), "accepted duplicate conflict quarantined rejected"; got != want {
		t.Errorf("first: %s, want %s", got, want)
	}
	if got, want := f.Statuses(later, good, unknown, other), "conflict duplicate quarantined conflict"; got != want {
		t.Errorf("again: %s, want %s", got, want)
	}
	if n := f.Int(`SELECT count(*) FROM usage_records WHERE company_id = $1`); n != 1 {
		t.Errorf("the ledger has %d records", n)
	}
	f.MustAgree()
}

func TestRecordsThatBreakARuleAreRejected(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	for name, spoil := range map[string]func(*domain.UsageRecord){
		"ends before it starts": func(r *domain.UsageRecord) { r.EndedAt = r.StartedAt.Add(-time.Second) },
		"in the future": func(r *domain.UsageRecord) {
			r.StartedAt = fleettest.UsageNow.Add(11 * time.Minute)
			r.EndedAt = r.StartedAt
		},
		"ends in the future": func(r *domain.UsageRecord) { r.EndedAt = fleettest.UsageNow.Add(11 * time.Minute) },
		"older than the ledger": func(r *domain.UsageRecord) {
			r.StartedAt = fleettest.UsageNow.AddDate(-2, 0, 0)
			r.EndedAt = r.StartedAt
		},
		"longer than a month":    func(r *domain.UsageRecord) { r.StartedAt = fleettest.UsageNow.AddDate(0, -2, 0) },
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
		bad := fleettest.UsageOf("s1", "bad", fleettest.UsageNow.Add(-time.Hour))
		spoil(&bad)
		results := f.Record(fleettest.UsageOf("s1", "good", fleettest.UsageNow.Add(-time.Hour)), bad)
		if results[1].Status != domain.UsageRejected || results[1].Err == nil || results[1].Err.Message == "" {
			t.Errorf("%s: %+v", name, results[1])
		}
		if results[0].Err != nil {
			t.Errorf("%s spoiled another record: %v", name, results[0].Err)
		}
	}
	f.MustAgree()
}

func TestRecordsWithoutIDAreOneWhenEqual(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	a := fleettest.UsageOf("s1", "", fleettest.UsageNow.Add(-time.Hour))
	b := a
	b.MobileOriginated++
	if got, want := f.Statuses(a, b, a), "accepted accepted duplicate"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestUsageBelongsToTheGroupOfItsTime(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 0)
	noon := fleettest.UsageNow.Truncate(24 * time.Hour).Add(12 * time.Hour)
	f.Add("mover", 1)
	f.Join("mover", noon, 2)
	f.Add("leaver", 1)
	f.Join("leaver", noon, 0)
	records := []domain.UsageRecord{
		fleettest.UsageOf("mover", "1", noon.Add(-time.Minute)), fleettest.UsageOf("mover", "2", noon), fleettest.UsageOf("mover", "3", noon.AddDate(-1, 0, 0)),
		fleettest.UsageOf("leaver", "4", noon.Add(-time.Second)), fleettest.UsageOf("leaver", "5", noon),
	}
	f.Record(records...)
	for group, want := range map[int]int64{1: 330, 2: 110} {
		if got := f.Int(`SELECT sum(mobile_originated + mobile_terminated) FROM group_hours WHERE company_id = $1 AND group_id = $2`, group); got != want {
			t.Errorf("group %d has %d bytes, want %d", group, got, want)
		}
		if got := f.Int(`SELECT sum(sessions) FROM group_sessions WHERE company_id = $1 AND group_id = $2`, group); got != want/110 {
			t.Errorf("group %d has %d sessions", group, got)
		}
	}
	f.MustAgree()
}

func TestASessionCountsInTheHourOfItsFirstRecord(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	hour := fleettest.UsageNow.Truncate(time.Hour).Add(-24 * time.Hour)
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
		r := fleettest.UsageOf("s1", fmt.Sprint(i), step.at)
		r.SessionID, r.Sequence = "one", step.sequence
		f.Record(r)
		n := f.Int(`SELECT sum(sessions) FROM company_sessions WHERE company_id = $1`)
		if at := f.Int(`SELECT sessions FROM company_sessions WHERE company_id = $1 AND hour = $2`, step.want); n != 1 || at != 1 {
			t.Fatalf("step %d: %d sessions, %d in the hour of the first record", i, n, at)
		}
		f.MustAgree()
	}
}

func TestQuarantinedUsageIsBookedWhenItsSubscriberAppears(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	late := fleettest.UsageOf("late", "l", fleettest.UsageNow.Add(-50*time.Hour))
	late.IPAddress = netip.MustParseAddr("2001:db8::1")
	if got := f.Statuses(late); got != "quarantined" {
		t.Fatal(got)
	}
	f.Add("late", 1)
	fatal.If(t, f.Usage.ReconcileAll(t.Context()))
	current, err := f.Usage.CurrentOf(t.Context(), f.Scope, time.Date(fleettest.UsageNow.Year(), fleettest.UsageNow.Month(), 1, 0, 0, 0, 0, time.UTC), []int64{f.Keys["late"], f.Keys["s0"]})
	if err != nil || len(current) != 1 || current[f.Keys["late"]] != 110 {
		t.Errorf("%v, %v", current, err)
	}
	if got := f.Statuses(late); got != "duplicate" {
		t.Error(got)
	}
	if n := f.Int(`SELECT count(*) FROM usage_quarantine WHERE company_id = $1`); n != 0 {
		t.Errorf("%d records are still quarantined", n)
	}
	if n := f.Int(`SELECT count(*) FROM audit_log WHERE company_id = $1 AND action = 'usage.replay'`); n != 1 {
		t.Errorf("the audit log has it %d times", n)
	}
	f.MustAgree()
}

// refuse makes the database refuse what is written of the company to a table.
func (f *usageFleet) refuse(table string) {
	f.Helper()
	f.Pool.MustExec(fmt.Sprintf(`ALTER TABLE %s ADD CHECK (company_id <> %d) NOT VALID`, table, f.Scope.Company))
}

func TestUsageOfACompanyIsReconciledThoughThatOfAnotherFails(t *testing.T) {
	t.Parallel()
	broken := newUsageFleet(t, 1)
	sound := newUsageFleetOn(t, broken.Pool, "zenith", 1)
	for _, f := range []*usageFleet{broken, sound} {
		f.Record(fleettest.UsageOf("s0", "moved", fleettest.UsageNow.Add(-time.Hour)), fleettest.UsageOf("late", "late", fleettest.UsageNow.Add(-time.Hour)))
		f.Add("late", 1)
		answers, err := bundle.NewImporter(f.Pool).Memberships(t.Context(), f.Scope, []domain.Membership{
			{PhysicalID: "s0", Since: fleettest.UsageNow.Add(-2 * time.Hour), GroupID: new(int64(2))},
		})
		if err != nil || answers[0].Err != nil {
			t.Fatal(answers, err)
		}
	}
	broken.refuse("group_hours")
	if err := sound.Usage.ReconcileAll(t.Context()); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("company %d:", broken.Scope.Company)) {
		t.Errorf("the failure is not reported: %v", err)
	}
	if late, moved := sound.bytesOfGroup(1), sound.bytesOfGroup(2); late != 110 || moved != 110 {
		t.Errorf("the groups of the other company have %d and %d bytes", late, moved)
	}
	sound.MustAgree()
}

func TestRebuildReportsAndCorrectsWhatIsWrong(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 4)
	for n := range 4 {
		f.Record(fleettest.UsageOf(fmt.Sprintf("s%d", n), fmt.Sprint(n), fleettest.UsageNow.Add(-time.Duration(n)*10*time.Hour)))
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
		f.Pool.MustExec(harm)
		differences, n, err := f.Usage.Rebuild(t.Context(), f.Scope)
		if err != nil {
			t.Fatal(table, err)
		}
		if n == 0 || n != len(differences) || differences[0].Total != table {
			t.Errorf("%s: %d differences: %v", table, n, differences)
		}
		f.MustAgree()
	}
}
