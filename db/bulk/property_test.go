package bulk_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/domain"
	"simgraph/domain/bulk"
)

// model is a subscriber of the reference.
type model struct {
	nickname, tariff string
	group            int64
	barred           bool
	tags             map[string]bool
}

func (m model) String() string {
	group := "-"
	if m.group != 0 {
		group = fmt.Sprint(m.group)
	}
	var tags []string
	for tag := range m.tags {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	barred := map[bool]string{true: "t", false: "f"}[m.barred]
	return strings.Join([]string{m.nickname, group, barred, "t", m.tariff, "-", "{" + strings.Join(tags, ",") + "}"}, "|")
}

// apply makes the change, one rule after the other, and reports whether all of it
// was possible and whether anything changed.
func (m *model) apply(c bulk.Change, policy bulk.Policy) (outcome bulk.Outcome) {
	next := *m
	next.tags = map[string]bool{}
	for tag := range m.tags {
		next.tags[tag] = true
	}
	possible := true
	if c.Nickname != nil {
		next.nickname = *c.Nickname
	}
	if c.IsBarred != nil {
		next.barred = *c.IsBarred
	}
	if c.TariffName != nil {
		if *c.TariffName == "None" {
			possible = false
		} else {
			next.tariff = *c.TariffName
		}
	}
	if c.Move != nil {
		switch {
		case c.Move.GroupID == nil:
			next.group = 0
		case *c.Move.GroupID == 99:
			possible = false
		default:
			next.group = *c.Move.GroupID
		}
	}
	for _, tag := range c.AddTags {
		next.tags[string(tag)] = true
	}
	for _, tag := range c.RemoveTags {
		delete(next.tags, string(tag))
	}
	same := next.String() == m.String()
	switch {
	case !possible && (policy != bulk.IgnoreFailed || same):
		return bulk.Failed
	case same:
		return bulk.Unchanged
	}
	*m = next
	return bulk.Changed
}

func someChange(random *rand.Rand) (c bulk.Change) {
	maybe := func() bool { return random.IntN(3) == 0 }
	if maybe() {
		c.Nickname = new([]string{"", "a", "b"}[random.IntN(3)])
	}
	if maybe() {
		c.IsBarred = new(random.IntN(2) == 0)
	}
	if maybe() {
		c.TariffName = new([]string{"IoT", "Max", "None"}[random.IntN(3)])
	}
	if maybe() {
		c.Move = &bulk.Move{}
		if group := []int64{0, vans, boats, 99}[random.IntN(4)]; group != 0 {
			c.Move.GroupID = &group
		}
	}
	if maybe() {
		c.AddTags = []domain.TagName{domain.TagName([]string{"x", "y"}[random.IntN(2)])}
	}
	if maybe() {
		c.RemoveTags = []domain.TagName{"z"}
	}
	if c.IsEmpty() {
		c.AddTags = []domain.TagName{"z"}
	}
	return c
}

// made is a subscriber as a row creates it, and what becomes of the row.
func made(row bulk.Row, creates bool) (*model, bulk.Outcome) {
	m := &model{tariff: *row.TariffName, tags: map[string]bool{}}
	if row.Nickname != nil {
		m.nickname = *row.Nickname
	}
	if row.IsBarred != nil {
		m.barred = *row.IsBarred
	}
	if row.Move != nil && row.Move.GroupID != nil {
		m.group = *row.Move.GroupID
	}
	for _, tag := range row.AddTags {
		m.tags[string(tag)] = true
	}
	if !creates || m.tariff == "None" || m.group == 99 {
		return nil, bulk.Failed
	}
	return m, bulk.Created
}

// Whatever operations come, by whichever of several instances they run, and however
// often work on a chunk is broken off: the subscribers are as a simple reference has
// them, and undoing all in turn brings back the first state.
func TestOperationsAgreeWithAReference(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("the seed is %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	fleet := map[string]*model{}
	for _, id := range f.ids(1, size) {
		m := &model{tariff: "IoT"}
		switch {
		case id <= "p0020":
			m.group = vans
		case id == "p0039":
			m.group = boats
		case id == "p0040":
			m.group = hidden
		}
		fleet[id] = m
	}
	first := f.rows()
	stop := f.workers(random.Uint64(), 3)
	var done []string
	for range 12 {
		policy := []bulk.Policy{bulk.RejectFailedRows, bulk.IgnoreFailed}[random.IntN(2)]
		start := bulk.Start{ErrorPolicy: policy}
		for _, id := range f.ids(1, size) {
			if random.IntN(3) > 0 {
				start.Rows = append(start.Rows, bulk.Row{PhysicalID: id, Change: someChange(random)})
			}
		}
		// Of these some are there already.
		start.Create = random.IntN(3) > 0
		for _, row := range newRows(12) {
			if random.IntN(2) > 0 {
				tariff := row.TariffName
				if row.Change = someChange(random); row.TariffName == nil {
					row.TariffName = tariff
				}
				start.Rows = append(start.Rows, row)
			}
		}
		random.Shuffle(len(start.Rows), func(i, j int) { start.Rows[i], start.Rows[j] = start.Rows[j], start.Rows[i] })
		outcomes := map[string]bulk.Outcome{}
		for _, row := range start.Rows {
			if of := fleet[row.PhysicalID]; of != nil {
				outcomes[row.PhysicalID] = of.apply(row.Change, policy)
			} else if of, outcome := made(row, start.Create); outcome == bulk.Created {
				fleet[row.PhysicalID], outcomes[row.PhysicalID] = of, outcome
			} else {
				outcomes[row.PhysicalID] = outcome
			}
		}
		f.breaks.Store(maxBreaks)
		id := f.awaited(f.start(f.boss, start))
		for _, r := range f.results(id, "") {
			if want := outcomes[r.PhysicalID]; r.Outcome != want {
				t.Errorf("%s is %s, want %s: %+v", r.PhysicalID, r.Outcome, want, r)
			}
		}
		now := f.rows()
		for id, row := range now {
			if of := fleet[id]; of == nil || row != of.String() {
				t.Fatalf("%s is %s, want %v", id, row, of)
			}
		}
		if len(now) != len(fleet) {
			t.Fatalf("%d subscribers, want %d", len(now), len(fleet))
		}
		if o := f.find(id); o.Created+o.Changed > 0 {
			done = append(done, id)
		}
	}
	for _, id := range slices.Backward(done) {
		f.breaks.Store(maxBreaks)
		undo, err := f.store.Undo(t.Context(), f.boss, id)
		f.try(err)
		f.awaited(undo)
		if o := f.find(undo.OperationID); o.Changed+o.Removed != o.Total {
			t.Errorf("%+v", o)
		}
	}
	stop()
	last := f.rows()
	for id, row := range last {
		if row != first[id] {
			t.Errorf("%s is %s, was %s", id, row, first[id])
		}
	}
	if len(last) != len(first) {
		t.Errorf("%d subscribers, had %d", len(last), len(first))
	}
}

// maxBreaks is how often work on an operation is broken off: less often than makes the
// rows of a chunk fail.
const maxBreaks = 5

// workers are instances that work until stop is called. Some break their work off at
// any moment, as those do that are killed.
func (f *fleet) workers(seed uint64, n int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range n {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		other := f.another()
		all.Go(func() {
			for ctx.Err() == nil {
				if random.IntN(4) == 0 && f.breaks.Add(-1) >= 0 {
					f.breakOff(ctx, time.Duration(random.IntN(5_000))*time.Microsecond)
				} else if more, _ := other.Round(ctx); !more {
					time.Sleep(time.Millisecond) // nothing is due
				}
			}
		})
	}
	f.Cleanup(func() { cancel(); all.Wait() })
	return func() { cancel(); all.Wait() }
}

// breakOff ends a session of the database that writes, after a while.
func (f *fleet) breakOff(ctx context.Context, after time.Duration) {
	time.Sleep(after)
	_, _ = f.pool.ExecContext(ctx, `
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xid IS NOT NULL AND query ~ 'UPDATE operation|INSERT INTO subscribers' LIMIT 1`)
}

// awaited waits for the end of the operation, and returns its id.
func (f *fleet) awaited(o *bulk.Operation) string {
	f.Helper()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		var ended bool
		if err := f.pool.Get(&ended, `SELECT ended_at IS NOT NULL FROM operations WHERE operation_id = $1`, o.OperationID); err == nil && ended {
			dbtest.CloseIdle(f.pool) // sessions were ended
			return o.OperationID
		}
		time.Sleep(time.Millisecond)
	}
	f.Fatalf("%+v has not ended", f.find(o.OperationID))
	return ""
}
