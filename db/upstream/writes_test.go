package upstream_test

import (
	"cmp"
	"slices"
	"strconv"
	"testing"
	"time"

	"simgraph/db/bundle"
	"simgraph/db/fleettest"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/upstream"
)

// written is an upstream whose nicknames and tags are written through, and that has brought
// some subscribers.
type written struct {
	*fixture
	id   int64
	ids  []string
	tags *tag.Store
}

func newWritten(t *testing.T) *written {
	t.Helper()
	w := &written{fixture: newFixture(t)}
	w.tags = tag.New(w.pool)
	spec := specOf("old")
	spec.Labels, spec.IsCopyingAlerts = upstream.WrittenThrough, true
	created, err := w.Create(t.Context(), fleettest.All, spec, key)
	if err != nil {
		t.Fatal(err)
	}
	w.id = created.UpstreamID
	if err := w.pool.Select(&w.ids, `SELECT physical_id FROM subscribers WHERE company_id = $1 AND is_active AND parent_key IS NULL ORDER BY physical_id LIMIT 3`, fleettest.Acme); err != nil || len(w.ids) < 3 {
		t.Fatal(w.ids, err)
	}
	job := w.claim(time.Minute)
	if _, err := w.Own(t.Context(), job, w.ids[:2]); err != nil {
		t.Fatal(err)
	}
	w.finish(job, upstream.Outcome{})
	return w
}

func (w *written) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// record is the whole record of a subscriber, with a nickname.
func (w *written) record(id, nickname string) []*domain.Subscriber {
	w.Helper()
	found, err := subscriber.New(w.pool).FindMany(w.Context(), fleettest.All, []string{id}, domain.Projection{Fields: domain.AllFields})
	w.must(err)
	of := found[id]
	of.Nickname = nickname
	return []*domain.Subscriber{of}
}

// edit makes edits in each way in which people make them.
func (w *written) edit() {
	w.Helper()
	ctx := w.Context()
	names := subscriber.New(w.pool)
	_, err := names.EditNickname(ctx, fleettest.All, w.ids[0], "first")
	w.must(err)
	_, err = names.EditNickname(ctx, fleettest.All, w.ids[2], "not of the upstream")
	w.must(err)
	importer := bundle.NewImporter(w.pool)
	answers, err := importer.Subscribers(ctx, fleettest.All, w.record(w.ids[1], "imported"))
	w.must(err)
	if answers[0].Outcome != domain.Updated {
		w.Fatalf("%+v", answers)
	}
	_, err = importer.Subscribers(ctx, fleettest.All, w.record(w.ids[1], "imported")) // the same again changes nothing
	w.must(err)
	_, err = names.EditNickname(ctx, fleettest.All, w.ids[0], "last")
	w.must(err)
	_, err = w.tags.Attach(ctx, fleettest.All, "attached", w.ids)
	w.must(err)
	_, err = importer.Tags(ctx, fleettest.All, []domain.TagImport{{PhysicalID: w.ids[0], TagName: "imported"}})
	w.must(err)
	w.must(w.tags.Detach(ctx, fleettest.All, "attached", w.ids[1:2]))
}

func TestEditsAreSentOnceEach(t *testing.T) {
	t.Parallel()
	w, ctx := newWritten(t), t.Context()
	if due, err := w.Due(ctx); err != nil || len(due) > 0 {
		t.Fatal(due, err)
	}
	w.edit()
	of := w.find(w.id)
	if of.Writes.Waiting != 5 || of.Writes.Refused != 0 {
		t.Fatalf("%+v", of.Writes)
	}
	job := w.claim(time.Minute)
	if job == nil || !job.IsWriting {
		t.Fatalf("%+v", job)
	}
	waiting, err := w.Writes(ctx, job, 100)
	w.must(err)
	slices.SortFunc(waiting, func(a, b *upstream.Write) int {
		return cmp.Or(cmp.Compare(a.PhysicalID, b.PhysicalID), cmp.Compare(a.TagName, b.TagName))
	})
	want := []upstream.Write{
		{PhysicalID: w.ids[0], Nickname: "last", Version: 2}, {PhysicalID: w.ids[0], TagName: "attached", IsAttached: true, Version: 1},
		{PhysicalID: w.ids[0], TagName: "imported", IsAttached: true, Version: 1}, {PhysicalID: w.ids[1], Nickname: "imported", Version: 1},
		{PhysicalID: w.ids[1], TagName: "attached", Version: 2},
	}
	if !slices.EqualFunc(waiting, want, func(a *upstream.Write, b upstream.Write) bool { return *a == b }) {
		for _, got := range waiting {
			t.Errorf("%+v", *got)
		}
	}
	// What is edited while it is sent waits again.
	_, err = subscriber.New(w.pool).EditNickname(ctx, fleettest.All, w.ids[0], "later")
	w.must(err)
	for i, of := range waiting {
		refusal := ""
		if i == 4 {
			refusal = "no such tag"
		}
		w.must(w.Written(ctx, job, of, refusal))
	}
	of = w.find(w.id)
	if of.Writes.Waiting != 1 || of.Writes.Refused != 1 || !slices.Equal(of.Writes.Refusals, []string{"tag attached on " + w.ids[1] + ": no such tag"}) {
		t.Errorf("%+v", of.Writes)
	}
	w.must(w.PutOff(ctx, job, "it is down"))
	w.must(w.Release(ctx, job, 0))
	if of := w.find(w.id); *of.Writes.LastError != "it is down" || !of.Writes.RetryAt.Equal(w.now.Add(time.Minute)) || w.claim(time.Minute) != nil {
		t.Errorf("%+v", of.Writes)
	}
	w.now = w.now.Add(time.Minute)
	job = w.claim(time.Minute)
	w.must(w.PutOff(ctx, job, ""))
	w.must(w.Release(ctx, job, 0))
	if of := w.find(w.id); of.Writes.LastError != nil || of.Writes.RetryAt != nil || of.State != upstream.Ready {
		t.Errorf("%+v", of)
	}
	if _, err := w.Edit(ctx, fleettest.All, w.id, upstream.Edit{Labels: new(upstream.Ours)}); err != nil {
		t.Fatal(err)
	}
	var left int
	if w.must(w.pool.Get(&left, `SELECT count(*) FROM upstream_writes`)); left != 0 {
		t.Errorf("%d edits are left", left)
	}
}

// A pass reads what the other server said before it got the edits.
func TestAPassUndoesNoEditThatIsOnItsWay(t *testing.T) {
	t.Parallel()
	w, ctx := newWritten(t), t.Context()
	w.edit()
	pass := fleettest.All
	pass.Upstream = w.id
	importer := bundle.NewImporter(w.pool)
	state := func() (nickname string, tags []string) {
		w.must(w.pool.Get(&nickname, `SELECT nickname FROM subscribers WHERE company_id = $1 AND physical_id = $2`, fleettest.Acme, w.ids[0]))
		w.must(w.pool.Select(&tags, `SELECT st.physical_id || ' ' || tag_name FROM (SELECT s.physical_id, st.tag_name FROM subscriber_tags st JOIN subscribers s ON s.company_id = st.company_id AND s.key = st.subscriber_key
			WHERE st.company_id = $1 AND s.physical_id = ANY(ARRAY[$2, $3]) AND st.tag_name IN ('attached', 'imported')) st ORDER BY 1`, fleettest.Acme, w.ids[0], w.ids[1]))
		return nickname, tags
	}
	read := func() {
		_, err := importer.Subscribers(ctx, pass, w.record(w.ids[0], "theirs"))
		w.must(err)
		_, err = importer.Tags(ctx, pass, []domain.TagImport{{PhysicalID: w.ids[1], TagName: "attached"}})
		w.must(err)
		w.must(w.tags.Detach(ctx, pass, "imported", w.ids[:1]))
	}
	ours := []string{w.ids[0] + " attached", w.ids[0] + " imported"}
	read()
	if nickname, tags := state(); nickname != "last" || !slices.Equal(tags, ours) {
		t.Errorf("waiting: %s %v", nickname, tags)
	}
	w.now = w.now.Add(time.Hour)
	job := w.claim(time.Minute)
	if job.IsWriting {
		t.Fatalf("%+v", job)
	}
	if _, err := w.Own(ctx, job, w.ids[:2]); err != nil {
		t.Fatal(err)
	}
	job.Sweep-- // what the last one has found
	if carriers, err := w.Carriers(ctx, job, "attached"); err != nil || len(carriers) != 0 {
		t.Error(carriers, err)
	}
	job.Sweep++
	waiting, err := w.Writes(ctx, job, 100)
	w.must(err)
	for _, of := range waiting {
		w.must(w.Written(ctx, job, of, ""))
	}
	read()
	if nickname, tags := state(); nickname != "last" || !slices.Equal(tags, ours) {
		t.Errorf("sent by the pass: %s %v", nickname, tags)
	}
	w.finish(job, upstream.Outcome{})
	w.now = w.now.Add(time.Hour)
	w.finish(w.claim(time.Minute), upstream.Outcome{})
	read()
	if nickname, tags := state(); nickname != "theirs" || !slices.Equal(tags, []string{w.ids[0] + " attached", w.ids[1] + " attached"}) {
		t.Errorf("sent before the pass: %s %v", nickname, tags)
	}
	if of := w.find(w.id); of.Writes.Waiting != 0 {
		t.Errorf("what a pass stores is sent back: %+v", of.Writes)
	}
}

func TestNicknamesThatAreOursStay(t *testing.T) {
	t.Parallel()
	w, ctx := newWritten(t), t.Context()
	if _, err := w.Edit(ctx, fleettest.All, w.id, upstream.Edit{Labels: new(upstream.Ours)}); err != nil {
		t.Fatal(err)
	}
	_, err := subscriber.New(w.pool).EditNickname(ctx, fleettest.All, w.ids[0], "ours")
	w.must(err)
	pass := fleettest.All
	pass.Upstream = w.id
	_, err = bundle.NewImporter(w.pool).Subscribers(ctx, pass, w.record(w.ids[0], "read before"))
	w.must(err)
	var nickname string
	if w.must(w.pool.Get(&nickname, `SELECT nickname FROM subscribers WHERE company_id = $1 AND physical_id = $2`, fleettest.Acme, w.ids[0])); nickname != "ours" {
		t.Error(nickname)
	}
}

func TestAlertsThatPeopleDeletedDoNotComeAgain(t *testing.T) {
	t.Parallel()
	w, ctx := newWritten(t), t.Context()
	alerts := volume.NewAlerts(w.pool, func() time.Time { return w.now })
	pass := fleettest.All
	pass.Upstream = w.id
	var group int64
	w.must(w.pool.Get(&group, `SELECT group_id FROM groups WHERE company_id = $1 ORDER BY group_id LIMIT 1`, fleettest.Acme))
	spec := domain.AlertSpec{RuleType: domain.RuleGroup, Target: strconv.FormatInt(group, 10), LowerThreshold: 1 << 40, UpperThreshold: 1 << 41}
	theirs := upstream.Copies([]domain.AlertSpec{spec, spec})
	count := func() (n int) {
		w.must(w.pool.Get(&n, `SELECT count(*) FROM alert_thresholds WHERE company_id = $1 AND boundary = 'upper' AND threshold = $2`, fleettest.Acme, int64(1)<<41))
		return n
	}
	sweep := func() []*upstream.DeletedAlert {
		if _, err := w.Request(ctx, fleettest.All, w.id, true); err != nil {
			t.Fatal(err)
		}
		job := w.claim(time.Minute)
		deleted, err := w.DeletedAlerts(ctx, job, theirs)
		w.must(err)
		if len(theirs) > 0 {
			_, err = alerts.Keep(ctx, pass, theirs)
			w.must(err)
		}
		w.finish(job, upstream.Outcome{})
		w.now = w.now.Add(time.Minute)
		return deleted
	}
	remove := func() {
		var id int64
		w.must(w.pool.Get(&id, `SELECT max(alert_id) FROM alert_thresholds WHERE company_id = $1 AND boundary = 'upper' AND threshold = $2`, fleettest.Acme, int64(1)<<41))
		_, err := alerts.Remove(ctx, fleettest.All, id)
		w.must(err)
	}
	if sweep(); count() != 2 {
		t.Fatal(count())
	}
	remove()
	if deleted := sweep(); count() != 1 || len(upstream.Remaining(theirs, deleted)) != 1 {
		t.Errorf("%d %v", count(), deleted)
	}
	remove()
	if deleted := sweep(); count() != 0 || len(upstream.Remaining(theirs, deleted)) != 0 {
		t.Errorf("%d %v", count(), deleted)
	}
	_, err := alerts.Create(ctx, fleettest.All, spec)
	w.must(err)
	if sweep(); count() != 1 {
		t.Errorf("one was added again: %d", count())
	}
	kept := theirs
	theirs = nil
	for range 8 {
		sweep()
	}
	theirs = kept
	if deleted := sweep(); len(deleted) != 0 || count() != 2 {
		t.Errorf("%v %d", deleted, count())
	}
}

func TestAPassThatIsInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	id := f.create("old").UpstreamID
	begun := f.now
	job := f.claim(time.Minute)
	job.Cursor.Subscribers = upstream.Place{Offset: 99, Tail: []string{"a"}}
	job.Cursor.Count(upstream.Subscribers, 100)
	if err := f.Reach(ctx, job); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(2 * time.Minute) // its worker was killed
	again := f.claim(time.Minute)
	if again.Cursor.Subscribers.Offset != 99 || again.Cursor.Counted[upstream.Subscribers] != 100 || !again.StartedAt.Equal(begun) || !again.ClaimedAt.Equal(f.now) {
		t.Errorf("%+v", again)
	}
	if err := f.Reach(ctx, job); err == nil {
		t.Error("a lost pass moves the cursor")
	}
	f.finish(again, upstream.Outcome{Err: "no answer"})
	f.now = f.now.Add(time.Hour)
	if again = f.claim(time.Minute); again.Cursor.Subscribers.Offset != 99 {
		t.Errorf("a pass that failed begins anew: %+v", again.Cursor)
	}
	if err := f.Release(ctx, again, 7); err != nil || f.find(id).Counts.Records != 7 {
		t.Error(err)
	}
	if _, err := f.Edit(ctx, fleettest.All, id, upstream.Edit{BaseURL: new("https://other.example"), Key: &key}); err != nil {
		t.Fatal(err)
	}
	if err := f.Reach(ctx, again); err != nil {
		t.Fatal(err)
	}
	if again = f.claim(time.Minute); again.Cursor.Subscribers.Offset != 0 || !again.StartedAt.Equal(f.now) {
		t.Errorf("a pass of another server goes on: %+v", again)
	}
	f.finish(again, upstream.Outcome{})
	f.now = f.now.Add(time.Hour)
	if again = f.claim(time.Minute); again.IsSweep || again.Cursor.Subscribers.Offset != 0 || !again.StartedAt.Equal(f.now) {
		t.Errorf("%+v", again)
	}
	again.Cursor.Days = []string{"2026-11-20"}
	if err := f.Reach(ctx, again); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(upstream.PassTime)
	if again = f.claim(time.Minute); !again.IsSweep || len(again.Cursor.Days) != 0 {
		t.Errorf("a pass goes on as another one: %+v", again)
	}
}

func TestManyThatAreGoneWaitForAPerson(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	id := f.create("old").UpstreamID
	sweep := func(held int64) *upstream.Upstream {
		f.finish(f.claim(time.Minute), upstream.Outcome{Held: held})
		f.now = f.now.Add(24 * time.Hour)
		return f.find(id)
	}
	sweep(0)
	at := f.now
	if of := sweep(40); of.State != upstream.Held || of.Removals.Subscribers != 40 || !of.Removals.HeldAt.Equal(at) || of.Removals.ConfirmedAt != nil {
		t.Errorf("%+v", of)
	}
	if of := sweep(41); of.Removals.Subscribers != 41 || !of.Removals.HeldAt.Equal(at) {
		t.Errorf("%+v", of.Removals)
	}
	if _, err := f.ConfirmRemovals(ctx, fleettest.VansOnly, id, 41); err == nil {
		t.Error("a user of groups confirms")
	}
	if _, err := f.ConfirmRemovals(ctx, fleettest.All, id, 40); err == nil {
		t.Error("another number is confirmed")
	}
	confirmed, err := f.ConfirmRemovals(ctx, fleettest.All, id, 41)
	if err != nil || !confirmed.Removals.ConfirmedAt.Equal(f.now) || confirmed.Removals.Confirmed != 41 {
		t.Fatalf("%+v %v", confirmed, err)
	}
	// More than was confirmed waits again, and must be confirmed again.
	if of := sweep(50); of.Removals.Subscribers != 50 || of.Removals.ConfirmedAt != nil || of.Removals.Confirmed != 0 {
		t.Errorf("%+v", of.Removals)
	}
	job := f.claim(time.Minute)
	f.now = f.now.Add(time.Second)
	if _, err := f.ConfirmRemovals(ctx, fleettest.All, id, 50); err != nil {
		t.Fatal(err)
	}
	f.finish(job, upstream.Outcome{Held: 50})
	if of := f.find(id); of.Removals.Confirmed != 50 {
		t.Errorf("what was confirmed meanwhile is forgotten: %+v", of.Removals)
	}
	if of := sweep(0); of.Removals != nil || of.State != upstream.Ready {
		t.Errorf("%+v", of)
	}
	if _, err := f.ConfirmRemovals(ctx, fleettest.All, id, 50); err == nil {
		t.Error("nothing waits, and is confirmed")
	}
}
