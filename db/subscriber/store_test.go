package subscriber_test

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/subscriber"
	"simgraph/domain"
	"simgraph/domain/query"
)

func TestASubscriberIsFoundWithAllItsFields(t *testing.T) {
	t.Parallel()
	store := newSubscribers(t)
	got := fleettest.Must[*domain.Subscriber](t)(store.Find(t.Context(), fleettest.All, "p02", fleettest.EveryField))
	if got.OperatorName != "O2 UK" || *got.TariffName != "IoT 50" || *got.LineRental != 50 || *got.ContractLength != 36 ||
		*got.GroupID != 12 || got.SubscriberType != domain.Virtual || *got.ParentPhysicalID != "p01" || !*got.IsEnabledOnParent {
		t.Fatalf("got %+v", got)
	}
}

func TestAScopeHidesWhatItDoesNotShow(t *testing.T) {
	t.Parallel()
	store := newSubscribers(t)
	ctx := t.Context()
	for _, id := range []string{"p07", "p09", "unknown"} {
		_, err := store.Find(ctx, fleettest.VansOnly, id, fleettest.EveryField)
		fleettest.WantKind(t, err, domain.KindNotFound)
		_, err = store.EditNickname(ctx, fleettest.VansOnly, id, "mine")
		fleettest.WantKind(t, err, domain.KindNotFound)
	}
	slice := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(store.List(ctx, fleettest.VansOnly, fleettest.Listing(t, "", "", 100)))
	fleettest.WantIDs(t, slice.Items, "p01", "p02", "p03", "p04", "p05", "p06")
	if n := fleettest.Must[int](t)(store.Count(ctx, fleettest.VansOnly, fleettest.Listing(t, "", "", 1))); n != 6 {
		t.Fatalf("counted %d", n)
	}
	fleet := fleettest.Must[domain.FleetCounts](t)(store.Fleet(ctx, fleettest.VansOnly))
	if fleet != (domain.FleetCounts{Total: 6, Active: 5, Barred: 1, Online: 3}) {
		t.Fatalf("got %+v", fleet)
	}
	byGroup := fleettest.Must[map[int64]domain.Slice[*domain.Subscriber]](t)(store.OfGroups(ctx, fleettest.VansOnly, []int64{12, 13}, fleettest.Listing(t, "", "", 2)))
	fleettest.WantIDs(t, byGroup[12].Items, "p01", "p02")
	fleettest.WantIDs(t, byGroup[13].Items)
	byTag := fleettest.Must[map[domain.TagName]domain.Slice[*domain.Subscriber]](t)(store.OfTags(ctx, fleettest.VansOnly, []domain.TagName{"fleet", "z"}, fleettest.Listing(t, "", "", 9)))
	fleettest.WantIDs(t, byTag["fleet"].Items, "p01", "p02", "p03", "p04")
	fleettest.WantIDs(t, byTag["z"].Items)
}

// An edit is of one subscriber, also the version that it expects.
func TestAnEditIsOfOneSubscriber(t *testing.T) {
	t.Parallel()
	store, ctx := newSubscribers(t), t.Context()
	scope := fleettest.All
	version := fleettest.Must[*domain.Subscriber](t)(store.Find(ctx, scope, "p03", fleettest.EveryField)).VersionFor(scope)
	scope.ExpectedVersion = &version
	edited := fleettest.Must[*domain.Subscriber](t)(store.EditNickname(ctx, scope, "p03", "lorry"))
	other := fleettest.Must[*domain.Subscriber](t)(store.Find(ctx, fleettest.All, "p01", fleettest.EveryField))
	if edited.PhysicalID != "p03" || edited.Nickname != "lorry" || other.Nickname != "van 1" {
		t.Fatalf("got %s as %q, and %q", edited.PhysicalID, edited.Nickname, other.Nickname)
	}
	_, err := store.EditNickname(ctx, scope, "p03", "van")
	fleettest.WantKind(t, err, domain.KindStale)
}

func TestAnEditOfOneCompanyLeavesTheOtherAlone(t *testing.T) {
	t.Parallel()
	store := newSubscribers(t)
	edited := fleettest.Must[*domain.Subscriber](t)(store.EditNickname(t.Context(), fleettest.All, "p01", "lorry"))
	other := fleettest.Must[*domain.Subscriber](t)(store.Find(t.Context(), domain.Whole(fleettest.Rival), "p01", fleettest.EveryField))
	if edited.Nickname != "lorry" || other.Nickname != "van 1" {
		t.Fatalf("got %q and %q", edited.Nickname, other.Nickname)
	}
}

func TestAHiddenTariffIsNull(t *testing.T) {
	t.Parallel()
	store := newSubscribers(t)
	got := fleettest.Must[*domain.Subscriber](t)(store.Find(t.Context(), fleettest.VansOnly, "p01", fleettest.EveryField))
	if got.TariffName != nil || got.LineRental != nil || got.ContractLength != nil {
		t.Fatalf("got %v %v %v", got.TariffName, got.LineRental, got.ContractLength)
	}
	for filter, want := range map[string][]string{
		`tariffName eq "IoT 50"`:                                     {},
		`not lineRental gt 10`:                                       {},
		`tariffName eq null`:                                         {},
		`contractLength eq 36 or physicalId eq "p03"`:                {"p03"},
		`not (contractLength eq 36 and physicalId eq "p03")`:         {"p01", "p02", "p04", "p05", "p06"},
		`isBarred eq true and (lineRental gt 1 or isActive eq true)`: {"p05"},
	} {
		slice := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(store.List(t.Context(), fleettest.VansOnly, fleettest.Listing(t, filter, "", 100)))
		if got := fleettest.PhysicalIDs(slice.Items); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", filter, got, want)
		}
	}
	// Ordering treats what is hidden as null, so the identity decides.
	slice := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(store.List(t.Context(), fleettest.VansOnly, fleettest.Listing(t, "", "lineRental DESC", 100)))
	fleettest.WantIDs(t, slice.Items, "p01", "p02", "p03", "p04", "p05", "p06")
}

func TestAParentOutsideTheScopeIsNotShown(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	pool.MustExec(`UPDATE subscribers SET group_id = 13 WHERE physical_id = 'p01'`)
	got := fleettest.Must[*domain.Subscriber](t)(subscriber.New(pool).Find(t.Context(), fleettest.VansOnly, "p02", fleettest.EveryField))
	if got.ParentKey != nil || got.ParentPhysicalID != nil || got.IsEnabledOnParent != nil {
		t.Fatalf("got %+v", got)
	}
}

func TestAProfileOutsideTheScopeIsNotFiltered(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	pool.MustExec(`UPDATE subscribers SET group_id = 13 WHERE physical_id = 'p02'`)
	for filter, want := range map[string][]string{
		"related.profiles.physicalId eq p02": nil,
		"related.profiles.physicalId eq p03": {"p01"},
	} {
		slice := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscriber.New(pool).List(t.Context(), fleettest.VansOnly, fleettest.Listing(t, filter, "", 100)))
		fleettest.WantIDs(t, slice.Items, want...)
	}
}

func TestFiltersReachEveryField(t *testing.T) {
	t.Parallel()
	store := newSubscribers(t)
	for filter, want := range map[string][]string{
		`tags eq "z"`:                                                       {"p08"},
		`tags ne "fleet" and groupId eq 12`:                                 {"p05", "p06"},
		`related.parent.physicalId eq "p01"`:                                {"p02", "p03"},
		`related.parent.isEnabledOnParent eq true`:                          {"p02"},
		`related.profiles.physicalId eq p03`:                                {"p01"},
		`related.profiles.physicalId in ("p02", "p03", "p04")`:              {"p01"},
		`related.profiles.physicalId ne p02 and groupId eq 12`:              {"p02", "p03", "p04", "p05", "p06"},
		`not related.profiles.physicalId ne p02`:                            {"p01"},
		`terminateDate ne null`:                                             {"p06"},
		`groupId eq null`:                                                   {"p09"},
		`operatorName like "o2" and lineRental gt 100`:                      {"p06"},
		`connectionDate eq 2024-01-01`:                                      {"p04", "p08"},
		`networkState.isTransferring eq true`:                               {"p07"},
		`dataUsage gt 0`:                                                    {},
		`dataUsage eq 0 and isBarred eq true`:                               {"p05"},
		`subscriberType eq "virtual" and not networkState.isOnline eq true`: {"p02"},
		`physicalId in ("p01", "p09", "p99") or imsi eq "2341505"`:          {"p01", "p05", "p09"},
	} {
		got := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(store.List(t.Context(), fleettest.All, fleettest.Listing(t, filter, "", 100)))
		if ids := fleettest.PhysicalIDs(got.Items); !slices.Equal(ids, want) {
			t.Errorf("%s: got %v, want %v", filter, ids, want)
		}
		if n := fleettest.Must[int](t)(store.Count(t.Context(), fleettest.All, fleettest.Listing(t, filter, "", 100))); n != len(want) {
			t.Errorf("%s: counted %d, want %d", filter, n, len(want))
		}
	}
}

// Every order, walked from cursor to cursor in both directions, shows each
// subscriber once and in the order of the whole list.
func TestWalkingAnyOrderShowsEachSubscriberOnce(t *testing.T) {
	t.Parallel()
	store := newSubscribers(t)
	var orders []string
	for _, field := range domain.SubscriberFields.All() {
		if field.Type != query.Set {
			orders = append(orders, field.Name, field.Name+" DESC", field.Name+" DESC, connectionDate, isActive DESC")
		}
	}
	orders = append(orders, "", "terminateDate, groupId DESC, isBarred")
	for _, order := range orders {
		if order == "connectionDate DESC, connectionDate, isActive DESC" || order == "isActive DESC, connectionDate, isActive DESC" {
			continue // a field is named once
		}
		t.Run(order, func(t *testing.T) {
			for _, scope := range []domain.Scope{fleettest.All, fleettest.VansOnly} {
				whole := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(store.List(t.Context(), scope, fleettest.Listing(t, "", order, 100)))
				want := fleettest.PhysicalIDs(whole.Items)
				for _, backward := range []bool{false, true} {
					if got := walk(t, store, scope, fleettest.Listing(t, "", order, 2), backward); !slices.Equal(got, want) {
						t.Errorf("backward %v: got %v, want %v", backward, got, want)
					}
				}
			}
		})
	}
}

func walk(t *testing.T, store domain.Subscribers, scope domain.Scope, part domain.Listing, backward bool) []string {
	t.Helper()
	part.Page.Backward = backward
	var walked []string
	for range 20 {
		slice := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(store.List(t.Context(), scope, part))
		if backward {
			walked = append(fleettest.PhysicalIDs(slice.Items), walked...)
			if !slice.HasPrevious {
				return walked
			}
			part.Page.Cursor = slice.Cursor(0)
			continue
		}
		walked = append(walked, fleettest.PhysicalIDs(slice.Items)...)
		if !slice.HasNext {
			return walked
		}
		part.Page.Cursor = slice.Cursor(len(slice.Items) - 1)
	}
	t.Fatal("the walk does not end")
	return nil
}

func TestAForgedCursorIsRefused(t *testing.T) {
	t.Parallel()
	store := newSubscribers(t)
	first := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(store.List(t.Context(), fleettest.All, fleettest.Listing(t, "", "connectionDate", 2)))
	for name, forged := range map[string]string{
		"no base64":          "%%%",
		"no JSON":            "eyJv",
		"of another order":   first.Cursor(0),
		"without values":     "eyJ2IjpbXX0",
		"with NUL":           "eyJ2IjpbIlx1MDAwMCJdfQ",
		"null of a not null": "eyJ2IjpbbnVsbF19",
	} {
		bad := fleettest.Listing(t, "", "", 2)
		bad.Page.Cursor = forged
		_, err := store.List(t.Context(), fleettest.All, bad)
		if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindInvalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
	bad := fleettest.Listing(t, "", "connectionDate", 2)
	bad.Page.Cursor = "eyJvIjoiY29ubmVjdGlvbkRhdGUgQVNDIiwidiI6WyJ5ZXN0ZXJkYXkiLCJwMDEiXX0"
	_, err := store.List(t.Context(), fleettest.All, bad)
	fleettest.WantKind(t, err, domain.KindInvalid)
}

func TestPartsOfManyParentsAreThoseOfEach(t *testing.T) {
	t.Parallel()
	store := newSubscribers(t)
	part := fleettest.Listing(t, "isActive eq true", "operatorCode DESC", 2)
	ctx := t.Context()
	byGroup := fleettest.Must[map[int64]domain.Slice[*domain.Subscriber]](t)(store.OfGroups(ctx, fleettest.All, []int64{12, 13, 99}, part))
	fleettest.WantIDs(t, byGroup[12].Items, "p01", "p03")
	fleettest.WantIDs(t, byGroup[13].Items, "p07", "p08")
	fleettest.WantIDs(t, byGroup[99].Items)
	if !byGroup[12].HasNext || byGroup[13].HasNext {
		t.Fatal("HasNext is wrong")
	}
	part.Page.Cursor = byGroup[12].Cursor(1)
	more := fleettest.Must[map[int64]domain.Slice[*domain.Subscriber]](t)(store.OfGroups(ctx, fleettest.All, []int64{12}, part))
	fleettest.WantIDs(t, more[12].Items, "p05", "p02")
	counts := fleettest.Must[map[int64]int](t)(store.CountOfGroups(ctx, fleettest.All, []int64{12, 13}, part))
	if fmt.Sprint(counts) != "map[12:5 13:2]" {
		t.Fatalf("counted %v", counts)
	}
	tagged := fleettest.Must[map[domain.TagName]int](t)(store.CountOfTags(ctx, fleettest.All, []domain.TagName{"fleet", "z", "none"}, part))
	if fmt.Sprint(tagged) != "map[fleet:4 z:1]" {
		t.Fatalf("counted %v", tagged)
	}
	profiles := fleettest.Must[map[int64][]*domain.Subscriber](t)(store.ProfilesOf(ctx, fleettest.All, []int64{1, 2}, fleettest.EveryField))
	fleettest.WantIDs(t, profiles[1], "p02", "p03")
}

// TestOnlyTheGivenFieldsAreSelected reads each field of a subscriber alone.
func TestOnlyTheGivenFieldsAreSelected(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	pool.MustExec(`UPDATE subscribers SET data_number = '44', fixed_ip_address = '10.0.0.7', eid = '89', smdp_provider = 'SM', terminate_date = '2025-01-01Z',
  is_barred = true, is_transferring = true, is_online = true WHERE physical_id = 'p02'`)
	pool.MustExec(`INSERT INTO subscriber_seen SELECT company_id, key, '2026-11-02Z' FROM subscribers WHERE physical_id = 'p02'`)
	store := subscriber.New(pool)
	whole := *fleettest.Must[*domain.Subscriber](t)(store.Find(t.Context(), fleettest.All, "p02", fleettest.EveryField))
	for _, field := range reflect.VisibleFields(reflect.TypeFor[domain.Subscriber]()) {
		if field.Name == "Relations" {
			continue // see the test below
		}
		value := reflect.ValueOf(whole).FieldByIndex(field.Index)
		one, ok := domain.FieldNamed(field.Name)
		if !ok || value.IsZero() {
			t.Fatalf("%s is no field of a set, or has no value to compare", field.Name)
		}
		want := domain.Subscriber{Key: whole.Key, PhysicalID: whole.PhysicalID}
		reflect.ValueOf(&want).Elem().FieldByIndex(field.Index).Set(value)
		if got := fleettest.Must[*domain.Subscriber](t)(store.Find(t.Context(), fleettest.All, "p02", domain.Projection{Fields: one})); !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: got %+v, want %+v", field.Name, *got, want)
		}
	}
}

func TestRelationsAreReadWithTheSubscriber(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	pool.MustExec(`INSERT INTO subscriber_periods (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated, last_seen)
SELECT company_id, '2026-11-01Z', key, 5, 7, '2026-11-02Z' FROM subscribers WHERE physical_id = 'p02'`)
	store := subscriber.New(pool)
	november := domain.Projection{Fields: domain.FieldGroup | domain.FieldTariff | domain.FieldTags | domain.FieldDataUsage, PeriodStart: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
	november.Fields |= domain.FieldWithoutProfiles
	vans := &domain.Group{GroupID: 12, Name: "Vans", HideTariffDetails: true}
	tariff := &domain.Tariff{Name: "IoT 50", LineRental: 50, Currency: "GBP"}
	for name, c := range map[string]struct {
		scope domain.Scope
		id    string
		read  domain.Projection
		want  domain.Relations
	}{
		"all of them":         {fleettest.All, "p02", november, domain.Relations{Group: vans, Tariff: tariff, Tags: []domain.TagName{"fleet"}, DataUsage: 12, WithoutProfiles: true}},
		"a hidden tariff":     {fleettest.VansOnly, "p02", november, domain.Relations{Group: vans, Tags: []domain.TagName{"fleet"}, DataUsage: 12, WithoutProfiles: true}},
		"none":                {fleettest.All, "p09", november, domain.Relations{Tariff: &domain.Tariff{Name: "IoT 900", LineRental: 900, Currency: "GBP"}, WithoutProfiles: true}},
		"the usage of no one": {fleettest.All, "p02", domain.Projection{Fields: domain.FieldDataUsage}, domain.Relations{}},
		"not asked for":       {fleettest.All, "p02", fleettest.EveryField, domain.Relations{}},
	} {
		c.want.Loaded = c.read.Fields & november.Fields
		got := fleettest.Must[*domain.Subscriber](t)(store.Find(t.Context(), c.scope, c.id, c.read)).Relations
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
	page := domain.Listing{Page: domain.Page{Limit: 3, Offset: 1}, Projection: november}
	for _, s := range fleettest.Must[domain.Slice[*domain.Subscriber]](t)(store.List(t.Context(), fleettest.All, page)).Items {
		if s.Relations.Loaded != domain.FieldTariff || s.Relations.Tariff == nil {
			t.Errorf("a page with an offset has %+v", s.Relations)
		}
	}
}

func TestACursorAndTheRowBeyondAPageAreReadWhereTheyAreUsed(t *testing.T) {
	t.Parallel()
	store := subscriber.New(fleettest.NewInventory(t))
	order := fleettest.Must[[]query.Order](t)(query.ParseOrder("nickname", domain.SubscriberFields))
	for _, bare := range []bool{false, true} {
		page := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(store.List(t.Context(), fleettest.All,
			domain.Listing{Page: domain.Page{Limit: 3}, Order: order, NoCursors: bare, NoLookahead: bare}))
		if len(page.Items) != 3 || page.HasNext == bare || (page.Cursor(2) == "") != bare {
			t.Errorf("without: %t: %d items, more: %t, cursor %q", bare, len(page.Items), page.HasNext, page.Cursor(2))
		}
	}
}

func TestACrowdCountsByFewStatements(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	pool.SetMaxOpenConns(20)
	store := subscriber.New(pool)
	tx := pool.MustBegin()
	tx.MustExec("LOCK TABLE subscribers IN ACCESS EXCLUSIVE MODE")
	var openSockets sync.WaitGroup
	for range 30 {
		for number, scope := range map[int]domain.Scope{9: fleettest.All, 6: fleettest.VansOnly} {
			openSockets.Go(func() {
				if got, err := store.Count(t.Context(), scope, fleettest.Listing(t, "", "", 1)); err != nil || got != number {
					t.Errorf("got %d, %v instead of %d", got, err, number)
				}
			})
			openSockets.Go(func() {
				if got, err := store.Fleet(t.Context(), scope); err != nil || got.Total != number {
					t.Errorf("got %+v, %v instead of %d", got, err, number)
				}
			})
		}
	}
	counting := func() int { return pool.Stats().InUse - 1 }
	for range 60_000 {
		if counting() >= 8 { // two of each at a time
			break
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	if got := counting(); got != 8 {
		t.Errorf("%d connections count", got)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	openSockets.Wait()
}

func newSubscribers(t testing.TB) *subscriber.Store {
	t.Helper()
	return subscriber.New(fleettest.NewInventory(t))
}
