package feed_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/bundle"
	"simgraph/db/feed"
	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
)

// feedFixture is a company with a RADIUS client.
type feedFixture struct {
	*fleettest.UsageFleet
	feed    *feed.Store
	clients *feed.Clients
	now     time.Time
}

func newFeed(t *testing.T, subscribers int) *feedFixture {
	f := &feedFixture{UsageFleet: fleettest.NewUsageFleet(t, subscribers), now: fleettest.UsageNow}
	f.Usage = usage.New(f.Pool, volume.NewEvaluator(time.Now), usage.Options{Now: func() time.Time { return f.now }})
	f.clients = feed.NewClients(f.Pool, []byte(strings.Repeat("k", seal.KeySize)))
	f.feed = feed.New(f.Pool, f.Usage, f.clients)
	f.addClient(f.Scope, "pgw")
	return f
}

func (f *feedFixture) addClient(scope domain.Scope, name string) {
	f.Helper()
	client := domain.RADIUSClient{Name: name, Network: netip.MustParsePrefix("10.1.0.0/16"), Secret: []byte("a secret of a test")}
	fatal.If(f, f.clients.Create(f.Context(), scope, client))
}

func (f *feedFixture) account(a domain.Accounting) domain.AccountingResult {
	f.Helper()
	clients, err := f.feed.Clients(f.Context())
	fatal.If(f, err)
	result, err := f.feed.Account(f.Context(), clients, a)
	fatal.If(f, err)
	return result
}

// of is a report of the session of a subscriber that is named by its IMSI.
func (f *feedFixture) of(imsi string, minutes int, bytes int64) domain.Accounting {
	r := fleettest.ReadingOf("", "nas/"+imsi, fleettest.UsageNow.Add(-2*time.Hour), minutes, bytes, 0)
	r.Source, r.IMSI, r.Report.NAS = "", imsi, "nas"
	return domain.Accounting{NAS: "nas", At: r.EndedAt, Record: r}
}

func TestAccountingIsStoredByWhatBecomesOfIt(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 2)
	f.Pool.MustExec(`UPDATE subscribers SET imsi = '1' WHERE physical_id = 's1'`)
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
	page, err := feed.NewState(f.Pool).Rejects(t.Context(), f.Scope, domain.Listing{Page: domain.Page{Limit: 5}})
	if rejects := page.Items; err != nil || len(rejects) != 2 || rejects[0].Reason != "no reason" || rejects[0].Requests != 2 || rejects[1].Reason != "the ledger rejects mobileOriginated" {
		t.Errorf("rejects: %+v, %v", rejects, err)
	}
	if n := f.Int(`SELECT count(*) FROM sessions WHERE company_id = $1 AND cause = 'NAS-Restart'`); n != 2 {
		t.Errorf("%d sessions were ended by the restart", n)
	}
	f.MustAgree()
}

// A card that a network element names by its ICCID alone is found by its physicalId,
// exactly, and one that nobody has is quarantined.
func TestACardIsFoundByItsICCID(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 2)
	f.Pool.MustExec(`UPDATE subscribers SET physical_id = '8944500102030405067' WHERE physical_id = 's1'`)
	of := func(iccid string) domain.Accounting {
		a := f.of("", 10, 7)
		a.Record.PhysicalID, a.Record.SessionID = iccid, "nas/"+iccid
		return a
	}
	for iccid, want := range map[string]domain.AccountingResult{
		"8944500102030405067": domain.AccountingBooked, "89445001020304050678": domain.AccountingQuarantined,
	} {
		if got := f.account(of(iccid)); got != want {
			t.Errorf("%s is %s, not %s", iccid, got, want)
		}
	}
	f.MustAgree()
}

// A request that names its subscriber by its address alone is that of the subscriber with
// this fixed address, and belongs to the session that others report by its IMSI.
func TestASubscriberIsFoundByItsFixedAddress(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 3)
	f.NameSubscribers()
	f.Pool.MustExec(`UPDATE subscribers SET fixed_ip_address = v.address FROM (VALUES ('s1', '10.1.2.3'), ('s2', '2001:db8:0:1::/64')) AS v(id, address) WHERE physical_id = v.id`)
	at := func(minutes int, bytes int64, addresses ...string) domain.Accounting {
		a := f.of("", minutes, bytes)
		a.Record.SessionID, a.FixedAddresses, a.Found = "nas/s", addresses, "Framed-IP-Address "+addresses[0]
		return a
	}
	named := f.of("234151", 10, 5)
	named.Record.SessionID = "nas/s"
	for i, step := range []struct {
		a    domain.Accounting
		want domain.AccountingResult
	}{
		{at(5, 2, "10.1.2.3"), domain.AccountingBooked}, {named, domain.AccountingBooked}, {at(20, 9, "10.1.2.3"), domain.AccountingBooked},
		{at(20, 9, "10.1.2.3"), domain.AccountingNothingNew}, {at(20, 4, "2001:db8:0:1::7", "2001:db8:0:1::/64"), domain.AccountingBooked},
		{at(20, 9, "10.1.2.4"), domain.AccountingUnusable},
	} {
		if got := f.account(step.a); got != step.want {
			t.Errorf("%d is %s, not %s", i, got, step.want)
		}
	}
	if n, sessions := f.Int(fleettest.BookedBytes), f.Int(`SELECT count(*) FROM sessions WHERE company_id = $1`); n != 13_000 || sessions != 2 {
		t.Errorf("%d bytes of %d sessions are booked", n, sessions)
	}
	page, err := feed.NewState(f.Pool).Rejects(t.Context(), f.Scope, domain.Listing{Page: domain.Page{Limit: 5}})
	if r := page.Items; err != nil || len(r) != 1 || r[0].Reason != domain.NoFixedAddress || !strings.HasSuffix(r[0].Example, ": Framed-IP-Address 10.1.2.4") {
		t.Errorf("rejects: %+v, %v", r, err)
	}
	f.MustAgree()
}

// Companies may have the same addresses, as private ones.
func TestAnAddressBelongsToTheFirstCompanyThatHasIt(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	other := fleettest.NewUsageFleetOn(t, f.Pool, "zenith", 1)
	f.addClient(other.Scope, "pgw")
	f.Pool.MustExec(`UPDATE subscribers SET fixed_ip_address = '10.1.2.3' WHERE company_id = $1`, other.Scope.Company)
	for minutes := 10; minutes <= 20; minutes += 10 {
		a := f.of("", minutes, int64(minutes))
		a.Record.SessionID, a.FixedAddresses = fmt.Sprint("nas/", minutes), []string{"10.1.2.3"}
		if got := f.account(a); got != domain.AccountingBooked {
			t.Errorf("it is %s", got)
		}
		f.Pool.MustExec(`UPDATE subscribers SET fixed_ip_address = '10.1.2.3' WHERE company_id = $1`, f.Scope.Company)
	}
	if ours, theirs := f.Int(fleettest.BookedBytes), other.Int(fleettest.BookedBytes); ours != 20_000 || theirs != 10_000 {
		t.Errorf("%d and %d were booked", ours, theirs)
	}
}

// Fifteen digits that may be an IMSI or a number are the IMSI where somebody has it, and
// else the number; what waits is booked by either.
func TestFifteenDigitsAreAnIMSIOrANumber(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 3)
	f.Pool.MustExec(`UPDATE subscribers SET imsi = '234150000000001' WHERE physical_id = 's0'`)
	f.Pool.MustExec(`UPDATE subscribers SET subscriber_id = '234150000000002' WHERE physical_id = 's1'`)
	of := func(id string) domain.Accounting {
		a := f.of(id, 10, 7)
		a.Record.MSISDN, a.Record.IMSIDecides, a.DialledNumber = id, true, id
		return a
	}
	for id, want := range map[string]domain.AccountingResult{
		"234150000000001": domain.AccountingBooked, "234150000000002": domain.AccountingBooked, "234150000000003": domain.AccountingQuarantined,
	} {
		if got := f.account(of(id)); got != want {
			t.Errorf("%s is %s, not %s", id, got, want)
		}
	}
	f.Pool.MustExec(`UPDATE subscribers SET subscriber_id = '234150000000003' WHERE physical_id = 's2'`)
	if n, err := f.Usage.Replay(t.Context(), f.Scope); n != 1 || err != nil {
		t.Errorf("%d are replayed, %v", n, err)
	}
	f.MustAgree()
}

// The example of a reason is the last request, with what was found in it.
func TestTheExampleOfARejectQuotesWhatWasFound(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	for _, found := range []string{"", `User-Name "van"`, `User-Name "\x00"`} {
		f.account(domain.Accounting{NAS: "nas", At: f.now, Unusable: "nobody", Found: found})
	}
	page, err := feed.NewState(f.Pool).Rejects(t.Context(), f.Scope, domain.Listing{Page: domain.Page{Limit: 5}})
	want := "at " + f.now.UTC().Format(time.RFC3339) + `: User-Name "\x00"`
	if r := page.Items; err != nil || len(r) != 1 || r[0].Requests != 3 || r[0].Example != want {
		t.Errorf("rejects: %+v, %v", r, err)
	}
}

// The same number may be in two companies: the client's secret and network say
// which of them a request may belong to.
func TestARequestBelongsToTheCompanyThatHasTheSubscriber(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	other := fleettest.NewUsageFleetOn(t, f.Pool, "zenith", 1)
	f.Pool.MustExec(`UPDATE subscribers SET imsi = '7' WHERE company_id = $1`, other.Scope.Company)
	f.addClient(other.Scope, "pgw")
	f.account(f.of("7", 10, 5))
	f.account(f.of("8", 10, 5))
	if ours, theirs := f.Int(fleettest.BookedBytes), other.Int(fleettest.BookedBytes); ours != 0 || theirs != 5000 {
		t.Errorf("%d and %d were booked", ours, theirs)
	}
	f.Pool.MustExec(`UPDATE subscribers SET imsi = '7' WHERE company_id = $1`, f.Scope.Company)
	f.account(f.of("7", 20, 9))
	if ours, theirs := f.Int(fleettest.BookedBytes), other.Int(fleettest.BookedBytes); ours != 9000 || theirs != 5000 {
		t.Errorf("%d and %d were booked: the first client's company comes first", ours, theirs)
	}
}

// A number without a calling code is that of a subscriber in the country of the company:
// of two companies with the same client, each reads it as its own.
func TestNationalNumbersAreThoseOfTheCountryOfTheCompany(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	other := fleettest.NewUsageFleetOn(t, f.Pool, "zenith", 1)
	f.addClient(other.Scope, "pgw")
	f.Pool.MustExec(`UPDATE subscribers SET subscriber_id = '447700900001' WHERE company_id = $1`, f.Scope.Company)
	f.Pool.MustExec(`UPDATE subscribers SET subscriber_id = '497700900001' WHERE company_id = $1`, other.Scope.Company)
	report := func(minutes int) domain.Accounting {
		a := f.of("", minutes, int64(minutes))
		a.Record.MSISDN, a.DialledNumber = "07700900001", "07700900001"
		return a
	}
	if got := f.account(report(1)); got != domain.AccountingQuarantined {
		t.Errorf("without a country it is %s", got)
	}
	f.Pool.MustExec(`UPDATE companies SET country_code = 'DE' WHERE company_id = $1`, other.Scope.Company)
	if got := f.account(report(5)); got != domain.AccountingBooked {
		t.Errorf("in Germany it is %s", got)
	}
	f.Pool.MustExec(`UPDATE companies SET country_code = 'GB' WHERE company_id = $1`, f.Scope.Company)
	if got := f.account(report(9)); got != domain.AccountingBooked {
		t.Errorf("in Britain it is %s", got)
	}
	if ours, theirs := f.Int(fleettest.BookedBytes), other.Int(fleettest.BookedBytes); ours != 9000 || theirs != 5000 {
		t.Errorf("%d and %d were booked", ours, theirs)
	}
}

func TestSilentSessionsEndAfterThreeIntervals(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 2)
	f.Pool.MustExec(`UPDATE subscribers SET imsi = '1' WHERE physical_id = 's1'`)
	state := func() string {
		f.Helper()
		fatal.If(t, f.Usage.EndSilent(t.Context(), 15*time.Minute))
		var state string
		fatal.If(t, f.Pool.Get(&state, `SELECT is_online || ' ' || is_transferring || ' ' || coalesce((SELECT cause FROM sessions WHERE company_id = $1), '') FROM subscribers WHERE company_id = $1 AND physical_id = 's1'`, f.Scope.Company))
		return state
	}
	f.learn("nas", 300, 300, 300)
	f.now = fleettest.UsageNow.Add(-110 * time.Minute)
	f.account(f.of("1", 0, 0))
	f.now = f.now.Add(5 * time.Minute)
	f.account(f.of("1", 5, 100))
	reported := f.now
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{9 * time.Minute, "true true "}, {11 * time.Minute, "true false "}, {14 * time.Minute, "true false "}, {17 * time.Minute, "false false Timeout"},
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

// learn gives a network element gaps of some time ago.
func (f *feedFixture) learn(nas string, seconds ...int) {
	f.Helper()
	for _, s := range seconds {
		f.Pool.MustExec(`INSERT INTO feed_gaps VALUES ($1, 'pgw', $2, $3, 1, $4, $5) ON CONFLICT (company_id, source, nas, seconds) DO UPDATE SET gaps = feed_gaps.gaps + 1`,
			f.Scope.Company, nas, s, fleettest.UsageNow.Add(-24*time.Hour), fleettest.UsageNow)
	}
}

func (f *feedFixture) endSilent() (ended int64) {
	f.Helper()
	fatal.If(f, f.Usage.EndSilent(f.Context(), 15*time.Minute))
	return f.Int(`SELECT count(*) FROM sessions WHERE company_id = $1 AND cause = 'Timeout'`)
}

// The interval of a network element is what nine in ten of the gaps between its reports
// keep to, within the bounds.
func TestTheIntervalOfANetworkElementIsThatOfMostGaps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		seconds []int
		silent  time.Duration
		ended   int64
	}{
		{[]int{60, 60, 60, 60, 60, 60, 60, 60, 60, 600}, 170 * time.Second, 0}, {[]int{60, 60, 60, 60, 60, 60, 60, 60, 60, 600}, 190 * time.Second, 1},
		{[]int{60, 60, 60, 60, 60, 60, 60, 60, 600, 600}, 190 * time.Second, 0}, {[]int{60, 60, 60, 60, 60, 60, 60, 60, 600, 600}, 31 * time.Minute, 1},
		{[]int{10, 10, 10, 10, 10, 60, 60}, 170 * time.Second, 0}, {[]int{60, 60}, 190 * time.Second, 0}, {nil, 40 * time.Minute, 0}, {nil, 50 * time.Minute, 1},
		{[]int{1, 1, 1}, 29 * time.Second, 0}, {[]int{1, 1, 1}, 31 * time.Second, 1}, {[]int{7200, 7200, 7200}, 46 * time.Minute, 1},
	} {
		f := newFeed(t, 1)
		f.account(f.of("1", 120, 1))
		f.learn("nas", test.seconds...)
		f.now = fleettest.UsageNow.Add(test.silent)
		if n := f.endSilent(); n != test.ended {
			t.Errorf("%v after %v: %d have ended, not %d", test.seconds, test.silent, n, test.ended)
		}
	}
}

// Network elements report at events, too: shortly after a Start, when a device moves.
func TestReportsAtEventsMakeNoDeviceFlap(t *testing.T) {
	t.Parallel()
	const devices, minutes = 20, 80
	f := newFeed(t, 1)
	begun := fleettest.UsageNow.Add(-2 * time.Hour)
	report := func(device int, at time.Time) {
		f.now = at
		r := f.of(fmt.Sprint(device), 0, 0)
		r.At, r.Record.EndedAt, r.Record.MobileOriginated = at, at, int64(at.Sub(begun)/time.Second)
		r.Record.StartedAt = begun.Add(time.Duration(device) * time.Second)
		f.account(r)
	}
	for minute := range minutes {
		for device := range devices {
			at := begun.Add(time.Duration(minute)*time.Minute + time.Duration(device)*time.Second)
			if minute%5 == 0 {
				report(device, at)
			}
			if minute == 0 || (minute+device)%7 == 0 {
				report(device, at.Add(12*time.Second))
			}
		}
		fatal.If(t, f.feed.Flush(t.Context()))
		f.now = begun.Add(time.Duration(minute+1)*time.Minute - time.Second)
		if n := f.endSilent(); n > 0 {
			t.Fatalf("%d sessions have ended after %d minutes", n, minute+1)
		}
	}
	f.now = f.now.Add(17 * time.Minute)
	if n := f.endSilent(); n != devices {
		t.Errorf("%d have ended after three intervals", n)
	}
}

// While nobody listens, nothing is silent; the intervals that were missed are counted
// from when somebody listens again.
func TestMissedIntervalsAreCountedWhileSomebodyListens(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	f.learn("nas", 60, 60, 60)
	listen := func(after time.Duration) {
		f.Helper()
		f.now = fleettest.UsageNow.Add(after)
		fatal.If(t, f.feed.Listen(t.Context()))
	}
	listen(0)
	f.account(f.of("1", 120, 1))
	listen(20 * time.Second)
	for _, step := range []struct {
		after   time.Duration
		listens bool
		ended   int64
	}{
		{time.Hour, false, 0}, {23 * time.Hour, false, 0}, {23*time.Hour + time.Second, true, 0}, {23*time.Hour + 40*time.Second, true, 0},
		{23*time.Hour + 90*time.Second, true, 0}, {23*time.Hour + 140*time.Second, true, 0}, {23*time.Hour + 200*time.Second, true, 1},
	} {
		f.now = fleettest.UsageNow.Add(step.after)
		if step.listens {
			listen(step.after)
		}
		if n := f.endSilent(); n != step.ended {
			t.Errorf("after %v: %d have ended", step.after, n)
		}
	}
	other := newFeed(t, 1)
	other.account(other.of("1", 120, 1))
	fatal.If(t, other.feed.Listen(t.Context()))
	other.now = fleettest.UsageNow.Add(25 * time.Hour)
	if n := other.endSilent(); n != 1 {
		t.Error("a source that is not listened to any more has sessions for ever")
	}
}

// A network element that was away has three intervals to report its sessions again.
func TestMissedIntervalsAreCountedAnewAfterAnOutage(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	f.learn("nas", slices.Repeat([]int{60}, 50)...)
	report := func(after time.Duration, devices ...string) {
		f.Helper()
		f.now = fleettest.UsageNow.Add(after)
		for _, device := range devices {
			r := f.of(device, 0, int64(after/time.Second))
			r.At, r.Record.EndedAt = f.now, f.now
			f.account(r)
		}
		fatal.If(t, f.feed.Flush(t.Context()))
	}
	report(0, "1", "2", "3")
	if n := f.endSilent(); n != 0 {
		t.Fatal("a session ended that was just reported")
	}
	report(150*time.Second, "1")
	for _, step := range []struct {
		after time.Duration
		ended int64
	}{{0, 0}, {60 * time.Second, 0}, {120 * time.Second, 0}, {180 * time.Second, 0}, {240 * time.Second, 2}} {
		report(150*time.Second+step.after, "1")
		if n := f.endSilent(); n != step.ended {
			t.Errorf("%v after the outage: %d have ended", step.after, n)
		}
	}
}

func TestSecretsOfClientsAreSealed(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	var stored []byte
	if err := f.Pool.Get(&stored, `SELECT secret FROM radius_clients`); err != nil || strings.Contains(string(stored), "a secret") {
		t.Errorf("%q is stored: %v", stored, err)
	}
	if clients, err := f.feed.Clients(t.Context()); err != nil || string(clients[0].Secret) != "a secret of a test" {
		t.Errorf("%+v, %v", clients, err)
	}
	f.Pool.MustExec(`UPDATE radius_clients SET name = 'other'`)
	if _, err := f.feed.Clients(t.Context()); err == nil {
		t.Error("a secret is opened for another client")
	}
	if _, err := feed.NewClients(f.Pool, []byte(strings.Repeat("x", seal.KeySize))).All(t.Context()); err == nil {
		t.Error("a secret is opened by another key")
	}
	if err := f.clients.Create(t.Context(), f.Scope, domain.RADIUSClient{Name: "short", Network: netip.MustParsePrefix("10.0.0.0/8"), Secret: []byte("short")}); err == nil {
		t.Error("a short secret is accepted")
	}
	if err := f.clients.Remove(t.Context(), f.Scope, "nobody"); err == nil {
		t.Error("a client is removed that is not there")
	}
	if err := f.clients.Remove(t.Context(), f.Scope, "other"); err != nil {
		t.Error(err)
	}
	if n := f.Int(`SELECT count(*) FROM audit_log WHERE company_id = $1 AND subject_type = 'RADIUSClient'`); n != 2 {
		t.Errorf("%d entries of the audit log", n)
	}
}

// An import sets the state of subscribers that no session has set.
func TestAnImportLeavesTheStateThatSessionsSet(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 2)
	f.Pool.MustExec(`UPDATE subscribers SET imsi = '1' WHERE physical_id = 's1'`)
	f.account(f.of("1", 10, 5))
	for _, id := range []string{"s0", "s1"} {
		tariff, months := "IoT", 12
		imported := &domain.Subscriber{
			Kind: domain.Cellular, PhysicalID: id, SubscriberID: "n-" + id, IMSI: "1", OperatorCode: "23415", TariffName: &tariff, ContractLength: &months,
			ConnectionDate: fleettest.UsageNow, ExpiryDate: fleettest.UsageNow, IsActive: true, SubscriberType: domain.Physical, IsOnline: id == "s0",
		}
		if _, err := bundle.NewImporter(f.Pool).Subscribers(t.Context(), f.Scope, []*domain.Subscriber{imported}); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]int64{"s0": 2, "s1": 3} {
		if got := f.Int(`SELECT 2 * is_online::int + is_transferring::int FROM subscribers WHERE company_id = $1 AND physical_id = $2`, id); got != want {
			t.Errorf("%s has the state %d, not %d", id, got, want)
		}
	}
}
