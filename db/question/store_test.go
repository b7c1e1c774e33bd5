package question_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"simgraph/db/audit"
	"simgraph/db/bundle"
	"simgraph/db/fleettest"
	"simgraph/db/question"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

var asker = &domain.Actor{UserID: 1, Name: "ops@acme.example"}

// askedAbout is a question about a group, or about the company for 0.
func askedAbout(name string, group int64, isShared bool) domain.Question {
	q := domain.Question{Name: name, IsShared: isShared, Definition: domain.QuestionDefinition{
		Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Daily, Chart: domain.ChartLine, Span: domain.SpanLastMonth,
	}}
	if group != 0 {
		q.Definition.GroupID = &group
	}
	return q
}

func TestQuestionsAreSeenByTheirOwnerAndSharedOnesByThoseWhoSeeTheirSubject(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	questions, ctx := question.New(pool, time.Now), t.Context()
	owner, other := &domain.Actor{UserID: 1, Name: "a@acme.example"}, &domain.Actor{UserID: 2, Name: "b@acme.example"}
	var hidden string
	fatal.If(t, pool.Get(&hidden, `SELECT physical_id FROM subscribers WHERE company_id = $1 AND group_id = 13 ORDER BY physical_id LIMIT 1`, fleettest.Acme))
	about := askedAbout("d", 0, true)
	about.Definition.PhysicalID = &hidden
	for _, q := range []domain.Question{askedAbout("a", 0, false), askedAbout("b", 12, true), askedAbout("c", 13, true), about, askedAbout("e", 0, true)} {
		created := fleettest.Must[*domain.Question](t)(questions.Create(ctx, fleettest.All.By(owner), q))
		found := fleettest.Must[map[string]*domain.Question](t)(questions.FindMany(ctx, fleettest.All.By(owner), []string{created.QuestionID, "none"}))
		if fmt.Sprintf("%+v", *found[created.QuestionID]) != fmt.Sprintf("%+v", *created) && found[created.QuestionID].Definition.String() != created.Definition.String() {
			t.Errorf("%+v, not %+v", found[created.QuestionID], created)
		}
	}
	// A private one that nobody owns is not that of callers who are no user.
	fleettest.Must[*domain.Question](t)(questions.Create(ctx, fleettest.All.By(owner), askedAbout("f", 0, false)))
	pool.MustExec(`UPDATE questions SET owner_id = 0 WHERE name = 'f'`)
	for _, c := range []struct {
		scope domain.Scope
		want  string
	}{
		{fleettest.All.By(owner), "a b c d e"}, {fleettest.All.By(other), "b c d e"}, {fleettest.All, "b c d e"},
		{fleettest.VansOnly.By(other), "b e"}, {fleettest.VansOnly.By(owner), "a b c d e"}, {domain.Whole(fleettest.Rival).By(owner), ""},
	} {
		slice := fleettest.Must[domain.Slice[*domain.Question]](t)(questions.List(ctx, c.scope, domain.Listing{Page: domain.Page{Limit: 10}}))
		var names []string
		for _, q := range slice.Items {
			names = append(names, q.Name)
		}
		n := fleettest.Must[int](t)(questions.Count(ctx, c.scope, domain.Listing{}))
		if strings.Join(names, " ") != c.want || n != len(names) {
			t.Errorf("%+v by %+v sees %q, counted %d", c.scope, c.scope.Actor, names, n)
		}
	}
	// None of them stands in a folder.
	folder, _ := domain.QuestionFields.Find("folder")
	none := query.Comparison{Field: folder, Op: query.Eq, Values: []query.Value{{Null: true}}}
	if n := fleettest.Must[int](t)(questions.Count(ctx, fleettest.All.By(owner), domain.Listing{Filter: none})); n != 5 {
		t.Errorf("%d of 5 have no folder", n)
	}
	by := domain.Listing{Order: []query.Order{{Field: folder}}, Page: domain.Page{Limit: 2}}
	first := fleettest.Must[domain.Slice[*domain.Question]](t)(questions.List(ctx, fleettest.All.By(owner), by))
	by.Page.Cursor = first.Cursor(1)
	if rest := fleettest.Must[domain.Slice[*domain.Question]](t)(questions.List(ctx, fleettest.All.By(owner), by)); len(rest.Items) != 2 {
		t.Errorf("after two of five without a folder there are %d", len(rest.Items))
	}
}

func TestQuestionsAreChangedWithAnEntryForEachChange(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	questions, log, ctx := question.New(pool, time.Now), audit.NewLog(pool), t.Context()
	by, other := fleettest.All.By(asker), fleettest.VansOnly.By(&domain.Actor{UserID: 9})
	start := len(fleettest.AuditOf(t, log, fleettest.Acme))
	made := fleettest.Must[*domain.Question](t)(questions.Create(ctx, by, askedAbout("a", 12, true)))
	for range 2 { // the second time nothing changes
		fleettest.Must[*domain.Question](t)(questions.Edit(ctx, by, made.QuestionID, domain.QuestionEdit{Folder: new("Monthly")}))
	}
	_, err := questions.Edit(ctx, other, made.QuestionID, domain.QuestionEdit{Name: new("mine")})
	fleettest.WantKind(t, err, domain.KindForbidden)
	_, err = questions.Remove(ctx, other, made.QuestionID)
	fleettest.WantKind(t, err, domain.KindForbidden)
	_, err = questions.Remove(ctx, domain.Whole(fleettest.Rival).By(asker), made.QuestionID)
	fleettest.WantKind(t, err, domain.KindNotFound)
	fleettest.Must[*domain.Question](t)(questions.Remove(ctx, by, made.QuestionID))
	_, err = questions.Remove(ctx, by, made.QuestionID)
	fleettest.WantKind(t, err, domain.KindNotFound)
	var got []string
	for _, e := range fleettest.AuditOf(t, log, fleettest.Acme)[start:] {
		line := e.Action
		for _, c := range e.Changes {
			line += fmt.Sprintf(" %s: %s → %s", c.Field, fleettest.Text(c.Before), fleettest.Text(c.After))
		}
		got = append(got, line)
	}
	const asks = "TOTAL, by DAY, LAST_MONTH, as LINE, of group 12"
	want := []string{
		"question.create name: nothing → a description: nothing →  folder: nothing →  isShared: nothing → true definition: nothing → " + asks,
		"question.edit folder:  → Monthly",
		"question.delete name: a → nothing description:  → nothing folder: Monthly → nothing isShared: true → nothing definition: " + asks + " → nothing",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAUserKeepsABoundedNumberOfQuestionsHoweverManyAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	questions := question.New(pool, time.Now)
	questions.Most = 3
	var makers sync.WaitGroup
	for i := range 8 {
		makers.Go(func() {
			_, _ = questions.Create(t.Context(), fleettest.All.By(asker), askedAbout(fmt.Sprint(i), 0, false))
		})
	}
	makers.Wait()
	if n := fleettest.Must[int](t)(questions.Count(t.Context(), fleettest.All.By(asker), domain.Listing{})); n != 3 {
		t.Errorf("%d questions", n)
	}
	_, err := questions.Create(t.Context(), fleettest.All.By(asker), askedAbout("one more", 0, false))
	fleettest.WantKind(t, err, domain.KindInvalid)
	fleettest.Must[*domain.Question](t)(questions.Create(t.Context(), fleettest.All.By(&domain.Actor{UserID: 2}), askedAbout("another's", 0, false)))
}

// A question that was imported is found by its id again: the second import changes it.
func TestImportedQuestionsAreSharedAndKeepTheirIDs(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	questions, importer, ctx := question.New(pool, time.Now), bundle.NewImporter(pool), t.Context()
	q := askedAbout("a", 0, true)
	q.QuestionID, q.Owner = "01900000-0000-7000-8000-000000000001", "gone@acme.example"
	for _, want := range []domain.Outcome{domain.Created, domain.Unchanged} {
		kept := fleettest.Must[[]domain.Imported](t)(importer.Questions(ctx, fleettest.All, []*domain.Question{&q}))
		if kept[0].Outcome != want {
			t.Errorf("%+v, not %d", kept, want)
		}
	}
	q.Name = "b"
	if kept := fleettest.Must[[]domain.Imported](t)(importer.Questions(ctx, fleettest.All, []*domain.Question{&q})); kept[0].Outcome != domain.Updated {
		t.Errorf("%+v", kept)
	}
	pool.MustExec(`UPDATE questions SET is_shared = false, owner_id = 7`)
	if kept := fleettest.Must[[]domain.Imported](t)(importer.Questions(ctx, fleettest.All, []*domain.Question{&q})); kept[0].Err == nil {
		t.Errorf("a private question is shared by an import: %+v", kept)
	}
	found := fleettest.Must[map[string]*domain.Question](t)(questions.FindMany(ctx, fleettest.All.By(&domain.Actor{UserID: 7}), []string{q.QuestionID}))
	if of := found[q.QuestionID]; of == nil || of.Name != "b" || of.Owner != "gone@acme.example" {
		t.Errorf("%+v", found)
	}
}
