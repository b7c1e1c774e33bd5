package guard

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
)

// Price is what an operation costs: an object costs 1, a leaf nothing, a root field of
// a mutation 10 more, and a list costs its length times what an element costs.
// The length is taken from the arguments first, last, limit, top (numbers) and
// ids and representations (their elements); those of a connection hold for the lists right below it.
// A schema that declares them overrides this by field, and the length also by the
// value of an argument, with
//
//	directive @price(units: Int!, times: [String!] = []) on FIELD_DEFINITION | ENUM_VALUE
//	directive @assumedLength(items: Int!) on FIELD_DEFINITION | ENUM_VALUE
//
// times names the argument that multiplies the units, or two that are dates: the days
// from the one to the other. Units of an enum value are added once to a field that it is an
// argument of. The names are not those of the GraphQL cost specification,
// whose directives mean something else.
//
// A Price is made once per operation and only read afterwards. What @skip and @include leave
// out costs nothing. Fragments on types that exclude each other are added up: the price is an
// upper bound.
type Price struct {
	// fixed is what is known without variables, the rest stands in items.
	fixed int
	items []item
}

type item struct {
	size length
	each Price
	// only are the conditions under which it is selected.
	only []condition
}

// condition is what @include asks of a variable; with not, @skip.
type condition struct {
	variable string
	not      bool
}

const (
	mutationCost      = 10
	assumedList       = 10
	assumedPage       = 25
	introspectionCost = 100
)

// NewPrice returns the price of an operation of a validated document.
func NewPrice(schema *ast.Schema, op *ast.OperationDefinition) Price {
	price := pricing{schema.Types}.selections(op.SelectionSet, nil)
	if op.Operation == ast.Mutation {
		price.fixed = add(price.fixed, mutationCost*len(op.SelectionSet))
	}
	return price
}

// Cost is the amount with these coerced variables.
func (p Price) Cost(variables map[string]any) int {
	cost := p.fixed
	for _, i := range p.items {
		if i.isSelected(variables) {
			cost = add(cost, times(i.size.of(variables), i.each.Cost(variables)))
		}
	}
	return cost
}

func (i item) isSelected(variables map[string]any) bool {
	return !slices.ContainsFunc(i.only, func(c condition) bool { return (variables[c.variable] == true) == c.not })
}

func times(a, b int) int { return int(min(int64(a)*int64(b), most)) }

// pricing reads the types of arguments.
type pricing struct{ types map[string]*ast.Definition }

// selections prices a selection set. page is the length that the field around
// it hands to the lists in it, or nil.
func (p pricing) selections(set ast.SelectionSet, page *length) Price {
	var price Price
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			price.join(p.field(s, page).where(s.Directives))
		case *ast.InlineFragment:
			price.join(p.selections(s.SelectionSet, page).where(s.Directives))
		case *ast.FragmentSpread:
			price.join(p.selections(s.Definition.SelectionSet, page).where(s.Directives))
		}
	}
	return price
}

// where is the price of what has these directives.
func (p Price) where(directives ast.DirectiveList) Price {
	var only []condition
	for _, name := range []string{"include", "skip"} {
		given := directives.ForName(name)
		if given == nil {
			continue
		}
		switch value := given.Arguments.ForName("if").Value; {
		case value.Kind == ast.Variable:
			only = append(only, condition{variable: value.Raw, not: name == "skip"})
		case (value.Raw == "true") == (name == "skip"):
			return Price{}
		}
	}
	if len(only) == 0 || p.free() {
		return p
	}
	return Price{items: []item{{size: length{known: 1}, each: p, only: only}}}
}

func (p *Price) join(o Price) {
	p.fixed = add(p.fixed, o.fixed)
	p.items = append(p.items, o.items...)
}

func (p pricing) field(f *ast.Field, page *length) Price {
	if f.Name == "__schema" || f.Name == "__type" {
		return Price{fixed: introspectionCost}
	}
	own := sliced(f)
	isList := f.Definition.Type.Elem != nil
	var each Price
	if isList {
		each = p.selections(f.SelectionSet, nil)
	} else {
		each = p.selections(f.SelectionSet, own)
	}
	each.join(ownPrice(f))
	if isList && !each.free() {
		each = each.times(p.listLength(f, own, page))
	}
	if units := p.byValue(f, "price", "units"); units != nil {
		each.join(Price{fixed: 1}.times(*units))
	}
	return each
}

func (p Price) free() bool { return p.fixed == 0 && len(p.items) == 0 }

// times multiplies at once where nothing depends on variables.
func (p Price) times(size length) Price {
	if len(size.variables) == 0 && len(p.items) == 0 {
		return Price{fixed: times(size.of(nil), p.fixed)}
	}
	return Price{items: []item{{size: size, each: p}}}
}

func (p pricing) listLength(f *ast.Field, own, page *length) length {
	byValue := p.byValue(f, "assumedLength", "items")
	switch assumed, declared := directiveInt(f.Definition.Directives, "assumedLength", "items"); {
	case own != nil:
		return *own
	case byValue != nil:
		return *byValue
	case declared:
		return length{otherwise: assumed}
	case page != nil:
		return *page
	default:
		return length{otherwise: assumedList}
	}
}

// ownPrice is the price of a field without what is selected of it.
func ownPrice(f *ast.Field) Price {
	units, declared := directiveInt(f.Definition.Directives, "price", "units")
	switch {
	case declared:
		return Price{fixed: units}.times(multiplier(f))
	case len(f.SelectionSet) > 0:
		return Price{fixed: 1}
	default:
		return Price{}
	}
}

// multiplier is what the units of a field are multiplied by; 1 where no argument is named.
func multiplier(f *ast.Field) length {
	l := length{otherwise: 1}
	named := f.Definition.Directives.ForName("price").Arguments.ForName("times")
	if named == nil {
		return l
	}
	if names := named.Value.Children; len(names) == 2 {
		l.from, l.until = dateOf(f, names[0].Value.Raw), dateOf(f, names[1].Value.Raw)
		l.variables = slices.DeleteFunc([]string{l.from.variable, l.until.variable}, func(name string) bool { return name == "" })
		l.isSpan = true
		return l
	}
	name := named.Value.Children[0].Value.Raw
	l.argument(f.Arguments.ForName(name), f.Definition.Arguments.ForName(name).DefaultValue)
	return l
}

// date is an argument that is one: its text, or the variable that has it.
type date struct{ text, variable string }

func dateOf(f *ast.Field, name string) date {
	switch given := f.Arguments.ForName(name); {
	case given == nil:
		return date{}
	case given.Value.Kind == ast.Variable:
		return date{variable: given.Value.Raw}
	default:
		return date{text: given.Value.Raw}
	}
}

// of reads the day, whatever time follows.
func (d date) of(variables map[string]any) (time.Time, error) {
	text := d.text
	if d.variable != "" {
		text, _ = variables[d.variable].(string)
	}
	return time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))])
}

// days counts the days of a span, at least 1; 1 where a date cannot be read, which the
// field refuses at once.
func (l length) days(variables map[string]any) int {
	from, err := l.from.of(variables)
	until, errUntil := l.until.of(variables)
	if err != nil || errUntil != nil {
		return 1
	}
	return max(1, int(until.Sub(from)/(24*time.Hour))+1)
}

// byValue returns the amount that the value of an enum argument stands for by a directive;
// nil where the values of none do.
func (p pricing) byValue(f *ast.Field, directive, argument string) *length {
	for _, def := range f.Definition.Arguments {
		amounts := amounts(p.types[def.Type.Name()], directive, argument)
		if amounts == nil {
			continue
		}
		l := &length{amounts: amounts}
		if def.DefaultValue != nil {
			l.otherwise = amounts[def.DefaultValue.Raw]
		}
		switch given := f.Arguments.ForName(def.Name); {
		case given == nil:
		case given.Value.Kind == ast.Variable:
			l.variables = append(l.variables, given.Value.Raw)
		default:
			l.known = amounts[given.Value.Raw]
		}
		return l
	}
	return nil
}

// amounts are those of the values of an enum; nil where the schema declares none.
func amounts(of *ast.Definition, directive, argument string) map[string]int {
	var amounts map[string]int
	for _, value := range of.EnumValues {
		if amount, declared := directiveInt(value.Directives, directive, argument); declared {
			if amounts == nil {
				amounts = map[string]int{}
			}
			amounts[value.Name] = amount
		}
	}
	return amounts
}

// directiveInt reads an Int argument of a directive in the schema.
func directiveInt(directives ast.DirectiveList, directive, argument string) (int, bool) {
	d := directives.ForName(directive)
	if d == nil {
		return 0, false
	}
	arg := d.Arguments.ForName(argument)
	if arg == nil {
		return 0, false
	}
	n, err := strconv.Atoi(arg.Value.Raw)
	return min(max(n, 0), most), err == nil
}

// length is how many elements a list will have at most.
type length struct {
	known     int
	variables []string
	// isEmpty is set where the elements are given and there are none.
	isEmpty bool
	// amounts are lengths by the values that variables may have; nil where those
	// are numbers or lists.
	amounts map[string]int
	// otherwise holds where no argument gives a length.
	otherwise int
	// isSpan is set where it is the days between two dates.
	isSpan      bool
	from, until date
}

// sliced returns the length that the arguments of f ask for, or nil where f
// takes no such argument.
func sliced(f *ast.Field) *length {
	var l *length
	for _, name := range []string{"first", "last", "limit", "top", "ids", "representations"} {
		def := f.Definition.Arguments.ForName(name)
		if def == nil {
			continue
		}
		if l == nil {
			l = &length{otherwise: assumedPage}
			if assumed, declared := directiveInt(f.Definition.Directives, "assumedLength", "items"); declared {
				l.otherwise = assumed
			}
		}
		l.argument(f.Arguments.ForName(name), def.DefaultValue)
	}
	return l
}

func (l *length) argument(given *ast.Argument, otherwise *ast.Value) {
	switch {
	case given == nil && otherwise != nil:
		l.known = max(l.known, literal(otherwise))
	case given == nil:
	case given.Value.Kind == ast.Variable:
		l.variables = append(l.variables, given.Value.Raw)
		if otherwise != nil {
			l.otherwise = literal(otherwise)
		}
	default:
		l.known = max(l.known, literal(given.Value))
		l.isEmpty = given.Value.Kind == ast.ListValue && len(given.Value.Children) == 0
	}
}

func literal(v *ast.Value) int {
	if v.Kind == ast.ListValue {
		return len(v.Children)
	}
	n, _ := strconv.ParseInt(v.Raw, 10, 64)
	return int(min(max(n, 0), most))
}

func (l length) of(variables map[string]any) int {
	if l.isSpan {
		return l.days(variables)
	}
	n, isEmpty := l.known, l.isEmpty
	for _, name := range l.variables {
		n = max(n, l.count(variables[name]))
		elements, isList := variables[name].([]any)
		isEmpty = isEmpty || isList && len(elements) == 0
	}
	if n == 0 && !isEmpty {
		return l.otherwise
	}
	return n
}

// count reads a coerced variable: a number of elements, the elements, or a value
// that has a size.
func (l length) count(v any) int {
	switch v := v.(type) {
	case string:
		return l.amounts[v]
	case int64:
		return int(min(max(v, 0), most))
	case json.Number:
		n, _ := v.Int64()
		return int(min(max(n, 0), most))
	case []any:
		return len(v)
	default:
		return 0
	}
}
