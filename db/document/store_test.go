package document_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/audit"
	"simgraph/db/dbtest"
	store "simgraph/db/document"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/domain/document"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// check takes what has a brace, and calls it by its second word.
func check(text string) (document.Checked, error) {
	if !strings.Contains(text, "{") {
		return document.Checked{}, errors.New("the document has no operation")
	}
	return document.Checked{Name: strings.Fields(text)[1], Kind: document.Query, Cost: len(text)}, nil
}

// checkTool refuses the tools that are called bad.
func checkTool(of *document.Document) error {
	if of.ToolName == "bad" {
		return errors.New("a bad tool")
	}
	return nil
}

func newStore(t *testing.T, most int) (*store.Store, *sqlx.DB) {
	pool := fleettest.NewInventory(t)
	return store.New(pool, store.Options{Check: check, CheckTool: checkTool, Now: time.Now, Most: most, MostTools: 3}), pool
}

func create(t *testing.T, s *store.Store, scope domain.Scope, text string) *document.Document {
	t.Helper()
	made, isNew, err := s.Create(t.Context(), scope, text)
	if err != nil || !isNew {
		t.Fatal(made, isNew, err)
	}
	return made
}

// all returns the documents of a company.
func all(t *testing.T, s *store.Store, scope domain.Scope) []document.Document {
	t.Helper()
	var read []document.Document
	for one, err := range s.All(t.Context(), scope) {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, *one)
	}
	return read
}

// mustHave compares the documents of a company, which are by id.
func mustHave(t *testing.T, s *store.Store, scope domain.Scope, want ...*document.Document) {
	t.Helper()
	if got := all(t, s, scope); !slices.EqualFunc(got, want, func(a document.Document, b *document.Document) bool { return a == *b }) {
		t.Errorf("%+v, not %+v", got, want)
	}
}

func TestADocumentIsAddedOnceAndRemoved(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, 0)
	made := create(t, s, fleettest.All, "query A { a }")
	if made.DocumentID != document.IDOf("query A { a }") || made.Name != "A" || made.Cost != 13 || made.Kind != document.Query {
		t.Errorf("%+v", made)
	}
	again, isNew, err := s.Create(t.Context(), fleettest.All, made.Text)
	if err != nil || isNew || *again != *made {
		t.Errorf("%+v, %v, %v", again, isNew, err)
	}
	mustHave(t, s, fleettest.All, made)
	if removed, err := s.Remove(t.Context(), fleettest.All, made.DocumentID); err != nil || *removed != *made {
		t.Error(removed, err)
	}
	if _, err := s.Remove(t.Context(), fleettest.All, made.DocumentID); !isKind(err, domain.KindNotFound) {
		t.Error(err)
	}
	if text, err := s.Text(t.Context(), fleettest.All.Company, made.DocumentID); err != nil || text != "" {
		t.Error(text, err)
	}
	var actions []string
	for entry, err := range audit.NewLog(pool).All(t.Context(), fleettest.All, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.SubjectType == "TrustedDocument" {
			actions = append(actions, entry.Action)
		}
	}
	if want := []string{domain.AuditDocumentCreate, domain.AuditDocumentDelete}; !slices.Equal(actions, want) {
		t.Error(actions)
	}
}

func isKind(err error, kind domain.ErrorKind) bool {
	fault, is := domain.AsError(err)
	return is && fault.Kind == kind
}

func TestWhatCannotRunIsNotAdded(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, 0)
	for _, text := range []string{"", "no operation", "query A {" + strings.Repeat("x", document.MaxText) + "}"} {
		if _, _, err := s.Create(t.Context(), fleettest.All, text); !isKind(err, domain.KindInvalid) {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	mustHave(t, s, fleettest.All)
}

func TestACompanyRunsItsOwnDocumentsAndThoseOfAll(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, 0)
	other := domain.Whole(fleettest.All.Company + 1)
	own, foreign, shared := create(t, s, fleettest.All, "query A { a }"), create(t, s, other, "query B { b }"), create(t, s, domain.Whole(domain.Installation), "query C { c }")
	for id, want := range map[string]string{own.DocumentID: own.Text, foreign.DocumentID: "", shared.DocumentID: shared.Text, "other": ""} {
		if got, err := s.Text(t.Context(), fleettest.All.Company, id); err != nil || got != want {
			t.Errorf("%s: %q, %v", id, got, err)
		}
	}
	mustHave(t, s, fleettest.All, own)
	listed, err := s.List(t.Context(), fleettest.All, domain.Listing{Page: domain.Page{Limit: 10}})
	if err != nil || len(listed.Items) != 1 || *listed.Items[0] != *own {
		t.Error(listed, err)
	}
	found, err := s.FindMany(t.Context(), fleettest.All, []string{own.DocumentID, foreign.DocumentID, shared.DocumentID})
	if err != nil || len(found) != 1 || *found[own.DocumentID] != *own {
		t.Error(found, err)
	}
	if _, err := s.Remove(t.Context(), fleettest.All, foreign.DocumentID); !isKind(err, domain.KindNotFound) {
		t.Error(err)
	}
}

func TestUsersOfGroupsSeeNoDocuments(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, 0)
	scope := domain.Scope{Company: fleettest.All.Company, Groups: []int64{1}}
	for one, err := range s.All(t.Context(), scope) {
		if one != nil || !isKind(err, domain.KindForbidden) {
			t.Error(one, err)
		}
	}
	_, errList := s.List(t.Context(), scope, domain.Listing{})
	_, errCount := s.Count(t.Context(), scope, domain.Listing{})
	_, errFind := s.FindMany(t.Context(), scope, []string{"x"})
	_, _, errCreate := s.Create(t.Context(), scope, "query A { a }")
	_, errRemove := s.Remove(t.Context(), scope, "x")
	for _, err := range []error{errList, errCount, errFind, errCreate, errRemove} {
		if !isKind(err, domain.KindForbidden) {
			t.Error(err)
		}
	}
}

// Several who add at a time do not pass the bound together.
func TestACompanyHasABoundedNumberOfDocuments(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, 3)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			if _, _, err := s.Create(t.Context(), fleettest.All, fmt.Sprintf("query A%d { a }", i)); err != nil && !isKind(err, domain.KindInvalid) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := len(all(t, s, fleettest.All)); n != 3 {
		t.Error(n)
	}
	create(t, s, domain.Whole(domain.Installation), "query A { a }")
}

func TestAllReadsOverTheEndOfAPage(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, 0)
	want := map[string]bool{}
	for i := range 203 {
		want[create(t, s, fleettest.All, fmt.Sprintf("query A%d { a }", i)).DocumentID] = true
	}
	before := ""
	for one, err := range s.All(t.Context(), fleettest.All) {
		if err != nil || one.DocumentID <= before || !want[one.DocumentID] {
			t.Fatal(one, err)
		}
		before = one.DocumentID
		delete(want, before)
	}
	if len(want) > 0 {
		t.Errorf("%d are missing", len(want))
	}
}

// tools returns the names of the tools of a company.
func tools(t *testing.T, s *store.Store, scope domain.Scope) (names []string) {
	t.Helper()
	read, err := s.Tools(t.Context(), scope.Company)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range read {
		names = append(names, one.ToolName)
	}
	return names
}

func TestADocumentBecomesAToolAndNoneAgain(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, 0)
	made := create(t, s, fleettest.All, "query FindVans { a }")
	other := domain.Whole(fleettest.All.Company + 1)
	create(t, s, other, made.Text)
	for range 2 { // the second changes nothing, and is not noted
		edited, err := s.EditTool(t.Context(), fleettest.All, made.DocumentID, "", "Finds vans.")
		if err != nil || edited.ToolName != "find_vans" || edited.ToolDescription != "Finds vans." {
			t.Fatal(edited, err)
		}
	}
	if _, err := s.EditTool(t.Context(), fleettest.All, made.DocumentID, "vans", ""); err != nil {
		t.Error(err)
	}
	if got := tools(t, s, fleettest.All); !slices.Equal(got, []string{"vans"}) {
		t.Error(got)
	}
	if got := tools(t, s, other); len(got) > 0 {
		t.Errorf("another company has the tools %v", got)
	}
	if again, isNew, err := s.Create(t.Context(), fleettest.All, made.Text); err != nil || isNew || again.ToolName != "vans" {
		t.Error(again, isNew, err)
	}
	if removed, err := s.RemoveTool(t.Context(), fleettest.All, made.DocumentID); err != nil || *removed != *made {
		t.Error(removed, err)
	}
	if _, err := s.RemoveTool(t.Context(), fleettest.All, made.DocumentID); !isKind(err, domain.KindInvalid) {
		t.Error(err)
	}
	if got := tools(t, s, fleettest.All); len(got) > 0 {
		t.Error(got)
	}
	var edits []domain.AuditEntry
	for entry, err := range audit.NewLog(pool).All(t.Context(), fleettest.All, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Action == domain.AuditDocumentEdit {
			edits = append(edits, *entry)
		}
	}
	if len(edits) != 3 || len(edits[1].Changes) != 1 || edits[1].Changes[0].Field != "toolName" || *edits[1].Changes[0].After != "vans" {
		t.Errorf("%+v", edits)
	}
}

func TestWhatCanBeNoToolIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, 0)
	made, shared := create(t, s, fleettest.All, "query A { a }"), create(t, s, domain.Whole(domain.Installation), "query C { c }")
	for _, c := range []struct {
		scope           domain.Scope
		id, name, about string
		kind            domain.ErrorKind
	}{
		{fleettest.All, made.DocumentID, "A", "Finds.", domain.KindInvalid},
		{fleettest.All, made.DocumentID, "", "", domain.KindInvalid},
		{fleettest.All, made.DocumentID, "bad", "Finds.", domain.KindInvalid},
		{fleettest.All, "unknown", "a", "Finds.", domain.KindNotFound},
		{fleettest.All, shared.DocumentID, "c", "Finds.", domain.KindNotFound},
		{domain.Whole(domain.Installation), shared.DocumentID, "c", "Finds.", domain.KindInvalid},
		{domain.Scope{Company: fleettest.All.Company, Groups: []int64{1}}, made.DocumentID, "a", "Finds.", domain.KindForbidden},
	} {
		if edited, err := s.EditTool(t.Context(), c.scope, c.id, c.name, c.about); !isKind(err, c.kind) {
			t.Errorf("%+v: %v, %v", c, edited, err)
		}
	}
	mustHave(t, s, fleettest.All, made)
}

// Several who add at a time neither pass the bound nor share a name.
func TestACompanyHasABoundedNumberOfTools(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, 0)
	names := []string{"a", "a", "b", "c", "d", "e"}
	var wait sync.WaitGroup
	for i, name := range names {
		made := create(t, s, fleettest.All, fmt.Sprintf("query A%d { a }", i))
		wait.Go(func() {
			if _, err := s.EditTool(t.Context(), fleettest.All, made.DocumentID, name, "Finds."); err != nil && !isKind(err, domain.KindInvalid) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	got := tools(t, s, fleettest.All)
	if len(got) != 3 || len(slices.Compact(got)) != 3 {
		t.Error(got)
	}
	read, err := s.Tools(t.Context(), fleettest.All.Company)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.EditTool(t.Context(), fleettest.All, read[0].DocumentID, "z", ""); err != nil {
		t.Errorf("at the bound a tool cannot be edited: %v", err)
	}
}
