package security

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/graph/engine/guard"
	"simgraph/graph/federation"
)

// nodes are the objects that have ids over all types.
func (w *world) nodes() []*ast.Definition {
	return w.schema.GetPossibleTypes(w.schema.Types["Node"])
}

// harvest are ids that a token comes by in everything it can read, one of each type.
func (w *world) harvest(t *testing.T, token string, of part) map[string]string {
	t.Helper()
	ids := map[string]string{}
	w.walk(t, token, of, nil, func(_ string, a answer) {
		var body any
		if json.Unmarshal(a.body, &body) == nil {
			gatherIDs(ids, body)
		}
	})
	for _, node := range w.nodes() {
		if ids[node.Name] == "" {
			t.Errorf("the world holds no %s with an id: add one to load", node.Name)
		}
	}
	return ids
}

func gatherIDs(ids map[string]string, value any) {
	switch value := value.(type) {
	case map[string]any:
		id, hasID := value["id"].(string)
		if of, isTyped := value["__typename"].(string); hasID && isTyped {
			ids[of] = id
		}
		for _, below := range value {
			gatherIDs(ids, below)
		}
	case []any:
		for _, below := range value {
			gatherIDs(ids, below)
		}
	}
}

// found are the types of the ids that a token finds, one by one, together, and as a gateway names
// them: by each of their keys, as the last of a thousand.
func (w *world) found(t *testing.T, token string, ids map[string]string) map[string]bool {
	t.Helper()
	types := make([]string, 0, len(ids))
	all := make([]string, 0, len(ids))
	for _, node := range w.nodes() {
		types, all = append(types, node.Name), append(all, ids[node.Name])
	}
	type object struct {
		Typename string `json:"__typename"`
		ID       string
	}
	var read struct{ Data struct{ Nodes []*object } }
	a := w.query(t, token, "query ($ids: [ID!]!) {nodes(ids: $ids) {__typename id}}", map[string]any{"ids": all})
	if err := json.Unmarshal(a.body, &read); err != nil || len(read.Data.Nodes) != len(all) {
		t.Fatalf("%v: %s", err, a.body)
	}
	found := map[string]bool{}
	for i, of := range read.Data.Nodes {
		var one struct{ Data struct{ Node *object } }
		a := w.query(t, token, "query ($id: ID!) {node(id: $id) {__typename id}}", map[string]any{"id": all[i]})
		if err := json.Unmarshal(a.body, &one); err != nil {
			t.Fatalf("%v: %s", err, a.body)
		}
		if (one.Data.Node == nil) != (of == nil) {
			t.Errorf("node and nodes differ about a %s: %v, %v", types[i], one.Data.Node, of)
		}
		if found[types[i]] = of != nil; of != nil && *of != (object{types[i], all[i]}) {
			t.Errorf("the id of a %s finds %v", types[i], *of)
		}
		for _, key := range federation.Keys(w.schema)[types[i]] {
			if by := w.entity(t, token, types[i], key, all[i]); by != found[types[i]] {
				t.Errorf("a gateway finds the %s by its %s: %t", types[i], key.Field, by)
			}
		}
	}
	return found
}

// entity reports whether a gateway with the token finds a node by the key, beside 999 that are
// not there.
func (w *world) entity(t *testing.T, token, node string, key federation.Key, id string) bool {
	t.Helper()
	many := make([]any, 1_000)
	for i := range many {
		many[i] = represented(node, key, globalID(node, 1_000_000+i))
	}
	many[len(many)-1] = represented(node, key, id)
	var read struct {
		Data struct {
			Entities []map[string]string `json:"_entities"`
		}
	}
	a := w.query(t, token, "query ($of: [_Any!]!) {_entities(representations: $of) {... on Node {__typename id}}}", map[string]any{"of": many})
	if err := json.Unmarshal(a.body, &read); err != nil || len(read.Data.Entities) != len(many) {
		t.Fatalf("%v: %.300s", err, a.body)
	}
	for i, of := range read.Data.Entities {
		if of != nil && (i != len(many)-1 || of["__typename"] != node || of["id"] != id) {
			t.Errorf("a gateway asks for the %s with the id %s and is given %v", node, id, of)
		}
	}
	return read.Data.Entities[len(many)-1] != nil
}

// shown reports whether a caller with the permissions comes to objects of the type
// by fields, without their ids.
func (w *world) shown(typeName string, permissions []domain.Permission) bool {
	may := func(field *ast.FieldDefinition) bool {
		return !slices.ContainsFunc(guard.Permissions(field.Directives), func(needed string) bool { return !slices.Contains(permissions, domain.Permission(needed)) })
	}
	next, seen := []string{w.schema.Query.Name}, map[string]bool{}
	for len(next) > 0 {
		def := w.schema.Types[next[0]]
		next = next[1:]
		if seen[def.Name] || !def.IsCompositeType() {
			continue
		}
		if seen[def.Name] = true; def.Name == typeName {
			return true
		}
		if def.IsAbstractType() && def.Name != "Node" && def.Name != "_Entity" {
			for _, possible := range w.schema.GetPossibleTypes(def) {
				next = append(next, possible.Name)
			}
		}
		for _, field := range visibleFields(def) {
			if may(field) {
				next = append(next, field.Type.Name())
			}
		}
	}
	return false
}

// What a caller may read is found by its id, whatever its type.
func TestEveryNodeIsFoundByItsID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for p, email := range map[part]string{own: "own-admin@acme.example", rivals: "rvl-admin@rival.example"} {
		found := w.found(t, w.tokens[email], w.harvest(t, w.tokens[email], p))
		for _, node := range w.nodes() {
			if !found[node.Name] {
				t.Errorf("%s does not find a %s by the id that it has read", email, node.Name)
			}
		}
	}
}

// unowned are types of which no part has objects that are hidden from another one,
// as rules_test.go states.
var unowned = map[part][]string{
	rivals: {"AuditEntry", "FeedElement", "Viewer"},
	others: {"AuditEntry", "FeedElement", "UsageSource", "Viewer", "Company"},
}

// The ids that others must not find are of objects that exist: else the comparison of
// foreign ids with unknown ones would compare nothing with nothing.
func TestHiddenNodesExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, a := range attacks {
		v, ids := w.victim(t, a.hidden), map[string]string{}
		for _, node := range w.nodes() {
			ids[node.Name], _ = must(t, v, nodeID+kind(node.Name)).(string)
		}
		for of, isFound := range w.found(t, w.tokens[a.root], ids) {
			if isFound == slices.Contains(unowned[a.hidden], of) {
				t.Errorf("%s finds the %s of %s: %t", a.root, of, a.hidden.mark, isFound)
			}
		}
	}
}

// An id is no way around the permissions of the fields that lead to its object: who
// has all permissions but one, one alone or none finds by id only what fields show too.
func TestAnIDShowsNothingThatNoFieldShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.harvest(t, w.tokens["own-admin@acme.example"], own)
	callers := map[string][]domain.Permission{}
	for _, p := range domain.AllPermissions() {
		callers["only "+p.Label()] = []domain.Permission{p}
		callers["no "+p.Label()] = slices.DeleteFunc(domain.AllPermissions(), func(of domain.Permission) bool { return of == p })
	}
	refused := map[string]bool{}
	for name, permissions := range callers {
		for of, isFound := range w.found(t, w.tokenOf(t, permissions), ids) {
			shown := w.shown(of, permissions)
			if refused[of] = refused[of] || !shown; isFound && !shown {
				t.Errorf("who has %s finds a %s by its id", strings.ToLower(name), of)
			}
		}
	}
	for _, node := range w.nodes() {
		if open := slices.Contains([]string{"Company", "Viewer"}, node.Name); refused[node.Name] == open {
			t.Errorf("%s is hidden from some callers: %t", node.Name, refused[node.Name])
		}
	}
}
