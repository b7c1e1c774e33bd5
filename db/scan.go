package db

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"time"

	"github.com/jmoiron/sqlx"
)

// selectAll runs a query and scans every row, so the statement must be bounded.
// It matches columns to fields as sqlx does, whose reflection on every value
// costs more than all the rest of a large page.
func selectAll[T any](ctx context.Context, in sqlx.QueryerContext, query string, args ...any) ([]*T, error) {
	found, err := in.QueryxContext(ctx, query, args...)
	if err != nil {
		return nil, Translate(err)
	}
	rows, err := scanAll[T](found)
	if closing := found.Close(); err == nil {
		err = closing
	}
	return rows, Translate(err)
}

// largestBlock bounds how many rows are allocated together.
const largestBlock = 128

func scanAll[T any](found *sqlx.Rows) ([]*T, error) {
	var rows []*T
	var block []T
	var s *rowScanner
	for size := 4; found.Next(); {
		if s == nil {
			var err error
			if s, err = newRowScanner(found, reflect.TypeFor[T]()); err != nil {
				return nil, err
			}
		}
		if len(block) == cap(block) {
			block = make([]T, 0, size)
			size = min(2*size, largestBlock)
		}
		block = block[:len(block)+1]
		row := &block[len(block)-1]
		if err := s.scan(found, reflect.ValueOf(row).Elem()); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// rowScanner scans rows of the same columns into values of the same type.
type rowScanner struct {
	paths [][]int // the fields of the columns; nil when a row is no struct
	// targets are those destinations that stay while the row changes.
	targets        []target
	destinations []any
}

func newRowScanner(found *sqlx.Rows, t reflect.Type) (*rowScanner, error) {
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	s := &rowScanner{targets: make([]target, len(columns)), destinations: make([]any, len(columns))}
	if t.Kind() != reflect.Struct {
		return s, nil
	}
	s.paths = found.Mapper.TraversalsByName(t, columns)
	for i, path := range s.paths {
		if len(path) == 0 {
			return nil, fmt.Errorf("the column %q has no field in %s", columns[i], t)
		}
		s.targets[i] = targetOf(t.FieldByIndex(path).Type)
		s.destinations[i] = s.targets[i]
	}
	return s, nil
}

func (s *rowScanner) scan(found *sqlx.Rows, row reflect.Value) error {
	if s.paths == nil {
		s.destinations[0] = row.Addr().Interface()
	}
	for i, path := range s.paths {
		field := row.Field(path[0])
		if len(path) > 1 {
			field = row.FieldByIndex(path)
		}
		if s.targets[i] == nil {
			s.destinations[i] = field.Addr().Interface()
		} else {
			s.targets[i].aim(field)
		}
	}
	return found.Scan(s.destinations...)
}

// target takes the values of a column without the conversions of database/sql.
type target interface {
	sql.Scanner
	aim(field reflect.Value)
}

// targetOf returns nil for types that database/sql is left with.
func targetOf(t reflect.Type) target {
	switch reflect.Zero(t).Interface().(type) {
	case string:
		return &required[string]{}
	case *string:
		return &optional[string]{}
	case bool:
		return &required[bool]{}
	case *bool:
		return &optional[bool]{}
	case int64:
		return &required[int64]{}
	case *int64:
		return &optional[int64]{}
	case float64:
		return &required[float64]{}
	case *float64:
		return &optional[float64]{}
	case time.Time:
		return &required[time.Time]{}
	case *time.Time:
		return &optional[time.Time]{}
	case sql.Scanner:
		return nil
	}
	if t.Kind() == reflect.String && !reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]()) {
		return &named{}
	}
	return nil
}

// required is a column without NULL, or whose NULL is an error.
type required[T any] struct{ field *T }

func (r *required[T]) aim(field reflect.Value) { r.field = field.Addr().Interface().(*T) }

func (r *required[T]) Scan(v any) error {
	if value, ok := v.(T); ok {
		*r.field = value
		return nil
	}
	return converted(r.field, v)
}

// optional is a column with NULL.
type optional[T any] struct{ field **T }

func (o *optional[T]) aim(field reflect.Value) { o.field = field.Addr().Interface().(**T) }

func (o *optional[T]) Scan(v any) error {
	if v == nil {
		*o.field = nil
		return nil
	}
	value := new(T)
	*o.field = value
	if same, ok := v.(T); ok {
		*value = same
		return nil
	}
	return converted(value, v)
}

// named is a text whose field has a type of its own.
type named struct{ field reflect.Value }

func (n *named) aim(field reflect.Value) { n.field = field }

func (n *named) Scan(v any) error {
	if text, ok := v.(string); ok {
		n.field.SetString(text)
		return nil
	}
	var text string
	if err := converted(&text, v); err != nil {
		return err
	}
	n.field.SetString(text)
	return nil
}

// converted has database/sql convert what did not fit.
func converted[T any](to *T, v any) error {
	var value sql.Null[T]
	if err := value.Scan(v); err != nil {
		return err
	}
	if !value.Valid {
		return fmt.Errorf("NULL does not fit %T", *to)
	}
	*to = value.V
	return nil
}
