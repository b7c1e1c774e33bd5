package security

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// versioned is a field of the payload with the id and the version of what an edit changed.
func (w *world) versioned(t *testing.T, edit *ast.FieldDefinition) string {
	t.Helper()
	for _, field := range w.schema.Types[edit.Type.Name()].Fields {
		if of := w.schema.Types[field.Type.Name()]; of.Fields.ForName("version") != nil && of.Fields.ForName("id") != nil {
			return field.Name
		}
	}
	t.Fatalf("the payload of %s has nothing with a version", edit.Name)
	return ""
}

// staleEdit is an edit that names the version it was made from.
type staleEdit struct {
	*world
	name, token, document, payload string
	input                          map[string]any
}

func (e staleEdit) from(t *testing.T, version any) (edited struct{ ID, Version string }, faults []graphError) {
	t.Helper()
	input := map[string]any{"expectedVersion": version}
	for name, value := range e.input {
		if name != "expectedVersion" {
			input[name] = value
		}
	}
	a := e.query(t, e.token, e.document, map[string]any{"input": input})
	var read struct {
		Data map[string]map[string]struct{ ID, Version string } `json:"data"`
	}
	if err := json.Unmarshal(a.body, &read); err != nil {
		t.Errorf("%s: %v: %s", e.name, err, a.body)
	}
	return read.Data[e.name][e.payload], a.graphErrors(t)
}

// stale returns the version that a refusal names.
func (e staleEdit) stale(t *testing.T, faults []graphError) string {
	t.Helper()
	if len(faults) != 1 || faults[0].Extensions.Code != "STALE" || faults[0].Extensions.Field != "expectedVersion" {
		t.Errorf("%s answers an edit that was made from another version with %+v", e.name, faults)
		return ""
	}
	_, named, _ := strings.Cut(faults[0].Message, "its version is ")
	return strings.TrimSuffix(named, " now")
}

// Of edits that were made from one version at once, one is done: whether somebody else was
// faster is looked up where nobody else can write any more. It holds for every edit of the schema.
func TestAnEditIsRefusedWhereWhatItWasMadeFromHasChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tried := 0
	for _, field := range visibleFields(w.schema.Mutation) {
		if !strings.HasPrefix(field.Name, "edit") {
			continue
		}
		tried++
		input := w.schema.Types[field.Arguments[0].Type.Name()]
		if expected := input.Fields.ForName("expectedVersion"); expected == nil || expected.Type.String() != "String" {
			t.Errorf("%s has no expectedVersion: what somebody else has changed is written over unseen", input.Name)
			continue
		}
		payload := w.versioned(t, field)
		e := staleEdit{
			w, field.Name, w.tokens["own-admin@acme.example"],
			fmt.Sprintf("mutation($input: %s!) { %s(input: $input) { %s { id version } } }", input.Name, field.Name, payload), payload,
			w.probe(field, w.freshTag(t), walker{schema: w.schema, depth: 1}).variables["input"].(map[string]any),
		}
		before := w.state(t)
		_, faults := e.from(t, "another")
		version := e.stale(t, faults)
		if w.state(t) != before {
			t.Errorf("%s changes something from another version", field.Name)
		}

		const writers = 4
		var all sync.WaitGroup
		answers, refusals := make([]struct{ ID, Version string }, writers), make([][]graphError, writers)
		for i := range writers {
			all.Go(func() { answers[i], refusals[i] = e.from(t, version) })
		}
		all.Wait()
		var done []struct{ ID, Version string }
		for i, faults := range refusals {
			if len(faults) == 0 {
				done = append(done, answers[i])
			} else if now := e.stale(t, faults); now == version {
				t.Errorf("%s names the version %s as another", field.Name, now)
			}
		}
		if len(done) != 1 || done[0].Version == version {
			t.Errorf("of %d edits of %s from one version these are done: %v, from %s", writers, field.Name, done, version)
			continue
		}
		w.reads(t, e, done[0].ID, done[0].Version)
		if _, faults := e.from(t, done[0].Version); len(faults) > 0 {
			t.Errorf("%s refuses the version that it has given: %+v", field.Name, faults)
		}
	}
	if tried < 15 {
		t.Errorf("%d edits were tried", tried)
	}
}

// reads expects that what is edited is read with the version that the edit has returned.
func (w *world) reads(t *testing.T, e staleEdit, id, version string) {
	t.Helper()
	typeName := w.schema.Types[w.schema.Mutation.Fields.ForName(e.name).Type.Name()].Fields.ForName(e.payload).Type.Name()
	a := w.query(t, e.token, fmt.Sprintf("query($id: ID!) { node(id: $id) { ... on %s { version } } }", typeName), map[string]any{"id": id})
	if want := fmt.Sprintf(`"version":%q`, version); !strings.Contains(string(a.body), want) {
		t.Errorf("%s returns the version %s, and %s is read", e.name, version, a.body)
	}
}

// Where a group hides tariffs, its users read a version without them. They can edit a nickname
// and the name of their group from that version.
func TestUsersOfGroupsEditByTheVersionThatTheySee(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	company := w.company(t, own.company)
	w.pool.MustExec(`UPDATE groups SET hide_tariff_details = true WHERE company_id = $1 AND group_id = $2`, company, own.group)
	token := w.tokens["own-vans@acme.example"]
	for _, e := range []staleEdit{
		{w, "editSubscriber", token, "mutation($input: EditSubscriberInput!) { editSubscriber(input: $input) { subscriber { id version } } }", "subscriber",
			map[string]any{"physicalId": own.physicalID(1), "nickname": "newer"}},
		{w, "editGroup", token, "mutation($input: EditGroupInput!) { editGroup(input: $input) { group { id version } } }", "group",
			map[string]any{"groupId": own.group, "name": "newer"}},
	} {
		_, faults := e.from(t, "another")
		version := e.stale(t, faults)
		if e.payload == "subscriber" {
			w.pool.MustExec(`UPDATE subscribers SET contract_length = contract_length + 1 WHERE company_id = $1 AND physical_id = $2`, company, own.physicalID(1))
		}
		edited, faults := e.from(t, version)
		if len(faults) > 0 {
			t.Errorf("%s from %s is answered with %+v", e.name, version, faults)
			continue
		}
		w.reads(t, e, edited.ID, edited.Version)
		if _, faults := e.from(t, version); e.stale(t, faults) != edited.Version {
			t.Errorf("%s from the version before is answered with %+v", e.name, faults)
		}
	}
}
