package bulk_test

import (
	"testing"
	"time"

	"simgraph/db/mail"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/bulk"
)

// watch makes alerts on the members of boats, of which those above 100 bytes fire one and
// those above 1,000 two, and a recipient of everything, one of boats and one of vans. Of the
// subscribers p0001 to p0010 those with an even number used 150 bytes, p0010 1,500.
func (f *fleet) watch() {
	f.Helper()
	now := func() time.Time { return f.now }
	_, err := volume.NewAlerts(f.pool, now).Create(f.Context(), domain.Whole(1), domain.AlertSpec{RuleType: domain.RuleGroupMember, Target: "13", LowerThreshold: 100, UpperThreshold: 1_000})
	f.try(err)
	recipients := mail.NewRecipients(f.pool, now)
	for email, choice := range map[string]domain.Choice{"all@acme.example": {}, "boats@acme.example": {GroupIDs: []int64{boats}}, "vans@acme.example": {GroupIDs: []int64{vans}}} {
		_, err := recipients.Create(f.Context(), domain.Whole(1), email, choice)
		f.try(err)
	}
	f.hook("fired", boss, "{}")
	f.pool.MustExec(`UPDATE webhooks SET groups = NULL, event_types = '{alert.fired}'`)
	f.pool.MustExec(`
INSERT INTO subscriber_periods (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated)
SELECT 1, '2026-11-01Z', key, 0, CASE physical_id WHEN 'p0010' THEN 1500 ELSE 150 END
FROM subscribers WHERE physical_id IN ('p0002', 'p0004', 'p0006', 'p0008', 'p0010')`)
}

// setOff is what the database has of the alerts of an operation.
func (f *fleet) setOff(id string) bulk.Effects {
	f.Helper()
	return bulk.Effects{
		Alerts:     f.int(`SELECT count(*) FROM alert_log WHERE notification_id = $1`, id),
		Recipients: f.int(`SELECT count(*) FROM alert_deliveries WHERE notification_id = $1 AND NOT suppressed`, id),
		Messages:   f.int(`SELECT count(*) FROM webhook_messages WHERE event_type = 'alert.fired'`),
	}
}

// A dry run says over several chunks what the run then sets off, and leaves nothing behind.
func TestADryRunSaysWhatTheRunSetsOff(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.watch()
	before := f.rows()
	start := bulk.Start{PhysicalIDs: f.ids(1, 10), Change: moveTo(boats), ValidateOnly: true}
	dry := f.start(f.boss, start)
	// The fleet works in chunks of 7: the second has p0008 and p0010.
	want := bulk.Effects{Alerts: 6, Recipients: 2, Messages: 6}
	if dry.State != bulk.Checked || *dry.Effects != want || f.setOff(dry.OperationID) != (bulk.Effects{}) || f.rows()["p0002"] != before["p0002"] {
		t.Errorf("%s %+v, and %+v is left of it", dry.State, dry.Effects, f.setOff(dry.OperationID))
	}
	start.ValidateOnly = false
	run := f.run(f.start(f.boss, start).OperationID)
	if *run.Effects != want || f.setOff(run.OperationID) != want {
		t.Errorf("the run set off %+v, and says %+v", f.setOff(run.OperationID), *run.Effects)
	}
	undo, err := f.store.Undo(t.Context(), f.boss, run.OperationID)
	f.try(err)
	f.run(undo.OperationID)
	if f.setOff(run.OperationID) != want || *f.find(run.OperationID).Effects != want {
		t.Error("an undone operation forgot what it set off")
	}
	// What fired in a billing period does not fire in it again.
	start.ValidateOnly = true
	if again := f.start(f.boss, start); *again.Effects != (bulk.Effects{}) {
		t.Errorf("%+v", again.Effects)
	}
}

// Who has only texts to change takes no lock of the company, and sets nothing off.
func TestADryRunOfTextsWaitsForNobody(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.watch()
	tx := f.pool.MustBegin()
	tx.MustExec(`SELECT FROM companies WHERE company_id = 1 FOR UPDATE`)
	if dry := f.start(f.boss, bulk.Start{ByFilter: true, Change: tag("a"), ValidateOnly: true}); dry.State != bulk.Checked || *dry.Effects != (bulk.Effects{}) {
		t.Errorf("%s, %+v", dry.State, dry.Effects)
	}
	moved := f.start(f.boss, bulk.Start{PhysicalIDs: f.ids(1, 10), Change: moveTo(boats), ValidateOnly: true})
	f.wantCounts(moved, bulk.Checking, 0, 0, 0, 0)
	f.try(tx.Rollback())
	f.pool.MustExec(`UPDATE operations SET due_at = now() WHERE ended_at IS NULL`)
	if ended := f.run(moved.OperationID); ended.State != bulk.Checked || ended.Effects.Alerts != 6 {
		t.Errorf("%s, %+v", ended.State, ended.Effects)
	}
}

// The silence of an operation is of its subscribers, notifies nobody, and ends with it.
func TestAnOperationIsSilentWhileItRuns(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.watch()
	start := bulk.Start{PhysicalIDs: f.ids(1, 10), Change: moveTo(boats), Silence: true}
	_, err := f.store.Start(t.Context(), f.boss, start)
	f.wants(err, domain.KindForbidden, "a silence without the permission")
	f.setPermissions(boss, "VIEW_SUBSCRIBER", "MANAGE_INVENTORY", "ADD_MONITORING_ALERTS")
	f.setPermissions(clerk, "VIEW_SUBSCRIBER", "MANAGE_INVENTORY", "ADD_MONITORING_ALERTS")
	_, err = f.store.Start(t.Context(), f.caller(clerk), bulk.Start{PhysicalIDs: f.ids(1, 1), Change: bulk.Change{IsBarred: new(true)}, Silence: true})
	f.wants(err, domain.KindForbidden, "a silence of a user of groups")
	if n := f.int(`SELECT count(*) FROM silences`); n != 0 {
		t.Errorf("%d silences of refused operations", n)
	}
	by := f.caller(boss)
	start.ValidateOnly = true
	if dry := f.start(by, start); dry.SilenceID != nil || dry.Effects.Recipients != 2 {
		t.Errorf("%+v", dry)
	}
	start.ValidateOnly = false
	started := f.start(by, start)
	if n := f.int(`SELECT cardinality(physical_ids) FROM silences WHERE silence_id = $1 AND ends_at = $2`, *started.SilenceID, f.now.Add(bulk.Silenced)); n != 10 {
		t.Errorf("%d subscribers are silenced for %v", n, bulk.Silenced)
	}
	f.now = f.now.Add(time.Minute)
	run := f.run(started.OperationID)
	if want := (bulk.Effects{Alerts: 6}); *run.Effects != want || f.setOff(run.OperationID) != want {
		t.Errorf("%+v, %+v", run.Effects, f.setOff(run.OperationID))
	}
	if n := f.int(`SELECT count(*) FROM silences WHERE ends_at = $1`, f.now); n != 1 {
		t.Error("the silence goes on after the operation")
	}
	cancelled := f.start(by, bulk.Start{PhysicalIDs: f.ids(11, 12), Change: moveTo(boats), Silence: true})
	_, err = f.store.Cancel(t.Context(), by, cancelled.OperationID)
	f.try(err)
	if n := f.int(`SELECT count(*) FROM silences WHERE ends_at > $1`, f.now); n != 0 {
		t.Error("the silence goes on after the operation was cancelled")
	}
}

// More subscribers than a silence names are silenced by the groups that they move into.
func TestALargeOperationSilencesItsGroups(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pool.MustExec(`DELETE FROM group_memberships`)
	f.pool.MustExec(`DELETE FROM subscribers`)
	f.add(101)
	f.setPermissions(boss, "VIEW_SUBSCRIBER", "MANAGE_INVENTORY", "ADD_MONITORING_ALERTS")
	by := f.caller(boss)
	rows := []bulk.Row{{PhysicalID: "p0001", Change: moveTo(vans)}, {PhysicalID: "p0002", Change: bulk.Change{Move: &bulk.Move{}}}}
	for _, id := range f.ids(3, 101) {
		rows = append(rows, bulk.Row{PhysicalID: id})
	}
	started := f.start(by, bulk.Start{Rows: rows, Change: moveTo(boats), Silence: true})
	if n := f.int(`SELECT count(*) FROM silences WHERE group_ids = '{12,13}' AND physical_ids = '{}'`); n != 1 {
		t.Error("not the groups are silenced that it moves into")
	}
	_, err := f.store.Start(t.Context(), by, bulk.Start{ByFilter: true, Change: bulk.Change{IsBarred: new(true)}, ErrorPolicy: bulk.RejectFailedRows, Silence: true})
	f.wants(err, domain.KindInvalid, "a silence of many that move nowhere")
	// One that nobody keeps any more ends nothing.
	f.pool.MustExec(`DELETE FROM silences`)
	f.wantCounts(f.run(started.OperationID), bulk.Done, 101, 100, 0, 0)
}
