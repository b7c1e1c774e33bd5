package db_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"simgraph/db"
	"simgraph/db/feed"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/seal"
)

// feedFixture is a company with a RADIUS client.
type feedFixture struct {
	*usageFleet
	feed    *feed.Store
	clients *feed.Clients
	now     time.Time
}

func newFeed(t *testing.T, subscribers int) *feedFixture {
	f := &feedFixture{usageFleet: newUsageFleet(t, subscribers), now: usageNow}
	f.usage = usage.New(f.pool, db.NewAlertEvaluator(time.Now), usage.Options{Now: func() time.Time { return f.now }})
	f.clients = feed.NewClients(f.pool, []byte(strings.Repeat("k", seal.KeySize)))
	f.feed = feed.New(f.pool, f.usage, f.clients)
	f.addClient(f.scope, "pgw")
	return f
}

func (f *feedFixture) addClient(scope domain.Scope, name string) {
	f.Helper()
	client := domain.RADIUSClient{Name: name, Network: netip.MustParsePrefix("10.1.0.0/16"), Secret: []byte("a secret of a test")}
	if err := f.clients.Create(f.Context(), scope, client); err != nil {
		f.Fatal(err)
	}
}

func (f *feedFixture) account(a domain.Accounting) domain.AccountingResult {
	f.Helper()
	clients, err := f.feed.Clients(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	result, err := f.feed.Account(f.Context(), clients, a)
	if err != nil {
		f.Fatal(err)
	}
	return result
}

// of is a report of the session of a subscriber that is named by its IMSI.
func (f *feedFixture) of(imsi string, minutes int, bytes int64) domain.Accounting {
	r := readingOf("", "nas/"+imsi, usageNow.Add(-2*time.Hour), minutes, bytes, 0)
	r.Source, r.Report.IMSI, r.Report.NAS = "", imsi, "nas"
	return domain.Accounting{NAS: "nas", At: r.EndedAt, Record: r}
}

func TestAccountingIsStoredByWhatBecomesOfIt(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 2)
	f.pool.MustExec(`UPDATE subscribers SET imsi = '1' WHERE physical_id = 's1'`)
	much := f.of("1", 30, domain.MaxUsageBytes+100)
	for i, step := range []struct {
		a    domain.Accounting
		want domain.AccountingResult
	}{
		{f.of("1", 0, 0), domain.AccountingBooked}, {f.of("1", 10, 7), domain.AccountingBooked}, {f.of("1", 10, 7), domain.AccountingNothingNew},
		{f.of("2", 10, 7), domain.AccountingQuarantined}, {much, domain.AccountingUnusable},
		{domain.Accounting{NAS: "nas", At: f.now, Unusable: "no reason"}, domain.AccountingUnusable},
		{domain.Accounting{NAS: "nas", At: f.now, Unusable: "no reason"}, domain.AccountingUnusable},
		{domain.Accounting{NAS: "nas", At: f.now, Restarted: true}, domain.AccountingRestarted},
	} {
		if got := f.account(step.a); got != step.want {
			t.Errorf("%d is %s, not %s", i, got, step.want)
		}
	}
	page, err := feed.NewState(f.pool).Rejects(t.Context(), f.scope, domain.Page{Limit: 5})
	if rejects := page.Items; err != nil || len(rejects) != 2 || rejects[0].Reason != "no reason" || rejects[0].Requests != 2 || rejects[1].Reason != "the ledger rejects mobileOriginated" {
		t.Errorf("rejects: %+v, %v", rejects, err)
	}
	if n := f.int(`SELECT count(*) FROM sessions WHERE company_id = $1 AND cause = 'NAS-Restart'`); n != 2 {
		t.Errorf("%d sessions were ended by the restart", n)
	}
	f.mustAgree()
}

// The same number may be in two companies: the client's secret and network say
// which of them a request may belong to.
func TestARequestBelongsToTheCompanyThatHasTheSubscriber(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	other := newUsageFleetOn(t, f.pool, "zenith", 1)
	f.pool.MustExec(`UPDATE subscribers SET imsi = '7' WHERE company_id = $1`, other.scope.Company)
	f.addClient(other.scope, "pgw")
	f.account(f.of("7", 10, 5))
	f.account(f.of("8", 10, 5))
	if ours, theirs := f.int(bookedBytes), other.int(bookedBytes); ours != 0 || theirs != 5000 {
		t.Errorf("%d and %d were booked", ours, theirs)
	}
	f.pool.MustExec(`UPDATE subscribers SET imsi = '7' WHERE company_id = $1`, f.scope.Company)
	f.account(f.of("7", 20, 9))
	if ours, theirs := f.int(bookedBytes), other.int(bookedBytes); ours != 9000 || theirs != 5000 {
		t.Errorf("%d and %d were booked: the first client's company comes first", ours, theirs)
	}
}

func TestSilentSessionsEndAfterThreeIntervals(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 2)
	f.pool.MustExec(`UPDATE subscribers SET imsi = '1' WHERE physical_id = 's1'`)
	state := func() string {
		f.Helper()
		if err := f.usage.EndSilent(t.Context(), 15*time.Minute); err != nil {
			t.Fatal(err)
		}
		var state string
		if err := f.pool.Get(&state, `SELECT is_online || ' ' || is_transferring || ' ' || coalesce((SELECT cause FROM sessions), '') FROM subscribers WHERE physical_id = 's1'`); err != nil {
			t.Fatal(err)
		}
		return state
	}
	f.now = usageNow.Add(-110 * time.Minute)
	f.account(f.of("1", 0, 0))
	f.now = f.now.Add(5 * time.Minute)
	f.account(f.of("1", 5, 100))
	reported := f.now
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{9 * time.Minute, "true true "}, {11 * time.Minute, "true false "}, {14 * time.Minute, "true false "}, {16 * time.Minute, "false false Timeout"},
	} {
		f.now = reported.Add(step.after)
		if got := state(); got != step.want {
			t.Errorf("after %v: %q, not %q", step.after, got, step.want)
		}
	}
	f.account(f.of("1", 10, 120))
	if got := state(); got != "true true " {
		t.Errorf("after another report: %q", got)
	}
}

// The interval of a network element is what nine in ten of its sessions keep to.
func TestTheIntervalOfANetworkElementIsThatOfMostSessions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		seconds []int
		silent  time.Duration
		ended   int64
	}{
		{[]int{60, 60, 60, 60, 60, 60, 60, 60, 60, 600}, 170 * time.Second, 0}, {[]int{60, 60, 60, 60, 60, 60, 60, 60, 60, 600}, 190 * time.Second, 10},
		{[]int{60, 60, 60, 60, 60, 60, 60, 60, 600, 600}, 190 * time.Second, 0}, {[]int{60, 60, 60, 60, 60, 60, 60, 60, 600, 600}, 31 * time.Minute, 10},
		{[]int{0, 0, 0, 60}, 190 * time.Second, 4}, {[]int{0, 0, 0}, 40 * time.Minute, 0}, {[]int{0, 0, 0}, 50 * time.Minute, 3},
		{[]int{1, 1}, 29 * time.Second, 0}, {[]int{1, 1}, 31 * time.Second, 2}, {[]int{7200, 7200}, 46 * time.Minute, 2},
	} {
		f := newFeed(t, 1)
		for n, seconds := range test.seconds {
			f.account(f.of(fmt.Sprint(n), 10, 1))
			f.pool.MustExec(`UPDATE sessions SET interval_seconds = $2, reported_at = $3 WHERE company_id = $1 AND imsi = $4`, f.scope.Company, seconds, usageNow, fmt.Sprint(n))
		}
		f.now = usageNow.Add(test.silent)
		if err := f.usage.EndSilent(t.Context(), 15*time.Minute); err != nil {
			t.Fatal(err)
		}
		if n := f.int(`SELECT count(*) FROM sessions WHERE company_id = $1 AND cause = 'Timeout'`); n != test.ended {
			t.Errorf("%v after %v: %d have ended, not %d", test.seconds, test.silent, n, test.ended)
		}
	}
}

func TestSecretsOfClientsAreSealed(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	var stored []byte
	if err := f.pool.Get(&stored, `SELECT secret FROM radius_clients`); err != nil || strings.Contains(string(stored), "a secret") {
		t.Errorf("%q is stored: %v", stored, err)
	}
	if clients, err := f.feed.Clients(t.Context()); err != nil || string(clients[0].Secret) != "a secret of a test" {
		t.Errorf("%+v, %v", clients, err)
	}
	f.pool.MustExec(`UPDATE radius_clients SET name = 'other'`)
	if _, err := f.feed.Clients(t.Context()); err == nil {
		t.Error("a secret is opened for another client")
	}
	if _, err := feed.NewClients(f.pool, []byte(strings.Repeat("x", seal.KeySize))).All(t.Context()); err == nil {
		t.Error("a secret is opened by another key")
	}
	if err := f.clients.Create(t.Context(), f.scope, domain.RADIUSClient{Name: "short", Network: netip.MustParsePrefix("10.0.0.0/8"), Secret: []byte("short")}); err == nil {
		t.Error("a short secret is accepted")
	}
	if err := f.clients.Remove(t.Context(), f.scope, "nobody"); err == nil {
		t.Error("a client is removed that is not there")
	}
	if err := f.clients.Remove(t.Context(), f.scope, "other"); err != nil {
		t.Error(err)
	}
	if n := f.int(`SELECT count(*) FROM audit_log WHERE company_id = $1 AND subject_type = 'RADIUSClient'`); n != 2 {
		t.Errorf("%d entries of the audit log", n)
	}
}

// An import sets the state of subscribers that no session has set.
func TestAnImportLeavesTheStateThatSessionsSet(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 2)
	f.pool.MustExec(`UPDATE subscribers SET imsi = '1' WHERE physical_id = 's1'`)
	f.account(f.of("1", 10, 5))
	for _, id := range []string{"s0", "s1"} {
		tariff, months := "IoT", 12
		imported := &domain.Subscriber{
			Kind: domain.Cellular, PhysicalID: id, SubscriberID: "n-" + id, IMSI: "1", OperatorCode: "23415", TariffName: &tariff, ContractLength: &months,
			ConnectionDate: usageNow, ExpiryDate: usageNow, IsActive: true, SubscriberType: domain.Physical, IsOnline: id == "s0",
		}
		if _, err := db.NewImporter(f.pool).Subscribers(t.Context(), f.scope, []*domain.Subscriber{imported}); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]int64{"s0": 2, "s1": 3} {
		if got := f.int(`SELECT 2 * is_online::int + is_transferring::int FROM subscribers WHERE company_id = $1 AND physical_id = $2`, id); got != want {
			t.Errorf("%s has the state %d, not %d", id, got, want)
		}
	}
}
