package bulk_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/domain/bulk"
)

// rowsLeft counts the rows and uploads that the database has.
func (f *fleet) rowsLeft() (rows, uploads int) {
	f.Helper()
	f.try(f.pool.QueryRowContext(f.Context(), `SELECT (SELECT count(*) FROM operation_rows), (SELECT count(*) FROM operation_uploads)`).Scan(&rows, &uploads))
	return rows, uploads
}

// wide is a row that takes some 2 kB, for a subscriber that there is not.
func wide(n int) bulk.Row {
	row := bulk.Row{PhysicalID: fmt.Sprintf("w%06d", n), Line: n + 2}
	for tag := range bulk.MaxTags {
		row.AddTags = append(row.AddTags, domain.TagName(fmt.Sprintf("%02d%s", tag, strings.Repeat("x", 60))))
	}
	return row
}

func lines(rows ...bulk.Row) iter.Seq2[bulk.Row, error] {
	return func(yield func(bulk.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Rows that come one at a time make the operation that the same rows make at once.
func TestLinesAreAnOperationAsRowsAre(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rows := []bulk.Row{
		{PhysicalID: "p0001", Line: 2, Change: bulk.Change{Nickname: new("first")}},
		{PhysicalID: "x", Line: 3, Fault: &domain.Error{Kind: domain.KindInvalid, Field: "nickname", Message: "is at fault"}},
		{PhysicalID: "p0003", Line: 4, Change: bulk.Change{IsBarred: new(true), TerminateDate: new(clock().Add(-1))}},
	}
	want := f.start(f.boss, bulk.Start{Rows: rows, ValidateOnly: true})
	got := f.start(f.boss, bulk.Start{Lines: lines(rows...), ValidateOnly: true})
	if got.Digest != want.Digest {
		t.Errorf("the digest is %s, that of the rows %s", got.Digest, want.Digest)
	}
	f.wantCounts(got, want.State, want.Total, want.Changed, want.Failed, want.Skipped)
	ran := f.run(f.start(f.boss, bulk.Start{Lines: lines(rows...), ErrorPolicy: bulk.RejectFailedRows, Digest: want.Digest, Expect: new(3)}).OperationID)
	f.wantCounts(ran, bulk.Done, 3, 2, 1, 0)
	if r := f.results(ran.OperationID, bulk.Failed); len(r) != 1 || *r[0].Line != 3 || *r[0].Message != "is at fault" {
		t.Errorf("%+v", r)
	}
	if _, uploads := f.rowsLeft(); uploads != 0 {
		t.Errorf("%d uploads are left", uploads)
	}
}

// What waits in memory of an upload is bounded in bytes: the rest is in the database.
func TestLinesAreWrittenAsTheyCome(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	const many, most = 2_000, 300 // rows of 2 kB, so that 300 are more than may wait
	broken := errors.New("the client went away")
	_, err := f.store.Start(t.Context(), f.boss, bulk.Start{ValidateOnly: true, Lines: func(yield func(bulk.Row, error) bool) {
		for n := range many {
			if !yield(wide(n), nil) {
				return
			}
			if n%100 != 0 {
				continue
			}
			if written, _ := f.rowsLeft(); written < n-most {
				t.Errorf("%d of %d rows are written", written, n)
			}
		}
		yield(bulk.Row{}, broken)
	}})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if rows, uploads := f.rowsLeft(); rows != 0 || uploads != 0 {
		t.Errorf("%d rows and %d uploads are left of an upload that failed", rows, uploads)
	}
}

// What is refused after the last row leaves none.
func TestUploadsThatAreRefusedLeaveNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	weak := *f.boss
	weak.Permissions = []domain.Permission{domain.ViewSubscriber}
	one := bulk.Row{PhysicalID: "p0001", Line: 2, Change: bulk.Change{Nickname: new("x")}}
	tooMany := func(yield func(bulk.Row, error) bool) {
		for n, more := 0, true; more; n++ {
			more = yield(bulk.Row{PhysicalID: fmt.Sprint("p", n), Line: n, Change: one.Change}, nil)
		}
	}
	for what, c := range map[string]struct {
		by    *domain.Caller
		start bulk.Start
		want  domain.ErrorKind
	}{
		"no rows":            {f.boss, bulk.Start{Lines: lines()}, domain.KindInvalid},
		"another digest":     {f.boss, bulk.Start{Lines: lines(one), Digest: "x"}, domain.KindInvalid},
		"another number":     {f.boss, bulk.Start{Lines: lines(one), Expect: new(2)}, domain.KindInvalid},
		"without permission": {&weak, bulk.Start{Lines: lines(one)}, domain.KindForbidden},
		"too many":           {f.boss, bulk.Start{Lines: tooMany}, domain.KindInvalid},
	} {
		_, err := f.store.Start(t.Context(), c.by, c.start)
		f.wants(err, c.want, what)
		if rows, uploads := f.rowsLeft(); rows != 0 || uploads != 0 {
			t.Errorf("%s: %d rows and %d uploads are left", what, rows, uploads)
		}
	}
}

// Uploads on their way count as operations, so that no row is read in vain.
func TestUploadsTakeTheRoomOfOperations(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	row := bulk.Row{PhysicalID: "p0001", Line: 2, Change: bulk.Change{Nickname: new("x")}}
	var nested func(depth int) error
	nested = func(depth int) error {
		_, err := f.store.Start(t.Context(), f.boss, bulk.Start{ErrorPolicy: bulk.RejectFailedRows, Lines: func(yield func(bulk.Row, error) bool) {
			if depth == bulk.MaxActive {
				t.Error("a row was read of more uploads than a company has operations")
			}
			if err := nested(depth + 1); err != nil && depth+1 < bulk.MaxActive {
				t.Errorf("the upload %d: %v", depth+1, err)
			} else if depth+1 == bulk.MaxActive {
				f.wants(err, domain.KindRateLimited, "one more upload")
				_, err := f.store.Start(t.Context(), f.boss, bulk.Start{Rows: []bulk.Row{row}})
				f.wants(err, domain.KindRateLimited, "one more operation")
			}
			yield(row, nil)
		}})
		return err
	}
	f.try(nested(0))
}

// What a process that was killed leaves of an upload is removed, also when it was frozen
// instead and goes on; an upload on its way is not.
func TestUploadsThatNobodyEndsAreRemoved(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	prune := func() { f.try(f.store.PruneUploads(t.Context())) }
	_, err := f.store.Start(t.Context(), f.boss, bulk.Start{ValidateOnly: true, Lines: func(yield func(bulk.Row, error) bool) {
		for n := range 500 {
			yield(wide(n), nil)
		}
		prune()
		if rows, uploads := f.rowsLeft(); rows == 0 || uploads != 1 {
			t.Errorf("%d rows and %d uploads are left of one on its way", rows, uploads)
		}
		f.pool.MustExec(`UPDATE operation_uploads SET written_at = now() - interval '11 minutes'`)
		prune()
		if rows, uploads := f.rowsLeft(); rows != 0 || uploads != 0 {
			t.Errorf("%d rows and %d uploads are left", rows, uploads)
		}
		yield(wide(500), nil)
	}})
	f.wants(err, domain.KindUnavailable, "an upload that was removed")
	if rows, uploads := f.rowsLeft(); rows != 0 || uploads != 0 {
		t.Errorf("%d rows and %d uploads are left of one that went on", rows, uploads)
	}
}
