package security

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/graph/federation"
)

// probe is a root field, or a field right below one, with all arguments as
// variables.
type probe struct {
	name      string
	field     *ast.FieldDefinition
	document  string
	variables map[string]any
}

// probe writes the field with the arguments that it needs, taken from v, and
// everything that the walker selects below it.
func (w *world) probe(field *ast.FieldDefinition, v values, below walker) probe {
	text, declared, variables := w.call(field, v, "")
	if w.schema.Types[field.Type.Name()].IsCompositeType() {
		text += " " + below.of(field.Type.Name(), nil)
	}
	root := "query"
	if w.schema.Mutation.Fields.ForName(field.Name) != nil {
		root = "mutation"
	}
	return probe{field.Name, field, document(root, declared, text), variables}
}

// probeBelow writes a field below a root field, with everything below it.
func (w *world) probeBelow(root, field *ast.FieldDefinition, v values, below walker) probe {
	text, declared, variables := w.call(root, v, "root_")
	inner, more, inside := w.call(field, v, "")
	maps.Copy(variables, inside)
	if w.schema.Types[field.Type.Name()].IsCompositeType() {
		inner += " " + below.of(field.Type.Name(), nil)
	}
	return probe{root.Name + "." + field.Name, field, document("query", append(declared, more...), text+" {"+inner+"}"), variables}
}

func document(root string, declared []string, text string) string {
	if len(declared) > 0 {
		root += " (" + strings.Join(declared, ", ") + ")"
	}
	return root + " {" + text + "}"
}

// call writes a field with variables for all its arguments.
func (w *world) call(field *ast.FieldDefinition, v values, prefix string) (text string, declared []string, variables map[string]any) {
	var passed []string
	variables = map[string]any{}
	for _, argument := range field.Arguments {
		declared = append(declared, "$"+prefix+argument.Name+": "+strings.TrimSuffix(argument.Type.String(), "!")+bang(argument))
		passed = append(passed, argument.Name+": $"+prefix+argument.Name)
		if value, needed := w.needed(field.Name, argument.Name, argument.Type, argument.DefaultValue != nil, v); needed {
			variables[prefix+argument.Name] = value
		}
	}
	if len(passed) == 0 {
		return field.Name, nil, variables
	}
	return field.Name + "(" + strings.Join(passed, ", ") + ")", declared, variables
}

func bang(argument *ast.ArgumentDefinition) string {
	if argument.Type.NonNull && argument.DefaultValue == nil {
		return "!"
	}
	return ""
}

// needed returns the value of a leaf or input that must be given.
func (w *world) needed(owner, name string, of *ast.Type, hasDefault bool, v values) (any, bool) {
	if (!of.NonNull || hasDefault) && !isGiven(owner, name) && name != "first" && name != "limit" {
		return nil, false
	}
	def := w.schema.Types[of.Name()]
	if sample, ok := samples[owner+"."+name]; ok && def.Kind == ast.InputObject {
		return sample, true
	}
	var value any
	if def.Kind == ast.InputObject {
		fields := map[string]any{}
		for _, field := range def.Fields {
			if value, needed := w.needed(def.Name, field.Name, field.Type, field.DefaultValue != nil, v); needed {
				fields[field.Name] = value
			}
		}
		value = fields
	} else {
		l := leaf{owner: owner, path: []string{name}, def: of}
		rule, _ := ruleOf(owner, name)
		if identifier, ok := v[rule]; ok {
			value = identifier
		} else {
			value = l.sample(w.schema)
		}
	}
	if of.Elem != nil {
		value = []any{value}
	}
	return value, true
}

// leaves lists what an argument or field of an input holds. Filters nest in
// themselves: and, or and not are left out.
func (w *world) leaves(t *testing.T, owner string, path []string, of *ast.Type, within string, dotted string) []leaf {
	t.Helper()
	def := w.schema.Types[of.Name()]
	name := path[len(path)-1]
	if def.Kind != ast.InputObject {
		rule, known := ruleOf(owner, name)
		if !known && def.Kind == ast.Scalar {
			t.Errorf("%s.%s: declare in rules_test.go what it identifies", owner, name)
		}
		return []leaf{{owner: owner, path: path, def: of, rule: rule, isList: of.Elem != nil}}
	}
	if _, isFilter := filtered[def.Name]; isFilter {
		within = def.Name
	}
	if within != "" && def.Fields.ForName("eq") != nil {
		return w.comparison(t, owner, path, of, dotted)
	}
	var all []leaf
	for _, field := range def.Fields {
		if slices.Contains([]string{"and", "or", "not"}, field.Name) {
			continue
		}
		below := append(into(path, def), field.Name)
		name := field.Name
		if dotted != "" {
			name = dotted + "." + field.Name
		}
		if within == "" {
			name = ""
		}
		all = append(all, w.leaves(t, def.Name, below, field.Type, within, name)...)
	}
	return all
}

func (w *world) comparison(t *testing.T, owner string, path []string, of *ast.Type, dotted string) []leaf {
	t.Helper()
	if _, own := attributes[owner+"."+dotted]; own {
		dotted = owner + "." + dotted
	}
	value, known := attributes[dotted]
	switch {
	case !known:
		t.Errorf("%s: declare in rules_test.go what the attribute %q identifies", owner, dotted)
	case value != nil:
		return []leaf{
			{owner: owner, path: append(slices.Clip(path), "eq"), def: of, attribute: dotted},
			{owner: owner, path: append(slices.Clip(path), "in"), def: of, attribute: dotted, isList: true},
		}
	}
	return nil
}

// leavesOf lists what the arguments of a field hold.
func (w *world) leavesOf(t *testing.T, field *ast.FieldDefinition) []leaf {
	t.Helper()
	var all []leaf
	for _, argument := range field.Arguments {
		all = append(all, w.leaves(t, field.Name, []string{argument.Name}, argument.Type, "", "")...)
	}
	return all
}

// alone is a step into an input of which exactly one field counts: what stands there goes.
const alone = "alone"

// into is the path into an input.
func into(path []string, def *ast.Definition) []string {
	if def.Directives.ForName("oneOf") == nil {
		return slices.Clip(path)
	}
	return append(slices.Clip(path), alone)
}

// with returns the variables with the leaf set; a list holds it alone.
func with(variables map[string]any, path []string, value any, isList bool) map[string]any {
	if path[0] == alone {
		return with(nil, path[1:], value, isList)
	}
	changed := map[string]any{}
	for name, old := range variables {
		changed[name] = old
	}
	if len(path) == 1 {
		delete(changed, "all") // stands for what is named now
		changed[path[0]] = value
		if isList {
			changed[path[0]] = []any{value}
		}
		return changed
	}
	switch below := changed[path[0]].(type) {
	case []any:
		changed[path[0]] = []any{with(below[0].(map[string]any), path[1:], value, isList)}
	case map[string]any:
		changed[path[0]] = with(below, path[1:], value, isList)
	default:
		changed[path[0]] = with(nil, path[1:], value, isList)
	}
	return changed
}

// swap is a leaf set to an identifier of a part.
type swap struct {
	what string
	// with returns the variables, and the identifier as an answer may repeat it.
	with func(p part, v values) (map[string]any, string)
}

// swaps are the identifiers that can be put into the field.
func (w *world) swaps(t *testing.T, p probe) []swap {
	t.Helper()
	var all []swap
	for _, l := range w.leavesOf(t, p.field) {
		set := func(value func(part, values) any, also ...any) {
			all = append(all, swap{fmt.Sprintf("%s.%s", p.name, strings.Join(l.path, ".")), func(of part, v values) (map[string]any, string) {
				identifier := value(of, v)
				variables := with(p.variables, l.path, identifier, l.isList)
				for i := 0; i < len(also); i += 2 {
					path := append(slices.Clone(l.path[:len(l.path)-1]), also[i].(string))
					variables = with(variables, path, also[i+1], false)
				}
				return variables, fmt.Sprint(identifier)
			}})
		}
		w.setEach(t, l, p.field, set)
	}
	return all
}

func (w *world) setEach(t *testing.T, l leaf, field *ast.FieldDefinition, set func(value func(part, values) any, also ...any)) {
	t.Helper()
	switch {
	case l.attribute != "":
		set(attributes[l.attribute])
	case l.rule == harmless || l.rule == cursor:
	case l.rule == filter:
		for _, comparison := range w.comparisons(t, field.Name) {
			set(comparison)
		}
	case l.rule == target:
		set(func(_ part, v values) any { return v[target] })
		set(func(_ part, v values) any { return v[target] }, "ruleType", "GROUPFPTP")
		set(func(p part, _ values) any { return p.subscriberID(1) }, "ruleType", "SIM")
	case l.rule == nodeID:
		for _, node := range w.schema.GetPossibleTypes(w.schema.Types["Node"]) {
			set(func(_ part, v values) any { return must(t, v, nodeID+kind(node.Name)) })
		}
	case l.rule == entity:
		for node, keys := range federation.Keys(w.schema) {
			for _, key := range keys {
				set(func(_ part, v values) any { return represented(node, key, must(t, v, nodeID+kind(node))) })
			}
		}
	default:
		set(func(_ part, v values) any { return must(t, v, l.rule) })
	}
}

func must(t *testing.T, v values, of kind) any {
	t.Helper()
	value, ok := v[of]
	if !ok {
		t.Errorf("declare in rules_test.go what identifies a %s", of)
	}
	return value
}

// comparisons are filters in words of a list or path.
func (w *world) comparisons(t *testing.T, list string) []func(part, values) any {
	t.Helper()
	fields, known := filtered[list]
	if !known {
		t.Errorf("declare in rules_test.go what %s can be filtered by", list)
		return nil
	}
	var all []func(part, values) any
	for _, field := range fields.All() {
		value, known := attributes[field.Name]
		if !known {
			t.Errorf("declare in rules_test.go what the attribute %q identifies", field.Name)
		}
		if value != nil {
			all = append(all, func(p part, v values) any { return field.Name + " eq " + asJSON(fmt.Sprint(value(p, v))) })
		}
	}
	return all
}
