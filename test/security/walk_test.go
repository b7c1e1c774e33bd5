package security

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// walker writes selections of everything below a type.
type walker struct {
	schema *ast.Schema
	// depth bounds objects within objects.
	depth int
	// skip are fields that users of groups may not read: asking for one would
	// hide what is beside it.
	skip []string
	// only, unless nil, reports which object types are selected.
	only func(typeName string) bool
}

// companyOnly are those fields below the roots.
var companyOnly = []string{"deliveries", "feedRejects", "waitingUsage"}

// of selects all fields of the type. A type is not selected within itself, but
// for one step: the loops of the graph end there.
func (w walker) of(typeName string, above []string) string {
	def := w.schema.Types[typeName]
	if def.IsAbstractType() {
		return w.ofAll(def, above)
	}
	fields := []string{"__typename"}
	for _, field := range def.Fields {
		fields = append(fields, w.selections(field, append(slices.Clip(above), typeName))...)
	}
	return "{" + strings.Join(fields, " ") + "}"
}

func (w walker) ofAll(def *ast.Definition, above []string) string {
	var b strings.Builder
	b.WriteString("{__typename")
	for _, possible := range w.schema.GetPossibleTypes(def) {
		if w.only != nil && !w.only(possible.Name) {
			continue
		}
		fmt.Fprintf(&b, " ... on %s %s", possible.Name, w.aliased(possible.Name, above))
	}
	return b.String() + "}"
}

// aliased selects under names of the type's own, since types of one selection
// give the same name different meanings.
func (w walker) aliased(typeName string, above []string) string {
	var fields []string
	for _, field := range w.schema.Types[typeName].Fields {
		for _, selection := range w.selections(field, append(slices.Clip(above), typeName)) {
			name, _, aliased := strings.Cut(selection, ": ")
			if !aliased || strings.ContainsAny(name, "({ ") {
				name = field.Name
				selection = name + ": " + selection
			}
			fields = append(fields, typeName+"_"+selection)
		}
	}
	return "{" + strings.Join(fields, " ") + "}"
}

// selections selects a field once for each value of the enums that it needs.
func (w walker) selections(field *ast.FieldDefinition, above []string) []string {
	if strings.HasPrefix(field.Name, "__") || slices.Contains(w.skip, field.Name) {
		return nil
	}
	below := ""
	if name := field.Type.Name(); w.schema.Types[name].IsCompositeType() {
		if count(above, name) > 1 || len(above) >= w.depth || w.only != nil && !w.only(name) {
			return nil
		}
		below = " " + w.of(name, above)
	}
	var all []string
	for suffix, arguments := range w.arguments(field) {
		all = append(all, suffix+field.Name+arguments+below)
	}
	slices.Sort(all)
	return all
}

// withoutValues are values of enums that a field refuses.
var withoutValues = []string{"seriesBy.by.IP_ADDRESS"}

// arguments are those that a field must be given, and small pages, by alias.
func (w walker) arguments(field *ast.FieldDefinition) map[string]string {
	var fixed []string
	values := map[string][]string{}
	page := 20
	if field.Name == "seriesBy" {
		page = 4 // each is a series with a point an hour
	}
	for _, argument := range field.Arguments {
		switch def := w.schema.Types[argument.Type.Name()]; {
		case argument.Name == "first" || argument.Name == "limit":
			fixed = append(fixed, argument.Name+": "+strconv.Itoa(page))
		case def.Kind == ast.Scalar && argument.Type.NonNull && argument.DefaultValue == nil:
			value, _ := json.Marshal(samples[def.Name]) // samples can be written
			fixed = append(fixed, argument.Name+": "+string(value))
		case def.Kind == ast.Enum:
			for _, value := range def.EnumValues {
				if !slices.Contains(withoutValues, field.Name+"."+argument.Name+"."+value.Name) {
					values[argument.Name] = append(values[argument.Name], value.Name)
				}
			}
		}
	}
	all := map[string]string{"": ""}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = multiply(all, name, values[name])
	}
	for alias, text := range all {
		if whole := strings.Join(append(slices.Clone(fixed), strings.Fields(text)...), ", "); whole != "" {
			all[alias] = "(" + strings.ReplaceAll(whole, "=", ": ") + ")"
		}
	}
	return all
}

func multiply(all map[string]string, name string, values []string) map[string]string {
	product := map[string]string{}
	for _, text := range all {
		for _, value := range values {
			product[strings.ToLower(value)+"_"+fieldless(text)+": "] = text + " " + name + "=" + value
		}
	}
	return product
}

func fieldless(text string) string { return strings.NewReplacer(" ", "", "=", "_").Replace(text) }

func count(names []string, name string) int {
	n := 0
	for _, other := range names {
		if other == name {
			n++
		}
	}
	return n
}

// queryFields are the root fields of queries.
func (w *world) queryFields() ast.FieldList { return visibleFields(w.schema.Query) }

func visibleFields(def *ast.Definition) ast.FieldList {
	return slices.DeleteFunc(slices.Clone(def.Fields), func(f *ast.FieldDefinition) bool { return strings.HasPrefix(f.Name, "__") })
}

// walk reads everything below every root field of queries, and every path,
// as the caller whose own part is given.
func (w *world) walk(t *testing.T, token string, of part, skip []string, look func(where string, a answer)) {
	t.Helper()
	v := w.victim(t, of)
	for _, field := range w.queryFields() {
		probe := w.probe(field, v, walker{schema: w.schema, depth: 4, skip: skip})
		look(field.Name, w.query(t, token, probe.document, probe.variables))
	}
	for _, e := range w.endpoints(t) {
		if e.method == "GET" {
			look(e.path, e.send(t, w, token, e.values(v)))
		}
	}
}

// What a caller sees of another company is nothing, however deep it looks.
func TestNothingOfAnotherCompanyIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustNotSee(t, "own-admin@acme.example", own, nil, rivals)
	w.mustSee(t, "rvl-admin@rival.example", rivals)
}

// The same holds between the groups of a company for a user of one of them.
func TestNothingOfAnotherGroupIsSeenByUsersOfGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustNotSee(t, "own-vans@acme.example", own, companyOnly, others, rivals)
	w.mustSee(t, "own-admin@acme.example", others)
}

func (w *world) mustNotSee(t *testing.T, email string, mine part, skip []string, hidden ...part) {
	t.Helper()
	w.walk(t, w.tokens[email], mine, skip, func(where string, a answer) {
		if fault := a.fault(); fault != "" && !(len(skip) > 0 && strings.HasPrefix(fault, "FORBIDDEN")) {
			t.Errorf("%s fails: %s %.300s", where, fault, a.body)
		}
		for _, of := range hidden {
			shown := of.notShared(a.shows(of, ""), mine)
			if len(shown) > 0 {
				t.Errorf("%s shows %s of %q: %s", where, email, shown, around(a, shown[0]))
			}
		}
	})
}

// notShared leaves out what a caller of the other part may see: what reports usage is
// the company's, which every user may see.
func (p part) notShared(marks []string, of part) []string {
	return slices.DeleteFunc(marks, func(mark string) bool { return mark == p.source() && p.company == of.company })
}

// mustSee proves that the walk comes by all that mustNotSee looks for.
func (w *world) mustSee(t *testing.T, email string, shown part) {
	t.Helper()
	seen := map[string]bool{}
	w.walk(t, w.tokens[email], shown, nil, func(where string, a answer) {
		if fault := a.fault(); fault != "" {
			t.Errorf("%s fails: %s %.300s", where, fault, a.body)
		}
		for _, mark := range a.shows(shown, "") {
			seen[mark] = true
		}
	})
	for _, mark := range shown.marks() {
		if !seen[mark] {
			t.Errorf("%s does not come by %q of its own", email, mark)
		}
	}
}

// fault returns why there is less in an answer than was requested: "FORBIDDEN"
// where a root field or path is refused as a whole.
func (a answer) fault() string {
	if len(a.body) == 0 || strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") {
		return "" // refusals are JSON
	}
	var read struct {
		Errors []graphError `json:"errors"`
		Error  struct{ Code string }
	}
	if err := json.Unmarshal(a.body, &read); err != nil {
		return err.Error()
	}
	if read.Error.Code != "" {
		return read.Error.Code
	}
	if len(read.Errors) > 0 {
		first := read.Errors[0]
		if len(first.Path) > 1 {
			return "below the root: " + first.Message
		}
		return first.Extensions.Code
	}
	return ""
}

// around is a piece of the answer around the text.
func around(a answer, text string) string {
	body := string(a.visible())
	at := strings.Index(body, text)
	return body[max(0, at-200):min(len(body), at+100)]
}
