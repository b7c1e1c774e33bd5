package inventory_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"simgraph/domain"
	"simgraph/domain/inventory"
	"simgraph/internal/fatal"
)

var connected = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// van is a subscriber of group 12 that breaks no rule, and has a value in every field.
func van() *domain.Subscriber {
	return &domain.Subscriber{
		Kind: domain.Cellular, PhysicalID: "p1", SubscriberID: "447700900001", DataNumber: new("447700900101"), IMSI: "234150000000001", FixedIPAddress: new("10.0.0.1"),
		Nickname: "van 1", OperatorCode: "23415", TariffName: new("IoT 50"), ContractLength: new(36), ConnectionDate: connected, ExpiryDate: connected.AddDate(3, 0, 0),
		TerminateDate: new(connected.AddDate(2, 0, 0)), IsActive: true, GroupID: new(int64(12)), SubscriberType: domain.Virtual, EID: new("8901"), SMDPProvider: new("Valid"),
		ParentPhysicalID: new("p0"), IsEnabledOnParent: new(true),
	}
}

func kindOf(err error) string {
	if err == nil {
		return ""
	}
	fault, is := domain.AsError(err)
	if !is {
		return err.Error()
	}
	if fault.Kind == domain.KindForbidden {
		return string(fault.Kind)
	}
	return string(fault.Kind) + " " + fault.Field
}

// A user of groups 12 and 13, of which 12 hides tariff details, and one of the whole company try the same.
func TestWhatAUserOfGroupsMayEdit(t *testing.T) {
	t.Parallel()
	groupsOnly := domain.Scope{Company: 1, Groups: []int64{12, 13}, Masked: []int64{12}}
	const invalid, forbidden = "INVALID_PARAMETER ", "FORBIDDEN"
	for _, c := range []struct {
		name                string
		before, edit        func(s *domain.Subscriber)
		whole, ofGroupsOnly string
	}{
		{"nothing", nil, func(*domain.Subscriber) {}, "", ""},
		{"the nickname", nil, func(s *domain.Subscriber) { s.Nickname = "van 2" }, "", ""},
		{"a nickname that no subscriber can have", nil, func(s *domain.Subscriber) { s.Nickname = "van\x00" }, invalid + "nickname", invalid + "nickname"},
		{"another field of one with such a nickname", func(s *domain.Subscriber) { s.Nickname = "van\x00" }, func(s *domain.Subscriber) { s.IsBarred = true }, "", ""},
		{"a blank number", nil, func(s *domain.Subscriber) { s.SubscriberID = " " }, invalid + "subscriberId", invalid + "subscriberId"},
		{"the IMSI", nil, func(s *domain.Subscriber) { s.IMSI = "234150000000002" }, "", forbidden},
		{"the number", nil, func(s *domain.Subscriber) { s.SubscriberID = "447700900002" }, "", forbidden},
		{"the data number", nil, func(s *domain.Subscriber) { s.DataNumber = nil }, "", forbidden},
		{"the fixed address", nil, func(s *domain.Subscriber) { s.FixedIPAddress = new("10.0.0.2") }, "", forbidden},
		{"an equal fixed address", nil, func(s *domain.Subscriber) { s.FixedIPAddress = new("10.0.0.1") }, "", ""},
		{"the connection date", nil, func(s *domain.Subscriber) { s.ConnectionDate = connected.Add(time.Second) }, "", forbidden},
		{"the connection date in another zone", nil, func(s *domain.Subscriber) { s.ConnectionDate = connected.In(time.FixedZone("", 3600)) }, "", ""},
		{"the parent", nil, func(s *domain.Subscriber) { s.ParentPhysicalID = new("p2") }, "", forbidden},
		{"whether it is enabled on it", nil, func(s *domain.Subscriber) { s.IsEnabledOnParent = new(false) }, "", forbidden},
		{"a tariff that is hidden", nil, func(s *domain.Subscriber) { s.TariffName = new("IoT 900") }, "", forbidden},
		{"a hidden tariff to the same", nil, func(s *domain.Subscriber) { s.TariffName = new("IoT 50") }, "", forbidden},
		{"a hidden length", nil, func(s *domain.Subscriber) { s.ContractLength = new(12) }, "", forbidden},
		{"a tariff that is shown", func(s *domain.Subscriber) { s.GroupID = new(int64(13)) }, func(s *domain.Subscriber) { s.TariffName = new("IoT 900") }, "", ""},
		{"the group, out of one that hides", nil, func(s *domain.Subscriber) { s.GroupID = new(int64(13)) }, "", forbidden},
		{"the group, into one that hides", func(s *domain.Subscriber) { s.GroupID = new(int64(13)) }, func(s *domain.Subscriber) { s.GroupID = new(int64(12)) }, "", ""},
		{"the group, to none", nil, func(s *domain.Subscriber) { s.GroupID = nil }, "", forbidden},
		{"the group, to one of others", nil, func(s *domain.Subscriber) { s.GroupID = new(int64(14)) }, "", "INVALID_PROPERTY groupId"},
		{"the group to the same", nil, func(s *domain.Subscriber) { s.GroupID = new(int64(12)) }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := van()
			if c.before != nil {
				c.before(before)
			}
			after := *before
			c.edit(&after)
			if got := kindOf(inventory.CheckEdit(domain.Whole(1), before, &after)); got != c.whole {
				t.Errorf("a user of the company gets %q, want %q", got, c.whole)
			}
			if got := kindOf(inventory.CheckEdit(groupsOnly, before, &after)); got != c.ofGroupsOnly {
				t.Errorf("a user of groups gets %q, want %q", got, c.ofGroupsOnly)
			}
		})
	}
}

// No edit takes a subscriber out of the sight of its user, or out of a group that hides to one that shows.
func TestAMoveKeepsASubscriberInSight(t *testing.T) {
	t.Parallel()
	group := rapid.SampledFrom([]*int64{nil, new(int64(1)), new(int64(2)), new(int64(3)), new(int64(4))})
	rapid.Check(t, func(t *rapid.T) {
		visible, masked := rapid.SliceOfDistinct(rapid.Int64Range(1, 4), func(n int64) int64 { return n }), rapid.Int64Range(0, 15)
		scope := domain.Scope{Company: 1, Groups: append([]int64{}, visible.Draw(t, "visible")...)}
		sees, hides := map[int64]bool{}, map[int64]bool{}
		bits := masked.Draw(t, "masked")
		for _, group := range scope.Groups {
			sees[group] = true
			if bits>>(group-1)&1 == 1 {
				scope.Masked, hides[group] = append(scope.Masked, group), true
			}
		}
		before := van()
		if before.GroupID = group.Draw(t, "from"); before.GroupID == nil || !sees[*before.GroupID] {
			t.Skip("it is not seen before")
		}
		after := *before
		after.GroupID = group.Draw(t, "to")
		stays := after.GroupID != nil && *after.GroupID == *before.GroupID
		allowed := stays || after.GroupID != nil && sees[*after.GroupID] && (!hides[*before.GroupID] || hides[*after.GroupID])
		if err := inventory.CheckEdit(scope, before, &after); (err == nil) != allowed {
			t.Fatalf("%v of %v: %v", scope.Groups, scope.Masked, err)
		}
	})
}

func TestTheWholeCompanyAlone(t *testing.T) {
	t.Parallel()
	fatal.If(t, inventory.WholeCompany(domain.Whole(1), "tariffs"))
	for _, groups := range [][]int64{{}, {12}} {
		if got := kindOf(inventory.WholeCompany(domain.Scope{Company: 1, Groups: groups}, "tariffs")); got != "FORBIDDEN" {
			t.Errorf("a user of the groups %v gets %q", groups, got)
		}
	}
}

func TestACallerChangesUsersByTheRightsOfTheAccountNow(t *testing.T) {
	t.Parallel()
	caller := &domain.Caller{Permissions: []domain.Permission{domain.ViewUserDetails, domain.ViewSubscriber}}
	for _, c := range []struct {
		name    string
		account domain.User
		want    string
	}{
		{"as before", domain.User{Permissions: caller.Permissions}, "VIEW_A_USERS_DETAILS VIEW_SUBSCRIBER"},
		{"with one less", domain.User{Permissions: []domain.Permission{domain.ViewUserDetails}}, "VIEW_A_USERS_DETAILS"},
		{"with one more, which the token has not", domain.User{Permissions: []domain.Permission{domain.ViewUserDetails, domain.UpdateSubscriber}}, "VIEW_A_USERS_DETAILS"},
		{"without the one for users", domain.User{Permissions: []domain.Permission{domain.ViewSubscriber}}, "FORBIDDEN"},
		{"disabled", domain.User{Permissions: caller.Permissions, Disabled: true}, "FORBIDDEN"},
		{"in a group", domain.User{Permissions: caller.Permissions, Groups: []int64{12}}, "FORBIDDEN"},
	} {
		now, err := inventory.Current(caller, &c.account)
		got := kindOf(err)
		if err == nil {
			got = textOf(now.Permissions)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if textOf(caller.Permissions) != "VIEW_A_USERS_DETAILS VIEW_SUBSCRIBER" {
			t.Fatalf("%s: the caller itself is changed", c.name)
		}
	}
}

func textOf(of []domain.Permission) (text string) {
	for i, p := range of {
		if i > 0 {
			text += " "
		}
		text += string(p)
	}
	return text
}

func TestNobodyGivesOrTakesWhatTheyHaveNot(t *testing.T) {
	t.Parallel()
	const view, edit = domain.ViewSubscriber, domain.UpdateSubscriber
	caller := &domain.Caller{Permissions: []domain.Permission{domain.ViewUserDetails, view}}
	user := func(permissions ...domain.Permission) *domain.User {
		return &domain.User{Email: "u@acme.example", Permissions: permissions}
	}
	tooMany := user()
	for n := range domain.MaxBatch + 1 {
		tooMany.Groups = append(tooMany.Groups, int64(n+1))
	}
	atMost := user()
	atMost.Groups = tooMany.Groups[1:]
	for _, c := range []struct {
		name          string
		before, after *domain.User
		want          string
	}{
		{"what the caller has", user(view), user(view, domain.ViewUserDetails), ""},
		{"gives another one", user(), user(edit), "FORBIDDEN"},
		{"takes another one", user(edit), user(), "FORBIDDEN"},
		{"leaves another one", user(edit), user(edit), "FORBIDDEN"},
		{"an unknown one", user(), user("FLY"), "INVALID_PARAMETER permissions"},
		{"as many groups as there may be", user(), atMost, ""},
		{"one group more", user(), tooMany, "INVALID_PARAMETER " + domain.UserGroupsField},
	} {
		if got := kindOf(inventory.CheckUserEdit(caller, c.before, c.after)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAnAdministratorIsEnabledAndOfTheWholeCompany(t *testing.T) {
	t.Parallel()
	all := []domain.Permission{domain.ViewSubscriber, domain.ViewUserDetails}
	for _, c := range []struct {
		user domain.User
		want bool
	}{
		{domain.User{Permissions: all}, true}, {domain.User{Permissions: all[:1]}, false}, {domain.User{Permissions: all, Disabled: true}, false},
		{domain.User{Permissions: all, Groups: []int64{12}}, false},
	} {
		if got := inventory.Administers(&c.user); got != c.want {
			t.Errorf("%+v: %v", c.user, got)
		}
	}
}

// An edit that some record can take passes the trial, and the error of one that none can take is that of the trial.
func TestAnEditIsTriedOnARecordThatBreaksNoRule(t *testing.T) {
	t.Parallel()
	refused := domain.Forbidden("no")
	subscriber := func(edit func(*domain.Subscriber)) error {
		return inventory.TrySubscriber("p1", func(s *domain.Subscriber) error { edit(s); return nil })
	}
	group := func(name string) error {
		return inventory.TryGroup(func(g *domain.Group) error { g.Name = name; return nil })
	}
	tariff := func(rental int) error {
		return inventory.TryTariff(func(f *domain.Tariff) error { f.LineRental = rental; return nil })
	}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"nothing of a subscriber", subscriber(func(*domain.Subscriber) {}), ""},
		{"a connection date", subscriber(func(s *domain.Subscriber) { s.ConnectionDate = connected }), ""},
		{"an expiry date before it", subscriber(func(s *domain.Subscriber) { s.ConnectionDate, s.ExpiryDate = connected, connected.Add(-1) }), "INVALID_PARAMETER expiryDate"},
		{"a blank operator", subscriber(func(s *domain.Subscriber) { s.OperatorCode = "" }), "INVALID_PARAMETER operatorCode"},
		{"itself as parent", subscriber(func(s *domain.Subscriber) { s.ParentPhysicalID, s.IsEnabledOnParent = new("p1"), new(true) }), "INVALID_PARAMETER parent"},
		{"an error of the edit", inventory.TrySubscriber("p1", func(*domain.Subscriber) error { return refused }), "FORBIDDEN"},
		{"the name of a group", group("Vans"), ""},
		{"no name of a group", group(""), "INVALID_PARAMETER name"},
		{"an error of a group's edit", inventory.TryGroup(func(*domain.Group) error { return refused }), "FORBIDDEN"},
		{"a rental", tariff(0), ""},
		{"a rental below nothing", tariff(-1), "INVALID_PARAMETER lineRental"},
		{"an error of a tariff's edit", inventory.TryTariff(func(*domain.Tariff) error { return refused }), "FORBIDDEN"},
		{"nothing of a user", inventory.TryUser(func(*domain.User) error { return nil }), ""},
		{"group 0 of a user", inventory.TryUser(func(u *domain.User) error { u.Groups = []int64{0}; return nil }), "INVALID_PARAMETER groupId"},
		{"too many groups of a user", inventory.TryUser(func(u *domain.User) error {
			for n := range domain.MaxBatch + 1 {
				u.Groups = append(u.Groups, int64(n+1))
			}
			return nil
		}), "INVALID_PARAMETER " + domain.UserGroupsField},
		{"an error of a user's edit", inventory.TryUser(func(*domain.User) error { return refused }), "FORBIDDEN"},
	} {
		if got := kindOf(c.err); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
