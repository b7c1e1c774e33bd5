package resolvers

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"simgraph/domain"
	"simgraph/domain/query"
)

// filterOf turns a typed filter of the graph into the filter of the domain. The
// input's names are those of the fields: an object nests where they have dots.
func filterOf(input map[string]any, fields query.Fields) (query.Expr, error) {
	expr, err := filterParts(input, "", fields)
	if err == nil && expr != nil {
		err = query.Check(expr)
	}
	return expr, invalid("filter", err)
}

func filterParts(input map[string]any, path string, fields query.Fields) (query.Expr, error) {
	var all []query.Expr
	for _, name := range slices.Sorted(maps.Keys(input)) {
		expr, err := filterPart(name, input[name], path, fields)
		if err != nil {
			return nil, err
		}
		all = append(all, expr)
	}
	return query.All(all...), nil
}

func filterPart(name string, value any, path string, fields query.Fields) (query.Expr, error) {
	switch name {
	case "and", "or":
		return filterList(name, value, fields)
	case "not":
		inner, err := filterParts(object(value), "", fields)
		if err != nil || inner == nil {
			return nil, err
		}
		return query.Not{Expr: inner}, nil
	}
	path += name
	if _, isField := fields.Find(path); isField {
		return comparisons(path, object(value), fields)
	}
	return filterParts(object(value), path+".", fields)
}

func filterList(name string, value any, fields query.Fields) (query.Expr, error) {
	items := objects(value)
	parts := make([]query.Expr, 0, len(items))
	for _, item := range items {
		expr, err := filterParts(item, "", fields)
		if err != nil {
			return nil, err
		}
		parts = append(parts, expr)
	}
	switch {
	case len(parts) == 0:
		return nil, nil
	case name == "or":
		return query.Any(parts...), nil
	}
	return query.All(parts...), nil
}

func comparisons(field string, operators map[string]any, fields query.Fields) (query.Expr, error) {
	var all []query.Expr
	for _, op := range slices.Sorted(maps.Keys(operators)) {
		values := literals(operators[op])
		expr, err := query.Compare(fields, field, query.Op(op), values...)
		if err != nil {
			return nil, err
		}
		all = append(all, expr)
	}
	return query.All(all...), nil
}

// literals returns the values of an operator, of which gqlgen makes pointers and
// typed lists.
func literals(value any) []any {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid(), v.Kind() == reflect.Pointer && v.IsNil():
		return []any{nil}
	case v.Kind() == reflect.Pointer:
		return []any{v.Elem().Interface()}
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
	for _, step := range input {
		name := fmt.Sprint(literals(step["field"])[0])
		field, ok := fieldOfEnum(name, fields)
		if !ok {
			return nil, domain.Invalid("orderBy", "a list cannot be ordered by %q", name)
		}
		for _, earlier := range orders {
			if earlier.Field.Name == field.Name {
				return nil, domain.Invalid("orderBy", "%s is named twice", name)
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
		if enumName(field.Name) == value {
			return field, true
		}
	}
	return query.Field{}, false
}

func enumName(field string) string {
	var b strings.Builder
	for _, r := range field {
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
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

// invalid makes a fault in a filter or order a public error about the argument.
func invalid(argument string, err error) error {
	if fault, is := errors.AsType[*query.SyntaxError](err); is {
		return domain.Invalid(argument, "%s: %s", argument, fault.Error())
	}
	return err
}
