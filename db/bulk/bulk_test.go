package bulk_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/mail"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/query"
	"simgraph/domain/retention"
)

// A dry run changes nothing, and the run that demands its digest changes what it showed.
func TestADryRunShowsWhatTheRunChanges(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	before := f.rows()
	start := bulk.Start{
		Rows: []bulk.Row{
			{PhysicalID: "p0001", Change: bulk.Change{Nickname: new("one {n}")}}, {PhysicalID: "none", Change: bulk.Change{Nickname: new("x")}},
			{PhysicalID: "p0003", Change: moveTo(99)}, {PhysicalID: "p0004"},
		},
		Change:       bulk.Change{IsBarred: new(true), NicknamePattern: new("van {n} {physicalId}"), AddTags: []domain.TagName{"a"}},
		ErrorPolicy:  bulk.RejectFailedRows,
		ValidateOnly: true,
	}
	dry := f.start(f.boss, start)
	f.wantCounts(dry, bulk.Checked, 4, 2, 2, 0)
	if after := f.rows(); after["p0001"] != before["p0001"] || dry.UndoableUntil != nil {
		t.Errorf("%v, %v", after["p0001"], dry.UndoableUntil)
	}
	shown := f.results(dry.OperationID, "")
	start.ValidateOnly, start.Digest = false, "other"
	_, err := f.store.Start(t.Context(), f.boss, start)
	f.wants(err, domain.KindInvalid, "another digest")
	start.Digest = dry.Digest
	run := f.run(f.start(f.boss, start).OperationID)
	f.wantCounts(run, bulk.Done, 4, 2, 2, 0)
	for i, r := range f.results(run.OperationID, "") {
		if s := shown[i]; r.Outcome != s.Outcome || len(r.Changes) != len(s.Changes) || r.PhysicalID != s.PhysicalID {
			t.Errorf("got %+v, the dry run showed %+v", r, s)
		}
	}
	after := f.rows()
	if after["p0001"] != "one {n}|12|t|t|IoT|-|{a}" || after["p0004"] != "van 4 p0004|12|t|t|IoT|-|{a}" || after["p0003"] != before["p0003"] {
		t.Errorf("%q %q %q", after["p0001"], after["p0004"], after["p0003"])
	}
	f.pool.MustExec(`UPDATE subscribers SET nickname = 'x' WHERE physical_id = 'p0004'`)
	if again := f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("b"), ValidateOnly: true}); again.Digest == dry.Digest || again.Total != size {
		t.Errorf("%+v", again)
	}
}

// A dry run, its run and what undoes it have reasons of their own, also in the audit log and for
// webhooks.
func TestOperationsHaveTheirReasons(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.hook("whole", boss, "{}")
	f.pool.MustExec(`UPDATE webhooks SET groups = NULL`)
	dry := f.start(f.boss.WithReason("planned"), bulk.Start{PhysicalIDs: []string{"p0001"}, Change: tag("sold"), ValidateOnly: true})
	run := f.run(f.start(f.boss.WithReason("Ticket 4711"), again(dry)).OperationID)
	plain := f.run(f.start(f.boss, bulk.Start{PhysicalIDs: []string{"p0002"}, Change: tag("sold")}).OperationID)
	undo, err := f.store.Undo(t.Context(), f.boss.WithReason("not sold"), run.OperationID)
	f.try(err)
	undo = f.run(undo.OperationID)
	waiting := f.start(f.boss.WithReason("too early"), bulk.Start{PhysicalIDs: []string{"p0003"}, Change: tag("sold")})
	_, err = f.store.Cancel(t.Context(), f.boss.WithReason("wrong one"), waiting.OperationID)
	f.try(err)
	for _, c := range []struct {
		of      *bulk.Operation
		reason  string
		entries []string
	}{
		{f.find(dry.OperationID), "planned", []string{"operation.start: planned"}},
		{run, "Ticket 4711", []string{"operation.start: Ticket 4711", "operation.run: Ticket 4711"}},
		{plain, "", []string{"operation.start: ", "operation.run: "}},
		{undo, "not sold", []string{"operation.undo: not sold", "operation.run: not sold"}},
		{f.find(waiting.OperationID), "too early", []string{"operation.start: too early", "operation.cancel: wrong one"}},
	} {
		if c.of.Reason != c.reason {
			t.Errorf("got %q, want %q", c.of.Reason, c.reason)
		}
		var entries, sent []string
		f.try(f.pool.Select(&entries, `SELECT action || ': ' || reason FROM audit_log WHERE subject_id = $1 ORDER BY sequence`, c.of.OperationID))
		if !slices.Equal(entries, c.entries) {
			t.Errorf("the audit log has %q, want %q", entries, c.entries)
		}
		f.try(f.pool.Select(&sent, `
SELECT COALESCE(d ->> 'reason', '') FROM (SELECT (m.event::jsonb) -> 'data' AS d FROM webhook_messages m) e WHERE d ->> 'operationId' = $1`, c.of.OperationID))
		if len(sent) != 1 || sent[0] != c.reason {
			t.Errorf("webhooks get %q, want %q", sent, c.reason)
		}
	}
	filter, err := query.Compare(bulk.Fields, "reason", query.Like, "sold")
	f.try(err)
	if n, err := f.store.Count(t.Context(), f.boss.Scope, domain.Listing{Filter: filter}); n != 1 || err != nil {
		t.Errorf("%d operations are found, %v", n, err)
	}
	_, err = audit.NewLog(f.pool).Verify(t.Context(), domain.Whole(1))
	f.try(err)
}

func TestErrorPolicies(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rows := []bulk.Row{
		{PhysicalID: "p0001", Change: bulk.Change{Nickname: new("first"), TariffName: new("None")}}, {PhysicalID: "p0002", Change: bulk.Change{Nickname: new("second")}},
		{PhysicalID: "p0003", Change: moveTo(99)},
	}
	before := f.rows()
	rejected := f.start(f.boss, bulk.Start{Rows: rows, ErrorPolicy: bulk.RejectEverything})
	f.wantCounts(rejected, bulk.Rejected, 2, 0, 2, 0)
	if rejected.UndoableUntil != nil {
		t.Error("what was rejected can be undone")
	}
	if after := f.rows(); after["p0002"] != before["p0002"] {
		t.Errorf("%q", after["p0002"])
	}
	f.wantCounts(f.run(f.start(f.boss, bulk.Start{Rows: rows}).OperationID), bulk.Done, 3, 1, 2, 0)
	ignoring := f.run(f.start(f.boss, bulk.Start{Rows: rows, ErrorPolicy: bulk.IgnoreFailed}).OperationID)
	f.wantCounts(ignoring, bulk.Done, 3, 1, 1, 0)
	changed := f.results(ignoring.OperationID, bulk.Changed)
	if len(changed) != 1 || changed[0].PhysicalID != "p0001" || *changed[0].Code != "INVALID_PROPERTY" || !strings.Contains(*changed[0].Message, "tariff") {
		t.Errorf("%+v", changed)
	}
	fine := f.run(f.start(f.boss, bulk.Start{PhysicalIDs: f.ids(1, 20), Change: tag("fine"), ErrorPolicy: bulk.RejectEverything}).OperationID)
	f.wantCounts(fine, bulk.Done, 20, 20, 0, 0)
	if changes := f.results(fine.OperationID, bulk.Changed)[19].Changes; len(changes) != 1 || *changes[0].After != "fine" {
		t.Errorf("%+v", changes)
	}
}

func TestStartsThatAreRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	nothing, err := query.ParseFilter(`nickname eq "nobody"`, domain.SubscriberFields)
	f.try(err)
	weak := *f.boss
	weak.Permissions = []domain.Permission{domain.ViewSubscriber, domain.ManageInventory}
	for what, c := range map[string]struct {
		by    *domain.Caller
		start bulk.Start
		want  domain.ErrorKind
	}{
		"nothing named":      {f.boss, bulk.Start{Change: tag("a")}, domain.KindInvalid},
		"two ways":           {f.boss, bulk.Start{ByFilter: true, PhysicalIDs: f.ids(1, 2), Change: tag("a")}, domain.KindInvalid},
		"one twice":          {f.boss, bulk.Start{PhysicalIDs: []string{"p0001", "p0001"}, Change: tag("a")}, domain.KindInvalid},
		"no change":          {f.boss, bulk.Start{PhysicalIDs: f.ids(1, 2)}, domain.KindInvalid},
		"a row of nothing":   {f.boss, bulk.Start{Rows: []bulk.Row{{PhysicalID: "p0001"}}}, domain.KindInvalid},
		"a bad pattern":      {f.boss, bulk.Start{ByFilter: true, Change: bulk.Change{NicknamePattern: new("{x}")}}, domain.KindInvalid},
		"in the future":      {f.boss, bulk.Start{ByFilter: true, Change: bulk.Change{TerminateDate: new(clock().AddDate(0, 0, 1))}}, domain.KindInvalid},
		"nobody":             {f.boss, bulk.Start{ByFilter: true, Filter: nothing, Change: tag("a")}, domain.KindInvalid},
		"another number":     {f.boss, bulk.Start{ByFilter: true, Change: tag("a"), Expect: new(size - 1)}, domain.KindInvalid},
		"without permission": {&weak, bulk.Start{ByFilter: true, Change: tag("a")}, domain.KindForbidden},
		"with it":            {&weak, bulk.Start{ByFilter: true, Change: bulk.Change{IsBarred: new(true)}, Expect: new(size)}, ""},
	} {
		c.start.ErrorPolicy = bulk.RejectFailedRows
		_, err := f.store.Start(t.Context(), c.by, c.start)
		f.wants(err, c.want, what)
	}
	f.pool.MustExec(`UPDATE subscribers SET physical_id = 'q' || physical_id`)
	f.add(bulk.Expected)
	many := bulk.Start{ByFilter: true, Change: tag("a"), ErrorPolicy: bulk.RejectFailedRows}
	_, err = f.store.Start(t.Context(), f.boss, many)
	f.wants(err, domain.KindInvalid, "many without their number")
	many.ValidateOnly = true
	f.wantCounts(f.start(f.boss, many), bulk.Checked, bulk.Expected+size, bulk.Expected+size, 0, 0)
	if n := f.int(`SELECT count(*) FROM operations`); n != 2 {
		t.Errorf("%d operations", n)
	}
}

// What fits the filter later is not changed, and what does not fit any more is.
func TestTheMembersAreThoseOfTheStart(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	filter, err := query.ParseFilter("groupId eq 12", domain.SubscriberFields)
	f.try(err)
	o := f.start(f.boss, bulk.Start{ByFilter: true, Filter: filter, Change: tag("member")})
	f.pool.MustExec(`UPDATE subscribers SET group_id = CASE physical_id WHEN 'p0001' THEN NULL ELSE 12 END WHERE physical_id IN ('p0001', 'p0030')`)
	f.wantCounts(f.run(o.OperationID), bulk.Done, 20, 20, 0, 0)
	if rows := f.rows(); !strings.HasSuffix(rows["p0001"], "{member}") || strings.HasSuffix(rows["p0030"], "{member}") {
		t.Errorf("%q %q", rows["p0001"], rows["p0030"])
	}
}

func TestACancelledOperationEndsBetweenTwoChunksAndCanBeUndone(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	before := f.rows()
	o := f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("a")})
	_, err := f.store.Undo(t.Context(), f.boss, o.OperationID)
	f.wants(err, domain.KindInvalid, "undoing what runs")
	_, err = f.store.Round(t.Context())
	f.try(err)
	cancelled, err := f.store.Cancel(t.Context(), f.boss, o.OperationID)
	f.try(err)
	f.wantCounts(cancelled, bulk.Cancelled, 7, 7, 0, 0)
	f.wantCounts(f.run(o.OperationID), bulk.Cancelled, 7, 7, 0, 0)
	if pending := f.results(o.OperationID, bulk.Pending); len(pending) != size-7 {
		t.Errorf("%d are pending", len(pending))
	}
	_, err = f.store.Cancel(t.Context(), f.boss, o.OperationID)
	f.wants(err, domain.KindInvalid, "cancelling twice")
	undo, err := f.store.Undo(t.Context(), f.boss, o.OperationID)
	f.try(err)
	_, err = f.store.Undo(t.Context(), f.boss, o.OperationID)
	f.wants(err, domain.KindInvalid, "undoing twice")
	f.wantCounts(f.run(undo.OperationID), bulk.Done, 7, 7, 0, 0)
	for id, row := range f.rows() {
		if row != before[id] {
			t.Errorf("%s is %q, was %q", id, row, before[id])
		}
	}
	_, err = f.store.Undo(t.Context(), f.boss, undo.OperationID)
	f.wants(err, domain.KindInvalid, "undoing an undo")
}

// An undo that was cancelled leaves the rest to another one, which skips what the first
// took back.
func TestAnUndoThatWasCancelledCanBeStartedAgain(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	before := f.rows()
	o := f.run(f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("a")}).OperationID)
	undo, err := f.store.Undo(t.Context(), f.boss, o.OperationID)
	f.try(err)
	_, err = f.store.Round(t.Context())
	f.try(err)
	_, err = f.store.Cancel(t.Context(), f.boss, undo.OperationID)
	f.try(err)
	f.wantCounts(f.run(undo.OperationID), bulk.Cancelled, 7, 7, 0, 0)
	again, err := f.store.Undo(t.Context(), f.boss, o.OperationID)
	f.try(err)
	f.wantCounts(f.run(again.OperationID), bulk.Done, size, size-7, 0, 7)
	for id, row := range f.rows() {
		if row != before[id] {
			t.Errorf("%s is %q, was %q", id, row, before[id])
		}
	}
}

// What was changed since is skipped and listed, and after seven days nothing is undone.
func TestUndoSkipsWhatWasChangedSince(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	at := clock().Add(-time.Hour)
	change := bulk.Change{
		AddTags: []domain.TagName{"new", "old"}, RemoveTags: []domain.TagName{"gone"}, NicknamePattern: new("n{n}"), IsBarred: new(true),
		TariffName: new("Max"), TerminateDate: &at, Move: &bulk.Move{GroupID: new(int64(boats))},
	}
	f.pool.MustExec(`INSERT INTO subscriber_tags SELECT 1, key, t FROM subscribers, unnest('{old,gone}'::text[]) AS t`)
	before := f.rows()
	o := f.run(f.start(f.boss, bulk.Start{ByFilter: true, Change: change}).OperationID)
	f.wantCounts(o, bulk.Done, size, size, 0, 0)
	if row := f.rows()["p0030"]; row != "n30|13|t|f|Max|2026-11-10 11:00:00+00|{new,old}" {
		t.Errorf("%q", row)
	}
	f.pool.MustExec(`UPDATE subscribers SET nickname = 'mine' WHERE physical_id = 'p0005'`)
	f.pool.MustExec(`DELETE FROM subscriber_tags WHERE tag_name = 'new' AND subscriber_key = (SELECT key FROM subscribers WHERE physical_id = 'p0006')`)
	f.pool.MustExec(`DELETE FROM subscriber_tags WHERE tag_name = 'old' AND subscriber_key = (SELECT key FROM subscribers WHERE physical_id = 'p0007')`)
	f.now = o.UndoableUntil.Add(time.Second)
	_, err := f.store.Undo(t.Context(), f.boss, o.OperationID)
	f.wants(err, domain.KindInvalid, "undoing too late")
	f.now = o.UndoableUntil.Add(-time.Second)
	undo, err := f.store.Undo(t.Context(), f.boss, o.OperationID)
	f.try(err)
	f.wantCounts(f.run(undo.OperationID), bulk.Done, size, size-2, 0, 2)
	var skipped []string
	for _, r := range f.results(undo.OperationID, bulk.Skipped) {
		skipped = append(skipped, r.PhysicalID+": "+*r.Message)
	}
	if slices.Sort(skipped); len(skipped) != 2 || skipped[0] != `p0005: nickname was changed since: it is "mine", not "n5"` || !strings.HasPrefix(skipped[1], `p0006: the tag "new"`) {
		t.Errorf("%q", skipped)
	}
	for id, row := range f.rows() {
		want := before[id]
		switch id {
		case "p0005", "p0006":
			continue
		case "p0007": // the operation had not added that tag
			want = strings.Replace(want, "{gone,old}", "{gone}", 1)
		}
		if row != want {
			t.Errorf("%s is %q, was %q", id, row, before[id])
		}
	}
}

// Users of groups change what they see by the time of the chunk, by the rules of
// single changes, and see no operations but their own.
func TestUsersOfGroupsChangeOnlyWhatTheySee(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	by := f.caller(clerk)
	all := f.run(f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("all")}).OperationID)
	own := f.run(f.start(by, bulk.Start{ByFilter: true, Change: tag("own")}).OperationID)
	f.wantCounts(own, bulk.Done, 20, 20, 0, 0)
	named := f.run(f.start(by, bulk.Start{PhysicalIDs: []string{"p0001", "p0030", "p0039", "none"}, Change: tag("named")}).OperationID)
	f.wantCounts(named, bulk.Done, 4, 1, 3, 0)
	for _, r := range f.results(named.OperationID, bulk.Failed) {
		if want := `no subscriber "` + r.PhysicalID + `" on this account`; *r.Message != want || *r.Code != "INVALID_PROPERTY" {
			t.Errorf("%s: %s %s", r.PhysicalID, *r.Code, *r.Message)
		}
	}
	moved := f.run(f.start(by, bulk.Start{PhysicalIDs: []string{"p0001", "p0002"}, Change: moveTo(boats)}).OperationID)
	f.wantCounts(moved, bulk.Done, 2, 0, 2, 0)
	_, err := f.store.Find(t.Context(), by.Scope, all.OperationID)
	f.wants(err, domain.KindNotFound, "finding another's")
	_, err = f.store.Undo(t.Context(), by, all.OperationID)
	f.wants(err, domain.KindNotFound, "undoing another's")
	_, err = f.store.Cancel(t.Context(), by, all.OperationID)
	f.wants(err, domain.KindNotFound, "cancelling another's")
	if n, err := f.store.Count(t.Context(), by.Scope, domain.Listing{}); err != nil || n != 3 {
		t.Errorf("%d are seen: %v", n, err)
	}
	for filter, want := range map[string]int{
		`operationId eq "` + own.OperationID + `"`: 1, `operationId ne "` + own.OperationID + `"`: 2, `operationId eq "nonsense"`: 0, `operationId ne "nonsense"`: 3,
		`operationId in ("` + all.OperationID + `", "` + own.OperationID + `")`: 1, `operationId gt "` + own.OperationID + `"`: 2,
		"undoOf eq null": 3, `undoOf ne "` + own.OperationID + `"`: 3, "state eq DONE and changed gt 0": 2,
	} {
		listing := domain.Listing{Page: domain.Page{Limit: 10}}
		if listing.Filter, err = query.ParseFilter(filter, bulk.Fields); err != nil {
			t.Fatal(err)
		}
		n, err := f.store.Count(t.Context(), by.Scope, listing)
		f.try(err)
		found, err := f.store.List(t.Context(), by.Scope, listing)
		f.try(err)
		if n != want || len(found.Items) != want {
			t.Errorf("%s: %d counted, %d listed, not %d", filter, n, len(found.Items), want)
		}
	}
	for _, id := range []string{all.OperationID, own.OperationID} {
		results, err := f.store.ResultsOf(t.Context(), by.Scope, []string{id}, domain.Listing{Page: domain.Page{Limit: 50}})
		f.try(err)
		counts, err := f.store.CountResultsOf(t.Context(), by.Scope, []string{id}, domain.Listing{})
		f.try(err)
		if want := map[bool]int{true: 20}[id == own.OperationID]; len(results[id].Items) != want || counts[id] != want {
			t.Errorf("%d and %d results", len(results[id].Items), counts[id])
		}
	}
	// A dry run changes nothing.
	f.start(f.boss, bulk.Start{PhysicalIDs: []string{"p0001"}, Change: tag("never"), ValidateOnly: true})
	for caller, want := range map[*domain.Caller][]string{f.boss: {named.OperationID, own.OperationID, all.OperationID}, by: {named.OperationID, own.OperationID}} {
		if got := f.changesOf(caller.Scope, "p0001"); !slices.Equal(got, want) {
			t.Errorf("%s sees that %v changed p0001, not %v", caller.Email, got, want)
		}
	}
	// From the next chunk on, the user has other rights.
	waiting := f.start(by, bulk.Start{ByFilter: true, Change: tag("late")})
	ofBoss := f.start(f.boss, bulk.Start{PhysicalIDs: []string{"p0001", "p0039"}, Change: tag("late boss")})
	_, err = f.store.Round(t.Context())
	f.try(err)
	f.pool.MustExec(`UPDATE user_groups SET group_id = 13`)
	f.pool.MustExec(`INSERT INTO user_groups SELECT 1, user_id, 13 FROM users WHERE email = $1`, boss)
	f.wantCounts(f.run(waiting.OperationID), bulk.Done, 20, 7, 13, 0)
	f.wantCounts(f.find(ofBoss.OperationID), bulk.Done, 2, 1, 1, 0)
	if n, err := f.store.Count(t.Context(), f.caller(clerk).Scope, domain.Listing{}); err != nil || n != 0 {
		t.Errorf("%d are seen from another group: %v", n, err)
	}
	f.setPermissions(boss, "VIEW_SUBSCRIBER")
	demoted := f.start(f.boss, bulk.Start{PhysicalIDs: []string{"p0039"}, Change: tag("demoted")})
	f.wantCounts(f.run(demoted.OperationID), bulk.Done, 1, 0, 1, 0)
}

// A tariff that the caller's group hides neither changes nor shows.
func TestHiddenTariffsStayHidden(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pool.MustExec(`INSERT INTO user_groups SELECT 1, user_id, 14 FROM users WHERE email = $1`, clerk)
	by := f.caller(clerk)
	f.pool.MustExec(`UPDATE subscribers SET tariff_name = 'Max' WHERE physical_id = 'p0002'`)
	o := f.run(f.start(by, bulk.Start{PhysicalIDs: []string{"p0001", "p0040"}, Change: bulk.Change{TariffName: new("Max")}}).OperationID)
	f.wantCounts(o, bulk.Done, 2, 1, 1, 0)
	f.pool.MustExec(`UPDATE groups SET hide_tariff_details = true`)
	for masked, want := range map[bool]int{false: 1, true: 0} {
		scope := by.Scope
		if masked {
			scope.Masked = []int64{vans, hidden}
		}
		results, err := f.store.ResultsOf(t.Context(), scope, []string{o.OperationID}, domain.Listing{Page: domain.Page{Limit: 1}})
		f.try(err)
		if got := len(results[o.OperationID].Items[0].Changes); got != want {
			t.Errorf("masked %v: %d changes", masked, got)
		}
	}
}

// A chunk that fails for no reason of its rows is tried again some times, then its
// rows fail; what comes after goes on.
func TestAChunkThatAlwaysFailsHoldsNothingUpForEver(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pool.MustExec(`ALTER TABLE subscribers ADD CHECK (physical_id <> 'p0010' OR nickname = '')`)
	bad := f.start(f.boss, bulk.Start{ByFilter: true, Change: bulk.Change{NicknamePattern: new("x")}})
	good := f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("good")})
	failures := 0
	deadline := time.Now().Add(time.Minute)
	for f.find(good.OperationID).EndedAt == nil && time.Now().Before(deadline) {
		if _, err := f.store.Round(t.Context()); err != nil {
			failures++
		}
		time.Sleep(time.Millisecond) // the waits between attempts are the database's
	}
	f.wantCounts(f.find(bad.OperationID), bulk.Done, size, size-7, 7, 0)
	f.wantCounts(f.find(good.OperationID), bulk.Done, size, size, 0, 0)
	if failures != 8 {
		t.Errorf("%d failures", failures)
	}
}

// Others may hold the lock of the company for long: that is no failure of the rows.
func TestWaitingForTheCompanyIsNoAttempt(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	o := f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("late")})
	tx := f.begin()
	_, err := companies.Lock(t.Context(), tx, 1)
	f.try(err)
	if more, err := f.store.Round(t.Context()); more || err != nil {
		t.Errorf("%t, %v", more, err)
	}
	if n := f.int(`SELECT attempts FROM operations`); n != 0 {
		t.Errorf("%d attempts", n)
	}
	f.try(tx.Rollback())
	for deadline := time.Now().Add(time.Minute); f.find(o.OperationID).EndedAt == nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		_, err := f.store.Round(t.Context())
		f.try(err)
	}
	f.wantCounts(f.find(o.OperationID), bulk.Done, size, size, 0, 0)
}

// The bound on waiting for the company is that of its lock alone: what locks a row for longer
// delays the chunk, also beyond two waits of lockPatience.
func TestAChunkWaitsForARowThatIsLockedForLong(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	o := f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("late")})
	tx := f.begin()
	_, err := tx.Exec(`SELECT FROM operation_rows FOR UPDATE`)
	f.try(err)
	unlock := time.AfterFunc(4500*time.Millisecond, func() { _ = tx.Rollback() })
	defer unlock.Stop()
	if more, err := f.store.Round(t.Context()); !more || err != nil {
		t.Errorf("%t, %v", more, err)
	}
	if of := f.find(o.OperationID); of.Done == 0 || of.Failed != 0 {
		t.Errorf("%+v", of)
	}
}

// A check that is cancelled has changed nothing, and there is nothing to undo.
func TestACancelledCheckHasChangedNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	o := f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("never"), ErrorPolicy: bulk.RejectEverything})
	f.pool.MustExec(`UPDATE operations SET state = 'CHECKING', changed = 7, done = 7, ended_at = NULL WHERE operation_id = $1`, o.OperationID)
	cancelled, err := f.store.Cancel(t.Context(), f.boss, o.OperationID)
	f.try(err)
	f.wantCounts(cancelled, bulk.Cancelled, 0, 0, 0, 0)
	if cancelled.UndoableUntil != nil {
		t.Error("a check can be undone")
	}
}

// All alerts that an operation causes are one notification, after its end.
func TestTheAlertsOfAnOperationAreOneNotification(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	scope := domain.Whole(1)
	_, err := mail.NewRecipients(f.pool, clock).Create(t.Context(), scope, "noc@acme.example", domain.Choice{})
	f.try(err)
	_, err = volume.NewAlerts(f.pool, clock).Create(t.Context(), scope, domain.AlertSpec{RuleType: domain.RuleGroupMember, Target: "13", LowerThreshold: 5, UpperThreshold: 1 << 40})
	f.try(err)
	f.pool.MustExec(`INSERT INTO subscriber_periods (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated, last_seen)
SELECT 1, '2026-11-01Z', key, 100, 0, '2026-11-02Z' FROM subscribers`)
	o := f.start(f.boss, bulk.Start{ByFilter: true, Change: moveTo(boats)})
	_, err = f.store.Round(t.Context())
	f.try(err)
	if n := f.int(`SELECT count(*) FROM alert_deliveries`); n != 0 || f.int(`SELECT count(*) FROM alert_log`) == 0 {
		t.Errorf("%d deliveries before the end", n)
	}
	f.run(o.OperationID)
	if n, entries := f.int(`SELECT count(*) FROM alert_deliveries`), f.int(`SELECT count(DISTINCT subject_id) FROM alert_log WHERE notification_id = $1`, o.OperationID); n != 1 || entries != size-1 {
		t.Errorf("%d deliveries with %d entries", n, entries)
	}
	if n := f.int(`SELECT count(*) FROM audit_log WHERE action = 'operation.run'`); n != 6 {
		t.Errorf("%d chunks are in the audit log", n)
	}
	_, err = audit.NewLog(f.pool).Verify(t.Context(), scope)
	f.try(err)
}

// before is a moment before which operations are deleted.
func before(moment time.Time) retention.Expired {
	expired, _ := retention.InForce{Kind: retention.Of(retention.Operations), Kept: 30}.Expired(moment.AddDate(0, 0, 30))
	return expired
}

func TestOldOperationsArePruned(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.run(f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("a")}).OperationID)
	waiting := f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("b")})
	pruned, err := f.store.Prune(t.Context(), before(f.now))
	if err != nil || pruned != 0 {
		t.Errorf("%d were pruned: %v", pruned, err)
	}
	pruned, err = f.store.Prune(t.Context(), before(f.now.Add(time.Second)))
	if err != nil || pruned != 1 || f.int(`SELECT count(DISTINCT operation_id) FROM operation_rows`) != 1 {
		t.Errorf("%d were pruned: %v", pruned, err)
	}
	f.wantCounts(f.run(waiting.OperationID), bulk.Done, size, size, 0, 0)
}
