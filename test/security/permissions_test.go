package security

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/graph/engine/guard"
)

// tokenWithout returns a token of the administrator that lacks a permission.
func (w *world) tokenWithout(t *testing.T, lacking domain.Permission) string {
	t.Helper()
	return w.tokenOf(t, slices.DeleteFunc(domain.AllPermissions(), func(p domain.Permission) bool { return p == lacking }))
}

// tokenOf returns a token of the administrator that has the permissions alone.
func (w *world) tokenOf(t *testing.T, scopes []domain.Permission) string {
	t.Helper()
	key, secret, err := w.access.CreateKey(t.Context(), domain.Whole(w.company(t, own.company)), domain.KeySpec{Email: "own-admin@acme.example", Scopes: scopes, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	grant, err := w.access.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(grant.Token)
}

// Each path is refused for lack of each of its permissions, by name, and for
// lack of no other; nobody gets anything without a token.
func TestTheMatrixOfPermissionsOfPaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	endpoints := w.endpoints(t)
	unknown := w.victim(t, nobody) // so that nothing changes
	for _, lacking := range domain.AllPermissions() {
		token := w.tokenWithout(t, lacking)
		for _, e := range endpoints {
			got := e.send(t, w, token, e.values(unknown))
			refused := got.status == http.StatusForbidden
			if needed := slices.Contains(e.permissions, string(lacking)); refused != needed {
				t.Errorf("%s %s without %s: %d %s", e.method, e.path, lacking, got.status, got.body)
			}
			if refused && !strings.Contains(string(got.body), lacking.Label()) {
				t.Errorf("%s %s does not name %s: %s", e.method, e.path, lacking, got.body)
			}
		}
	}
	for _, e := range endpoints {
		if len(e.permissions) == 0 {
			t.Errorf("%s %s needs no permission", e.method, e.path)
		}
		if got := e.send(t, w, "none", e.values(unknown)); got.status != http.StatusUnauthorized {
			t.Errorf("%s %s without a token: %d %s", e.method, e.path, got.status, got.body)
		}
	}
}

// An edge to another noun is refused for lack of each of its permissions, nothing is
// loaded for it, and what is beside it still answers.
func TestTheMatrixOfPermissionsOfEdges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tokens := map[string]string{}
	for _, p := range domain.AllPermissions() {
		tokens[string(p)] = w.tokenWithout(t, p)
		w.query(t, tokens[string(p)], "{__typename}", nil) // the token is read once
	}
	v := w.victim(t, own)
	edges := 0
	for _, def := range w.schema.Types {
		if def.Kind != ast.Object || def == w.schema.Query || def == w.schema.Mutation || def == w.schema.Subscription {
			continue
		}
		for _, field := range def.Fields {
			for _, lacking := range guard.Permissions(field.Directives) {
				edges++
				w.refuseEdge(t, tokens[lacking], def, field, domain.Permission(lacking), v)
			}
		}
	}
	if edges < 20 {
		t.Errorf("only %d edges were found", edges)
	}
}

// refuseEdge queries the edge along every way that a caller without the
// permission may go; where there is none, nothing leads to the edge.
func (w *world) refuseEdge(t *testing.T, token string, def *ast.Definition, edge *ast.FieldDefinition, lacking domain.Permission, v values) {
	t.Helper()
	way, ok := w.way(def.Name, string(lacking))
	if !ok {
		return
	}
	root, declared, variables := w.call(way[0], v, "")
	ask := func(text string) (answer, int64) {
		for _, field := range slices.Backward(way[1:]) {
			text = field.Name + w.sized(field) + " {__typename " + text + "}"
		}
		before := w.statements.Load()
		a := w.query(t, token, document("query", declared, root+" {"+text+"}"), variables)
		return a, w.statements.Load() - before
	}
	name := ""
	for _, field := range way {
		name += field.Name + "."
	}
	_, without := ask("__typename")
	a, statements := ask(w.edgeText(edge))
	if statements != without {
		t.Errorf("%s%s without %s: %d statements, and %d without the field", name, edge.Name, lacking, statements, without)
	}
	refused := slices.ContainsFunc(a.graphErrors(t), func(e graphError) bool {
		return e.Extensions.Code == "FORBIDDEN" && strings.Contains(e.Message, lacking.Label()) && slices.Contains(e.Path, any(edge.Name))
	})
	if alone := `"` + edge.Name + `":null`; !refused || !strings.Contains(string(a.body), alone) {
		t.Errorf("%s%s without %s: %.400s", name, edge.Name, lacking, a.body)
	}
}

func (w *world) edgeText(edge *ast.FieldDefinition) string {
	if w.schema.Types[edge.Type.Name()].IsCompositeType() {
		return edge.Name + " " + walker{schema: w.schema, depth: 2}.of(edge.Type.Name(), nil)
	}
	return edge.Name
}

func (w *world) sized(field *ast.FieldDefinition) string {
	for _, name := range []string{"first", "limit"} {
		if field.Arguments.ForName(name) != nil {
			return fmt.Sprintf("(%s: 20)", name)
		}
	}
	return ""
}

// way is the shortest way from a root field to the type over fields that do not
// need the permission and no arguments.
func (w *world) way(typeName, without string) ([]*ast.FieldDefinition, bool) {
	var ways [][]*ast.FieldDefinition
	for _, field := range w.queryFields() {
		ways = append(ways, []*ast.FieldDefinition{field})
	}
	seen := map[string]bool{}
	for len(ways) > 0 {
		way := ways[0]
		ways = ways[1:]
		last := way[len(way)-1]
		def := w.schema.Types[last.Type.Name()]
		if slices.Contains(guard.Permissions(last.Directives), without) || def.Kind != ast.Object {
			continue
		}
		if def.Name == typeName {
			return way, true
		}
		if seen[def.Name] {
			continue
		}
		seen[def.Name] = true
		for _, field := range visibleFields(def) {
			if !slices.ContainsFunc(field.Arguments, func(a *ast.ArgumentDefinition) bool { return a.Type.NonNull && a.DefaultValue == nil }) {
				ways = append(ways, append(slices.Clip(way), field))
			}
		}
	}
	return nil, false
}

func TestWithoutATokenNothingIsExecutedWhateverIsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, accept := range []string{
		"", "*/*", "application/json", "text/event-stream", "text/html", "text/html,application/xhtml+xml,*/*;q=0.8", "text/html, application/json",
		"text/html;q=0, application/json", "text/html;q=0.1, application/graphql-response+json", "text/html;charset=latin1, text/event-stream",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/graphql?query={__schema{types{name}}}", nil)
		r.Header.Set("Accept", accept)
		recorder := httptest.NewRecorder()
		w.handler.ServeHTTP(recorder, r)
		if body := recorder.Body.String(); body != thePage && recorder.Code != http.StatusUnauthorized {
			t.Errorf("Accept %q: %d %.200s", accept, recorder.Code, body)
		}
	}
}

// The order of checks is the same at both endpoints: path, method, token (semantics §2).
func TestAMethodThatIsNotServedIsNamedBeforeAMissingToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{http.MethodPut, "/graphql", http.StatusMethodNotAllowed}, {http.MethodDelete, "/graphql", http.StatusMethodNotAllowed},
		{http.MethodPost, "/graphql", http.StatusUnauthorized}, {http.MethodHead, "/graphql?query={viewer{email}}", http.StatusUnauthorized},
		{http.MethodPut, "/subscribers", http.StatusMethodNotAllowed}, {http.MethodGet, "/subscribers", http.StatusUnauthorized},
		{http.MethodPut, "/nowhere", http.StatusNotFound},
	} {
		recorder := httptest.NewRecorder()
		w.handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil))
		if recorder.Code != c.status || (c.status == http.StatusMethodNotAllowed) != (recorder.Header().Get("Allow") != "") {
			t.Errorf("%s %s: %d, Allow %q, want %d", c.method, c.path, recorder.Code, recorder.Header().Get("Allow"), c.status)
		}
	}
}
