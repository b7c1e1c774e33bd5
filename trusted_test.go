package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"simgraph/domain/document"
)

// manifestOf writes a manifest of graphql-codegen with the texts.
func manifestOf(t *testing.T, dir string, texts ...string) string {
	t.Helper()
	hashes := map[string]string{}
	for _, text := range texts {
		hashes[document.IDOf(text)] = text
	}
	data, err := json.Marshal(hashes)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "manifest.json")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// must runs a command, and returns what it printed.
func (s *instance) must(args ...string) string {
	s.t.Helper()
	status, stdout, stderr := simgraph(s.t, s.dir, args...)
	if status != 0 {
		s.t.Fatalf("%v: %d %s %s", args, status, stdout, stderr)
	}
	return stdout
}

func TestAnInstanceRunsTrustedDocumentsAlone(t *testing.T) {
	t.Parallel()
	const text, everybodys = "query Fleet { company { name fleet { total } } }", "query Name { company { name } }"
	s := start(t, demoDir(t), nil, "--documents-only")
	ask := func(token, body string) string {
		_, answer := s.post("/graphql", "application/json", token, body)
		return fmt.Sprint(answer)
	}
	const free = `{"query":"{ company { name } }"}`
	if got := ask(s.token, free); !strings.Contains(got, "DOCUMENT_REQUIRED") {
		t.Error(got)
	}
	if status, _ := s.get("/subscribers?limit=1", s.token); status != http.StatusOK {
		t.Errorf("REST answers %d", status)
	}
	path := manifestOf(t, s.dir, text)
	if got := s.must("documents", "add", path); got != "1 documents added, 0 were there\n" {
		t.Error(got)
	}
	if got := s.must("documents", "add", path, "--company", "demo"); got != "0 documents added, 1 were there\n" {
		t.Error(got)
	}
	s.must("documents", "add", manifestOf(t, s.dir, everybodys), "--all-companies")
	byID := `{"documentId":"sha256:` + document.IDOf(text) + `"}`
	for _, id := range []string{document.IDOf(text), document.IDOf(everybodys)} {
		if got := ask(s.token, `{"documentId":"`+id+`"}`); !strings.Contains(got, "Northline") {
			t.Error(got)
		}
		if status, answer := s.get("/graphql?documentId="+url.QueryEscape("sha256:"+id), s.token); status != http.StatusOK || answer["data"] == nil {
			t.Error(status, answer)
		}
	}
	listed := s.must("documents", "list")
	for _, want := range []string{document.IDOf(text), document.IDOf(everybodys), "Fleet", "QUERY", "(all)", "demo"} {
		if !strings.Contains(listed, want) {
			t.Errorf("no %s in %s", want, listed)
		}
	}
	if got := s.must("documents", "check"); got != "2 documents run on this version\n" {
		t.Error(got)
	}
	s.must("documents", "remove", "sha256:"+document.IDOf(text))
	for deadline := time.Now().Add(5 * time.Second); !strings.Contains(ask(s.token, byID), "DOCUMENT_NOT_FOUND"); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a removed document runs after 5 s")
		}
	}
	if status, _, stderr := simgraph(t, s.dir, "documents", "remove", document.IDOf(text)); status == 0 || !strings.Contains(stderr, "trusted document") {
		t.Error(status, stderr)
	}
}

func TestAManifestThatTheSchemaRefusesAddsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := manifestOf(t, dir, "query A { company { name } }", "query B { nothing }", "query C { company { name } } query D { company { name } }")
	for _, args := range [][]string{{"documents", "check", path}, {"documents", "add", path}} {
		status, stdout, stderr := simgraph(t, dir, args...)
		if status == 0 || strings.Count(stdout, "\n") != 2 || !strings.Contains(stderr, "refuses 2 of 3 documents") {
			t.Errorf("%v: %d %s %s", args, status, stdout, stderr)
		}
	}
	if status, stdout, stderr := simgraph(t, dir, "documents", "check", manifestOf(t, dir, "query A { company { name } }")); status != 0 || stdout != "1 documents run on this version\n" {
		t.Error(status, stdout, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
		t.Error("checking a manifest started a database")
	}
}

// What a version does not run is named when it starts, and when it is asked.
func TestADocumentThatTheSchemaBreaksIsNamed(t *testing.T) {
	t.Parallel()
	s := start(t, demoDir(t), nil)
	broken := "query Old { company { gone } }"
	insert := fmt.Sprintf(`INSERT INTO trusted_documents VALUES (0, '%s', 'Old', 'QUERY', '%s', 1, 'test', now())`, document.IDOf(broken), broken)
	s.must("psql", "-c", insert)
	// Older versions may have let agents do more.
	deletes := "mutation Gone { deleteAlert(input: {alertId: 1}) { alert { alertId } } }"
	s.must("psql", "-c", fmt.Sprintf(`INSERT INTO trusted_documents SELECT company_id, '%s', 'Gone', 'MUTATION', '%s', 1, 'test', now(), 'gone', 'Deletes.' FROM companies WHERE external_id = 'demo'`, document.IDOf(deletes), deletes))
	if status, stdout, stderr := simgraph(t, s.dir, "documents", "check"); status == 0 || !strings.Contains(stdout, `(all) `+document.IDOf(broken)+` Old: `) || !strings.Contains(stdout, `demo `+document.IDOf(deletes)+` Gone: a tool may not run`) || !strings.Contains(stderr, "refuses 2 of 2 documents") {
		t.Error(status, stdout, stderr)
	}
	if status := s.end(15); status != 0 {
		t.Fatal(status)
	}
	s.awaitNoDatabase()
	again := start(t, s.dir, nil)
	named := regexp.MustCompile(`a trusted document does not run on this version.*company=\(all\) document=` + document.IDOf(broken) + `(?s:.*)company=demo document=` + document.IDOf(deletes))
	for deadline := time.Now().Add(10 * time.Second); !named.MatchString(again.stderr.String()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(again.stderr)
		}
	}
}
