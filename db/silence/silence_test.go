package silence_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/db/silence"
	"simgraph/domain"
	"simgraph/domain/query"
	rules "simgraph/domain/silence"
	"simgraph/internal/fatal"
)

var noon = time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)

// fixture has silences of acme, by a clock.
type fixture struct {
	*testing.T
	pool  *sqlx.DB
	store *silence.Store
	now   time.Time
	by    domain.Scope
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, pool: fleettest.NewInventory(t), now: noon, by: fleettest.All.By(&domain.Actor{Name: "ops@acme.example"})}
	f.store = silence.New(f.pool, func() time.Time { return f.now })
	return f
}

func (f *fixture) create(of rules.Matcher, from, until time.Duration) *rules.Silence {
	f.Helper()
	made, err := f.store.Create(f.Context(), f.by, rules.Spec{Reason: "works", Matcher: of, StartsAt: f.now.Add(from), EndsAt: f.now.Add(until)})
	fatal.If(f, err)
	return made
}

func (f *fixture) edit(id int64, edit rules.Edit) (*rules.Silence, error) {
	f.Helper()
	return f.store.Edit(f.Context(), f.by, id, edit)
}

const (
	logAlert = `
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, group_id, target_group_id,
  period_start, period_end, threshold, usage, late, notification_id, date_created)
SELECT 1, 7, 'sim', '', 'lower', 1, s.key, CASE WHEN s.key IS NULL THEN $3::bigint END, $4, $5, $5, 1, 2, false, $1, $5
FROM (SELECT) one LEFT JOIN subscribers s ON s.company_id = 1 AND s.physical_id = $2`
	logCondition = `
INSERT INTO condition_log (company_id, alert_id, kind, state, rule_type, target, revision, subscriber_key, group_id, target_group_id,
  source, since, bound, value, trait, before, after, is_open, notification_id, date_created)
SELECT 1, 7, 'silent', 'fired', 'sim', '', 1, s.key, CASE WHEN s.key IS NULL THEN $3::bigint END, $4, '', $5, 1, 2, '', '', '', true, $1, $5
FROM (SELECT) one LEFT JOIN subscribers s ON s.company_id = 1 AND s.physical_id = $2`
)

// entry is what a log has: about a subscriber, or else a group; target is the group that
// the alert is set on.
type entry struct {
	physicalID    string
	group, target *int64
}

// Whatever a silence names, it alone decides: each way in which an entry of a log may be
// meant is tried without the others, in both logs.
func TestEachWayToMeanAnEntrySilencesIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	vans, boats := int64(12), int64(13)
	onP1 := entry{physicalID: "p01"}                        // in the vans, with the tag fleet
	onP9 := entry{physicalID: "p09"}                        // in no group, without a tag
	ofBoats := entry{group: &boats}                         // the usage of the boats
	onP9ByBoats := entry{physicalID: "p09", target: &boats} // by an alert on the boats
	for _, c := range []struct {
		name string
		rules.Matcher
		silenced, left []entry
	}{
		{"nothing", rules.Matcher{}, []entry{onP1, onP9, ofBoats, onP9ByBoats}, nil},
		{"the alert", rules.Matcher{AlertIDs: []int64{5, 7}}, []entry{onP1, ofBoats}, nil},
		{"another alert", rules.Matcher{AlertIDs: []int64{5}}, nil, []entry{onP1, ofBoats}},
		{"the group of the subscriber", rules.Matcher{GroupIDs: []int64{vans}}, []entry{onP1}, []entry{onP9, ofBoats, onP9ByBoats}},
		{"the group whose usage it is", rules.Matcher{GroupIDs: []int64{99, boats}}, []entry{ofBoats}, []entry{onP1, onP9}},
		{"the group of the alert", rules.Matcher{GroupIDs: []int64{boats}}, []entry{onP9ByBoats}, []entry{onP1, onP9}},
		{"the tag", rules.Matcher{TagNames: []string{"z", "fleet"}}, []entry{onP1}, []entry{onP9, ofBoats}},
		{"another tag", rules.Matcher{TagNames: []string{"z"}}, nil, []entry{onP1, onP9, ofBoats}},
		{"the subscriber", rules.Matcher{PhysicalIDs: []string{"p02", "p01"}}, []entry{onP1}, []entry{onP9, ofBoats}},
		{"the group and another subscriber", rules.Matcher{GroupIDs: []int64{vans}, PhysicalIDs: []string{"p02"}}, nil, []entry{onP1}},
		{"the tag and another alert", rules.Matcher{TagNames: []string{"fleet"}, AlertIDs: []int64{5}}, nil, []entry{onP1}},
	} {
		of := f.create(c.Matcher, 0, time.Hour)
		for _, wanted := range []struct {
			silenced bool
			entries  []entry
		}{{true, c.silenced}, {false, c.left}} {
			for _, e := range wanted.entries {
				for log, isLeft := range f.logged(e) {
					if isLeft == wanted.silenced {
						t.Errorf("%s: %+v in the %s is left: %v", c.name, e, log, isLeft)
					}
				}
			}
		}
		_, err := f.store.End(t.Context(), f.by, of.SilenceID)
		fatal.If(f, err)
		f.now = f.now.Add(time.Minute)
	}
}

// logged has an entry logged in both logs, and reports whether it is left to be notified of.
func (f *fixture) logged(e entry) map[string]bool {
	f.Helper()
	f.now = f.now.Add(time.Second)
	left := map[string]bool{}
	for log, insert := range map[string]string{"alert log": logAlert, "log of conditions": logCondition} {
		notification := uuid.New()
		f.pool.MustExec(insert, notification, e.physicalID, e.group, e.target, f.now)
		fatal.If(f, pg.InTx(f.Context(), f.pool, func(tx *sqlx.Tx) (err error) {
			mark := silence.Alerts
			if insert == logCondition {
				mark = silence.ConditionEntries
			}
			left[log], err = mark(f.Context(), tx, fleettest.Acme, notification, f.now)
			return err
		}))
	}
	return left
}

// What ends is silenced as it was when it began, also where the silence is over by then,
// and no other.
func TestAnEndIsSilencedAsItsBeginning(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(rules.Matcher{PhysicalIDs: []string{"p01"}}, 0, time.Hour)
	for _, physicalID := range []string{"p01", "p09"} {
		isSilent := !f.logged(entry{physicalID: physicalID})["log of conditions"]
		later := uuid.New()
		f.pool.MustExec(`
INSERT INTO condition_log (company_id, alert_id, kind, state, rule_type, target, revision, subscriber_key, source, since, bound, value, trait, before, after,
  is_open, resolves, notification_id, date_created)
SELECT 1, 7, kind, 'resolved', rule_type, target, 1, subscriber_key, '', since, 1, 2, '', '', '', false, entry_id, $1, $2
FROM condition_log ORDER BY entry_id DESC LIMIT 1`, later, f.now.Add(2*time.Hour))
		fatal.If(f, pg.InTx(f.Context(), f.pool, func(tx *sqlx.Tx) error {
			left, err := silence.Resolved(f.Context(), tx, fleettest.Acme, later)
			if left == isSilent {
				t.Errorf("the end of what %s began is left: %v", physicalID, left)
			}
			return err
		}))
	}
}

func TestSilencesAreChangedEndedAndKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.pool.MustExec(`UPDATE companies SET time_zone = 'Europe/London'`)
	made := f.create(rules.Matcher{AlertIDs: []int64{7}}, -time.Hour, time.Hour)
	if !made.StartsAt.Equal(noon) || made.CreatedBy != "ops@acme.example" || made.Zone.String() != "Europe/London" {
		t.Errorf("%+v", made)
	}
	later := f.create(rules.Matcher{}, time.Hour, 2*time.Hour)
	var err error
	for range 2 { // the second changes nothing
		made, err = f.edit(made.SilenceID, rules.Edit{Reason: new("longer"), EndsAt: new(noon.Add(3 * time.Hour)), Matcher: &rules.Matcher{}})
		fatal.If(f, err)
	}
	if made.Reason != "longer" || len(made.AlertIDs) != 0 || !made.EndsAt.Equal(noon.Add(3*time.Hour)) {
		t.Errorf("%+v", made)
	}
	for _, tags := range [][]string{{"a, b"}, {"a", "b"}} {
		edited, err := f.edit(later.SilenceID, rules.Edit{Matcher: &rules.Matcher{TagNames: tags}})
		fatal.If(f, err)
		if fmt.Sprintf("%q", edited.TagNames) != fmt.Sprintf("%q", tags) {
			t.Errorf("%q became %q", tags, edited.TagNames)
		}
	}
	_, err = f.edit(made.SilenceID, rules.Edit{EndsAt: new(noon)})
	fleettest.WantKind(t, err, domain.KindInvalid)
	f.now = f.now.Add(time.Minute)
	for range 2 { // the second changes nothing
		made, err = f.store.End(t.Context(), f.by, made.SilenceID)
		fatal.If(f, err)
		if !made.EndsAt.Equal(noon.Add(time.Minute)) {
			t.Errorf("it ended at %s", made.EndsAt)
		}
		f.now = f.now.Add(time.Minute)
	}
	_, err = f.store.End(t.Context(), f.by, later.SilenceID) // has not begun
	fatal.If(f, err)
	if got := f.counts(); got != "1 1 0" {
		t.Error(got)
	}
	var actions []string
	fatal.If(f, f.pool.Select(&actions, `SELECT action FROM audit_log WHERE subject_type = 'Silence' ORDER BY sequence`))
	if got := strings.Join(actions, " "); got != "silence.create silence.create silence.edit silence.edit silence.edit silence.end silence.end" {
		t.Error(got)
	}
}

// counts are how many silences there are, that are over, and that are not.
func (f *fixture) counts() string {
	f.Helper()
	var text []string
	for _, ended := range []*bool{nil, new(true), new(false)} {
		var listing domain.Listing
		if ended != nil {
			listing.Filter = fleettest.Must[query.Expr](f.T)(query.Compare(rules.Fields, "isEnded", query.Eq, *ended))
		}
		n, err := f.store.Count(f.Context(), f.by, listing)
		fatal.If(f, err)
		text = append(text, fmt.Sprint(n))
	}
	return strings.Join(text, " ")
}

// No edit changes a silence that is over, or gives it a new life: not one that sets its end
// into the future either. Its last moment is when it ends.
func TestWhatIsOverCannotBeEdited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(rules.Matcher{}, 0, time.Hour)
	f.now = made.EndsAt
	for name, edit := range map[string]rules.Edit{
		"a reason":     {Reason: new("x")},
		"a later end":  {EndsAt: new(f.now.Add(time.Hour))},
		"a matcher":    {Matcher: &rules.Matcher{AlertIDs: []int64{7}}, EndsAt: new(f.now.Add(time.Hour))},
		"windows":      {Weekly: &[]rules.Window{}, EndsAt: new(f.now.Add(time.Hour))},
		"what it was":  {},
		"an older end": {EndsAt: new(f.now.Add(-time.Minute))},
	} {
		_, err := f.edit(made.SilenceID, edit)
		if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, err := f.store.End(t.Context(), f.by, made.SilenceID)
	fatal.If(f, err)
	if !ended.EndsAt.Equal(made.EndsAt) {
		t.Errorf("it ends at %s", ended.EndsAt)
	}
	f.now = made.EndsAt.Add(-time.Microsecond)
	_, err = f.edit(made.SilenceID, rules.Edit{EndsAt: new(f.now.Add(time.Hour))})
	fatal.If(f, err)
}

// A silence concerns the whole company, and no other.
func TestSilencesAreTheWholeCompanys(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create(rules.Matcher{}, 0, time.Hour).SilenceID
	for _, of := range []struct {
		domain.Scope
		kind domain.ErrorKind
	}{{fleettest.VansOnly, domain.KindForbidden}, {domain.Whole(fleettest.Rival), domain.KindNotFound}} {
		_, edited := f.store.Edit(t.Context(), of.Scope, id, rules.Edit{Reason: new("x")})
		fleettest.WantKind(t, edited, of.kind)
		_, ended := f.store.End(t.Context(), of.Scope, id)
		fleettest.WantKind(t, ended, of.kind)
		found, err := f.store.FindMany(t.Context(), of.Scope, []int64{id})
		n, counted := f.store.Count(t.Context(), of.Scope, domain.Listing{})
		list, listed := f.store.List(t.Context(), of.Scope, domain.Listing{Page: domain.Page{Limit: 10}})
		if len(found) > 0 || n > 0 || len(list.Items) > 0 {
			t.Errorf("%v %d %v", found, n, list.Items)
		}
		if of.kind == domain.KindForbidden {
			_, created := f.store.Create(t.Context(), of.Scope, rules.Spec{Reason: "x", EndsAt: f.now.Add(time.Hour)})
			for _, err := range []error{err, counted, listed, created} {
				fleettest.WantKind(t, err, of.kind)
			}
		}
	}
}

func TestACompanyHasAHundredSilencesThatAreNotOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range rules.MaxSilences {
		f.create(rules.Matcher{}, 0, time.Hour)
	}
	_, err := f.store.Create(t.Context(), f.by, rules.Spec{Reason: "works", EndsAt: f.now.Add(time.Hour)})
	fleettest.WantKind(t, err, domain.KindInvalid)
	f.now = f.now.Add(time.Hour)
	f.create(rules.Matcher{}, 0, time.Hour)
	if got := f.counts(); got != "101 100 1" {
		t.Error(got)
	}
	f.now = f.now.Add(rules.Kept + time.Minute) // those that ended longer ago are no more
	f.create(rules.Matcher{}, 0, time.Hour)
	if got := f.counts(); got != "2 1 1" {
		t.Error(got)
	}
}
