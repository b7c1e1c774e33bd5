package source_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/audit"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	store "simgraph/db/source"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/source"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// fixture keeps sources; its clock is moved by tests.
type fixture struct {
	*store.Store
	pool *sqlx.DB
	now  time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{pool: fleettest.NewInventory(t), now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	key := seal.Key(strings.Repeat("k", seal.KeySize))
	f.Store = store.New(f.pool, store.Options{
		Key:   func() (seal.Key, error) { return key, nil },
		Check: func(p source.Profile) error { return p.Check() },
		Ready: []*source.Profile{{Name: "ready", Format: source.JSON}},
		Now:   func() time.Time { return f.now }, MostRejects: 10, MostVersions: 3,
	})
	return f
}

func profileOf(name, skip string) source.Profile {
	return source.Profile{Name: name, Format: source.NDJSON, Skip: skip, Fields: []source.FieldExpression{
		{Field: source.PhysicalID, Expression: "r.of"}, {Field: source.EndedAt, Expression: "r.at"}, {Field: source.Volume, Expression: "r.bytes"},
	}}
}

func TestASourceFromItsMakingToItsEnd(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	created, secret, err := f.Create(ctx, fleettest.All, source.Spec{Name: "a", Profile: "ready", Authentication: source.Signature})
	if err != nil || created.SignatureHeader != source.DefaultSignatureHeader || created.Path() != "/sources/"+created.SourceID+"/records" {
		t.Fatalf("%+v, %v", created, err)
	}
	if _, _, err := f.Create(ctx, fleettest.All, source.Spec{Name: "a", Profile: "ready", Authentication: source.Basic}); err == nil {
		t.Error("a name is given twice")
	}
	_, _, err = f.Create(ctx, fleettest.All, source.Spec{Name: "b", Profile: "nothing", Authentication: source.Basic})
	fleettest.WantKind(t, err, domain.KindNotFound)
	if _, _, err := f.Create(ctx, domain.Whole(fleettest.Rival), source.Spec{Name: "a", Profile: "ready", Authentication: source.Basic}); err != nil {
		t.Errorf("another company cannot have the name: %v", err)
	}
	var stored string
	if err := f.pool.Get(&stored, `SELECT string_agg(s::text || encode(secret, 'escape'), '') FROM sources s`); err != nil || strings.Contains(stored, string(secret)) {
		t.Errorf("the secret is not sealed: %v", err)
	}
	edited, err := f.Edit(ctx, fleettest.All, "a", source.Edit{Authentication: new(source.Basic)})
	if err != nil || edited.Authentication != source.Basic || edited.SignatureHeader != "" {
		t.Errorf("%+v, %v", edited, err)
	}
	if _, _, err := f.Rotate(ctx, fleettest.All, "a"); err != nil {
		t.Error(err)
	}
	opened, err := f.Open(ctx, created.SourceID)
	if err != nil || len(opened.Secrets) != 2 || string(opened.Secrets[1]) != string(secret) || opened.Company != fleettest.Acme {
		t.Errorf("%+v, %v", opened, err)
	}
	f.now = f.now.Add(source.SecretOverlap)
	if opened, err = f.Open(ctx, created.SourceID); err != nil || len(opened.Secrets) != 1 {
		t.Errorf("%+v, %v", opened, err)
	}
	for _, paused := range []bool{true, true, false} {
		if of, err := f.Switch(ctx, fleettest.All, "a", paused); err != nil || (of.PausedAt != nil) != paused {
			t.Errorf("%+v, %v", of, err)
		}
	}
	if err := f.Remove(ctx, fleettest.All, "a"); err != nil {
		t.Error(err)
	}
	_, err = f.Open(ctx, created.SourceID)
	fleettest.WantKind(t, err, domain.KindNotFound)
	var actions []string
	for _, entry := range fleettest.AuditOf(t, audit.NewLog(f.pool), fleettest.Acme) {
		actions = append(actions, entry.Action)
	}
	if want := []string{"source.create", "source.edit", "source.rotate", "source.pause", "source.resume", "source.remove"}; !slices.Equal(actions, want) {
		t.Errorf("got %v", actions)
	}
}

// rejectsOf are the first two rejects of a source.
func rejectsOf(t *testing.T, name string) domain.Listing {
	t.Helper()
	named := fleettest.Must[query.Expr](t)(query.Compare(source.RejectFields, "sourceName", query.Eq, name))
	return domain.Listing{Filter: named, Page: domain.Page{Limit: 2}}
}

func TestSourcesAreForUsersOfTheWholeCompany(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	of := fleettest.VansOnly
	_, listed := f.List(ctx, of, domain.Listing{Page: domain.Page{Limit: 1}})
	_, counted := f.Count(ctx, of, domain.Listing{})
	_, found := f.FindMany(ctx, of, []string{"a"})
	_, _, created := f.Create(ctx, of, source.Spec{Name: "a", Profile: "ready", Authentication: source.Basic})
	_, edited := f.Edit(ctx, of, "a", source.Edit{})
	_, _, rotated := f.Rotate(ctx, of, "a")
	_, paused := f.Switch(ctx, of, "a", true)
	_, rejects := f.Rejects(ctx, of, rejectsOf(t, "a"))
	_, rejected := f.CountRejects(ctx, of, domain.Listing{})
	_, foundRejects := f.FindRejects(ctx, of, nil)
	_, profiles := f.Profiles(ctx, of)
	_, profile := f.Profile(ctx, of, "ready")
	_, versions := f.ProfileVersions(ctx, of, "ready")
	_, saved := f.SaveProfile(ctx, of, profileOf("p", ""))
	_, opened := f.OpenNamed(ctx, of, "a")
	for _, err := range []error{
		listed, counted, found, created, edited, rotated, paused, rejects, rejected, foundRejects, profiles, profile, versions, saved, opened,
		f.Remove(ctx, of, "a"), f.RemoveProfile(ctx, of, "p"),
	} {
		fleettest.WantKind(t, err, domain.KindForbidden)
	}
}

func TestProfilesHaveVersionsAndHideReadyOnes(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	save := fleettest.Must[*source.Profile](t)
	for i, skip := range []string{"", "false", "false", "true"} {
		if saved, want := save(f.SaveProfile(ctx, fleettest.All, profileOf("ready", skip))), []int{1, 2, 2, 3}[i]; saved.Version != want {
			t.Errorf("got version %d, want %d", saved.Version, want)
		}
	}
	all := fleettest.Must[[]*source.Profile](t)(f.Profiles(ctx, fleettest.All))
	if len(all) != 1 || all[0].Version != 3 || all[0].Skip != "true" || all[0].IsReady() {
		t.Errorf("%+v", all)
	}
	if theirs := fleettest.Must[[]*source.Profile](t)(f.Profiles(ctx, domain.Whole(fleettest.Rival))); len(theirs) != 1 || !theirs[0].IsReady() {
		t.Errorf("%+v", theirs)
	}
	versions := fleettest.Must[[]*source.Profile](t)(f.ProfileVersions(ctx, fleettest.All, "ready"))
	if len(versions) != 3 || versions[2].Version != 1 || versions[2].Skip != "" {
		t.Errorf("%+v", versions)
	}
	if _, _, err := f.Create(ctx, fleettest.All, source.Spec{Name: "a", Profile: "ready", Authentication: source.Basic}); err != nil {
		t.Fatal(err)
	}
	fleettest.WantKind(t, f.RemoveProfile(ctx, fleettest.All, "ready"), domain.KindInvalid)
	fatal.If(t, f.Remove(ctx, fleettest.All, "a"))
	if err := f.RemoveProfile(ctx, fleettest.All, "ready"); err != nil {
		t.Error(err)
	}
	if again := fleettest.Must[*source.Profile](t)(f.Profile(ctx, fleettest.All, "ready")); !again.IsReady() {
		t.Errorf("%+v", again)
	}
	for n := range 5 {
		save(f.SaveProfile(ctx, fleettest.All, profileOf("many", fmt.Sprintf("%d == 0", n))))
	}
	if versions := fleettest.Must[[]*source.Profile](t)(f.ProfileVersions(ctx, fleettest.All, "many")); len(versions) != 3 || versions[0].Version != 5 {
		t.Errorf("%d versions are kept", len(versions))
	}
}

// Of the rejects of a source the newest are kept; the same one again is counted.
func TestRejectsAreBounded(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	for _, name := range []string{"a", "b"} {
		if _, _, err := f.Create(ctx, fleettest.All, source.Spec{Name: name, Profile: "ready", Authentication: source.Basic}); err != nil {
			t.Fatal(err)
		}
	}
	keep := func(name string, from, n int) {
		t.Helper()
		of := fleettest.Must[*source.Opened](t)(f.OpenNamed(ctx, fleettest.All, name))
		var rejects []source.Reject
		for i := range n {
			rejects = append(rejects, of.NewReject(fmt.Sprintf(`{"n":%d,"text":"%s"}`, from+i, "\x00"), true, domain.Invalid("n", "no such %d", i)))
		}
		fatal.If(t, f.Keep(ctx, of, source.Counts{Rejected: int64(n)}, rejects))
		f.now = f.now.Add(time.Second)
	}
	keep("b", 0, 1)
	keep("a", 0, 6)
	keep("a", 5, 1)
	keep("a", 6, 9)
	keep("b", 1, 3) // the first of it is the oldest of both
	for name, want := range map[string]int{"a": 10, "b": 4} {
		if n, err := f.CountRejects(ctx, fleettest.All, rejectsOf(t, name)); err != nil || n != want {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	var again int
	if err := f.pool.Get(&again, `SELECT count(*) FROM source_rejects WHERE times = 2`); err != nil || again != 1 {
		t.Errorf("%d came twice, %v", again, err)
	}
	page, err := f.Rejects(ctx, fleettest.All, rejectsOf(t, "a"))
	if err != nil || len(page.Items) != 2 || page.Items[0].LastAt.Before(page.Items[1].LastAt) {
		t.Fatalf("%+v, %v", page, err)
	}
	ids := []string{page.Items[0].ID(), "nonsense"}
	if found := fleettest.Must[map[string]*source.Reject](t)(f.FindRejects(ctx, fleettest.All, ids)); len(found) != 1 || found[ids[0]].SourceName != "a" {
		t.Errorf("%+v", found)
	}
	if theirs := fleettest.Must[map[string]*source.Reject](t)(f.FindRejects(ctx, domain.Whole(fleettest.Rival), ids)); len(theirs) != 0 {
		t.Error("another company finds a reject")
	}
}

// What became of records is counted by what it was.
func TestEachCountOfASourceIsItsOwn(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	created, _, err := f.Create(ctx, fleettest.All, source.Spec{Name: "a", Profile: "ready", Authentication: source.Basic})
	fatal.If(t, err)
	opened := fleettest.Must[*source.Opened](t)(f.Open(ctx, created.SourceID))
	want := source.Counts{Accepted: 1, Duplicates: 20, Waiting: 300, Rejected: 4_000, Skipped: 50_000}
	fatal.If(t, f.Keep(ctx, opened, want, nil))
	if of := fleettest.Must[*source.Source](t)(f.Find(ctx, fleettest.All, "a")); of.Counts != want {
		t.Errorf("got %+v", of.Counts)
	}
}

// A secret opens in the row of its source alone.
func TestASecretOfAnotherSourceIsNotTaken(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	for _, scope := range []domain.Scope{fleettest.All, domain.Whole(fleettest.Rival)} {
		for _, name := range []string{"a", "b"} {
			_, _, err := f.Create(ctx, scope, source.Spec{Name: name, Profile: "ready", Authentication: source.Basic})
			fatal.If(t, err)
		}
	}
	var sealed []struct {
		SourceID string
		Secret   []byte
	}
	fatal.If(t, f.pool.Select(&sealed, `SELECT source_id, secret FROM sources ORDER BY company_id, name`))
	own := sealed[0].SourceID
	for _, other := range sealed[1:] {
		f.pool.MustExec(`UPDATE sources SET secret = $2 WHERE source_id = $1`, own, other.Secret)
		if opened, err := f.Open(ctx, own); err == nil {
			t.Errorf("%s has the secret of %s: %v", own, other.SourceID, opened)
		}
	}
}
