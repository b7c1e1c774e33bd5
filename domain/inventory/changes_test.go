package inventory_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"simgraph/domain"
	"simgraph/domain/inventory"
)

// written are changes as lines, with - for nothing.
func written(of []domain.AuditChange) string {
	text := func(p *string) string {
		if p == nil {
			return "-"
		}
		return *p
	}
	lines := make([]string, len(of))
	for i, c := range of {
		lines[i] = c.Field + ": " + text(c.Before) + " > " + text(c.After)
	}
	return strings.Join(lines, "; ")
}

// Every field that a new subscriber has in the audit log is edited here.
var edits = []struct {
	edit func(s *domain.Subscriber)
	want string
}{
	{func(s *domain.Subscriber) { s.Kind = domain.Satellite }, "kind: cellular > satellite"},
	{func(s *domain.Subscriber) { s.SubscriberID = "1" }, "subscriberId: 447700900001 > 1"},
	{func(s *domain.Subscriber) { s.DataNumber = nil }, "dataNumber: 447700900101 > -"},
	{func(s *domain.Subscriber) { s.IMSI = "" }, "imsi: 234150000000001 > "},
	{func(s *domain.Subscriber) { s.FixedIPAddress = new("10.0.0.2") }, "fixedIpAddress: 10.0.0.1 > 10.0.0.2"},
	{func(s *domain.Subscriber) { s.Nickname = "van 2" }, "nickname: van 1 > van 2"},
	{func(s *domain.Subscriber) { s.OperatorCode = "23410" }, "operatorCode: 23415 > 23410"},
	{func(s *domain.Subscriber) { s.TariffName = new("IoT 900") }, "tariffName: IoT 50 > IoT 900"},
	{func(s *domain.Subscriber) { s.ContractLength = new(12) }, "contractLength: 36 > 12"},
	{func(s *domain.Subscriber) { s.ConnectionDate = connected.Add(time.Nanosecond) }, "connectionDate: 2024-01-01T00:00:00Z > 2024-01-01T00:00:00.000000001Z"},
	{func(s *domain.Subscriber) { s.ExpiryDate = s.ExpiryDate.AddDate(1, 0, 0) }, "expiryDate: 2027-01-01T00:00:00Z > 2028-01-01T00:00:00Z"},
	{func(s *domain.Subscriber) { s.TerminateDate = nil }, "terminateDate: 2026-01-01T00:00:00Z > -"},
	{func(s *domain.Subscriber) { s.IsBarred = true }, "isBarred: false > true"},
	{func(s *domain.Subscriber) { s.IsActive = false }, "isActive: true > false"},
	{func(s *domain.Subscriber) { s.GroupID = new(int64(13)) }, "groupId: 12 > 13"},
	{func(s *domain.Subscriber) { s.SubscriberType = domain.Physical }, "subscriberType: virtual > physical"},
	{func(s *domain.Subscriber) { s.EID = new("8902") }, "eid: 8901 > 8902"},
	{func(s *domain.Subscriber) { s.SMDPProvider = nil }, "smdpProvider: Valid > -"},
	{func(s *domain.Subscriber) { s.ParentPhysicalID = new("p2") }, "parent: p0 > p2"},
	{func(s *domain.Subscriber) { s.IsEnabledOnParent = new(false) }, "isEnabledOnParent: true > false"},
}

func TestTheAuditLogHasTheFieldsThatAnEditChanges(t *testing.T) {
	t.Parallel()
	var tried []string
	for _, c := range edits {
		before := van()
		after := *before
		c.edit(&after)
		if got := written(inventory.Changes(before, &after)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		name, _, _ := strings.Cut(c.want, ":")
		tried = append(tried, name)
	}
	var all []string
	for _, change := range inventory.Changes(nil, van()) {
		if change.Before != nil {
			t.Errorf("before a new subscriber, %s was %s", change.Field, *change.Before)
		}
		if shown := inventory.Text(van(), change.Field); shown == nil || *shown != *change.After {
			t.Errorf("%s is %s, and as a text %v", change.Field, *change.After, shown)
		}
		all = append(all, change.Field)
	}
	if !slices.Equal(tried, all) {
		t.Errorf("edited are %v\nof %v", tried, all)
	}
	if inventory.Text(van(), "key") != nil {
		t.Error("the log has no field key")
	}
}

// The log has a field where its text differs, and the way back has the same changes with their sides swapped.
func TestChangesBackAreTheChangesSwapped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, after, want := van(), van(), 0
		for i := range edits {
			switch rapid.IntRange(0, 3).Draw(t, "side") {
			case 0:
				edits[i].edit(before)
				want++
			case 1:
				edits[i].edit(after)
				want++
			case 2:
				edits[i].edit(before)
				edits[i].edit(after)
			}
		}
		there, back := inventory.Changes(before, after), inventory.Changes(after, before)
		if len(there) != want {
			t.Fatalf("%d changes, want %d: %s", len(there), want, written(there))
		}
		for i := range back {
			back[i].Before, back[i].After = back[i].After, back[i].Before
		}
		if written(there) != written(back) {
			t.Fatalf("there %s\nback %s", written(there), written(back))
		}
	})
}

func TestTheAuditLogHasTheGroupsThatAUserLeftAndJoined(t *testing.T) {
	t.Parallel()
	before := domain.User{Permissions: []domain.Permission{"B", "A", "B"}, Groups: []int64{1, 2, 3}}
	for _, c := range []struct {
		after domain.User
		want  string
	}{
		{before, ""},
		{domain.User{Permissions: []domain.Permission{"A", "B"}, Groups: []int64{3, 2, 1}}, ""},
		{domain.User{Permissions: []domain.Permission{"A"}, Groups: []int64{1, 2, 3}}, "permissions: A B > A"},
		{domain.User{Permissions: before.Permissions, Groups: []int64{2, 3, 5, 4}}, "groups: 1 > 4 5"},
		{domain.User{Permissions: before.Permissions, Groups: nil}, "groups: 1 2 3 > "},
		{domain.User{Permissions: before.Permissions, Groups: before.Groups, Disabled: true}, "disabled: false > true"},
	} {
		if got := written(inventory.UserChanges(&before, &c.after)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if !slices.Equal(before.Groups, []int64{1, 2, 3}) || before.Permissions[0] != "B" {
		t.Errorf("the account itself is changed: %+v", before)
	}
}
