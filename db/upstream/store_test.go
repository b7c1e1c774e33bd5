package upstream_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/audit"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/source"
	store "simgraph/db/upstream"
	"simgraph/domain"
	domainsource "simgraph/domain/source"
	"simgraph/domain/upstream"
	"simgraph/internal/seal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// fixture keeps upstreams; its clock is moved by tests.
type fixture struct {
	*testing.T
	*store.Store
	pool *sqlx.DB
	now  time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, pool: fleettest.NewInventory(t), now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	f.Store = store.New(f.pool, store.Options{Key: sealKey, Now: func() time.Time { return f.now }})
	return f
}

func sealKey() (seal.Key, error) { return seal.Key(strings.Repeat("k", seal.KeySize)), nil }

func specOf(name string) upstream.Spec {
	return upstream.Spec{Name: name, BaseURL: "https://" + name + ".example", Labels: upstream.Ours, Days: 60, Currency: "GBP"}
}

var key = upstream.Key{ID: "sgk_1", Secret: "hunter2"}

func (f *fixture) create(name string) *upstream.Upstream {
	f.Helper()
	created, err := f.Create(f.Context(), fleettest.All, specOf(name), key)
	if err != nil {
		f.Fatal(err)
	}
	return created
}

// claim begins the only pass that is due; nil for none.
func (f *fixture) claim(lease time.Duration) *upstream.Job {
	f.Helper()
	due, err := f.Due(f.Context())
	if err != nil || len(due) > 1 {
		f.Fatal(due, err)
	}
	if len(due) == 0 {
		return nil
	}
	job, err := f.Claim(f.Context(), due[0], lease)
	if err != nil {
		f.Fatal(err)
	}
	return job
}

func (f *fixture) finish(job *upstream.Job, outcome upstream.Outcome) bool {
	f.Helper()
	outcome.Every = 15 * time.Minute
	isOurs, err := f.Finish(f.Context(), job, outcome)
	if err != nil {
		f.Fatal(err)
	}
	return isOurs
}

func (f *fixture) find(id int64) *upstream.Upstream {
	f.Helper()
	found, err := f.FindMany(f.Context(), fleettest.All, []int64{id})
	if err != nil || found[id] == nil {
		f.Fatal(err)
	}
	return found[id]
}

func TestAnUpstreamFromItsMakingToItsEnd(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	created := f.create("old")
	if created.State != upstream.New || created.SourceName != "old.example" || !created.DueAt.Equal(f.now) {
		t.Errorf("%+v", created)
	}
	var stored string
	if err := f.pool.Get(&stored, `SELECT string_agg(u::text || encode(key, 'escape'), '') FROM upstreams u`); err != nil || strings.Contains(stored, "hunter2") {
		t.Errorf("the key is not sealed: %v", err)
	}
	if _, err := f.Create(ctx, fleettest.All, specOf("old"), key); err == nil {
		t.Error("a name and source are given twice")
	}
	if _, err := f.Create(ctx, domain.Whole(fleettest.Rival), specOf("old"), key); err != nil {
		t.Errorf("another company cannot have the name: %v", err)
	}
	f.pool.MustExec(`DELETE FROM upstreams WHERE company_id = $1`, fleettest.Rival)
	_, err := f.Edit(ctx, fleettest.All, created.UpstreamID, upstream.Edit{BaseURL: new("https://evil.example")})
	if fault, is := domain.AsError(err); !is || fault.Field != "key" {
		t.Errorf("the key goes to another server: %v", err)
	}
	edited, err := f.Edit(ctx, fleettest.All, created.UpstreamID, upstream.Edit{Name: new("renamed"), Days: new(5), Key: &upstream.Key{ID: "sgk_2", Secret: "hunter3"}})
	if err != nil || edited.Name != "renamed" || edited.Days != 5 || edited.SourceName != "old.example" {
		t.Errorf("%+v, %v", edited, err)
	}
	// A new upstream begins with a sweep, and so does one that was edited.
	if job := f.claim(time.Minute); job == nil || job.Key.ID != "sgk_2" || string(job.Key.Secret) != "hunter3" || !job.IsSweep || job.Days() != 5 {
		t.Errorf("%+v", job)
	}
	paused, err := f.Switch(ctx, fleettest.All, created.UpstreamID, true)
	if err != nil || paused.State != upstream.Paused || paused.DueAt != nil {
		t.Errorf("%+v, %v", paused, err)
	}
	if _, err := f.Request(ctx, fleettest.All, created.UpstreamID, false); err == nil {
		t.Error("a paused upstream is synchronised")
	}
	if _, err := f.Switch(ctx, fleettest.All, created.UpstreamID, false); err != nil {
		t.Error(err)
	}
	removed, err := f.Remove(ctx, fleettest.All, created.UpstreamID)
	if err != nil || removed.Name != "renamed" {
		t.Errorf("%+v, %v", removed, err)
	}
	_, err = f.Remove(ctx, fleettest.All, created.UpstreamID)
	fleettest.WantKind(t, err, domain.KindNotFound)
	log, err := audit.NewLog(f.pool).List(ctx, fleettest.All, domain.Listing{Page: domain.Page{Limit: 100}})
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, entry := range log.Items {
		actions = append(actions, entry.Action)
		for _, change := range entry.Changes {
			if change.After != nil && strings.Contains(*change.After, "hunter") {
				t.Errorf("the audit log has the secret: %+v", entry)
			}
		}
	}
	slices.Reverse(actions)
	if want := []string{domain.AuditUpstreamCreate, domain.AuditUpstreamEdit, domain.AuditUpstreamPause, domain.AuditUpstreamResume, domain.AuditUpstreamRemove}; !slices.Equal(actions, want) {
		t.Error(actions)
	}
}

func TestUsersOfGroupsHaveNoUpstreams(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	of := f.create("old")
	for name, err := range map[string]error{
		"list":   second(f.List(ctx, fleettest.VansOnly, domain.Listing{})),
		"count":  second(f.Count(ctx, fleettest.VansOnly, domain.Listing{})),
		"find":   second(f.FindMany(ctx, fleettest.VansOnly, []int64{of.UpstreamID})),
		"create": second(f.Create(ctx, fleettest.VansOnly, specOf("new"), key)),
		"edit":   second(f.Edit(ctx, fleettest.VansOnly, of.UpstreamID, upstream.Edit{})),
		"pause":  second(f.Switch(ctx, fleettest.VansOnly, of.UpstreamID, true)),
		"sync":   second(f.Request(ctx, fleettest.VansOnly, of.UpstreamID, true)),
		"remove": second(f.Remove(ctx, fleettest.VansOnly, of.UpstreamID)),
	} {
		if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindForbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// The usage of a source and of an upstream must not be one.
func TestSourcesAndUpstreamsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	sources := source.New(f.pool, source.Options{
		Key: sealKey, Check: func(domainsource.Profile) error { return nil }, Ready: []*domainsource.Profile{{Name: "ready"}}, Now: func() time.Time { return f.now },
	})
	add := func(name string) error {
		_, _, err := sources.Create(ctx, fleettest.All, domainsource.Spec{Name: name, Profile: "ready", Authentication: domainsource.Basic})
		return err
	}
	f.create("old")
	if err := add("old.example"); err == nil {
		t.Error("a source has the name of the usage of an upstream")
	}
	if err := add("carrier"); err != nil {
		t.Fatal(err)
	}
	spec := specOf("new")
	spec.SourceName = "carrier"
	if _, err := f.Create(ctx, fleettest.All, spec, key); err == nil {
		t.Error("the usage of an upstream has the name of a source")
	}
}

func TestAPassIsOfOneWorker(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	of := f.create("old")
	due, err := f.Due(ctx)
	if err != nil || len(due) != 1 {
		t.Fatal(due, err)
	}
	first := f.claim(time.Minute)
	if again, err := f.Claim(ctx, due[0], time.Minute); err != nil || again != nil {
		t.Errorf("a pass is claimed twice: %+v, %v", again, err)
	}
	if f.find(of.UpstreamID).State != upstream.Syncing {
		t.Errorf("%+v", f.find(of.UpstreamID))
	}
	f.now = f.now.Add(50 * time.Second)
	progress := []upstream.Progress{{Resource: upstream.DaysCompared, Done: 3, Total: new(int64(60))}}
	if isOurs, err := f.Renew(ctx, first, time.Minute, progress); err != nil || !isOurs {
		t.Error(isOurs, err)
	}
	f.now = f.now.Add(50 * time.Second)
	if f.claim(time.Minute) != nil {
		t.Error("a lease that was renewed has ended")
	}
	if got := f.find(of.UpstreamID).Progress; len(got) != 1 || got[0].Done != 3 || *got[0].Total != 60 {
		t.Errorf("%+v", got)
	}
	f.now = f.now.Add(11 * time.Second)
	later := f.claim(time.Minute)
	if later == nil || later.Claim != first.Claim+1 {
		t.Fatalf("%+v", later)
	}
	if isOurs, err := f.Renew(ctx, first, time.Minute, nil); err != nil || isOurs {
		t.Error("a lost lease is renewed", err)
	}
	if f.finish(first, upstream.Outcome{Records: 100}) {
		t.Error("a lost pass is finished")
	}
	if _, err := f.Own(ctx, first, []string{"8944"}); err == nil {
		t.Error("a lost pass stores something")
	}
	if !f.finish(later, upstream.Outcome{Records: 7}) || f.find(of.UpstreamID).Counts.Records != 7 {
		t.Errorf("%+v", f.find(of.UpstreamID))
	}
}

func TestWhatEndsAPassDecidesWhenTheNextOneBegins(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	id := f.create("old").UpstreamID
	dueIn := func() time.Duration { return f.find(id).DueAt.Sub(f.now) }
	f.finish(f.claim(time.Minute), upstream.Outcome{Err: "no answer"})
	if of := f.find(id); of.State != upstream.Failing || *of.LastError != "no answer" || !of.FailedAt.Equal(f.now) || of.LastSyncedAt != nil || dueIn() != time.Minute {
		t.Errorf("%+v", of)
	}
	f.now = f.now.Add(time.Minute)
	job := f.claim(time.Minute)
	if !job.IsSweep || job.Attempts != 2 {
		t.Errorf("%+v", job)
	}
	f.finish(job, upstream.Outcome{Refused: 1, Refusals: []string{"a"}, Lowered: 3})
	of := f.find(id)
	// What failed went on from where it stood, so that it began a minute ago.
	begun := f.now.Add(-time.Minute)
	if of.State != upstream.Ready || of.LastError != nil || !of.LastSweptAt.Equal(begun) || !of.DataCompleteUntil.Equal(begun.Add(-time.Hour).Truncate(time.Hour)) ||
		dueIn() != 15*time.Minute || of.Counts.Refused != 1 || of.Counts.Lowered != 3 || len(of.Refusals) != 1 {
		t.Errorf("%+v", of)
	}
	f.now = f.now.Add(15 * time.Minute)
	job = f.claim(time.Minute)
	if job.IsSweep || job.Attempts != 1 || job.Sweep != 2 {
		t.Errorf("%+v", job)
	}
	// A request that comes meanwhile is for the pass after this one.
	f.now = f.now.Add(time.Second)
	if _, err := f.Request(ctx, fleettest.All, id, true); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(time.Second)
	f.finish(job, upstream.Outcome{})
	if of := f.find(id); dueIn() != 0 || of.Counts.Refused != 1 || of.Counts.Lowered != 3 {
		t.Errorf("%s %+v", dueIn(), of)
	}
	if job = f.claim(time.Minute); !job.IsSweep {
		t.Error("the sweep that was asked for is none")
	}
	if err := f.Release(ctx, job, 0); err != nil {
		t.Fatal(err)
	}
	if job = f.claim(time.Minute); !job.IsSweep {
		t.Error("a pass that was given back does not begin anew")
	}
	f.finish(job, upstream.Outcome{})
	if of := f.find(id); dueIn() != 15*time.Minute || of.Counts.Refused != 0 || of.Counts.Lowered != 0 {
		t.Errorf("%s %+v", dueIn(), of)
	}
	f.now = f.now.Add(24 * time.Hour)
	if job = f.claim(time.Minute); !job.IsSweep || job.Sweep != 3 {
		t.Errorf("no sweep a day later: %+v", job)
	}
	// A pause ends the right to go on, and a clock that is set back holds nothing up.
	if _, err := f.Switch(ctx, fleettest.All, id, true); err != nil {
		t.Fatal(err)
	}
	if isOurs, err := f.Renew(ctx, job, time.Minute, nil); err != nil || isOurs {
		t.Error("a paused pass goes on", err)
	}
	if _, err := f.Switch(ctx, fleettest.All, id, false); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.AddDate(0, 0, -30)
	if job = f.claim(time.Minute); job == nil || !job.IsSweep {
		t.Errorf("%+v", job)
	}
}

func TestASubscriberIsOfTheFirstUpstreamThatHasIt(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	f.create("one")
	one := f.claim(time.Minute)
	f.create("two")
	two := f.claim(time.Minute)
	for _, again := range []bool{false, true} {
		isNew, err := f.Own(ctx, one, []string{"a", "b"})
		if err != nil || len(isNew) != 2 || !isNew["a"] {
			t.Errorf("again %t: %v %v", again, isNew, err)
		}
	}
	if isNew, err := f.Own(ctx, two, []string{"b", "c"}); err != nil || len(isNew) != 1 || !isNew["c"] {
		t.Error(isNew, err)
	}
	f.finish(one, upstream.Outcome{})
	if of := f.find(one.Upstream.UpstreamID); of.Counts.Subscribers != 2 || of.Counts.Missing != 0 {
		t.Errorf("%+v", of.Counts)
	}
	if _, err := f.Remove(ctx, fleettest.All, one.Upstream.UpstreamID); err != nil {
		t.Fatal(err)
	}
	if isNew, err := f.Own(ctx, two, []string{"b", "c"}); err != nil || len(isNew) != 2 {
		t.Error(isNew, err)
	}
	if _, err := f.Own(ctx, one, []string{"a"}); err == nil {
		t.Error("an upstream that was removed has subscribers")
	}
}

func TestGroupsOfAnUpstreamDisplaceNone(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	f.pool.MustExec(`DELETE FROM groups WHERE company_id = $1 AND group_id NOT IN (SELECT group_id FROM subscribers WHERE group_id IS NOT NULL)`, fleettest.Acme)
	f.pool.MustExec(`INSERT INTO groups (company_id, group_id, name) VALUES ($1, 900, 'Ours'), ($1, 901, 'Vans')`, fleettest.Acme)
	f.create("one")
	job := f.claim(time.Minute)
	theirs := []*domain.Group{{GroupID: 900, Name: "Theirs"}, {GroupID: 901, Name: "Vans"}, {GroupID: 950, Name: "New"}}
	ours, err := f.Groups(ctx, job, theirs)
	if err != nil || ours[900] != 902 || ours[901] != 901 || ours[950] != 950 {
		t.Fatal(ours, err)
	}
	again, err := f.Groups(ctx, job, theirs)
	if err != nil || again[900] != 902 || len(again) != 3 {
		t.Error(again, err)
	}
	f.create("two")
	if ours, err := f.Groups(ctx, f.claim(time.Minute), []*domain.Group{{GroupID: 901, Name: "Vans"}}); err != nil || ours[901] != 951 {
		t.Error(ours, err)
	}
	var name string
	if err := f.pool.Get(&name, `SELECT name FROM groups WHERE company_id = $1 AND group_id = 900`, fleettest.Acme); err != nil || name != "Ours" {
		t.Error(name, err)
	}
}

// missing does a sweep that finds the subscribers, and returns what two in a row have not found.
func (f *fixture) missing(found ...string) []string {
	f.Helper()
	f.now = f.now.Add(24 * time.Hour)
	job := f.claim(time.Minute)
	if _, err := f.Own(f.Context(), job, found); err != nil {
		f.Fatal(err)
	}
	ids, err := f.Missing(f.Context(), job, 10)
	if err != nil {
		f.Fatal(err)
	}
	if len(ids) > 0 {
		if err := f.End(f.Context(), job, nil, ids); err != nil {
			f.Fatal(err)
		}
	}
	f.finish(job, upstream.Outcome{})
	return ids
}

func TestOneSweepEndsNoSubscriber(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var ids []string
	if err := f.pool.Select(&ids, `SELECT physical_id FROM subscribers WHERE company_id = $1 AND is_active ORDER BY physical_id LIMIT 3`, fleettest.Acme); err != nil || len(ids) < 2 {
		t.Fatal(ids, err)
	}
	of := f.create("old")
	isActive := func(id string) (is bool) {
		if err := f.pool.Get(&is, `SELECT is_active FROM subscribers WHERE company_id = $1 AND physical_id = $2`, fleettest.Acme, id); err != nil {
			t.Fatal(err)
		}
		return is
	}
	kept, gone := ids[0], ids[1]
	if ended := f.missing(kept, gone); len(ended) != 0 {
		t.Error(ended)
	}
	if ended := f.missing(kept); len(ended) != 0 || f.find(of.UpstreamID).Counts.Missing != 1 {
		t.Errorf("%v %+v", ended, f.find(of.UpstreamID).Counts)
	}
	if ended := f.missing(kept, gone); len(ended) != 0 {
		t.Error(ended)
	}
	f.missing(kept)
	if ended := f.missing(kept); !slices.Equal(ended, []string{gone}) || isActive(gone) || !isActive(kept) {
		t.Error(ended)
	}
	if counts := f.find(of.UpstreamID).Counts; counts.Subscribers != 1 || counts.Missing != 0 {
		t.Errorf("%+v", counts)
	}
	log, err := audit.NewLog(f.pool).List(t.Context(), fleettest.All, domain.Listing{Page: domain.Page{Limit: 1}})
	if err != nil || log.Items[0].Action != domain.AuditUpstreamMissing || log.Items[0].SubjectID != gone {
		t.Errorf("%+v %v", log.Items, err)
	}
	if ended := f.missing(kept); len(ended) != 0 {
		t.Error(ended)
	}
}
