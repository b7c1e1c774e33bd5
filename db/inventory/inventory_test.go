package inventory_test

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/audit"
	"simgraph/db/bundle"
	"simgraph/db/dashboard"
	"simgraph/db/dbtest"
	"simgraph/db/inventory"
	"simgraph/db/live"
	"simgraph/db/mail"
	"simgraph/db/pg"
	"simgraph/db/question"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	boards "simgraph/domain/dashboard"
	"simgraph/internal/fatal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

const (
	vans, boats, hidden = 12, 13, 14
	boss                = "boss@acme.example"
)

func clock() time.Time { return time.Date(2026, time.November, 10, 12, 0, 0, 0, time.UTC) }

// fleet is a company with three groups, of which the last hides tariff details, and
// the subscribers p1 in vans, p2 in hidden and p3 in none.
type fleet struct {
	*testing.T
	url   string
	pool  *sqlx.DB
	store *inventory.Store
	scope domain.Scope
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{T: t, url: dbtest.URL(t), scope: domain.Whole(1)}
	pool, err := pg.Open(t.Context(), f.url, pg.Options{})
	f.try(err)
	t.Cleanup(func() { _ = pool.Close() })
	f.pool, f.store = pool, inventory.New(pool, clock)
	pool.MustExec(`
INSERT INTO operators VALUES ('23415', 'Vodafone UK');
INSERT INTO company_lookup (external_id) VALUES ('acme'), ('rival');
INSERT INTO companies SELECT company_id, external_id, external_id FROM company_lookup;
INSERT INTO user_lookup (email, company_id) VALUES ('boss@acme.example', 1), ('clerk@acme.example', 1), ('boss@rival.example', 2);
INSERT INTO users SELECT company_id, user_id, email, CASE WHEN email LIKE 'boss%' THEN '{MANAGE_INVENTORY,VIEW_A_USERS_DETAILS}' ELSE '{VIEW_SUBSCRIBER}' END::text[] FROM user_lookup`)
	importer := bundle.NewImporter(pool)
	f.stored(importer.Tariffs(t.Context(), f.scope, []*domain.Tariff{{Name: "IoT", LineRental: 50, Currency: "GBP"}, {Name: "Max", LineRental: 90, Currency: "GBP"}}))
	f.stored(importer.Groups(t.Context(), f.scope, []*domain.Group{{GroupID: vans, Name: "vans"}, {GroupID: boats, Name: "boats"}, {GroupID: hidden, Name: "hidden", HideTariffDetails: true}}))
	f.stored(importer.Subscribers(t.Context(), f.scope, []*domain.Subscriber{subscriber("p1", vans), subscriber("p2", hidden), subscriber("p3", 0)}))
	pool.MustExec(`UPDATE group_memberships SET since = '2026-01-01Z'`)
	return f
}

func subscriber(id string, group int64) *domain.Subscriber {
	s := &domain.Subscriber{
		Kind: domain.Cellular, PhysicalID: id, SubscriberID: "s" + id, OperatorCode: "23415", TariffName: new("IoT"), ContractLength: new(12),
		ConnectionDate: clock().AddDate(-1, 0, 0), ExpiryDate: clock().AddDate(1, 0, 0), IsActive: true, SubscriberType: domain.Physical,
	}
	if group != 0 {
		s.GroupID = &group
	}
	return s
}

func (f *fleet) try(err error) {
	f.Helper()
	fatal.If(f, err)
}

func (f *fleet) stored(answers []domain.Imported, err error) {
	f.Helper()
	f.try(err)
	for _, a := range answers {
		if a.Err != nil {
			f.Fatal(a.Err)
		}
	}
}

func (f *fleet) int(sql string, args ...any) (n int) {
	f.Helper()
	f.try(f.pool.Get(&n, sql, args...))
	return n
}

// of is the scope of a user of groups.
func of(groups ...int64) domain.Scope {
	scope := domain.Scope{Company: 1, Groups: groups}
	if slices.Contains(groups, hidden) {
		scope.Masked = []int64{hidden}
	}
	return scope
}

func move(to int64) func(*domain.Subscriber) error {
	return func(s *domain.Subscriber) error {
		if s.GroupID = nil; to != 0 {
			s.GroupID = &to
		}
		return nil
	}
}

func (f *fleet) wants(err error, kind domain.ErrorKind, what string) {
	f.Helper()
	fault, is := domain.AsError(err)
	if got := kind == "" && err == nil || is && fault.Kind == kind; !got {
		f.Errorf("%s: got the error %v, want %q", what, err, kind)
	}
}

// Users of groups cannot move a subscriber out of their sight, nor see by a move what
// its group hides from them.
func TestUsersOfGroupsMoveWithinTheirSight(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	for _, c := range []struct {
		scope domain.Scope
		id    string
		to    int64
		want  domain.ErrorKind
	}{
		{of(vans), "p2", vans, domain.KindNotFound}, {of(vans), "p3", vans, domain.KindNotFound}, {of(vans), "p1", boats, domain.KindNotFound},
		{of(vans), "p1", 99, domain.KindNotFound}, {of(vans), "p1", 0, domain.KindForbidden}, {of(vans, hidden), "p2", vans, domain.KindForbidden},
		{of(vans, boats), "p1", boats, ""}, {of(boats, hidden), "p1", hidden, ""}, {domain.Whole(1), "p1", 0, ""}, {domain.Whole(2), "p1", vans, domain.KindNotFound},
		{domain.Whole(1), "p1", 99, domain.KindNotFound},
	} {
		_, err := f.store.EditSubscriber(t.Context(), c.scope, c.id, move(c.to))
		f.wants(err, c.want, "moving "+c.id)
	}
}

func TestUsersOfGroupsChangeNoHiddenTariffAndNoForeignProfiles(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	tariff := func(name string) func(*domain.Subscriber) error {
		return func(s *domain.Subscriber) error { s.TariffName = &name; return nil }
	}
	attach := func(s *domain.Subscriber) error {
		s.ParentPhysicalID, s.IsEnabledOnParent = new("p3"), new(true)
		return nil
	}
	for what, c := range map[string]struct {
		scope domain.Scope
		id    string
		edit  func(*domain.Subscriber) error
		want  domain.ErrorKind
	}{
		"a hidden tariff":               {of(hidden), "p2", tariff("Other"), domain.KindForbidden},
		"what is hidden, again":         {of(hidden), "p2", func(s *domain.Subscriber) error { s.ContractLength = new(*s.ContractLength); return nil }, domain.KindForbidden},
		"a tariff of no seen one":       {of(vans), "p1", tariff("Max"), domain.KindNotFound},
		"a tariff of the whole company": {domain.Whole(1), "p2", tariff("Max"), ""},
		"a parent out of sight":         {of(vans), "p1", attach, domain.KindForbidden},
		"the IMSI":                      {of(hidden), "p2", func(s *domain.Subscriber) error { s.IMSI = "1"; return nil }, domain.KindForbidden},
		"the MSISDN":                    {of(hidden), "p2", func(s *domain.Subscriber) error { s.SubscriberID = "1"; return nil }, domain.KindForbidden},
		"the data number":               {of(hidden), "p2", func(s *domain.Subscriber) error { s.DataNumber = new("1"); return nil }, domain.KindForbidden},
		"the connection date":           {of(hidden), "p2", func(s *domain.Subscriber) error { s.ConnectionDate = s.ConnectionDate.Add(1); return nil }, domain.KindForbidden},
		"the provider":                  {of(hidden), "p2", func(s *domain.Subscriber) error { s.SMDPProvider = new("one"); return nil }, ""},
	} {
		_, err := f.store.EditSubscriber(t.Context(), c.scope, c.id, c.edit)
		f.wants(err, c.want, what)
	}
	if n := f.int(`SELECT count(*) FROM subscribers WHERE physical_id = 'p2' AND tariff_name = 'Max' AND smdp_provider = 'one' AND contract_length = 12`); n != 1 {
		t.Error("an edit by a user who does not see the tariff has changed it")
	}
	for what, write := range map[string]func(domain.Scope) error{
		"a subscriber": func(s domain.Scope) error {
			_, err := f.store.CreateSubscriber(t.Context(), s, subscriber("p9", vans))
			return err
		},
		"a group": func(s domain.Scope) error {
			_, err := f.store.CreateGroup(t.Context(), s, domain.Group{Name: "x"})
			return err
		},
		"what is hidden": func(s domain.Scope) error {
			_, err := f.store.EditGroup(t.Context(), s, hidden, func(g *domain.Group) error { g.HideTariffDetails = false; return nil })
			return err
		},
		"a tariff": func(s domain.Scope) error { _, err := f.store.RemoveTariff(t.Context(), s, "Max"); return err },
	} {
		f.wants(write(of(vans, hidden)), domain.KindForbidden, what)
	}
}

// What was used before a move stays with the group of that time, and an alert on the
// members of the new group fires once, however often the subscriber comes.
func TestAMoveCountsFromNowAndFiresAlertsOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	records := usage.New(f.pool, volume.NewEvaluator(clock), usage.Options{Now: clock})
	use := func(id string, at time.Time) {
		t.Helper()
		answers, err := records.Record(t.Context(), f.scope, []domain.UsageRecord{{
			RecordID: id, Source: "pgw", PhysicalID: "p1", StartedAt: at, EndedAt: at, MobileOriginated: 100, Protocol: "TCP"}})
		if err != nil || answers[0].Status != domain.UsageAccepted {
			t.Fatal(answers, err)
		}
	}
	alerts := volume.NewAlerts(f.pool, clock)
	_, err := alerts.Create(t.Context(), f.scope, domain.AlertSpec{RuleType: domain.RuleGroupMember, Target: "13", LowerThreshold: 50, UpperThreshold: 1000})
	f.try(err)
	_, err = mail.NewRecipients(f.pool, clock).Create(t.Context(), f.scope, "ops@acme.example", domain.Choice{})
	f.try(err)
	use("before", clock().Add(-time.Hour))
	for range 3 {
		for _, to := range []int64{boats, vans, boats} {
			_, err := f.store.EditSubscriber(t.Context(), f.scope, "p1", move(to))
			f.try(err)
		}
	}
	use("after", clock().Add(time.Minute))
	if n := f.int(`SELECT count(*) FROM alert_log`); n != 1 {
		t.Errorf("the alert fired %d times", n)
	}
	if n := f.int(`SELECT count(*) FROM alert_deliveries`); n != 1 {
		t.Errorf("there are %d deliveries", n)
	}
	f.try(records.Reconcile(t.Context(), []domain.CompanyID{1}))
	for group, want := range map[int]int{vans: 100, boats: 100} {
		if got := f.int(`SELECT COALESCE(sum(mobile_originated), 0) FROM group_periods WHERE group_id = $1`, group); got != want {
			t.Errorf("group %d has %d bytes, want %d", group, got, want)
		}
	}
	if n := f.int(`SELECT count(*) FROM audit_log WHERE action = 'subscriber.edit' AND changes::text LIKE '%groupId%'`); n != 7 { // two of nine found it there
		t.Errorf("%d moves are in the audit log", n)
	}
	if _, err := audit.NewLog(f.pool).Verify(t.Context(), f.scope); err != nil {
		t.Error(err)
	}
}

func TestAfterTheHighestGroupANumberHasToBeGiven(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	_, err := f.store.CreateGroup(t.Context(), f.scope, domain.Group{GroupID: math.MaxInt32, Name: "last"})
	f.try(err)
	_, err = f.store.CreateGroup(t.Context(), f.scope, domain.Group{Name: "next"})
	if err == nil || !strings.Contains(err.Error(), "give a groupId below it") {
		t.Errorf("got %v", err)
	}
	_, err = f.store.CreateGroup(t.Context(), f.scope, domain.Group{GroupID: 1, Name: "first"})
	f.try(err)
}

// PostgreSQL takes offsets under sixteen hours; the graph takes those of RFC 3339.
func TestTimesOfAnEditMayHaveAnyOffset(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	east, west := time.FixedZone("", 23*3600+59*60), time.FixedZone("", -23*3600-59*60)
	connected, expires := time.Date(1, 1, 2, 0, 0, 0, 1, east), time.Date(9999, 12, 31, 0, 0, 59, 999_999_999, west)
	_, err := f.store.EditSubscriber(t.Context(), f.scope, "p1", func(s *domain.Subscriber) error {
		s.ConnectionDate, s.ExpiryDate, s.TerminateDate = connected, expires, &expires
		return nil
	})
	f.try(err)
	var stored []time.Time
	f.try(f.pool.Select(&stored, `
SELECT unnest(ARRAY[connection_date, expiry_date, terminate_date]) FROM subscribers WHERE company_id = 1 AND physical_id = 'p1'`))
	for i, want := range []time.Time{connected, expires, expires} {
		if !stored[i].Equal(want.Truncate(time.Microsecond)) {
			t.Errorf("%v is stored as %v", want, stored[i])
		}
	}
}

func TestAnEditIsAnnouncedLive(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	events := live.New(f.pool, f.url, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- events.Run(ctx) }()
	t.Cleanup(func() { cancel(); f.try(<-done) })
	stream, err := events.SubscriberChanged(t.Context(), f.scope, nil)
	f.try(err)
	deadline := time.After(time.Minute)
	for barred := true; ; barred = !barred {
		_, err := f.store.EditSubscriber(t.Context(), f.scope, "p1", func(s *domain.Subscriber) error { s.IsBarred = barred; return nil })
		f.try(err)
		select {
		case of := <-stream.Events:
			if of == nil || of.PhysicalID != "p1" {
				t.Errorf("got %v", of)
			}
			return
		case <-time.After(200 * time.Millisecond): // it does not listen yet
		case <-deadline:
			t.Fatal("no event")
		}
	}
}

func TestGroupsAndTariffsAreRemovedWhenNothingNamesThem(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	g, err := f.store.CreateGroup(t.Context(), f.scope, domain.Group{Name: "new"})
	f.try(err)
	if g.GroupID != hidden+1 {
		t.Errorf("the group has the number %d", g.GroupID)
	}
	_, err = f.store.CreateGroup(t.Context(), f.scope, *g)
	f.wants(err, domain.KindInvalid, "a number that is taken")
	f.stored(bundle.NewImporter(f.pool).Memberships(t.Context(), f.scope, []domain.Membership{{PhysicalID: "p1", Since: clock().AddDate(0, -2, 0), GroupID: &g.GroupID}}))
	for id, want := range map[int64]domain.ErrorKind{vans: domain.KindInvalid, boats: "", g.GroupID: domain.KindInvalid, 99: domain.KindNotFound} {
		_, err := f.store.RemoveGroup(t.Context(), f.scope, id)
		f.wants(err, want, "removing a group")
	}
	for name, want := range map[string]domain.ErrorKind{"IoT": domain.KindInvalid, "Max": "", "none": domain.KindNotFound} {
		_, err := f.store.RemoveTariff(t.Context(), f.scope, name)
		f.wants(err, want, "removing "+name)
	}
}

// Nobody gives or takes permissions that are not theirs, and a company keeps an
// administrator.
func TestUsersChangeOnlyWhatTheyHave(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rights := []domain.Permission{domain.ManageInventory, domain.ViewUserDetails, domain.ViewSubscriber}
	caller := &domain.Caller{Email: boss, Permissions: rights, Scope: f.scope}
	weak := &domain.Caller{Email: "clerk@acme.example", Permissions: []domain.Permission{domain.ViewUserDetails}, Scope: f.scope}
	grouped := &domain.Caller{Permissions: rights, Scope: of(vans)}
	none := func(u *domain.User) error { u.Permissions = nil; return nil }
	disable := func(u *domain.User) error { u.Disabled = true; return nil }
	attach := func(u *domain.User) error { u.Groups = []int64{vans}; return nil }
	for what, c := range map[string]struct {
		caller *domain.Caller
		email  string
		edit   func(*domain.User) error
		want   domain.ErrorKind
	}{
		"the last administrator without rights": {caller, boss, none, domain.KindInvalid},
		"the last administrator disabled":       {caller, "BOSS@acme.example", disable, domain.KindInvalid},
		"the last administrator in a group":     {caller, boss, attach, domain.KindInvalid},
		"one with more rights":                  {weak, boss, disable, domain.KindForbidden},
		"rights that the caller lacks":          {caller, "clerk@acme.example", func(u *domain.User) error { u.Permissions = domain.AllPermissions(); return nil }, domain.KindForbidden},
		"by a user of groups":                   {grouped, "clerk@acme.example", disable, domain.KindForbidden},
		"of another company":                    {caller, "boss@rival.example", disable, domain.KindNotFound},
		"an unknown group":                      {caller, "clerk@acme.example", func(u *domain.User) error { u.Groups = []int64{99}; return nil }, domain.KindInvalid},
	} {
		_, err := f.store.EditUser(t.Context(), c.caller, c.email, c.edit)
		f.wants(err, c.want, what)
	}
	second, err := f.store.CreateUser(t.Context(), caller, domain.User{Email: "Second@acme.example", Permissions: rights[1:2]})
	f.try(err)
	if second.Email != "second@acme.example" || second.UserID == 0 {
		t.Errorf("got %+v", second)
	}
	edited, err := f.store.EditUser(t.Context(), caller, boss, attach)
	f.try(err)
	if !slices.Equal(edited.Groups, []int64{vans}) {
		t.Errorf("got %+v", edited)
	}
	_, err = f.store.CreateUser(t.Context(), caller, domain.User{Email: "clerk@acme.example"})
	f.wants(err, domain.KindInvalid, "an address that the company has")
	_, err = f.store.CreateUser(t.Context(), caller, domain.User{Email: "boss@rival.example"})
	f.wants(err, "", "an address that another company has")
	_, err = f.store.CreateUser(t.Context(), weak, domain.User{Email: "third@acme.example", Permissions: rights})
	f.wants(err, domain.KindForbidden, "a new user with more rights")
}

// What a user has shared is the company's; what was private goes with the user.
func TestPrivateQuestionsAndDashboardsGoWithTheirUser(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	caller := &domain.Caller{Email: boss, Permissions: domain.AllPermissions(), Scope: f.scope}
	analyst, err := f.store.CreateUser(t.Context(), caller, domain.User{Email: "analyst@acme.example"})
	f.try(err)
	questions, by := question.New(f.pool, clock), f.scope.By(&domain.Actor{UserID: analyst.UserID, Name: analyst.Email})
	for name, isShared := range map[string]bool{"private": false, "shared": true} {
		_, err := questions.Create(t.Context(), by, domain.Question{Name: name, IsShared: isShared, Definition: domain.QuestionDefinition{
			Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Daily, Chart: domain.ChartLine, Span: domain.SpanToday,
		}})
		f.try(err)
	}
	dashboards := dashboard.New(f.pool, dashboard.Options{Now: clock})
	for name, isShared := range map[string]bool{"private": false, "shared": true} {
		_, err := dashboards.Create(t.Context(), by, boards.Dashboard{Name: name, IsShared: isShared, Version: 1})
		f.try(err)
	}
	_, err = f.store.RemoveUser(t.Context(), caller, analyst.Email)
	f.try(err)
	left, err := pg.SelectValues[string](t.Context(), f.pool, `
SELECT name FROM questions WHERE company_id = $1
UNION ALL SELECT name FROM dashboards WHERE company_id = $1`, f.scope.Company)
	f.try(err)
	if !slices.Equal(left, []string{"shared", "shared"}) {
		t.Errorf("left are %q", left)
	}
}

// The rights of a caller that were read before a change of the account do not undo it.
func TestADemotedUserChangesNoUsers(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rights := []domain.Permission{domain.ViewUserDetails, domain.ViewSubscriber}
	second, err := f.store.CreateUser(t.Context(), &domain.Caller{Permissions: domain.AllPermissions(), Scope: f.scope}, domain.User{Email: "second@acme.example", Permissions: rights})
	f.try(err)
	before := &domain.Caller{UserID: second.UserID, Email: second.Email, Permissions: rights, Scope: f.scope}
	restore := func(u *domain.User) error { u.Permissions, u.Groups, u.Disabled = rights, nil, false; return nil }
	_, err = f.store.EditUser(t.Context(), before, second.Email, restore)
	f.try(err)
	for what, demote := range map[string]func(*domain.User){
		"disabled":            func(u *domain.User) { u.Disabled = true },
		"attached to a group": func(u *domain.User) { u.Groups = []int64{vans} },
		"without the right":   func(u *domain.User) { u.Permissions = rights[1:] },
	} {
		boss := &domain.Caller{Permissions: domain.AllPermissions(), Scope: f.scope}
		_, err := f.store.EditUser(t.Context(), boss, second.Email, func(u *domain.User) error { f.try(restore(u)); demote(u); return nil })
		f.try(err)
		_, err = f.store.EditUser(t.Context(), before, second.Email, restore)
		f.wants(err, domain.KindForbidden, what)
		_, err = f.store.CreateUser(t.Context(), before, domain.User{Email: "third@acme.example"})
		f.wants(err, domain.KindForbidden, what)
	}
}

// The fixed address of a subscriber is audited, is that of one subscriber, and is changed by
// users of the whole company alone: usage is reported by it.
func TestAFixedAddressIsEditedByTheWholeCompany(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	to := func(address string) func(*domain.Subscriber) error {
		return func(s *domain.Subscriber) error {
			s.FixedIPAddress = &address
			return nil
		}
	}
	for _, edit := range []struct {
		scope       domain.Scope
		id, address string
		kind        domain.ErrorKind
	}{
		{f.scope, "p1", "10.1.2.3", ""}, {f.scope, "p3", "10.1.2.3", domain.KindInvalid}, {of(vans), "p1", "10.1.2.4", domain.KindForbidden},
		{f.scope, "p1", "2001:DB8::1", domain.KindInvalid}, {f.scope, "p1", "2001:db8::1", ""}, {f.scope, "p3", "10.1.2.3", ""},
	} {
		_, err := f.store.EditSubscriber(t.Context(), edit.scope, edit.id, to(edit.address))
		f.wants(err, edit.kind, edit.id+" "+edit.address)
	}
	if n := f.int(`SELECT count(*) FROM audit_log WHERE changes::text LIKE '%"fixedIpAddress"%2001:db8::1%'`); n != 1 {
		t.Errorf("%d entries of the audit log have the address", n)
	}
}
