package kept_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/fleettest"
	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

// thing is kept by its number, and those of a whole company alone are shown.
type thing struct {
	ThingID int64
	Name    string
	Times   int
	Shown   bool
}

type row struct {
	thing
	keyset.Keyed
}

var kind = kept.Kind[int64, row, thing]{
	Type: "Thing", Name: "thing",
	Table: keyset.Table{
		Key: query.Field{Name: "thingId", Type: query.Integer}, Select: `t.thing_id, t.name, t.times`, From: ` FROM things t WHERE t.company_id = $1`, WholeOnly: "things",
		Columns: map[string]keyset.Column{"thingId": {SQL: "t.thing_id"}, "name": {SQL: "t.name"}},
	},
	Read: func(r *row) (*thing, error) {
		if r.Name == "unreadable" {
			return nil, errors.New("unreadable")
		}
		return &r.thing, nil
	},
	ID: func(of *thing) *int64 { return &of.ThingID }, Version: func(of *thing) string { return domain.VersionOf(of.Name) },
	Audited: []domain.AuditField[thing]{{Name: "name", Text: func(of *thing) string { return of.Name }}},
	About:   func(of *thing) []string { return []string{of.Name, of.Name} },
	Complete: func(_ context.Context, _ domain.Scope, all ...*thing) error {
		for _, of := range all {
			of.Shown = true
		}
		return nil
	},
}

type store struct {
	*testing.T
	kept.Store[int64, row, thing, *row]
}

func newStore(t *testing.T, lock string) *store {
	pool := fleettest.NewInventory(t)
	pool.MustExec(`CREATE TABLE things (company_id bigint NOT NULL, thing_id bigint GENERATED ALWAYS AS IDENTITY, name text NOT NULL, times integer NOT NULL DEFAULT 0)`)
	of := kind
	of.Lock = lock
	return &store{t, kept.New(pool, time.Now, of)}
}

func (s *store) insert(scope domain.Scope, name string) (*thing, error) {
	return s.Create(s.Context(), scope, func(tx *sqlx.Tx) (id int64, err error) {
		err = tx.GetContext(s.Context(), &id, `INSERT INTO things (company_id, name) VALUES ($1, $2) RETURNING thing_id`, scope.Company, name)
		return id, err
	}, func(created *thing) *domain.AuditEntry { return s.Entry("thing.create", nil, created) })
}

func (s *store) made(name string) *thing {
	return fleettest.Must[*thing](s.T)(s.insert(fleettest.All, name))
}

// rename is Edit's do.
func (s *store) rename(name string) func(tx *sqlx.Tx, of *thing) (*domain.AuditEntry, error) {
	return func(tx *sqlx.Tx, of *thing) (*domain.AuditEntry, error) {
		if of.Name == name {
			return nil, nil
		}
		after := *of
		after.Name = name
		_, err := pg.Affected(s.Context(), tx, `UPDATE things SET name = upper($3) WHERE company_id = $1 AND thing_id = $2`, fleettest.Acme, of.ThingID, name)
		return s.Entry("thing.edit", of, &after), err
	}
}

// entries are those of the audit log about things.
func (s *store) entries() (lines []string) {
	for _, e := range fleettest.AuditOf(s.T, audit.NewLog(s.Pool), fleettest.Acme) {
		if e.SubjectType != "Thing" {
			continue
		}
		line := e.Action + " " + e.SubjectID + " about " + strings.Join(e.PhysicalIDs, " ")
		for _, c := range e.Changes {
			line += fmt.Sprintf(" %s: %s → %s", c.Field, fleettest.Text(c.Before), fleettest.Text(c.After))
		}
		lines = append(lines, line)
	}
	return lines
}

func TestThingsAreThoseOfTheCompanyAndOfScopesThatMaySeeThem(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t, ""), t.Context()
	made := s.made("a")
	if !made.Shown {
		t.Error("a thing that was created is not completed")
	}
	rival := domain.Whole(fleettest.Rival)
	_, err := s.Find(ctx, rival, made.ThingID)
	fleettest.WantKind(t, err, domain.KindNotFound)
	if public, _ := domain.AsError(err); public.Field != "thingId" || !strings.Contains(public.Message, "thing") {
		t.Errorf("%+v", public)
	}
	_, err = s.Locked(ctx, rival, made.ThingID, s.rename("b"))
	fleettest.WantKind(t, err, domain.KindNotFound)
	for scope, want := range map[*domain.Scope]int{&rival: 0, &fleettest.All: 1} {
		slice := fleettest.Must[domain.Slice[*thing]](t)(s.List(ctx, *scope, domain.Listing{Page: domain.Page{Limit: 9}}))
		found := fleettest.Must[map[int64]*thing](t)(s.FindMany(ctx, *scope, []int64{made.ThingID, -1}))
		n := fleettest.Must[int](t)(s.Count(ctx, *scope, domain.Listing{}))
		if len(slice.Items) != want || len(found) != want || n != want {
			t.Errorf("%d listed, %d found, %d counted, not %d", len(slice.Items), len(found), n, want)
		}
		for _, of := range append(slice.Items, found[made.ThingID]) {
			if of != nil && (of.Name != "a" || !of.Shown) {
				t.Errorf("%+v", of)
			}
		}
	}
	_, listed := s.List(ctx, fleettest.VansOnly, domain.Listing{})
	_, counted := s.Count(ctx, fleettest.VansOnly, domain.Listing{})
	_, found := s.Find(ctx, fleettest.VansOnly, made.ThingID)
	_, many := s.FindMany(ctx, fleettest.VansOnly, []int64{made.ThingID})
	_, created := s.insert(fleettest.VansOnly, "b")
	_, locked := s.Locked(ctx, fleettest.VansOnly, made.ThingID, s.rename("b"))
	for _, err := range []error{listed, counted, found, many, created, locked} {
		fleettest.WantKind(t, err, domain.KindForbidden)
	}
}

func TestAChangeHasAnEntryAndReturnsWhatTheDatabaseHas(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t, ` FOR UPDATE`), t.Context()
	made := s.made("a")
	for range 2 { // the second time nothing changes
		edited := fleettest.Must[*thing](t)(s.Edit(ctx, fleettest.All, made.ThingID, s.rename("B")))
		if edited.Name != "B" || !edited.Shown {
			t.Errorf("%+v", edited)
		}
	}
	stale := fleettest.All
	stale.ExpectedVersion = new(s.Version(made))
	_, err := s.Edit(ctx, stale, made.ThingID, s.rename("C"))
	fleettest.WantKind(t, err, domain.KindStale)
	fleettest.Same(t, fleettest.Must[*thing](t)(s.Change(ctx, stale, made.ThingID, s.rename("c"))).Name, "C")
	left := fleettest.Must[*thing](t)(s.Locked(ctx, fleettest.All, made.ThingID, func(_ *sqlx.Tx, of *thing) (*domain.AuditEntry, error) {
		of.Name = "left"
		return s.Entry("thing.end", of, nil), nil
	}))
	fleettest.Same(t, left.Name, "left")
	fleettest.Same(t, strings.Join(s.entries(), "\n"), strings.ReplaceAll(`thing.create ID about a name: nothing → a
thing.edit ID about B a name: a → B
thing.edit ID about B c name: B → c
thing.end ID about left name: left → nothing`, "ID", fmt.Sprint(made.ThingID)))
}

func TestWhatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t, ""), t.Context()
	made := s.made("a")
	failure := errors.New("refused")
	_, err := s.Create(ctx, fleettest.All, func(tx *sqlx.Tx) (int64, error) {
		_, err := s.rename("b")(tx, made)
		fatal.If(t, err)
		return 0, failure
	}, nil)
	_, changed := s.Change(ctx, fleettest.All, made.ThingID, func(tx *sqlx.Tx, of *thing) (*domain.AuditEntry, error) {
		entry, err := s.rename("b")(tx, of)
		fatal.If(t, err)
		return entry, failure
	})
	if !errors.Is(err, failure) || !errors.Is(changed, failure) {
		t.Errorf("%v, %v", err, changed)
	}
	fleettest.Same(t, fleettest.Must[*thing](t)(s.Find(ctx, fleettest.All, made.ThingID)).Name, "a")
	fleettest.Same(t, len(s.entries()), 1)
	s.Pool.MustExec(`INSERT INTO things (company_id, name) VALUES ($1, 'unreadable')`, fleettest.Acme)
	if _, err := s.List(ctx, fleettest.All, domain.Listing{Page: domain.Page{Limit: 9}}); err == nil {
		t.Error("a row that cannot be read is listed")
	}
	if _, err := s.FindMany(ctx, fleettest.All, []int64{made.ThingID, made.ThingID + 1, made.ThingID + 2}); err == nil {
		t.Error("a row that cannot be read is found")
	}
}

// Each adds one to what it has read, in Go.
func TestChangesOfAThingRunOneAfterTheOther(t *testing.T) {
	t.Parallel()
	for _, lock := range []string{"", ` FOR NO KEY UPDATE OF t`} {
		s := newStore(t, lock)
		made := s.made("a")
		var all sync.WaitGroup
		failures := make([]error, 8)
		for i := range failures {
			all.Go(func() {
				_, failures[i] = s.Locked(t.Context(), fleettest.All, made.ThingID, func(tx *sqlx.Tx, of *thing) (*domain.AuditEntry, error) {
					_, err := pg.Affected(t.Context(), tx, `UPDATE things SET times = $3 WHERE company_id = $1 AND thing_id = $2`, fleettest.Acme, of.ThingID, of.Times+1)
					return nil, err
				})
			})
		}
		all.Wait()
		fatal.If(t, errors.Join(failures...))
		fleettest.Same(t, fleettest.Must[*thing](t)(s.Find(t.Context(), fleettest.All, made.ThingID)).Times, len(failures))
	}
}

// named is kept by a UUID, and has an owner.
type named struct {
	ID, Name, Owner      string
	OwnerID              int64
	CreatedAt, ChangedAt time.Time
}

type namedRow struct {
	named
	keyset.Keyed
}

func TestOwnedThingsGetTheirIDAndOwnerAndAreFoundByUUIDsAlone(t *testing.T) {
	t.Parallel()
	pool, ctx := fleettest.NewInventory(t), t.Context()
	pool.MustExec(`CREATE TABLE named (company_id bigint NOT NULL, id uuid NOT NULL, name text NOT NULL, owner text NOT NULL, owner_id bigint NOT NULL, created_at timestamptz NOT NULL, changed_at timestamptz NOT NULL)`)
	at := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	s := kept.Owned[namedRow, named, *namedRow]{
		Store: kept.New(pool, func() time.Time { at = at.Add(time.Second); return at }, kept.Kind[string, namedRow, named]{
			Type: "Named", Name: "named", Field: "namedId", Lock: ` FOR UPDATE`, None: &named{},
			Table: keyset.Table{
				Key: query.Field{Name: "id"}, Select: `n.id, n.name, n.owner, n.owner_id, n.created_at, n.changed_at`, From: ` FROM named n WHERE n.company_id = $1 AND n.owner_id = $2`,
				Columns: map[string]keyset.Column{"id": {SQL: "n.id", UUID: true}},
			},
			Shown: func(scope domain.Scope) []any { return []any{scope.UserID()} },
			Read:  func(r *namedRow) (*named, error) { return &r.named, nil }, ID: func(of *named) *string { return &of.ID },
			Version: func(of *named) string { return of.Name },
			Audited: []domain.AuditField[named]{{Name: "name", Text: func(of *named) string { return of.Name }}},
		}),
		Made: func(of *named) kept.Made {
			return kept.Made{OwnerID: &of.OwnerID, Owner: &of.Owner, CreatedAt: &of.CreatedAt, ChangedAt: &of.ChangedAt}
		},
		RemoveSQL: `DELETE FROM named WHERE company_id = $1 AND id = $2::uuid`,
		MayChange: func(_ domain.Scope, of named) error {
			if of.Name == "fixed" {
				return domain.Forbidden("fixed")
			}
			return nil
		},
	}
	by := fleettest.All.By(&domain.Actor{UserID: 7, Name: "a@acme.example"})
	made := &named{Name: "a"}
	_, err := s.Create(ctx, by, made, func(tx *sqlx.Tx) error {
		_, err := pg.Affected(ctx, tx, `INSERT INTO named VALUES ($1, $2::uuid, $3, $4, $5, $6, $7)`, by.Company, made.ID, made.Name, made.Owner, made.OwnerID, made.CreatedAt, made.ChangedAt)
		return err
	})
	fatal.If(t, err)
	found := fleettest.Must[map[string]*named](t)(s.FindMany(ctx, by, []string{"none", made.ID, "'"}))
	if of := found[made.ID]; len(found) != 1 || of.Owner != "a@acme.example" || of.OwnerID != 7 || !of.CreatedAt.Equal(made.CreatedAt) {
		t.Errorf("%+v", found)
	}
	for _, id := range []string{"none", "01900000-0000-7000-8000-000000000001"} {
		_, err = s.Find(ctx, by, id)
		fleettest.WantKind(t, err, domain.KindNotFound)
		if public, _ := domain.AsError(err); public.Field != "namedId" {
			t.Errorf("%+v", public)
		}
	}
	_, err = s.Remove(ctx, fleettest.All.By(&domain.Actor{UserID: 8}), made.ID)
	fleettest.WantKind(t, err, domain.KindNotFound)
	apply := func(name string) func(named) (named, error) {
		return func(of named) (named, error) { of.Name = name; return of, nil }
	}
	write := func(tx *sqlx.Tx, before, after *named) error {
		fleettest.Same(t, before.Name, "a")
		_, err := pg.Affected(ctx, tx, `UPDATE named SET name = $3, changed_at = $4 WHERE company_id = $1 AND id = $2::uuid`, by.Company, after.ID, after.Name, after.ChangedAt)
		return err
	}
	for range 2 { // the second time nothing is written
		edited := fleettest.Must[*named](t)(s.Edit(ctx, by, made.ID, apply("fixed"), write))
		if edited.Name != "fixed" || !edited.ChangedAt.After(edited.CreatedAt) {
			t.Errorf("%+v", edited)
		}
	}
	stale := by
	stale.ExpectedVersion = new("a")
	_, err = s.Edit(ctx, stale, made.ID, apply("b"), write)
	fleettest.WantKind(t, err, domain.KindStale)
	_, err = s.Remove(ctx, by, made.ID)
	fleettest.WantKind(t, err, domain.KindForbidden)
	pool.MustExec(`UPDATE named SET name = 'b'`)
	fleettest.Same(t, fleettest.Must[*named](t)(s.Remove(ctx, by, made.ID)).Name, "b")
	fleettest.Same(t, fleettest.Must[int](t)(s.Count(ctx, by, domain.Listing{})), 0)
	var lines []string
	for _, e := range fleettest.AuditOf(t, audit.NewLog(pool), fleettest.Acme) {
		if e.SubjectID == made.ID {
			lines = append(lines, fmt.Sprintf("%s %s→%s", e.Action, fleettest.Text(e.Changes[0].Before), fleettest.Text(e.Changes[0].After)))
		}
	}
	slices.Sort(lines)
	fleettest.Same(t, strings.Join(lines, ", "), "named.create →a, named.delete b→, named.edit a→fixed")
}
