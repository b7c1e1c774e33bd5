package bulk_test

import (
	"testing"

	"simgraph/domain/bulk"
)

// Each row that changes asks its carrier once, whatever is broken off meanwhile, and so
// does what is undone.
func TestOperationsAskTheCarriersOncePerChangedRow(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pool.MustExec(`
INSERT INTO webhooks (company_id, name, url, format, event_types, alert_ids, group_ids, tag_names, secret, created_at, is_provider)
VALUES (1, 'commands', 'https://carrier.example', 'cloudevents', '{command.requested}', '{}', '{}', '{}', '', now(), true)`)
	f.pool.MustExec(`UPDATE subscribers SET is_barred = true WHERE physical_id = 'p0001'`)
	stop := f.workers(1, 3)
	f.breaks.Store(maxBreaks)
	barred := f.awaited(f.start(f.boss, bulk.Start{ByFilter: true, Change: bulk.Change{IsBarred: new(true), AddTags: tag("barred").AddTags}}))
	asked := func(operation, kind string) int {
		t.Helper()
		return f.int(`
SELECT count(*) FROM commands c
JOIN operation_rows r ON r.company_id = 1 AND r.operation_id = c.operation_id AND r.outcome = 'CHANGED'
JOIN subscribers s ON s.company_id = 1 AND s.key = c.subscriber_key AND s.physical_id = r.physical_id
WHERE c.company_id = 1 AND c.operation_id = $1 AND c.kind = $2`, operation, kind)
	}
	if n, all := asked(barred, "bar"), f.int(`SELECT count(*) FROM commands`); n != size-1 || all != size-1 {
		t.Errorf("%d of %d commands are those of the rows", n, all)
	}
	f.breaks.Store(maxBreaks)
	undo, err := f.store.Undo(t.Context(), f.boss, barred)
	f.try(err)
	f.awaited(undo)
	stop()
	if n, all := asked(undo.OperationID, "unbar"), f.int(`SELECT count(*) FROM commands`); n != size-1 || all != 2*(size-1) {
		t.Errorf("undone: %d, of %d commands", n, all)
	}
	if n := f.int(`SELECT count(*) FROM webhook_messages WHERE state = 'queued'`); n != size-1 {
		t.Errorf("%d messages wait, want one of each subscriber", n)
	}
	if n := f.int(`SELECT count(*) FROM commands WHERE state = 'superseded'`); n != size-1 {
		t.Errorf("%d are replaced", n)
	}
}
