package security

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// attack is a caller, and a part that it must not learn of.
type attack struct {
	caller string
	hidden part
	// root is a caller who sees the hidden part.
	root string
	// only are the identifiers that are compared; nil compares all.
	only values
}

var attacks = map[string]attack{
	"another company": {"own-admin@acme.example", rivals, "rvl-admin@rival.example", nil},
	"another group":   {"own-vans@acme.example", others, "own-admin@acme.example", nil},
}

// Whoever names what another owns gets the answer for what does not exist, and
// nothing of the other changes. What a caller names of its own is found: else
// the comparison would prove nothing.
func TestForeignIdentifiersAreAnsweredLikeUnknownOnes(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.dump(t, attack.hidden)
			w.compareAll(t, attack)
			if after := w.dump(t, attack.hidden); after != before {
				t.Errorf("what is not the caller's has changed: %s", difference(before, after))
			}
		})
	}
}

// An alert on the company is hidden from users of groups, whose answers do not show that
// it exists.
func TestAlertsOnTheCompanyAreAnsweredLikeUnknownOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	attack := attacks["another group"]
	attack.only = w.companyAlerts(t, attack.root)
	w.compareAll(t, attack)
	for wanted, table := range map[kind]string{alertID: "alerts", conditionID: "condition_alerts"} {
		var left int
		if err := w.pool.GetContext(t.Context(), &left, "SELECT count(*) FROM "+table+" WHERE company_id = $1 AND alert_id = $2",
			w.company(t, own.company), attack.only[wanted]); err != nil || left != 1 {
			t.Errorf("%d of the alert on the company are left in %s, %v", left, table, err)
		}
	}
}

// companyAlerts makes an alert of each kind on the company of the caller, and returns
// their identifiers.
func (w *world) companyAlerts(t *testing.T, caller string) values {
	t.Helper()
	made := w.query(t, w.tokens[caller], `mutation {
  createAlert(input: {ruleType: COMPANY, lowerThreshold: 1, upperThreshold: 2}) { alert { alertId } }
  createConditionAlert(input: {ruleType: COMPANY, condition: {silentHours: 24}}) { alert { alertId } }
}`, nil)
	var graph struct {
		Data map[string]struct{ Alert struct{ AlertID int } }
	}
	if err := json.Unmarshal(made.body, &graph); err != nil || len(made.graphErrors(t)) > 0 {
		t.Fatalf("%v: %s", err, made.body)
	}
	of := values{alertID: graph.Data["createAlert"].Alert.AlertID, conditionID: graph.Data["createConditionAlert"].Alert.AlertID}
	of[nodeID+"VolumeAlert"], of[nodeID+"ConditionAlert"] = globalID("VolumeAlert", of[alertID]), globalID("ConditionAlert", of[conditionID])
	return of
}

func (w *world) compareAll(t *testing.T, a attack) {
	t.Helper()
	for _, field := range append(w.queryFields(), visibleFields(w.schema.Mutation)...) {
		w.compareField(t, a, field)
	}
	for _, pair := range w.below() {
		w.compareBelow(t, a, pair.root, pair.field)
	}
	for _, e := range w.endpoints(t) {
		w.compareEndpoint(t, a, e)
	}
}

func (w *world) compareField(t *testing.T, a attack, field *ast.FieldDefinition) {
	t.Helper()
	w.compareProbe(t, a, w.probe(field, w.fresh(t), walker{schema: w.schema, depth: 3}))
}

func (w *world) compareBelow(t *testing.T, a attack, root, field *ast.FieldDefinition) {
	t.Helper()
	w.compareProbe(t, a, w.probeBelow(root, field, w.victim(t, own), walker{schema: w.schema, depth: 3}))
}

func (w *world) compareProbe(t *testing.T, a attack, p probe) {
	t.Helper()
	foreign, unknown := w.victim(t, a.hidden), w.victim(t, nobody)
	for _, s := range w.swaps(t, p) {
		w.compare(t, a, s, foreign, unknown, func(variables map[string]any) answer {
			return w.query(t, w.tokens[a.caller], p.document, variables)
		})
	}
	if control := w.query(t, w.tokens["own-admin@acme.example"], p.document, p.variables); len(control.graphErrors(t)) > 0 {
		t.Errorf("%s fails for what is the caller's: %s", p.name, control.body)
	}
}

// step is a field right below a root field.
type step struct{ root, field *ast.FieldDefinition }

// below are the fields with arguments right below those root fields that find
// one object.
func (w *world) below() []step {
	var all []step
	for _, root := range w.queryFields() {
		def := w.schema.Types[root.Type.Name()]
		if def.Kind != ast.Object || def.Fields.ForName("pageInfo") != nil || root.Type.Elem != nil {
			continue
		}
		for _, field := range def.Fields {
			if len(field.Arguments) > 0 {
				all = append(all, step{root, field})
			}
		}
	}
	return all
}

// What takes an identifier is a root field or right below one: deeper ones would
// escape the comparison.
func TestEveryFieldThatTakesAnIdentifierIsCompared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	compared := map[string]bool{}
	for _, s := range w.below() {
		compared[w.schema.Types[s.root.Type.Name()].Name+"."+s.field.Name] = true
	}
	for _, def := range w.schema.Types {
		if def.Kind != ast.Object || strings.HasPrefix(def.Name, "__") {
			continue
		}
		isRoot := def == w.schema.Query || def == w.schema.Mutation || def == w.schema.Subscription
		for _, field := range visibleFields(def) {
			for _, l := range w.leavesOf(t, field) {
				identifies := l.attribute != "" || l.rule != harmless && l.rule != "" && l.rule != cursor
				if identifies && !isRoot && !compared[def.Name+"."+field.Name] {
					t.Errorf("%s.%s takes %s, and is not compared", def.Name, field.Name, strings.Join(l.path, "."))
				}
			}
		}
	}
}

func (w *world) compareEndpoint(t *testing.T, a attack, e endpoint) {
	t.Helper()
	foreign, unknown := w.victim(t, a.hidden), w.victim(t, nobody)
	base := e.values(w.fresh(t))
	if e.method == "DELETE" && strings.Contains(e.path, "{tagName}") {
		w.send(t, w.tokens["own-admin@acme.example"], "POST", "/subscribers/"+own.physicalID(1), map[string]any{"tagName": own.tag()})
	}
	for _, s := range e.swaps(t, w, base) {
		w.compare(t, a, s, foreign, unknown, func(given map[string]any) answer {
			return e.send(t, w, w.tokens[a.caller], given)
		})
	}
	if control := e.send(t, w, w.tokens["own-admin@acme.example"], base); control.status >= 300 {
		t.Errorf("%s %s fails for what is the caller's: %s", e.method, e.path, control.body)
	}
}

func (w *world) compare(t *testing.T, a attack, s swap, foreign, unknown values, send func(map[string]any) answer) {
	t.Helper()
	foreign = foreign.with(a.only)
	variables, foreignID := s.with(a.hidden, foreign)
	if a.only != nil && !a.only.have(foreignID) {
		return
	}
	of := send(variables)
	w.forget(t)
	variables, unknownID := s.with(nobody, unknown)
	got, want := of.comparable(foreignID), send(variables).comparable(unknownID)
	w.forget(t)
	if got != want {
		t.Errorf("%s distinguishes %s from what does not exist:\n%s\n%s", s.what, foreignID, got, want)
	}
	if shown := of.shows(a.hidden, foreignID); len(shown) > 0 {
		t.Errorf("%s with %s shows %q", s.what, foreignID, shown)
	}
}

// with are the values, of which those of others stand first.
func (v values) with(others values) values {
	all := maps.Clone(v)
	maps.Copy(all, others)
	return all
}

// have reports whether an identifier is among the values.
func (v values) have(identifier string) bool {
	for _, value := range v {
		if fmt.Sprint(value) == identifier {
			return true
		}
	}
	return false
}

// forget undoes what a caller may do to its own with a new name: the second of
// two attempts finds what the first one found.
func (w *world) forget(t *testing.T) {
	t.Helper()
	company := w.company(t, own.company)
	w.pool.MustExecContext(t.Context(), "DELETE FROM subscriber_tags WHERE company_id = $1 AND tag_name = ANY(ARRAY[$2, $3, $4])"+
		" AND subscriber_key = (SELECT key FROM subscribers WHERE company_id = $1 AND physical_id = $5)",
		company, others.tag(), rivals.tag(), nobody.tag(), own.physicalID(1))
}

// A cursor is where a page ended. One of another's list may be used, but leads
// to nothing else than the caller's own.
func TestForeignCursorsLeadNowhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, a := range attacks {
		for _, field := range w.queryFields() {
			w.useCursors(t, name+" "+field.Name, a, field, "%s")
		}
		for _, s := range w.below() {
			root, _, _ := w.call(s.root, nil, "")
			root = strings.ReplaceAll(root, "$by", map[string]string{
				"group": fmt.Sprintf("{groupId: %d}", own.group), "tag": fmt.Sprintf("{name: %q}", own.tag()), "subscriber": fmt.Sprintf("{physicalId: %q}", own.physicalID(1)),
				"operation": fmt.Sprintf("{operationId: %s}", asJSON(w.victim(t, own)[operationID])),
			}[s.root.Name])
			w.useCursors(t, name+" "+s.root.Name+"."+s.field.Name, a, s.field, root+" {%s}")
		}
	}
}

func (w *world) useCursors(t *testing.T, name string, a attack, field *ast.FieldDefinition, around string) {
	t.Helper()
	for argument, size := range map[string]string{"after": "first", "before": "last"} {
		if field.Arguments.ForName(argument) == nil {
			continue
		}
		for _, edge := range []string{"startCursor", "endCursor"} {
			w.useCursor(t, name, a, field, around, size+": 20, "+argument, edge)
		}
	}
}

func (w *world) useCursor(t *testing.T, name string, a attack, field *ast.FieldDefinition, around, used, edge string) {
	t.Helper()
	list := field.Name
	if strings.HasSuffix(name, ".subscribers") {
		list = "subscribers" // where what is above the list is the caller's own
	}
	list += "(first: 20) {pageInfo {" + edge + "}}"
	if strings.HasPrefix(around, "company ") || strings.HasPrefix(around, "subscriber(") {
		list = strings.ReplaceAll(fmt.Sprintf(around, list), own.physicalID(1), a.hidden.physicalID(1))
	}
	if strings.HasPrefix(around, "operation(") {
		list = strings.ReplaceAll(fmt.Sprintf(around, list), asJSON(w.victim(t, own)[operationID]), asJSON(w.victim(t, a.hidden)[operationID]))
	}
	theirs := w.query(t, w.tokens[a.root], "{"+list+"}", nil)
	_, cursor, found := strings.Cut(string(theirs.body), edge+`":"`)
	cursor, _, _ = strings.Cut(cursor, `"`)
	if !found {
		t.Errorf("%s has no cursor: %s", name, theirs.body)
	}
	below := walker{schema: w.schema, depth: 3}.of(field.Type.Name(), nil)
	text := fmt.Sprintf(around, field.Name+"("+used+": $c) "+below)
	got := w.query(t, w.tokens[a.caller], "query ($c: String) {"+text+"}", map[string]any{"c": cursor})
	if shown := a.hidden.notShared(got.shows(a.hidden, ""), own); len(shown) > 0 || got.status != http.StatusOK {
		t.Errorf("%s shows %q: %.300s", name, shown, got.body)
	}
}
