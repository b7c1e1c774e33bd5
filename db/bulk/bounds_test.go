package bulk_test

import (
	"fmt"
	"testing"
	"time"

	store "simgraph/db/bulk"
	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/query"
)

// However few rows a statement writes, an operation has all of them, once and in their order.
func TestAnOperationIsWrittenInParts(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var rows []bulk.Row
	for i, id := range f.ids(1, 7) {
		rows = append(rows, bulk.Row{PhysicalID: id, Line: i + 2, Change: bulk.Change{Nickname: new(fmt.Sprint("n", i))}})
	}
	for name, start := range map[string]func() bulk.Start{
		"ids":   func() bulk.Start { return bulk.Start{PhysicalIDs: f.ids(1, 7), Change: tag("a")} },
		"rows":  func() bulk.Start { return bulk.Start{Rows: rows} },
		"lines": func() bulk.Start { return bulk.Start{Lines: lines(rows...)} },
	} {
		digest := ""
		for _, atOnce := range []int{10_000, 1, 3, 6, 7, 8} {
			f.store = store.New(f.pool, store.Options{Now: func() time.Time { return f.now }, Chunk: 7, RowsAtOnce: atOnce})
			of := start()
			of.ValidateOnly = true
			checked := f.start(f.boss, of)
			f.wantCounts(checked, bulk.Checked, 7, 7, 0, 0)
			if digest == "" {
				digest = checked.Digest
			}
			if checked.Digest != digest {
				t.Errorf("%s, %d at once: another digest", name, atOnce)
			}
			for i, r := range f.results(checked.OperationID, "") {
				if r.PhysicalID != fmt.Sprintf("p%04d", i+1) {
					t.Errorf("%s, %d at once: row %d is of %s", name, atOnce, i, r.PhysicalID)
				}
			}
		}
	}
}

// The bound of subscribers is held in each way to name them, and the last one is let in.
func TestAnOperationHasSoManySubscribersAtMost(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.store = store.New(f.pool, store.Options{Now: func() time.Time { return f.now }, Chunk: 7, Rows: 20, RowsAtOnce: 3})
	f.pool.MustExec(`UPDATE subscribers SET physical_id = 'q' || physical_id WHERE physical_id > 'p0021'`)
	barred, err := query.ParseFilter("isBarred eq true", domain.SubscriberFields)
	f.try(err)
	for n, want := range map[int]domain.ErrorKind{20: "", 21: domain.KindInvalid} {
		f.pool.MustExec(`UPDATE subscribers SET is_barred = physical_id <= $1`, fmt.Sprintf("p%04d", n))
		var rows []bulk.Row
		for _, id := range f.ids(1, n) {
			rows = append(rows, bulk.Row{PhysicalID: id, Change: tag("a")})
		}
		for name, start := range map[string]bulk.Start{
			"filter": {ByFilter: true, Filter: barred, Change: tag("a")},
			"ids":    {PhysicalIDs: f.ids(1, n), Change: tag("a")},
			"rows":   {Rows: rows},
			"lines":  {Lines: lines(rows...)},
		} {
			start.ValidateOnly, start.ErrorPolicy = true, bulk.RejectFailedRows
			_, err := f.store.Start(t.Context(), f.boss, start)
			f.wants(err, want, fmt.Sprint(n, " by ", name))
			if left := f.int(`SELECT count(*) FROM operation_rows WHERE operation_id NOT IN (SELECT operation_id FROM operations)`); left != 0 {
				t.Errorf("%s: %d rows are left of an operation that was refused", name, left)
			}
		}
	}
}
