package condition_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	store "simgraph/db/condition"
	"simgraph/db/dbtest"
	"simgraph/db/inventory"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/internal/fatal"
)

// watched is what a slow reference knows of an alert.
type watched struct {
	id         int64
	ruleType   domain.RuleType
	subscriber int
	group      int64
	condition.Condition
	revision int
	armed    time.Time
}

// turns evaluates a fixture by a clock of its own, which is sometimes wrong: records and
// sessions are booked by fixture.now, which never is. It knows when a turn is due, and the
// log that a slow reference expects.
type turns struct {
	*fixture
	random *rand.Rand
	skew   time.Duration
	due    time.Time
	alerts []*watched
	groups map[int]int64
	want   []string
}

// forSeeds runs a test for each of dbtest.Seeds. The name of a subtest is its seed.
func forSeeds(t *testing.T, stream uint64, run func(m *turns)) {
	t.Helper()
	seeds, unseen := dbtest.Seeds()
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			m := &turns{fixture: newFixture(t), random: rand.New(rand.NewPCG(seed, stream)), groups: map[int]int64{}}
			m.conditions = store.New(m.pool, m.clock)
			for n := 1; n <= 8; n++ {
				m.groups[n] = []int64{12, 13}[(n-1)/4]
			}
			run(m)
			if seed != unseen && len(m.want) < 10 {
				t.Errorf("only %d entries are expected", len(m.want))
			}
		})
	}
}

func (m *turns) clock() time.Time { return m.now.Add(m.skew) }

// one returns whether something happens that does once in n times.
func (m *turns) one(n int) bool { return m.random.IntN(n) == 0 }

// wait lets seconds or many minutes pass.
func (m *turns) wait() {
	m.now = m.now.Add(time.Duration(5+m.random.IntN(pick(m, 60, 25*60))) * time.Second)
}

func pick[T any](m *turns, of ...T) T { return of[m.random.IntN(len(of))] }

// move moves the subscriber to the other group, and what it used from now on.
func (m *turns) move(n int) {
	m.Helper()
	m.groups[n] = 12 + 13 - m.groups[n]
	fleet := inventory.New(m.pool, func() time.Time { return m.now })
	_, err := fleet.EditSubscriber(m.Context(), scope, fmt.Sprintf("p%d", n), func(s *domain.Subscriber) error {
		group := m.groups[n]
		s.GroupID = &group
		return nil
	})
	fatal.If(m, err)
	fatal.If(m, m.usage.Reconcile(m.Context(), []domain.CompanyID{scope.Company}))
}

func (m *turns) watch(of domain.RuleType, c condition.Condition) {
	m.Helper()
	w := &watched{ruleType: of, Condition: c, revision: 1, armed: m.clock()}
	target := ""
	switch of {
	case domain.RuleSIM:
		w.subscriber = 1 + m.random.IntN(8)
		target = fmt.Sprintf("s%d", w.subscriber)
	case domain.RuleGroup, domain.RuleGroupMember:
		w.group = pick[int64](m, 12, 13)
		target = fmt.Sprint(w.group)
	case domain.RuleCompany:
	}
	w.id = m.create(of, target, c).AlertID
	m.alerts, m.due = append(m.alerts, w), time.Time{}
}

// edit makes the condition of an alert another one, or the same.
func (m *turns) edit(w *watched, to condition.Condition) {
	m.Helper()
	_, err := m.conditions.Edit(m.Context(), scope, w.id, condition.Edit{Condition: &to})
	fatal.If(m, err)
	if w.Bound == to.Bound && slices.Equal(w.Traits, to.Traits) {
		return
	}
	w.Condition, w.armed, m.due = to, m.clock(), time.Time{}
	w.revision++
}

// remove deletes an alert, unless it is the last one.
func (m *turns) remove(at int) {
	m.Helper()
	if len(m.alerts) == 1 {
		return
	}
	_, err := m.conditions.Remove(m.Context(), scope, m.alerts[at].id)
	fatal.If(m, err)
	m.alerts, m.due = slices.Delete(m.alerts, at, at+1), time.Time{}
}

// fire expects an entry of the alert.
func (m *turns) fire(w *watched, e condition.Entry) {
	e.AlertID, e.Kind, e.State, e.Bound, e.DateCreated = w.id, w.Kind, condition.Fired, w.Bound, m.clock()
	m.want = append(m.want, inWords(&e))
}

func inWords(e *condition.Entry) string {
	who := "source " + e.Source
	if e.SubscriberKey != nil {
		who = fmt.Sprintf("p%d", *e.SubscriberKey)
	} else if e.GroupID != nil {
		who = fmt.Sprintf("group %d", *e.GroupID)
	}
	return fmt.Sprintf("%s: alert %d %s %s (%d) %s since %s: %d %s %q %q", e.DateCreated.UTC().Format(time.RFC3339Nano), e.AlertID, e.State, e.Kind, e.Bound,
		who, e.Since.UTC().Format(time.RFC3339Nano), e.Value, e.Trait, e.Before, e.After)
}

// turn evaluates once, not at all, twice or by two instances at once, by a clock that may
// have jumped, and compares the log with that of the reference, which looks at what is booked.
func (m *turns) turn(reference func(at time.Time)) {
	m.Helper()
	switch m.random.IntN(8) {
	case 0, 1:
		m.skew = pick(m, -4*time.Minute, -50*time.Minute, 14*time.Minute, -26*time.Hour, 26*time.Hour)
	case 2, 3, 4:
		m.skew = 0
	}
	at, rounds := m.clock(), 1
	switch m.random.IntN(6) {
	case 0:
		rounds = 0
	case 1:
		rounds = 2
	case 2:
		m.together()
		reference(at)
		m.due = at.Add(time.Minute)
	}
	for range rounds {
		m.round()
		if !m.due.After(at) || m.due.After(at.Add(10*time.Minute)) {
			reference(at)
			m.due = at.Add(time.Minute)
		}
	}
	m.compare()
}

// together evaluates by two instances that both take turns, of which one may be within
// the other.
func (m *turns) together() {
	m.Helper()
	var both sync.WaitGroup
	for range 2 {
		instance := store.New(m.pool, m.clock)
		both.Go(func() {
			for range 3 {
				m.pool.MustExec(`UPDATE condition_turns SET due_at = '-infinity'`)
				if err := instance.Round(m.Context()); err != nil {
					m.Error(err)
				}
			}
		})
	}
	both.Wait()
}

func (m *turns) compare() {
	m.Helper()
	got := []string{}
	for _, e := range m.entries() {
		if e.Kind != condition.SourceSilent { // the reference knows no sources
			got = append(got, inWords(e))
		}
	}
	slices.Sort(got)
	slices.Sort(m.want)
	if slices.Equal(got, m.want) {
		return
	}
	in := func(list []string) func(string) bool {
		return func(line string) bool { return slices.Contains(list, line) }
	}
	m.Fatalf("at %s (%s by the clock) the log has in excess\n%s\nand lacks\n%s", m.now, m.clock(),
		strings.Join(slices.DeleteFunc(slices.Clone(got), in(m.want)), "\n"), strings.Join(slices.DeleteFunc(slices.Clone(m.want), in(got)), "\n"))
}

// When conditions were evaluated last is the time of the last turn in which nothing failed.
func TestATurnThatFailsIsNotNotedAsEvaluated(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dbtest.WithoutCitus(t, "a function that fails")
	f.record(1, "pgw")
	f.create(domain.RuleCompany, "", silentFor(1))
	evaluated := func(want time.Time) {
		t.Helper()
		var at time.Time
		fatal.If(f, f.pool.Get(&at, `SELECT evaluated_at FROM condition_turns WHERE company_id = 1`))
		if !at.Equal(want) {
			t.Errorf("evaluated at %s, want %s", at, want)
		}
	}
	f.pass(time.Hour)
	evaluated(f.now)
	before := f.now
	f.pool.MustExec(`ALTER TABLE condition_sources RENAME TO gone; ALTER TABLE condition_log RENAME TO lost`)
	f.now = f.now.Add(time.Hour)
	if err := f.conditions.Round(t.Context()); err == nil {
		t.Error("nothing failed")
	}
	evaluated(before)
	f.pool.MustExec(`ALTER TABLE gone RENAME TO condition_sources; ALTER TABLE lost RENAME TO condition_log`)
	f.pass(time.Hour)
	evaluated(f.now)
}
