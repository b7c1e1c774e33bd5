package db

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/jmoiron/sqlx"
)

// selectAll runs a query and scans every row, so the statement must be bounded.
// It matches columns to fields as sqlx does, whose reflection on every value
// costs more than all the rest of a large page.
func selectAll[T any](ctx context.Context, in sqlx.QueryerContext, query string, args ...any) ([]*T, error) {
	found, done, err := queryRows(ctx, in, query, args...)
	if err != nil {
		return nil, Translate(err)
	}
	defer done()
	rows, err := scanAll[T](found)
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
		if err := s.scan(found, unsafe.Pointer(row)); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// rowScanner scans rows of the same columns into values of the same type.
type rowScanner struct {
	columns []columnField
	// destinations are the targets, which stay while the row changes, or else
	// pointers to the fields of one row.
	destinations []any
}

// columnField is where the values of a column go. Its offset within the row comes
// from reflection, once for all rows.
type columnField struct {
	target target
	of     reflect.Type
	offset uintptr
}

func newRowScanner(found *sqlx.Rows, row reflect.Type) (*rowScanner, error) {
	names, err := found.Columns()
	if err != nil {
		return nil, err
	}
	s := &rowScanner{columns: make([]columnField, len(names)), destinations: make([]any, len(names))}
	if row.Kind() != reflect.Struct && len(names) == 1 {
		s.columns[0].of = row
		return s, nil
	}
	for i, path := range found.Mapper.TraversalsByName(row, names) {
		if len(path) == 0 {
			return nil, fmt.Errorf("the column %q has no field in %s", names[i], row)
		}
		if s.columns[i], err = fieldAt(row, path); err != nil {
			return nil, err
		}
		s.destinations[i] = s.columns[i].target
	}
	return s, nil
}

func fieldAt(row reflect.Type, path []int) (columnField, error) {
	c := columnField{of: row}
	for _, index := range path {
		if c.of.Kind() != reflect.Struct {
			return c, fmt.Errorf("%s holds fields behind a pointer", row)
		}
		field := c.of.Field(index)
		c.of, c.offset = field.Type, c.offset+field.Offset
	}
	c.target = targetOf(c.of)
	return c, nil
}

func (s *rowScanner) scan(found *sqlx.Rows, row unsafe.Pointer) error {
	for i := range s.columns {
		c := &s.columns[i]
		field := unsafe.Add(row, c.offset)
		if c.target == nil {
			s.destinations[i] = reflect.NewAt(c.of, field).Interface()
		} else {
			c.target.aim(field)
		}
	}
	return found.Scan(s.destinations...)
}

// target takes the values of a column without the conversions of database/sql.
type target interface {
	sql.Scanner
	// aim tells where the next value goes: to a field of the type that the target
	// is for.
	aim(field unsafe.Pointer)
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
		return &required[string]{}
	}
	return nil
}

// required is a column without NULL, or whose NULL is an error.
type required[T any] struct{ field *T }

func (r *required[T]) aim(field unsafe.Pointer) { r.field = (*T)(field) }

func (r *required[T]) Scan(v any) error {
	if value, ok := v.(T); ok {
		*r.field = value
		return nil
	}
	return converted(r.field, v)
}

// optional is a column with NULL.
type optional[T any] struct{ field **T }

func (o *optional[T]) aim(field unsafe.Pointer) { o.field = (**T)(field) }

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
