package note_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"simgraph/db/audit"
	"simgraph/db/fleettest"
	store "simgraph/db/note"
	"simgraph/domain"
	"simgraph/domain/note"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

var (
	owner = &domain.Actor{UserID: 1, Name: "a@acme.example"}
	other = &domain.Actor{UserID: 2, Name: "b@acme.example"}
	noon  = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
)

// pinned is a note about a group, or about the company for 0.
func pinned(text string, group int64) note.Note {
	n := note.Note{Text: text, StartsAt: noon}
	if group != 0 {
		n.GroupID = &group
	}
	return n
}

func TestNotesAreSeenByThoseWhoSeeWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	s, ctx := store.New(pool, time.Now), t.Context()
	var ids []string // of the group that VansOnly sees, and of another
	fatal.If(t, pool.Select(&ids, `SELECT min(physical_id) FROM subscribers WHERE company_id = $1 AND group_id IN (12, 13) GROUP BY group_id ORDER BY group_id`, fleettest.Acme))
	seen, hidden := pinned("d", 0), pinned("e", 0)
	seen.PhysicalID, hidden.PhysicalID = &ids[0], &ids[1]
	seen.EndsAt = new(noon.Add(time.Hour))
	for i, n := range []note.Note{pinned("a", 0), pinned("b", 12), pinned("c", 13), seen, hidden} {
		n.StartsAt = noon.Add(time.Duration(-i) * time.Hour)
		created := fleettest.Must[*note.Note](t)(s.Create(ctx, fleettest.All.By(owner), n))
		found := fleettest.Must[map[string]*note.Note](t)(s.FindMany(ctx, fleettest.All, []string{created.NoteID, "none"}))
		if of := found[created.NoteID]; len(found) != 1 || of.Version() != created.Version() || of.Text != n.Text || of.Owner != owner.Name {
			t.Errorf("%+v, not %+v", found, created)
		}
	}
	for _, c := range []struct {
		scope domain.Scope
		want  string
	}{{fleettest.All, "a b c d e"}, {fleettest.VansOnly.By(other), "a b d"}, {fleettest.VansOnly.By(owner), "a b d"}, {domain.Whole(fleettest.Rival), ""}} {
		slice := fleettest.Must[domain.Slice[*note.Note]](t)(s.List(ctx, c.scope, domain.Listing{Page: domain.Page{Limit: 10}}))
		var texts []string
		for _, n := range slice.Items {
			texts = append(texts, n.Text)
		}
		n := fleettest.Must[int](t)(s.Count(ctx, c.scope, domain.Listing{}))
		if strings.Join(texts, " ") != c.want || n != len(texts) {
			t.Errorf("%+v sees %q, counted %d", c.scope, texts, n)
		}
	}
	for field, want := range map[string]int{"groupId": 3, "physicalId": 3, "endsAt": 4} {
		typed, _ := note.Fields.Find(field)
		none := query.Comparison{Field: typed, Op: query.Eq, Values: []query.Value{{Null: true}}}
		if n := fleettest.Must[int](t)(s.Count(ctx, fleettest.All, domain.Listing{Filter: none})); n != want {
			t.Errorf("%d notes have no %s, not %d", n, field, want)
		}
	}
	// Where the subscriber moves to another group, the note goes along.
	pool.MustExec(`UPDATE subscribers SET group_id = 12 WHERE company_id = $1 AND physical_id = $2`, fleettest.Acme, ids[1])
	if n := fleettest.Must[int](t)(s.Count(ctx, fleettest.VansOnly, domain.Listing{})); n != 4 {
		t.Errorf("after the move %d notes are seen", n)
	}
}

func TestNotesAreChangedWithAnEntryForEachChange(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	s, log, ctx := store.New(pool, time.Now), audit.NewLog(pool), t.Context()
	whole, vans, stranger := fleettest.All.By(other), fleettest.VansOnly.By(owner), fleettest.VansOnly.By(&domain.Actor{UserID: 9})
	start := len(fleettest.AuditOf(t, log, fleettest.Acme))
	_, err := s.Create(ctx, vans, pinned("of the company", 0))
	fleettest.WantKind(t, err, domain.KindForbidden)
	made := fleettest.Must[*note.Note](t)(s.Create(ctx, vans, pinned("cafe\u0301", 12)))
	first := made.Version()
	for range 2 { // the second time nothing changes
		end := noon.Add(time.Hour)
		fleettest.Must[*note.Note](t)(s.Edit(ctx, whole, made.NoteID, note.Edit{Text: new("b"), SetEnd: true, EndsAt: &end}))
	}
	stale := vans
	stale.ExpectedVersion = &first
	_, err = s.Edit(ctx, stale, made.NoteID, note.Edit{Text: new("c")})
	fleettest.WantKind(t, err, domain.KindStale)
	_, err = s.Edit(ctx, vans, made.NoteID, note.Edit{StartsAt: new(noon.Add(time.Hour))})
	fleettest.WantKind(t, err, domain.KindInvalid)
	fleettest.Must[*note.Note](t)(s.Edit(ctx, vans, made.NoteID, note.Edit{StartsAt: new(noon.Add(time.Hour)), SetEnd: true}))
	_, err = s.Edit(ctx, stranger, made.NoteID, note.Edit{Text: new("c")})
	fleettest.WantKind(t, err, domain.KindForbidden)
	_, err = s.Remove(ctx, stranger, made.NoteID)
	fleettest.WantKind(t, err, domain.KindForbidden)
	_, err = s.Remove(ctx, domain.Whole(fleettest.Rival).By(owner), made.NoteID)
	fleettest.WantKind(t, err, domain.KindNotFound)
	fleettest.Must[*note.Note](t)(s.Remove(ctx, vans, made.NoteID))
	_, err = s.Remove(ctx, vans, made.NoteID)
	fleettest.WantKind(t, err, domain.KindNotFound)
	var got []string
	for _, e := range fleettest.AuditOf(t, log, fleettest.Acme)[start:] {
		line := e.Action
		for _, c := range e.Changes {
			line += fmt.Sprintf(" %s: %s → %s", c.Field, fleettest.Text(c.Before), fleettest.Text(c.After))
		}
		got = append(got, line)
	}
	want := []string{
		"note.create text: nothing → caf\u00e9 startsAt: nothing → 2026-11-02T12:00:00Z endsAt: nothing →  groupId: nothing → 12 physicalId: nothing → ",
		"note.edit text: caf\u00e9 → b endsAt:  → 2026-11-02T13:00:00Z",
		"note.edit startsAt: 2026-11-02T12:00:00Z → 2026-11-02T13:00:00Z endsAt: 2026-11-02T13:00:00Z → ",
		"note.delete text: b → nothing startsAt: 2026-11-02T13:00:00Z → nothing endsAt:  → nothing groupId: 12 → nothing physicalId:  → nothing",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestACompanyKeepsABoundedNumberOfNotesHoweverManyAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	s := store.New(fleettest.NewInventory(t), time.Now)
	s.Most = 3
	var makers sync.WaitGroup
	for range 8 {
		makers.Go(func() { _, _ = s.Create(t.Context(), fleettest.All.By(owner), pinned("a", 0)) })
	}
	makers.Wait()
	if n := fleettest.Must[int](t)(s.Count(t.Context(), fleettest.All, domain.Listing{})); n != 3 {
		t.Errorf("%d notes", n)
	}
	_, err := s.Create(t.Context(), fleettest.All.By(other), pinned("one more", 0))
	fleettest.WantKind(t, err, domain.KindInvalid)
	n := pinned("imported", 0)
	n.NoteID = "01900000-0000-7000-8000-000000000001"
	if kept := fleettest.Must[[]domain.Imported](t)(s.Keep(t.Context(), fleettest.All, []*note.Note{&n})); kept[0].Err == nil {
		t.Errorf("an import goes over the bound: %+v", kept)
	}
}

// A note that was imported is found by its id again: the second import changes it.
func TestImportedNotesKeepTheirIDs(t *testing.T) {
	t.Parallel()
	s, ctx := store.New(fleettest.NewInventory(t), time.Now), t.Context()
	n := pinned("a", 12)
	n.NoteID, n.Owner, n.EndsAt = "01900000-0000-7000-8000-000000000001", "gone@acme.example", new(noon.Add(time.Hour))
	keep := func() domain.Imported {
		return fleettest.Must[[]domain.Imported](t)(s.Keep(ctx, fleettest.All, []*note.Note{&n}))[0]
	}
	for _, want := range []domain.Outcome{domain.Created, domain.Unchanged} {
		if kept := keep(); kept.Outcome != want {
			t.Errorf("%+v, not %d", kept, want)
		}
	}
	n.EndsAt = nil
	if kept := keep(); kept.Outcome != domain.Updated {
		t.Errorf("%+v", kept)
	}
	if of := fleettest.Must[map[string]*note.Note](t)(s.FindMany(ctx, fleettest.All, []string{n.NoteID}))[n.NoteID]; of == nil || of.EndsAt != nil || of.Owner != n.Owner || *of.GroupID != 12 {
		t.Errorf("%+v", of)
	}
}
