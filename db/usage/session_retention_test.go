package usage_test

import (
	"fmt"
	"testing"
	"time"

	"simgraph/db/feed"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// Sessions are kept as long as the ledger: those that ended, or were reported last, in
// a month that is dropped go with it, and no other.
func TestSessionsAreDroppedWithTheMonthOfTheirEnd(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	day := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 12, 0, 0, 0, time.UTC) }
	const hour = 60
	for _, r := range []domain.UsageRecord{
		fleettest.ReadingOf("s1", "a", day(time.April, 3), hour, 10, 0), fleettest.ReadingOf("s1", "b", day(time.July, 31), 2*hour, 10, 0),
		fleettest.ReadingOf("s1", "c", day(time.July, 31), 13*hour, 10, 0), fleettest.ReadingOf("s2", "d", day(time.July, 20), 20*24*hour, 10, 0),
		fleettest.ReadingOf("s2", "e", day(time.October, 20), hour, 10, 0), fleettest.ReadingOf("nobody", "f", day(time.May, 20), hour, 10, 0),
		fleettest.ReadingOf("nobody", "g", day(time.September, 20), hour, 10, 0), fleettest.ReadingOf("s2", "h", day(time.April, 20), hour, 10, 0),
	} {
		r.Report.OtherIDs = []string{"other " + r.SessionID}
		if r.SessionID < "c" {
			r.Report.Event = domain.SessionStopped
		}
		f.Record(r)
	}
	sessions := feed.NewSessions(f.Pool)
	left := func() string {
		slice, err := sessions.List(t.Context(), f.Scope, sessionsLike(t, "", "sessionId"))
		fatal.If(t, err)
		return sessionIDs(slice.Items)
	}
	if got := left(); got != "abcdefgh" {
		t.Errorf("before: %s", got)
	}
	f.keep(3, 16)
	f.mustBeStored(time.August, time.September, time.October, time.November)
	if got := left(); got != "cdeg" {
		t.Errorf("when the months to July are dropped, %s are left", got)
	}
	var names int
	if err := f.Pool.Get(&names, `SELECT count(*) FROM session_names WHERE company_id = $1`, f.Scope.Company); err != nil || names != len("cdeg") {
		t.Errorf("%d names are left: %v", names, err)
	}
	f.MustAgree()
}

// The number of a generation does not come again when those before are gone: its
// records would be taken for those of the other.
func TestAGenerationAfterOnesThatAreGoneHasANumberOfItsOwn(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	began := time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC)
	restart := func(n int) domain.UsageRecord {
		return fleettest.ReadingOf("s1", "same", began.Add(time.Duration(n)*2*time.Hour), 60, 10, 0)
	}
	booked := func() (n int64) {
		fatal.If(t, f.Pool.Get(&n, fleettest.BookedBytes, f.Scope.Company))
		return n
	}
	before := booked()
	f.Record(restart(0))
	f.Record(restart(1))
	f.Pool.MustExec(`DELETE FROM sessions WHERE company_id = $1 AND generation = 0`, f.Scope.Company)
	f.Record(restart(2))
	var generations string
	fatal.If(t, f.Pool.Get(&generations, `SELECT string_agg(generation::text, ' ' ORDER BY generation) FROM sessions WHERE company_id = $1`, f.Scope.Company))
	if n := booked() - before; generations != "1 2" || n != 30_000 {
		t.Errorf("the generations are %s, booked are %d", generations, n)
	}
	f.MustAgree()
}

// What reports stated goes with its month, and the next has a place of its own: alerts have
// come past those before.
func TestValuesOfSessionsAreDroppedWithTheirMonth(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	states := func(session, imei string, month time.Month) {
		r := fleettest.ReadingOf("s1", session, time.Date(2026, month, 3, 12, 0, 0, 0, time.UTC), 60, 10, 0)
		r.Report.IMEI = imei
		f.Record(r)
	}
	left := func() (values string) {
		fatal.If(t, f.Pool.Get(&values, `SELECT coalesce(string_agg(imei || '@' || place, ' ' ORDER BY place), '') FROM session_values WHERE company_id = $1`, f.Scope.Company))
		return values
	}
	states("a", "1", time.April)
	states("b", "2", time.September)
	states("c", "3", time.May)
	f.Pool.MustExec(`INSERT INTO condition_learned VALUES ($1, 3)`, f.Scope.Company)
	f.keep(3, 16)
	f.mustBeStored(time.August, time.September, time.October, time.November)
	if got := left(); got != "2@2" {
		t.Errorf("%s are left", got)
	}
	states("d", "4", time.October)
	if got := left(); got != "2@2 4@4" {
		t.Errorf("%s are there then", got)
	}
}

// A session has a bounded number of names, however many its reports state, and is booked
// once by the one that they have in common.
func TestTheNamesOfASessionAreBounded(t *testing.T) {
	t.Parallel()
	f := newLedgerFleet(t)
	began, before := time.Date(2026, 10, 20, 12, 0, 0, 0, time.UTC), f.Int(fleettest.BookedBytes)
	for n := range 40 {
		r := fleettest.ReadingOf("s1", fmt.Sprint("report ", n), began, n+1, int64(n+1), 0)
		r.Report.ChargingID, r.Report.OtherIDs = "192.0.2.1/7", []string{fmt.Sprint("other ", n), fmt.Sprint("third ", n)}
		f.Record(r)
	}
	var names, sessions int
	err := f.Pool.QueryRow(`SELECT (SELECT count(*) FROM session_names WHERE company_id = $1), (SELECT count(*) FROM sessions WHERE company_id = $1)`, f.Scope.Company).Scan(&names, &sessions)
	if err != nil || sessions != 1 || names > 64 || names < 60 {
		t.Errorf("%d sessions have %d names: %v", sessions, names, err)
	}
	if n := f.Int(fleettest.BookedBytes) - before; n != 40_000 {
		t.Errorf("%d bytes are booked", n)
	}
	f.MustAgree()
}
