package db_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/audit"
	"simgraph/db/condition"
	"simgraph/db/fleettest"
	"simgraph/db/note"
	"simgraph/db/silence"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/volume"
	"simgraph/domain"
	conditions "simgraph/domain/condition"
	notes "simgraph/domain/note"
	"simgraph/domain/query"
	silences "simgraph/domain/silence"
	"simgraph/internal/fatal"
)

// aboutSubscribers changes what is about the subscriber one, a tag and a silence of two as well.
func aboutSubscribers(t *testing.T, scope domain.Scope, one, two *domain.Subscriber) (audit.Log, []string) {
	t.Helper()
	pool, ctx := fleettest.NewInventory(t), t.Context()
	tags, alerts, hold := tag.New(pool), volume.NewAlerts(pool, time.Now), silence.New(pool, time.Now)
	watch, pins := condition.New(pool, time.Now), note.New(pool, time.Now)
	fleettest.Must[int](t)(tags.Attach(ctx, scope, "sold", []string{one.PhysicalID, two.PhysicalID}))
	fatal.If(t, tags.Detach(ctx, scope, "sold", []string{one.PhysicalID}))
	alert := fleettest.Must[*domain.VolumeAlert](t)(alerts.Create(ctx, scope, domain.AlertSpec{RuleType: domain.RuleSIM, Target: one.SubscriberID, LowerThreshold: 1, UpperThreshold: 2}))
	fleettest.Must[*domain.VolumeAlert](t)(alerts.Edit(ctx, scope, alert.AlertID, domain.AlertEdit{UpperThreshold: new(int64(3))}))
	fleettest.Must[*domain.VolumeAlert](t)(alerts.Remove(ctx, scope, alert.AlertID))
	fleettest.Must[*domain.VolumeAlert](t)(alerts.Create(ctx, scope, domain.AlertSpec{RuleType: domain.RuleCompany, LowerThreshold: 1, UpperThreshold: 2}))
	silent := fleettest.Must[*conditions.Alert](t)(watch.Create(ctx, scope, conditions.Spec{RuleType: domain.RuleSIM, Target: one.SubscriberID, Condition: conditions.Condition{Kind: conditions.Silent, Bound: 6}}))
	fleettest.Must[*conditions.Alert](t)(watch.Remove(ctx, scope, silent.AlertID))
	held := fleettest.Must[*silences.Silence](t)(hold.Create(ctx, scope, silences.Spec{
		Reason: "firmware", Matcher: silences.Matcher{PhysicalIDs: []string{one.PhysicalID}}, StartsAt: time.Now(), EndsAt: time.Now().Add(time.Hour),
	}))
	fleettest.Must[*silences.Silence](t)(hold.Edit(ctx, scope, held.SilenceID, silences.Edit{Matcher: &silences.Matcher{PhysicalIDs: []string{two.PhysicalID}}}))
	fleettest.Must[*silences.Silence](t)(hold.End(ctx, scope, held.SilenceID))
	pinned := fleettest.Must[*notes.Note](t)(pins.Create(ctx, scope, notes.Note{Text: "swapped", StartsAt: time.Now(), PhysicalID: &one.PhysicalID}))
	fleettest.Must[*notes.Note](t)(pins.Edit(ctx, scope, pinned.NoteID, notes.Edit{Text: new("swapped the antenna")}))
	return *audit.NewLog(pool), []string{
		"note.edit", "note.create", "silence.edit", "silence.create", "alert.delete", "alert.create", "alert.delete", "alert.edit", "alert.create", "tag.detach", "tag.attach",
	}
}

// What is changed of a subscriber from elsewhere is found by the subscriber: also a tag that
// nobody carries any more, and a silence that named it.
func TestTheAuditLogFindsWhatIsAboutASubscriber(t *testing.T) {
	t.Parallel()
	seen := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscriber.New(fleettest.NewInventory(t)).List(t.Context(), fleettest.All, domain.Listing{Page: domain.Page{Limit: 2}, Projection: fleettest.EveryField})).Items
	one, two := seen[0], seen[1]
	log, want := aboutSubscribers(t, fleettest.All.By(&domain.Actor{UserID: 1, Name: "ops@acme.example"}), one, two)
	about := func(id string, op query.Op) []string {
		filter := fleettest.Must[query.Expr](t)(query.Compare(domain.AuditFields, "physicalIds", op, id))
		found := fleettest.Must[domain.Slice[*domain.AuditEntry]](t)(log.List(t.Context(), fleettest.All, domain.Listing{Filter: filter, Page: domain.Page{Limit: 100}}))
		var actions []string
		for _, e := range found.Items {
			if slices.Contains(e.PhysicalIDs, id) != (op == query.Eq) {
				t.Errorf("%s %s: %q", op, id, e.PhysicalIDs)
			}
			actions = append(actions, e.Action)
		}
		return actions
	}
	if got := about(one.PhysicalID, query.Eq); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := about(two.PhysicalID, query.Eq); strings.Join(got, " ") != "silence.end silence.edit tag.attach" {
		t.Errorf("of the second: %q", got)
	}
	if got := about(one.PhysicalID, query.Ne); !slices.Contains(got, "alert.create") || !slices.Contains(got, "silence.end") {
		t.Errorf("of others: %q", got)
	}
	fleettest.Must[domain.AuditMark](t)(fleettest.Verified(t.Context(), &log, fleettest.Acme))
}

// The version before, which knows no subscribers of an entry, verifies it.
func TestTheHashOfAnEntryLeavesItsSubscribersOut(t *testing.T) {
	t.Parallel()
	plain, about := domain.AuditEntry{Reason: "a"}, domain.AuditEntry{Reason: "a", PhysicalIDs: []string{"a", "b"}}
	if string(plain.Content(1)) != string(about.Content(1)) {
		t.Error("the hash covers the subscribers of an entry")
	}
}

// notFoundBySubscriber are the sources whose entries list subscribers and are not found by them.
var notFoundBySubscriber = map[string]string{"bulk/note.go": "Subscriber.operationResults has each of them"}

var listsSubscribers = regexp.MustCompile(`(audit\.Names\(|Name: )"physicalIds?"`)

func TestWhatListsSubscribersInTheAuditLogIsFoundByThem(t *testing.T) {
	t.Parallel()
	listing := 0
	fatal.If(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil || !listsSubscribers.Match(source) || notFoundBySubscriber[filepath.ToSlash(path)] != "" {
			return err
		}
		listing++
		if !regexp.MustCompile(`PhysicalIDs(:| =)|About:`).Match(source) {
			t.Errorf("%s lists subscribers in the audit log, and does not set PhysicalIDs of the entry", path)
		}
		return nil
	}))
	if listing < 3 {
		t.Errorf("%d sources list subscribers", listing)
	}
}
