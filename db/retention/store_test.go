package retention_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/db/retention"
	"simgraph/domain"
	rules "simgraph/domain/retention"
	"simgraph/internal/fatal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

var operator = &domain.Actor{Name: "operator"}

const hour, day = time.Hour, 24 * time.Hour

// fixture is a database with a company, whose clocks a test sets.
type fixture struct {
	*testing.T
	pool *sqlx.DB
	// process and database are the clocks of both.
	process, database time.Time
	store             *retention.Store
}

func newFixture(t *testing.T) *fixture {
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	f := &fixture{T: t, pool: dbtest.New(t), process: start, database: start}
	f.pool.MustExec(`INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 7)`)
	f.store = f.started()
	return f
}

// started is the store of a process that starts now.
func (f *fixture) started() *retention.Store {
	return retention.New(f.pool, retention.Options{
		Now: func() time.Time { return f.process }, DatabaseNow: func() time.Time { return f.database },
	})
}

// pass lets time pass for both clocks.
func (f *fixture) pass(d time.Duration) { f.process, f.database = f.process.Add(d), f.database.Add(d) }

func (f *fixture) set(name rules.Name, kept int) {
	f.Helper()
	fatal.If(f, f.store.Set(f.Context(), operator, rules.Of(name), kept))
}

// upkeep runs the upkeep and returns what it did.
func (f *fixture) upkeep() string {
	f.Helper()
	steps, err := f.store.Upkeep(f.Context(), operator)
	fatal.If(f, err)
	var texts []string
	for _, s := range steps {
		texts = append(texts, fmt.Sprintf("%s %s %d->%d", s.Action, s.Name, s.Before, s.Kept))
	}
	return strings.Join(texts, ", ")
}

func (f *fixture) mustDo(want string) {
	f.Helper()
	if got := f.upkeep(); got != want {
		f.Fatalf("it did %q, not %q", got, want)
	}
}

func (f *fixture) mustKeep(name rules.Name, want int) {
	f.Helper()
	got, err := f.store.InForce(f.Context(), name)
	if err != nil || got.Kept != want {
		f.Fatalf("%s are kept for %d, not %d: %v", name, got.Kept, want, err)
	}
}

// settled is a fixture in which a kind is kept for ever, or as long as can be.
func settled(t *testing.T, kind rules.Kind) *fixture {
	f := newFixture(t)
	f.set(kind.Name, longest(kind))
	f.upkeep()
	f.pass(2 * day)
	f.upkeep()
	f.mustKeep(kind.Name, longest(kind))
	return f
}

func longest(kind rules.Kind) int {
	if kind.Least == 0 {
		return 0
	}
	return kind.Most
}

// each runs a test for each kind.
func each(t *testing.T, run func(*testing.T, rules.Kind)) {
	for _, kind := range rules.Kinds {
		t.Run(string(kind.Name), func(t *testing.T) {
			t.Parallel()
			run(t, kind)
		})
	}
}

func TestAShorterRetentionIsAnnouncedAndWaitsADay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, kind rules.Kind) {
		f := settled(t, kind)
		f.set(kind.Name, 20)
		f.mustKeep(kind.Name, longest(kind))
		f.pass(30 * day) // no server has announced it
		f.mustDo(fmt.Sprintf("announce %s %d->20", kind.Name, longest(kind)))
		f.pass(day - time.Second)
		f.mustDo("")
		f.mustKeep(kind.Name, longest(kind))
		f.pass(time.Second)
		f.mustDo(fmt.Sprintf("effect %s %d->20", kind.Name, longest(kind)))
		f.mustKeep(kind.Name, 20)
		f.pass(day)
		f.mustDo("")
		all, err := f.store.List(t.Context())
		fatal.If(t, err)
		for _, s := range all {
			if s.Name == kind.Name {
				last := s.History[len(s.History)-1]
				if last.SetBy != "operator" || last.AnnouncedAt.IsZero() || last.EffectiveAt.Sub(last.AnnouncedAt) < day || !last.WithdrawnAt.IsZero() {
					t.Errorf("the history has %+v", last)
				}
			}
		}
	})
}

func TestALongerRetentionHoldsAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, kind rules.Kind) {
		f := newFixture(t)
		f.set(kind.Name, 20)
		f.upkeep()
		f.pass(day)
		f.upkeep()
		f.mustKeep(kind.Name, 20)
		f.set(kind.Name, 21)
		f.mustKeep(kind.Name, 21)
		f.set(kind.Name, longest(kind))
		f.mustKeep(kind.Name, longest(kind))
		f.mustDo("")
	})
}

// The wrong digit of an operator: it is taken back within the day, before and after it
// was announced, and nothing was ever deleted by it.
func TestAShorterRetentionThatIsTakenBackDeletesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, kind rules.Kind) {
		f := settled(t, kind)
		f.set(kind.Name, 7)
		f.set(kind.Name, longest(kind))
		f.mustDo("")
		f.set(kind.Name, 7)
		f.mustDo(fmt.Sprintf("announce %s %d->7", kind.Name, longest(kind)))
		f.pass(day - time.Second)
		f.set(kind.Name, longest(kind))
		for range 5 {
			f.mustDo("")
			f.mustKeep(kind.Name, longest(kind))
			f.pass(day)
		}
		var actions []string
		fatal.If(t, f.pool.Select(&actions, `SELECT action FROM audit_log WHERE company_id = 0 AND action LIKE 'retention.%' AND subject_id = $1 ORDER BY sequence DESC LIMIT 5`, kind.Name))
		want := "retention.withdraw retention.announce retention.set retention.withdraw retention.set"
		if got := strings.Join(actions, " "); got != want {
			t.Errorf("the audit log has %s, not %s", got, want)
		}
		// Another shorter one waits anew.
		f.set(kind.Name, 8)
		f.upkeep()
		f.pass(12 * hour)
		f.set(kind.Name, 9)
		f.upkeep()
		f.pass(day - time.Second)
		f.mustDo("")
		f.pass(time.Second)
		f.mustDo(fmt.Sprintf("effect %s %d->9", kind.Name, longest(kind)))
	})
}

// The clock of the database is set forward and back while a retention waits: under a
// process that runs on, and under one that is started meanwhile.
func TestNoClockThatIsSetShortensTheWaitOfARetention(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{day, 40 * day, 366 * day, -day, -40 * day} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprint(jump, restarted), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				f.set(rules.Audit, 2)
				f.mustDo("announce audit 0->2")
				f.database = f.database.Add(jump)
				if restarted {
					f.store = f.started()
				}
				f.mustDo("")
				f.pass(day - time.Second)
				f.mustDo("")
				f.database = f.database.Add(-jump)
				f.mustDo("")
				f.mustKeep(rules.Audit, 0)
				f.pass(time.Second)
				f.mustDo("effect audit 0->2")
			})
		}
	}
}

// While no server runs no time passes; two that run at once count once.
func TestTheWaitOfARetentionIsWhatServersRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.set(rules.Mails, 5)
	f.mustDo("announce mails 0->5")
	f.pass(10 * hour)
	f.mustDo("")
	f.pass(300 * hour) // away
	first, second := f.started(), f.started()
	for range 13 {
		for _, f.store = range []*retention.Store{first, second} {
			f.mustDo("")
		}
		f.pass(hour)
	}
	f.mustDo("")
	f.pass(hour)
	f.mustDo("effect mails 0->5")
}

// Instances with other flags start at the same moment, and run beside each other.
func TestInstancesWithOtherFlagsDoNotFight(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var together sync.WaitGroup
	wanted := make([]map[rules.Name]int, 6)
	for i := range wanted {
		together.Go(func() {
			first := map[rules.Name]int{rules.Audit: i, rules.Mails: 90, rules.Messages: 30, rules.Operations: 30}
			var err error
			if wanted[i], err = f.started().Adopt(t.Context(), operator, first); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
	for i, w := range wanted {
		if w[rules.Audit] != wanted[0][rules.Audit] || len(w) != len(rules.Kinds) {
			t.Errorf("instance %d was answered %v, the first %v", i, w, wanted[0])
		}
	}
	var n int
	if err := f.pool.Get(&n, `SELECT count(*) FROM retentions`); err != nil || n != len(rules.Kinds) {
		t.Errorf("%d settings are stored: %v", n, err)
	}
	steps := make([][]retention.Step, 4)
	for i := range steps {
		together.Go(func() {
			var err error
			if steps[i], err = f.started().Upkeep(t.Context(), operator); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
	announced := map[rules.Name]int{}
	for _, of := range steps {
		for _, s := range of {
			announced[s.Name]++
		}
	}
	for name, n := range announced {
		if n != 1 {
			t.Errorf("%s was announced %d times", name, n)
		}
	}
	if announced[rules.Mails] != 1 {
		t.Errorf("announced were %v", announced)
	}
}

// A database that has data keeps it for a day also where its first server has flags
// that delete it; a new one has nothing to lose.
func TestTheFirstStartOnADatabaseWithDataWaits(t *testing.T) {
	t.Parallel()
	first := map[rules.Name]int{rules.Audit: 2, rules.Mails: 90, rules.Messages: 30, rules.Operations: 30}
	f := newFixture(t)
	if _, err := f.store.Adopt(t.Context(), operator, first); err != nil {
		t.Fatal(err)
	}
	for name := range first {
		f.mustKeep(name, 0)
	}
	f.mustDo("announce audit 0->2, announce mails 0->90, announce messages 0->30, announce operations 0->30")
	f.pool.MustExec(`DELETE FROM company_lookup`)
	f.pool.MustExec(`DELETE FROM retentions`)
	if _, err := f.store.Adopt(t.Context(), operator, first); err != nil {
		t.Fatal(err)
	}
	for name, kept := range first {
		f.mustKeep(name, kept)
	}
	f.mustDo("")
}

func TestARetentionOutsideItsRangeIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, kind := range rules.Kinds {
		for _, kept := range []int{-1, kind.Least - 1, kind.Most + 1} {
			if err := f.store.Set(t.Context(), operator, kind, kept); err == nil || !strings.Contains(err.Error(), "are kept for") {
				t.Errorf("%s for %d: %v", kind.Name, kept, err)
			}
		}
	}
}

// What is counted before a retention is made shorter is what it would delete.
func TestWhatARetentionWouldDeleteIsCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old, fresh := f.database.AddDate(0, 0, -40), f.database.AddDate(0, 0, -20)
	for _, at := range []time.Time{old, old, fresh} {
		f.pool.MustExec(`INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, state, due_at, created_at)
VALUES (7, gen_random_uuid(), 1, 'a@b.example', 'alerts', 'sent', $1, $1), (7, gen_random_uuid(), 1, 'a@b.example', 'alerts', 'queued', $1, $1)`, at)
	}
	for _, kind := range rules.Kinds {
		expired, _ := rules.InForce{Kind: kind, Kept: 30}.Expired(f.database)
		want := 0
		if kind.Name == rules.Mails {
			want = 2
		}
		if n, err := f.store.Older(t.Context(), kind.Name, expired); err != nil || n != want {
			t.Errorf("%s: %d, %v", kind.Name, n, err)
		}
	}
}
