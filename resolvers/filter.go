package resolvers

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/graph/lists"
)

// filterOf turns a typed filter of the graph into the filter of the domain. The
// input's names are those of the fields: an object nests where they have dots.
//
// Null is as good as missing, and a filter without conditions is none. Below it an
// object without conditions is refused: it would be true of every row, which is
// rarely meant.
func filterOf(input map[string]any, fields query.Fields) (query.Expr, error) {
	return filterAt("filter", input, fields)
}

// filterAt is filterOf for an argument of another name.
func filterAt(argument string, input map[string]any, fields query.Fields) (query.Expr, error) {
	conditions, err := filterReader{fields}.members(input, "", argument)
	if err != nil {
		return nil, err
	}
	expr := query.All(conditions...)
	return expr, invalid(argument, query.Check(expr))
}

// conditionsOf is filterOf for what changes or silences objects: without a comparison it
// would take all of them, which must be requested in words of its own.
func conditionsOf(input map[string]any, fields query.Fields) (query.Expr, error) {
	filter, err := filterAt("where", input, fields)
	if err == nil && query.Comparisons(filter) == 0 {
		err = domain.Invalid("where", "where has no condition, and would be true of everything; say all: true for all")
	}
	return filter, err
}

type filterReader struct{ fields query.Fields }

// members returns the conditions of an object, which all must hold. prefix begins
// the names of its fields, path names the object in errors.
func (r filterReader) members(input map[string]any, prefix, path string) ([]query.Expr, error) {
	var all []query.Expr
	for _, name := range slices.Sorted(maps.Keys(input)) {
		if isNull(input[name]) {
			continue
		}
		expr, err := r.member(name, input[name], prefix, path+"."+name)
		if err != nil {
			return nil, err
		}
		all = append(all, expr)
	}
	return all, nil
}

// object is members of an object that must have one.
func (r filterReader) object(input map[string]any, prefix, path string) (query.Expr, error) {
	all, err := r.members(input, prefix, path)
	if err == nil && len(all) == 0 {
		err = domain.At(path, domain.Invalid("", "%s has no condition, and would be true of everything; leave it out", path))
	}
	return query.All(all...), err
}

func (r filterReader) member(name string, value any, prefix, path string) (query.Expr, error) {
	switch name {
	case "and":
		all, err := r.list(value, path)
		return query.All(all...), err
	case "or":
		some, err := r.list(value, path)
		return query.Any(some...), err
	case "not":
		inner, err := r.object(object(value), "", path)
		if inner == nil {
			return query.Any(), err // not everything is nothing
		}
		return query.Not{Expr: inner}, err
	}
	if _, isField := r.fields.Find(prefix + name); isField {
		return r.comparisons(prefix+name, object(value), path)
	}
	return r.object(object(value), prefix+name+".", path)
}

func (r filterReader) list(value any, path string) ([]query.Expr, error) {
	items := objects(value)
	parts := make([]query.Expr, len(items))
	for i, item := range items {
		var err error
		if parts[i], err = r.object(item, "", fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// comparisons reads the operators of a field. A null is a value there.
func (r filterReader) comparisons(field string, operators map[string]any, path string) (query.Expr, error) {
	if len(operators) == 0 {
		return r.object(nil, "", path)
	}
	var all []query.Expr
	for _, op := range slices.Sorted(maps.Keys(operators)) {
		expr, err := r.comparison(field, op, operators[op], path+"."+op)
		if err != nil {
			return nil, err
		}
		all = append(all, expr)
	}
	return query.All(all...), nil
}

// notIn is the operator of enums that the language of texts writes as not … in.
const notIn = "notIn"

func (r filterReader) comparison(field, op string, value any, path string) (query.Expr, error) {
	if (op == string(query.In) || op == notIn) && isNull(value) {
		return nil, domain.At(path, domain.Invalid("", "%s: a list is expected, not null", path))
	}
	if op == notIn {
		within, err := r.comparison(field, string(query.In), value, path)
		return query.Not{Expr: within}, err
	}
	expr, err := query.Compare(r.fields, field, query.Op(op), literals(value)...)
	return expr, invalid(path, err)
}

// isNull also recognises the typed nil that gqlgen makes of null.
func isNull(value any) bool {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return v.IsNil()
	}
	return false
}

// literals returns the values of an operator, of which gqlgen makes pointers and
// typed lists.
func literals(value any) []any {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid(), v.Kind() == reflect.Pointer && v.IsNil():
		return []any{nil}
	case v.Kind() == reflect.Pointer:
		return literals(v.Elem().Interface())
	case v.Kind() == reflect.String: // of an enum, too
		return []any{v.String()}
	case v.Kind() == reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = literals(v.Index(i).Interface())[0]
		}
		return list
	}
	return []any{value}
}

func object(value any) map[string]any {
	fields, _ := value.(map[string]any)
	return fields
}

func objects(value any) []map[string]any {
	items, _ := value.([]map[string]any)
	return items
}

// ordersOf turns the typed order of the graph into that of the domain.
func ordersOf(input []map[string]any, fields query.Fields) ([]query.Order, error) {
	orders := make([]query.Order, 0, len(input))
	for i, step := range input {
		name := fmt.Sprint(literals(step["field"])[0])
		field, ok := fieldOfEnum(name, fields)
		if !ok {
			return nil, domain.At(domain.Item("orderBy", i), domain.Invalid("", "a list cannot be ordered by %q", name))
		}
		for _, earlier := range orders {
			if earlier.Field.Name == field.Name {
				return nil, domain.At(domain.Item("orderBy", i), domain.Invalid("", "%s is named twice", name))
			}
		}
		orders = append(orders, query.Order{Field: field, Desc: fmt.Sprint(literals(step["direction"])[0]) == "DESC"})
	}
	return orders, nil
}

// fieldOfEnum finds the field that an enum value means: networkState.isOnline
// is NETWORK_STATE_IS_ONLINE.
func fieldOfEnum(value string, fields query.Fields) (query.Field, bool) {
	for _, field := range fields.All() {
		if lists.EnumValue(field.Name) == value || slices.ContainsFunc(field.Aliases, func(alias string) bool { return lists.EnumValue(alias) == value }) {
			return field, true
		}
	}
	return query.Field{}, false
}

// textListing reads the filter and order languages of the REST paths.
func textListing(filter, orderBy *string, fields query.Fields) (expr query.Expr, order []query.Order, err error) {
	if filter != nil {
		if expr, err = query.ParseFilter(*filter, fields); err != nil {
			return nil, nil, invalid("filter", err)
		}
	}
	if orderBy != nil {
		if order, err = query.ParseOrder(*orderBy, fields); err != nil {
			return nil, nil, invalid("orderBy", err)
		}
	}
	return expr, order, nil
}

// invalid makes a fault in a filter or order a public error about the argument,
// which begins with the place of the fault: the argument, or a path below it.
func invalid(place string, err error) error {
	fault, is := errors.AsType[*query.SyntaxError](err)
	if !is {
		return err
	}
	public := domain.Invalid("", "%s: %s", place, fault.Error())
	public.Reason = fault.Fault()
	return domain.At(place, public)
}
