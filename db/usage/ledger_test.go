package usage_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"simgraph/db"
	"simgraph/db/bundle"
	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

var operator = &domain.Actor{Name: "operator"}

// ledgerFleet is a fleet whose clocks a test sets.
type ledgerFleet struct {
	*usageFleet
	// process and database are the clocks of both.
	process, database time.Time
	ledger            *usage.Ledger
}

// newLedgerFleet has 20 records in each month from March on, and one of this hour.
func newLedgerFleet(t *testing.T) *ledgerFleet {
	f := &ledgerFleet{usageFleet: newUsageFleet(t, 3), process: fleettest.UsageNow, database: fleettest.UsageNow}
	f.Usage = f.instance()
	f.ledger = f.started()
	f.Record(f.months()...)
	return f
}

func (f *ledgerFleet) instance() *usage.Store {
	return usage.New(f.Pool, nil, usage.Options{Now: func() time.Time { return f.process }})
}

// started is the ledger in a process that starts now.
func (f *ledgerFleet) started() *usage.Ledger {
	return usage.NewLedger(f.Pool, usage.LedgerOptions{
		Now: func() time.Time { return f.process }, DatabaseNow: func() time.Time { return f.database },
	})
}

// months are the records: 20 in each month from March to October, 20 bytes each.
func (f *ledgerFleet) months() []domain.UsageRecord {
	var records []domain.UsageRecord
	for month := time.March; month <= time.October; month++ {
		for n := range 20 {
			records = append(records, fleettest.UsageOf("s1", fmt.Sprintf("%d-%d", month, n), time.Date(2026, month, 10, n, 30, 0, 0, time.UTC)))
		}
	}
	return append(records, fleettest.UsageOf("s1", "now", fleettest.UsageNow.Add(-time.Hour)))
}

func (f *ledgerFleet) of(month time.Month) []domain.UsageRecord {
	return slices.DeleteFunc(f.months(), func(r domain.UsageRecord) bool { return r.StartedAt.Month() != month })
}

// pass lets time pass for both clocks.
func (f *ledgerFleet) pass(d time.Duration) {
	f.process, f.database = f.process.Add(d), f.database.Add(d)
}

// upkeep runs the upkeep and returns what it did.
func (f *ledgerFleet) upkeep() string {
	f.Helper()
	steps, err := f.ledger.Upkeep(f.Context(), operator)
	fatal.If(f, err)
	return stepsText(steps)
}

func stepsText(steps []domain.LedgerStep) string {
	var texts []string
	for _, step := range steps {
		text := step.String()
		if step.Held {
			text += " held"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// keep sets the retention and runs the upkeep for some days, every twelve hours.
func (f *ledgerFleet) keep(months, days int) {
	f.Helper()
	fatal.If(f, f.ledger.SetRetention(f.Context(), operator, months))
	for range 2 * days {
		f.upkeep()
		f.pass(12 * time.Hour)
	}
}

// totals are the bytes that were sent in each month, by company and subscriber.
func (f *ledgerFleet) totals() string {
	f.Helper()
	var texts []string
	for _, sql := range []string{
		`SELECT to_char(date_trunc('month', hour, 'UTC') AT TIME ZONE 'UTC', 'MM') || ' ' || sum(mobile_originated)
FROM company_hours WHERE company_id = $1 GROUP BY date_trunc('month', hour, 'UTC') ORDER BY 1`,
		`SELECT to_char(date_trunc('month', day), 'MM') || ' ' || sum(mobile_originated) FROM subscriber_days
WHERE company_id = $1 GROUP BY date_trunc('month', day) ORDER BY 1`,
		`SELECT to_char(period_start AT TIME ZONE 'UTC', 'MM') || ' ' || mobile_originated FROM subscriber_periods WHERE company_id = $1 ORDER BY 1`,
		`SELECT to_char(period_start AT TIME ZONE 'UTC', 'MM') || ' ' || group_id || ' ' || mobile_originated FROM group_periods
WHERE company_id = $1 ORDER BY 1`,
	} {
		var rows []string
		fatal.If(f, f.Pool.Select(&rows, sql, f.Scope.Company))
		texts = append(texts, strings.Join(rows, ", "))
	}
	return strings.Join(texts, "\n")
}

func (f *ledgerFleet) mustHaveTotals(want string) {
	f.Helper()
	if got := f.totals(); got != want {
		f.Fatalf("the totals are\n%s\nnot\n%s", got, want)
	}
}

// mustBeStored names the months whose records are in the ledger.
func (f *ledgerFleet) mustBeStored(want ...time.Month) {
	f.Helper()
	var months []time.Month
	fatal.If(f, f.Pool.Select(&months, `SELECT DISTINCT extract(month FROM started_at)::int FROM usage_records ORDER BY 1`))
	if !slices.Equal(months, want) {
		f.Fatalf("the ledger has %v, not %v", months, want)
	}
}

func each(status string, n int) string { return strings.TrimSpace(strings.Repeat(status+" ", n)) }

func TestADroppedMonthTakesNoUsageAndKeepsItsTotals(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	totals := f.totals()
	f.keep(3, 16)
	f.mustBeStored(time.August, time.September, time.October, time.November)
	if n := f.Int(`SELECT count(*) FROM usage_ids WHERE company_id = $1`); n != 61 {
		t.Errorf("%d identities are left", n)
	}
	if got := f.Statuses(f.of(time.April)...); got != each("rejected", 20) {
		t.Errorf("records of April are %s", got)
	}
	f.mustHaveTotals(totals)
	answers, err := bundle.NewImporter(f.Pool).Memberships(t.Context(), f.Scope, []domain.Membership{
		{PhysicalID: "s1", Since: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), GroupID: new(int64(1))},
	})
	if err != nil || answers[0].Err != nil {
		t.Fatal(answers, err)
	}
	fatal.If(t, f.Usage.ReconcileAll(t.Context()))
	f.mustHaveTotals(totals)
	f.MustAgree()
	f.mustHaveTotals(totals)
}

func TestAHigherRetentionBringsNoDroppedMonthBack(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	totals := f.totals()
	f.keep(3, 16)
	f.keep(13, 1)
	for name, usage := range map[string]*usage.Store{"the same instance": f.Usage, "another instance": f.instance()} {
		results, err := usage.Record(t.Context(), f.Scope, f.months())
		fatal.If(t, err)
		for i, r := range f.months() {
			want := domain.UsageDuplicate
			if r.StartedAt.Month() < time.August {
				want = domain.UsageRejected
			}
			if results[i].Status != want {
				t.Errorf("%s: a record of %v is %s", name, r.StartedAt.Month(), results[i].Status)
			}
		}
	}
	f.MustAgree()
	f.mustHaveTotals(totals)
}

func TestAChangedBillingDayKeepsUsageOfDroppedMonths(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.keep(3, 16)
	answers, err := bundle.NewImporter(f.Pool).Companies(t.Context(), operator, []*domain.Company{{ExternalID: "acme", Name: "acme", BillingDay: 15, TimeZone: "UTC"}})
	if err != nil || answers[0].Err != nil {
		t.Fatal(answers, err)
	}
	if n := f.Int(`SELECT sum(mobile_originated) FROM subscriber_periods WHERE company_id = $1`); n != 161*10 {
		t.Errorf("%d bytes are in the periods", n)
	}
	f.MustAgree()
}

func TestAClockThatIsAheadDropsNothing(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	totals := f.totals()
	f.pass(14 * 31 * 24 * time.Hour)
	f.Usage, f.ledger = f.instance(), f.started()
	fatal.If(t, f.Usage.EnsurePartitions(t.Context()))
	for range 30 {
		if got := f.upkeep(); got != "" {
			t.Fatalf("it did %s", got)
		}
		f.pass(12 * time.Hour)
	}
	if got := f.Statuses(fleettest.UsageOf("s2", "meanwhile", fleettest.UsageNow.Add(-time.Minute))); got != "accepted" {
		t.Errorf("usage is %s", got)
	}
	f.process, f.database = fleettest.UsageNow, fleettest.UsageNow
	f.Usage, f.ledger = f.instance(), f.started()
	if got := f.Statuses(f.months()...); got != each("duplicate", 161) {
		t.Errorf("with the right clock the same records are %s", got)
	}
	f.MustAgree()
	if now := f.totals(); !strings.HasPrefix(now, strings.Split(totals, ", 11")[0]) {
		t.Errorf("the totals are %s", now)
	}
}

func TestAClockThatIsBehindDropsNothingAndCreatesNoMonth(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	totals := f.totals()
	f.pass(-3 * 366 * 24 * time.Hour)
	f.Usage, f.ledger = f.instance(), f.started()
	fatal.If(t, f.Usage.EnsurePartitions(t.Context()))
	f.pass(2 * time.Hour)
	if got := f.upkeep(); got != "" {
		t.Fatalf("it did %s", got)
	}
	if n := f.Int(`SELECT count(*) FROM pg_class WHERE relname LIKE 'usage_records_2023%' AND $1 > 0`); n != 0 {
		t.Errorf("%d months were created", n)
	}
	f.MustAgree()
	f.mustHaveTotals(totals)
}

func TestAMonthIsAnnouncedDetachedAndDropped(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	fatal.If(t, f.ledger.SetRetention(t.Context(), operator, 6))
	const hour, day = time.Hour, 24 * time.Hour
	for _, s := range []struct {
		after time.Duration
		want  string
	}{
		{0, "announce 2026-03, announce 2026-04"},
		{2 * hour, ""},
		{day - 3*hour, ""},
		{hour, "detach 2026-03"},
		{day - hour, ""},
		{hour, "detach 2026-04"},
		{5*day - hour, ""},
		{hour, "due 2026-03"},
		{day - hour, ""},
		{hour, "due 2026-04, drop 2026-03"},
		{day - hour, ""},
		{hour, "drop 2026-04"},
		{30 * day, ""},
	} {
		f.pass(s.after)
		if got := f.upkeep(); got != s.want {
			t.Fatalf("%v after the start it did %q, not %q", f.process.Sub(fleettest.UsageNow), got, s.want)
		}
	}
	var audited []string
	err := f.Pool.Select(&audited, `SELECT action || ' ' || subject_id FROM audit_log WHERE company_id = 0 AND action LIKE 'usage.%' ORDER BY sequence`)
	want := "usage.retention , usage.announce 2026-03, usage.announce 2026-04, usage.detach 2026-03, usage.detach 2026-04, " +
		"usage.due 2026-03, usage.due 2026-04, usage.drop 2026-03, usage.drop 2026-04"
	if got := strings.Join(audited, ", "); err != nil || got != want {
		t.Errorf("the audit log has %v %v", got, err)
	}
	if n := f.Int(`SELECT count(*) FROM pg_class WHERE relname IN ('usage_records_2026_03', 'usage_records_2026_04') AND $1 > 0`); n != 0 {
		t.Errorf("%d months are still there", n)
	}
}

func TestNothingIsDetachedOrDroppedSoonAfterAStart(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	fatal.If(t, f.ledger.SetRetention(t.Context(), operator, 7))
	f.upkeep()
	for _, want := range []string{"detach 2026-03", "due 2026-03", "drop 2026-03"} {
		f.pass(8 * 24 * time.Hour)
		f.Pool.MustExec(`UPDATE usage_ledger SET waited = waited + $1`, (8 * 24 * time.Hour).Microseconds()) // by another instance
		f.ledger = f.started()
		if want == "due 2026-03" {
			f.upkeep() // an announcement has no hour to wait for
			continue
		}
		f.pass(59 * time.Minute)
		if got := f.upkeep(); got != "" {
			t.Fatalf("before the hour is over it did %s", got)
		}
		f.pass(time.Minute)
		if got := f.upkeep(); got != want {
			t.Fatalf("after an hour it did %q, not %q", got, want)
		}
	}
}

func TestAnAnnouncementIsWithdrawnWhenTheRetentionCoversTheMonth(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.keep(6, 2)
	f.mustBeStored(time.April, time.May, time.June, time.July, time.August, time.September, time.October, time.November)
	fatal.If(t, f.ledger.SetRetention(t.Context(), operator, 13))
	if got := f.upkeep(); got != "withdraw 2026-04" {
		t.Errorf("it did %s", got)
	}
	f.pass(30 * 24 * time.Hour)
	if got := f.upkeep(); got != "" {
		t.Errorf("a detached month that the retention covers: %s", got)
	}
}

func TestAClockThatWasAheadDelaysNothingForLong(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	fatal.If(t, f.ledger.SetRetention(t.Context(), operator, 7))
	f.database = fleettest.UsageNow.AddDate(2, 0, 0)
	if got := f.upkeep(); got != "announce 2026-03" {
		t.Fatal(got)
	}
	f.database = fleettest.UsageNow
	f.upkeep()
	f.pass(24*time.Hour - time.Second)
	if got := f.upkeep(); got != "" {
		t.Errorf("less than a day after the clock was right it did %s", got)
	}
	f.pass(time.Second)
	if got := f.upkeep(); got != "detach 2026-03" {
		t.Errorf("a day after the clock was right it did %q", got)
	}
}

// Each wait of a month, under clocks that are set forward and back while it lasts: by a
// process that runs on, and by one that is started under the wrong clock.
func TestNoClockThatIsSetShortensAWait(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, jump := range []time.Duration{day, 8 * day, 40 * day, -day, -8 * day} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprint(jump, restarted), func(t *testing.T) {
				t.Parallel()
				f := newLedgerFleet(t)
				fatal.If(t, f.ledger.SetRetention(t.Context(), operator, 7))
				f.upkeep()
				for _, wait := range []struct {
					time.Duration
					then string
				}{{day, "detach 2026-03"}, {6 * day, "due 2026-03"}, {day, "drop 2026-03"}} {
					f.database = f.database.Add(jump)
					if restarted {
						f.ledger = f.started()
					}
					f.upkeep()
					f.pass(wait.Duration - time.Second)
					if got := f.upkeep(); got != "" {
						t.Fatalf("a second before %s it did %s", wait.then, got)
					}
					f.database = f.database.Add(-jump)
					if got := f.upkeep(); got != "" {
						t.Fatalf("with the clock right, a second before %s it did %s", wait.then, got)
					}
					f.pass(time.Second)
					if got := f.upkeep(); got != wait.then {
						t.Fatalf("it did %q, not %q", got, wait.then)
					}
				}
			})
		}
	}
}

func TestADetachedMonthIsRestoredAsItWas(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.Record(fleettest.UsageOf("late", "held", time.Date(2026, 4, 3, 10, 0, 0, 0, time.UTC)))
	totals := f.totals()
	f.keep(3, 6)
	f.mustBeStored(time.August, time.September, time.October, time.November)
	f.Add("late", 1)
	if n, err := f.Usage.Replay(t.Context(), f.Scope); err != nil || n != 0 {
		t.Errorf("%d records of a detached month were booked: %v", n, err)
	}
	fatal.If(t, f.ledger.SetRetention(t.Context(), operator, 13))
	restored, err := f.ledger.Restore(t.Context(), operator, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || len(restored) != 4 || restored[0].Month() != time.July {
		t.Fatal(restored, err)
	}
	f.mustBeStored(time.April, time.May, time.June, time.July, time.August, time.September, time.October, time.November)
	f.MustAgree()
	f.mustHaveTotals(totals)
	if got := f.Statuses(f.of(time.April)...); got != each("duplicate", 20) {
		t.Errorf("records of April are %s", got)
	}
	f.Usage = f.instance()
	if got := f.Statuses(f.of(time.March)...); got != each("rejected", 20) {
		t.Errorf("records of March are %s", got)
	}
	f.mustHaveTotals(totals)
	if n, err := f.Usage.Replay(t.Context(), f.Scope); err != nil || n != 1 {
		t.Errorf("%d records were booked: %v", n, err)
	}
	f.MustAgree()
}

func TestWhatIsNotDetachedCannotBeRestored(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.keep(6, 11)
	for month, want := range map[time.Month]string{
		time.January: "2026-01 is not detached", time.October: "2026-10 is not detached", time.March: "2026-04 was dropped", time.April: "2026-04 was dropped",
	} {
		if month == time.March {
			want = "2026-03 was dropped"
		}
		if _, err := f.ledger.Restore(t.Context(), operator, time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", month, err)
		}
	}
}

func TestADropThatEndedHalfWayIsFinished(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.keep(7, 3)
	f.Pool.MustExec(`UPDATE usage_ledger_months SET due_at = detached_at, dropped_at = detached_at`)
	f.Pool.MustExec(`DELETE FROM usage_ids WHERE identity IN (SELECT identity FROM usage_records_2026_03 ORDER BY identity LIMIT 7)`)
	if _, err := f.ledger.Restore(t.Context(), operator, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)); err == nil {
		t.Error("a month that is half deleted was restored")
	}
	f.upkeep()
	if n := f.Int(`SELECT count(*) FROM usage_ids WHERE company_id = $1`); n != 141 {
		t.Errorf("%d identities are left", n)
	}
	if n := f.Int(`SELECT count(*) FROM pg_class WHERE relname = 'usage_records_2026_03' AND $1 > 0`); n != 0 {
		t.Error("the records are still there")
	}
}

func TestInstancesTakeEachStepOnce(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	fatal.If(t, f.ledger.SetRetention(t.Context(), operator, 3))
	instances := []*usage.Ledger{f.ledger, f.started(), f.started()}
	for _, want := range []string{
		"announce 2026-03, announce 2026-04, announce 2026-05, announce 2026-06, announce 2026-07", "detach 2026-03", "detach 2026-04",
	} {
		if got := f.together(instances); got != want {
			t.Fatalf("together they did %q, not %q", got, want)
		}
		f.pass(24 * time.Hour)
	}
}

// together runs the upkeep of instances at once, and returns what they did.
func (f *ledgerFleet) together(instances []*usage.Ledger) string {
	var all []domain.LedgerStep
	var mu sync.Mutex
	var running sync.WaitGroup
	for _, instance := range instances {
		running.Go(func() {
			steps, err := instance.Upkeep(f.Context(), operator)
			if err != nil {
				f.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, steps...)
		})
	}
	running.Wait()
	slices.SortFunc(all, func(a, b domain.LedgerStep) int { return a.Month.Compare(b.Month) })
	return stepsText(all)
}

// An instance that has booked a month before has cached its partition, and has read
// that the month is in the ledger.
func TestAnInstanceThatBookedAMonthLearnsThatItWasDetached(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	other := f.Usage
	f.keep(7, 2)
	results, err := other.Record(t.Context(), f.Scope, []domain.UsageRecord{
		fleettest.UsageOf("s1", "late", time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC)), fleettest.UsageOf("s1", "fresh", fleettest.UsageNow.Add(-time.Minute)),
	})
	if err != nil || results[0].Status != domain.UsageRejected || results[1].Status != domain.UsageAccepted {
		t.Errorf("%v %v", results, err)
	}
	f.MustAgree()
}

// An instance that has read the ledger before a month was dropped, and never
// booked to it, has to create its partition first.
func TestAnInstanceThatReadTheLedgerBeforeADropCreatesNoMonth(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.keep(7, 11)
	other := f.instance()
	f.Pool.MustExec(`UPDATE usage_ledger SET retention = 13, first_month = '1970-01-01 00:00:00+00'`)
	for _, r := range []domain.UsageRecord{fleettest.UsageOf("s1", "fresh", fleettest.UsageNow.Add(-time.Minute)), f.of(time.March)[0]} {
		results, err := other.Record(t.Context(), f.Scope, []domain.UsageRecord{r})
		if err != nil || r.RecordID != "fresh" && results[0].Status != domain.UsageRejected {
			t.Errorf("%s: %v %v", r.RecordID, results, err)
		}
		f.Pool.MustExec(`UPDATE usage_ledger SET first_month = '2026-04-01 00:00:00+00'`)
	}
	f.mustBeStored(time.April, time.May, time.June, time.July, time.August, time.September, time.October, time.November)
}

func TestAMonthIsNotDetachedWhileItsTotalsAreDerived(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	fatal.If(t, f.ledger.SetRetention(t.Context(), operator, 7))
	f.upkeep()
	f.pass(25 * time.Hour)
	tx := f.Pool.MustBegin()
	tx.MustExec(`LOCK TABLE usage_records IN ACCESS SHARE MODE`)
	if got := f.upkeep(); got != "detach 2026-03 held" {
		t.Errorf("it did %q", got)
	}
	fatal.If(t, tx.Rollback())
	if got := f.upkeep(); got != "detach 2026-03" {
		t.Errorf("afterwards it did %q", got)
	}
}

// A month that waits for other work keeps no other month from being deleted.
func TestADropIsFinishedBesideAMonthThatIsHeld(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.keep(7, 3)
	fatal.If(t, f.ledger.SetRetention(t.Context(), operator, 6))
	f.upkeep()
	f.pass(25 * time.Hour)
	f.Pool.MustExec(`UPDATE usage_ledger_months SET due_at = detached_at, dropped_at = detached_at WHERE detached_at IS NOT NULL`)
	tx := f.Pool.MustBegin()
	defer tx.Rollback()
	tx.MustExec(`LOCK TABLE usage_records IN ACCESS SHARE MODE`)
	if got := f.upkeep(); got != "detach 2026-04 held" {
		t.Errorf("it did %q", got)
	}
	if n := f.Int(`SELECT count(*) FROM pg_class WHERE relname = 'usage_records_2026_03' AND $1 > 0`); n != 0 {
		t.Error("the records of the month before are still there")
	}
}

func TestUsageOutsideTheRetentionIsRejectedUnlessItsMonthIsStored(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	fatal.If(t, f.ledger.SetRetention(t.Context(), operator, 3))
	f.Usage = f.instance()
	late := []domain.UsageRecord{fleettest.UsageOf("s1", "feb", time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC)), fleettest.UsageOf("s1", "mar", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))}
	if got := f.Statuses(late...); got != "rejected accepted" {
		t.Errorf("they are %s", got)
	}
	fatal.If(t, f.ledger.SetRetention(t.Context(), operator, 13))
	if got := f.Statuses(late...); got != "accepted duplicate" {
		t.Errorf("with a higher retention they are %s", got)
	}
	f.MustAgree()
}

func TestARetentionBelowThreeMonthsIsRefused(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	for _, months := range []int{-1, 0, 2, 1201} {
		if err := f.ledger.SetRetention(t.Context(), operator, months); err == nil || !strings.Contains(err.Error(), "must be 3 to 1200 months") {
			t.Errorf("%d: %v", months, err)
		}
	}
	if _, err := f.Pool.Exec(`UPDATE usage_ledger SET retention = 2`); err == nil {
		t.Error("the database takes 2")
	}
}

func TestOldDataIsDeletedByAClockThatUsageConfirms(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.database = fleettest.UsageNow.AddDate(0, 14, 0)
	newest := fleettest.UsageNow.Add(-time.Hour)
	for _, s := range []struct {
		uptime  time.Duration
		settled bool
	}{{0, false}, {59 * time.Minute, false}, {time.Hour, true}} {
		f.process = fleettest.UsageNow.Add(s.uptime)
		at, settled, err := f.ledger.TrustedClock(t.Context())
		if err != nil || settled != s.settled || at.Before(newest) || at.After(newest.AddDate(0, 0, 2)) {
			t.Errorf("after %v: %v %v %v", s.uptime, at, settled, err)
		}
	}
}

func TestADatabaseAdoptsItsFirstRetention(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	for _, months := range []int{24, 13} {
		if has, err := f.ledger.AdoptRetention(t.Context(), operator, months); err != nil || has != 24 {
			t.Errorf("it has %d: %v", has, err)
		}
	}
}

// A version without the table of the ledger dropped months by itself.
func TestAnUpgradeTakesTheFirstMonthFromWhatWasDropped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ drop, want string }{
		"nothing was dropped":                {``, "1970-01"},
		"months were dropped":                {`DROP TABLE usage_records_2026_03, usage_records_2026_04`, "2026-05"},
		"a month came back by a late record": {`DROP TABLE usage_records_2026_03, usage_records_2026_05, usage_records_2026_06`, "2026-07"},
	} {
		f := newLedgerFleet(t)
		migrator, err := db.Migrator(f.Pool)
		fatal.If(t, err)
		if _, err := migrator.DownTo(t.Context(), 9); err != nil {
			t.Fatal(err)
		}
		f.Pool.MustExec(c.drop)
		totals := f.totals()
		if _, err := migrator.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		status, err := f.ledger.Status(t.Context())
		if err != nil || status.FirstMonth.Format(domain.MonthLayout) != c.want {
			t.Errorf("%s: the first month is %v %v", name, status.FirstMonth, err)
		}
		f.Usage = f.instance()
		f.MustAgree()
		f.mustHaveTotals(totals)
	}
}

func TestADowngradePutsDetachedMonthsBack(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	f.keep(6, 3)
	migrator, err := db.Migrator(f.Pool)
	fatal.If(t, err)
	if _, err := migrator.DownTo(t.Context(), 9); err != nil {
		t.Fatal(err)
	}
	f.mustBeStored(time.March, time.April, time.May, time.June, time.July, time.August, time.September, time.October, time.November)
}
