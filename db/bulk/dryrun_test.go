package bulk_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"simgraph/db/audit"
	"simgraph/domain"
	"simgraph/domain/bulk"
)

// again is the start of a dry run by its digest.
func again(dry *bulk.Operation) bulk.Start {
	return bulk.Start{DryRunOf: dry.OperationID, Digest: dry.Digest}
}

// mixed is a dry run in which p0001, p0004 and p0005 change, p0002 is as wanted, and two fail.
func (f *fleet) mixed(policy bulk.Policy) *bulk.Operation {
	f.Helper()
	f.pool.MustExec(`UPDATE subscribers SET is_barred = true WHERE physical_id = 'p0002'`)
	return f.start(f.boss, bulk.Start{
		Rows: []bulk.Row{
			{PhysicalID: "p0001", Change: bulk.Change{Nickname: new("van {n}")}}, {PhysicalID: "p0002"}, {PhysicalID: "none"}, {PhysicalID: "p0004", Change: bulk.Change{AddTags: []domain.TagName{"late"}}},
			{PhysicalID: "p0005", Line: 9}, {PhysicalID: "p0006", Change: moveTo(99)},
		},
		Change: bulk.Change{IsBarred: new(true)}, ErrorPolicy: policy, ValidateOnly: true,
	})
}

func TestADryRunIsStartedAsItWasSeen(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	before := f.rows()
	dry := f.mixed(bulk.RejectFailedRows)
	f.wantCounts(dry, bulk.Checked, 6, 3, 2, 0)
	if want := dry.EndedAt.Add(bulk.Startable); dry.StartableUntil == nil || !dry.StartableUntil.Equal(want) || dry.StartedID != nil {
		t.Fatalf("startable until %v, not %v", dry.StartableUntil, want)
	}
	started := f.start(f.boss, again(dry))
	if started.IsDryRun || *started.DryRunID != dry.OperationID || started.Digest != dry.Digest || started.Description != dry.Description || started.ErrorPolicy != dry.ErrorPolicy {
		t.Errorf("%+v is started of %+v", started, dry)
	}
	run := f.run(started.OperationID)
	f.wantCounts(run, bulk.Done, 6, 3, 2, 0)
	shown := f.results(dry.OperationID, "")
	for i, r := range f.results(run.OperationID, "") {
		s := shown[i]
		if r.Outcome != s.Outcome || r.PhysicalID != s.PhysicalID || (r.Line == nil) != (s.Line == nil) || !slices.EqualFunc(r.Changes, s.Changes, func(a, b domain.AuditChange) bool { return a.Field == b.Field && *a.After == *b.After }) {
			t.Errorf("got %+v, the dry run showed %+v", r, s)
		}
	}
	if seen := f.find(dry.OperationID); seen.StartableUntil != nil || *seen.StartedID != run.OperationID {
		t.Errorf("%+v", seen)
	}
	_, err := f.store.Start(t.Context(), f.boss, again(dry))
	f.wants(err, domain.KindInvalid, "a second start")
	if err == nil || !strings.Contains(err.Error(), run.OperationID) {
		t.Errorf("the error does not name the operation: %v", err)
	}
	if n := f.int(`SELECT count(*) FROM audit_log WHERE action = 'operation.start' AND changes::text LIKE '%' || $1 || '%' AND subject_id = $2`, dry.OperationID, run.OperationID); n != 1 {
		t.Errorf("%d entries of the audit log name the dry run", n)
	}
	_, err = audit.NewLog(f.pool).Verify(t.Context(), domain.Whole(1))
	f.try(err)

	undo, err := f.store.Undo(t.Context(), f.boss, run.OperationID)
	f.try(err)
	f.wantCounts(f.run(undo.OperationID), bulk.Done, 3, 3, 0, 0)
	if after := f.rows(); after["p0001"] != before["p0001"] || after["p0004"] != before["p0004"] {
		t.Errorf("%q and %q are left", after["p0001"], after["p0004"])
	}
}

// Whatever changes between the dry run and the chunk, nothing happens that it did not show.
func TestRowsThatChangedSinceTheDryRunFail(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	dry := f.mixed(bulk.RejectFailedRows)
	started := f.start(f.boss, again(dry))
	f.pool.MustExec(`UPDATE subscribers SET nickname = 'other' WHERE physical_id = 'p0001'`)
	f.pool.MustExec(`UPDATE subscribers SET is_barred = physical_id <> 'p0002' WHERE physical_id IN ('p0002', 'p0004')`)
	f.pool.MustExec(`INSERT INTO groups VALUES (1, 99, 'new', false)`)
	// What a dry run showed outlives it.
	f.pool.MustExec(`DELETE FROM operation_rows WHERE operation_id = $1`, dry.OperationID)
	f.pool.MustExec(`DELETE FROM operations WHERE operation_id = $1`, dry.OperationID)
	before := f.rows()
	run := f.run(started.OperationID)
	f.wantCounts(run, bulk.Done, 6, 1, 5, 0)
	for i, want := range []string{"changed since the dry run", "changed since the dry run", "no subscriber", "changed since the dry run", "", "failed in the dry run: "} {
		r := f.results(run.OperationID, "")[i]
		if (want == "") != (r.Outcome == bulk.Changed) || want != "" && !strings.HasPrefix(*r.Message, want) {
			t.Errorf("%s is %s: %v", r.PhysicalID, r.Outcome, r.Message)
		}
	}
	after := f.rows()
	for id, row := range before {
		if changed := after[id] != row; changed != (id == "p0005") {
			t.Errorf("%s is %q, was %q", id, after[id], row)
		}
	}
}

// What a dry run would create is created as it showed, and not where the subscriber is there by now.
func TestADryRunThatCreatesIsStarted(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	dry := f.start(f.boss, bulk.Start{Rows: newRows(3), Create: true, ErrorPolicy: bulk.RejectFailedRows, ValidateOnly: true})
	f.wantCreated(dry, 3, 0, 0, 0, 0)
	if dry.StartableUntil == nil {
		t.Fatal("a dry run that creates cannot be started")
	}
	f.run(f.start(f.boss, bulk.Start{Rows: newRows(1), Create: true}).OperationID)
	run := f.run(f.start(f.boss, again(dry)).OperationID)
	f.wantCreated(run, 2, 0, 0, 1, 0)
	if run.Description != dry.Description {
		t.Errorf("%q is the start of %q", run.Description, dry.Description)
	}
	for id, message := range f.failures(run.OperationID, bulk.Failed) {
		if id != "n00000" || !strings.HasPrefix(message, "changed since the dry run") {
			t.Errorf("%s: %s", id, message)
		}
	}
	f.wantCreated(f.undone(run.OperationID), 0, 0, 2, 0, 0)

	_, err := f.store.Start(t.Context(), f.boss, bulk.Start{DryRunOf: dry.OperationID, Digest: dry.Digest, Create: true})
	f.wants(err, domain.KindInvalid, "create beside a dry run")
}

// Under the policy that changes all or none, one subscriber that changed since is enough.
func TestADryRunOfAllOrNoneIsRejectedWhenARowChangedSince(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	if failing := f.mixed(bulk.RejectEverything); failing.StartableUntil != nil {
		t.Error("what would change nothing can be started")
	}
	dry := f.start(f.boss, bulk.Start{PhysicalIDs: f.ids(1, 9), Change: tag("a"), ErrorPolicy: bulk.RejectEverything, ValidateOnly: true})
	f.run(f.start(f.boss, bulk.Start{PhysicalIDs: f.ids(8, 8), Change: tag("a")}).OperationID)
	before := f.rows()
	run := f.run(f.start(f.boss, again(dry)).OperationID)
	f.wantCounts(run, bulk.Rejected, 1, 0, 1, 0)
	if after := f.rows(); after["p0001"] != before["p0001"] {
		t.Errorf("%q", after["p0001"])
	}
}

func TestADryRunIsStartedOnceByConcurrentRequests(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	dry := f.start(f.boss, bulk.Start{PhysicalIDs: f.ids(1, 9), Change: tag("once"), ValidateOnly: true})
	const requests = 8
	var starting sync.WaitGroup
	errs := make([]error, requests)
	begin := make(chan struct{})
	for i := range requests {
		store := f.another()
		starting.Go(func() {
			<-begin
			_, errs[i] = store.Start(context.WithoutCancel(t.Context()), f.boss, again(dry))
		})
	}
	close(begin)
	starting.Wait()
	refused := 0
	for _, err := range errs {
		if fault, is := domain.AsError(err); is && fault.Kind == domain.KindInvalid && strings.Contains(fault.Message, "was started") {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if n := f.int(`SELECT count(*) FROM operations WHERE dry_run_of = $1`, dry.OperationID); n != 1 || refused != requests-1 {
		t.Errorf("%d operations, and %d of %d requests were refused", n, refused, requests)
	}
	if n := f.int(`SELECT count(*) FROM operation_rows`); n != 2*9 {
		t.Errorf("refused starts left rows: there are %d", n)
	}
	f.wantCounts(f.run(*f.find(dry.OperationID).StartedID), bulk.Done, 9, 9, 0, 0)
}

func TestStartsOfDryRunsThatAreRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	bar := bulk.Change{IsBarred: new(true)}
	dry := f.start(f.boss, bulk.Start{PhysicalIDs: f.ids(1, 3), Change: bar, ValidateOnly: true})
	nothing := f.start(f.boss, bulk.Start{PhysicalIDs: f.ids(1, 3), Change: bulk.Change{IsBarred: new(false)}, ValidateOnly: true})
	run := f.run(f.start(f.boss, bulk.Start{PhysicalIDs: f.ids(5, 6), Change: bar}).OperationID)
	ofClerk := f.start(f.caller(clerk), bulk.Start{PhysicalIDs: f.ids(7, 8), Change: tag("clerk"), ValidateOnly: true})
	reader := *f.boss
	reader.Permissions = []domain.Permission{domain.ViewSubscriber, domain.UpdateSubscriber}
	agent := f.boss.At(domain.Origin{Door: domain.AgentDoor("model")})
	with := func(change func(*bulk.Start)) bulk.Start {
		start := again(dry)
		change(&start)
		return start
	}
	before := f.rows()
	for what, c := range map[string]struct {
		by    *domain.Caller
		start bulk.Start
		want  domain.ErrorKind
		field string
	}{
		"another digest":         {f.boss, with(func(s *bulk.Start) { s.Digest = ofClerk.Digest }), domain.KindInvalid, "digest"},
		"no digest":              {f.boss, with(func(s *bulk.Start) { s.Digest = "" }), domain.KindInvalid, "digest"},
		"a dry run of it":        {f.boss, with(func(s *bulk.Start) { s.ValidateOnly = true }), domain.KindInvalid, "validateOnly"},
		"a change of its own":    {f.boss, with(func(s *bulk.Start) { s.Change = tag("a") }), domain.KindInvalid, "change"},
		"subscribers of its own": {f.boss, with(func(s *bulk.Start) { s.PhysicalIDs = f.ids(1, 3) }), domain.KindInvalid, "where"},
		"another number":         {f.boss, with(func(s *bulk.Start) { s.Expect = new(4) }), domain.KindInvalid, "expect"},
		"an agent":               {agent, again(dry), domain.KindForbidden, ""},
		"without the permission": {&reader, again(dry), domain.KindForbidden, ""},
		"of another user":        {f.caller(clerk), again(dry), domain.KindNotFound, "dryRunOf"},
		"what changes nothing":   {f.boss, again(nothing), domain.KindInvalid, "dryRunOf"},
		"what is no dry run":     {f.boss, again(run), domain.KindInvalid, "dryRunOf"},
		"what is not there":      {f.boss, bulk.Start{DryRunOf: "019ff000-0000-7000-8000-000000000000", Digest: dry.Digest}, domain.KindNotFound, "dryRunOf"},
		"what is no id":          {f.boss, bulk.Start{DryRunOf: "none", Digest: dry.Digest}, domain.KindNotFound, "dryRunOf"},
		"of another company":     {f.boss, bulk.Start{DryRunOf: f.ofRival(), Digest: dry.Digest}, domain.KindNotFound, "dryRunOf"},
	} {
		_, err := f.store.Start(t.Context(), c.by, c.start)
		f.wants(err, c.want, what)
		if fault, is := domain.AsError(err); is && c.field != "" && fault.Field != c.field {
			t.Errorf("%s: the error is of %s, not %s", what, fault.Field, c.field)
		}
	}
	f.now = dry.StartableUntil.Add(time.Second)
	_, err := f.store.Start(t.Context(), f.boss, again(dry))
	f.wants(err, domain.KindInvalid, "a day later")
	if n := f.int(`SELECT count(*) FROM operations WHERE dry_run_of IS NOT NULL`); n != 0 || f.rows()["p0001"] != before["p0001"] {
		t.Errorf("%d were started", n)
	}
	f.now = *dry.StartableUntil
	// Who sees the whole company starts what a user of a group checked, who does not see the run.
	started := f.run(f.start(f.boss, again(ofClerk)).OperationID)
	f.wantCounts(started, bulk.Done, 2, 2, 0, 0)
	if _, err := f.store.Find(t.Context(), f.caller(clerk).Scope, started.OperationID); err == nil {
		t.Error("a user of a group sees what another started")
	}
}

// ofRival is an operation of another company.
func (f *fleet) ofRival() string {
	f.Helper()
	const id = "019ff000-0000-7000-8000-000000000001"
	f.pool.MustExec(`
INSERT INTO operations (company_id, operation_id, state, is_dry_run, error_policy, change, permissions, digest, total, changed, started_at, ended_at, user_id, actor, access_key_id, door, address, request_id)
VALUES (2, $1, 'CHECKED', true, 'REJECT_FAILED_ROWS', '{"IsBarred":true}', '{}', 'x', 1, 1, now(), now(), 0, '', '', '', '', '')`, id)
	return id
}

// What a user of a group could not change in the dry run does not change for another who can.
func TestAStarterWithMoreRightsChangesNoMoreThanWasShown(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	dry := f.start(f.caller(clerk), bulk.Start{PhysicalIDs: []string{"p0001", "p0030"}, Change: tag("a"), ValidateOnly: true})
	f.wantCounts(dry, bulk.Checked, 2, 1, 1, 0)
	before := f.rows()
	run := f.run(f.start(f.boss, again(dry)).OperationID)
	f.wantCounts(run, bulk.Done, 2, 1, 1, 0)
	if after := f.rows(); after["p0030"] != before["p0030"] || after["p0001"] == before["p0001"] {
		t.Errorf("%q %q", after["p0001"], after["p0030"])
	}
}

// More subscribers than a start may have without their number are named by the digest.
func TestTheDigestStandsForTheNumberOfSubscribers(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pool.MustExec(`UPDATE subscribers SET physical_id = 'q' || physical_id`)
	f.add(bulk.Expected)
	dry := f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("many"), ValidateOnly: true})
	f.wantCounts(f.run(f.start(f.boss, again(dry)).OperationID), bulk.Done, bulk.Expected+size, bulk.Expected+size, 0, 0)
}
