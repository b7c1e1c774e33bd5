package pg

import (
	"context"
	"database/sql/driver"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"

	"simgraph/db/pg/stmtcache"
)

// SelectAll runs a query and keeps every row, so the statement must be bounded.
// It matches columns to fields as sqlx does, whose reflection on every value
// costs more than all the rest of a large page.
func SelectAll[T any](ctx context.Context, in sqlx.QueryerContext, query string, args ...any) ([]*T, error) {
	var to rowCollector[T]
	err := readRows(ctx, in, query, args, &to)
	return to.rows, Translate(err)
}

// SelectValues is SelectAll for rows that are used as values.
func SelectValues[T any](ctx context.Context, in sqlx.QueryerContext, query string, args ...any) (values []T, err error) {
	err = EachRow(ctx, in, query, args, func(value T) error {
		values = append(values, value)
		return nil
	})
	return values, err
}

// EachRow calls each with one row after the other, and ends with its error.
func EachRow[T any](ctx context.Context, in sqlx.QueryerContext, query string, args []any, each func(T) error) error {
	to := rowVisitor[T]{each: each}
	if err := readRows(ctx, in, query, args, &to); to.refused == nil {
		return Translate(err)
	}
	return to.refused
}

// largestBlock bounds the bytes of rows that are allocated together: larger
// ones cost more to clear than they spare.
const largestBlock = 8 << 10

// rowCollector keeps a T of every row.
type rowCollector[T any] struct {
	rowType[T]
	rows  []*T
	block []T
}

// Row implements stmtcache.RowReader.
func (c *rowCollector[T]) Row(values []driver.Value) error { return c.set(c.next(), values) }

func (c *rowCollector[T]) next() *T {
	if len(c.block) == cap(c.block) {
		c.block = make([]T, 0, max(4, min(2*cap(c.block), largestBlock/int(unsafe.Sizeof(*new(T))+1))))
	}
	c.block = c.block[:len(c.block)+1]
	row := &c.block[len(c.block)-1]
	c.rows = append(c.rows, row)
	return row
}

// rowVisitor makes a T of every row.
type rowVisitor[T any] struct {
	rowType[T]
	// made is reused, so that a row needs no memory of its own.
	made    T
	each    func(T) error
	refused error
}

// Row implements stmtcache.RowReader.
func (v *rowVisitor[T]) Row(values []driver.Value) error {
	v.made = *new(T)
	if err := v.set(&v.made, values); err != nil {
		return err
	}
	v.refused = v.each(v.made)
	return v.refused
}

// rowType sets the fields of a T to the columns of a query.
type rowType[T any] struct {
	plan *rowPlan
}

// rowPlan is how the columns of a query go to the fields of a type.
type rowPlan struct {
	of     reflect.Type
	fields []fieldOfRow
}

// Columns implements stmtcache.RowReader.
func (r *rowType[T]) Columns(c *stmtcache.Columns) error {
	of := reflect.TypeFor[T]()
	if known, ok := c.Plan.(*rowPlan); ok && known.of == of {
		r.plan = known
		return nil
	}
	fields, err := fieldsFor(of, c.Names)
	if err != nil {
		return err
	}
	r.plan = &rowPlan{of, fields}
	c.Plan = r.plan
	return nil
}

func (r *rowType[T]) set(row *T, values []driver.Value) error {
	for i := range r.plan.fields {
		f := &r.plan.fields[i]
		if err := f.set(unsafe.Add(unsafe.Pointer(row), f.offset), values[i]); err != nil {
			return fmt.Errorf("column %d of the answer: %w", i+1, err)
		}
	}
	return nil
}

// fieldOfRow is where the values of a column go. Its offset within the row comes
// from reflection, once for all rows of the type.
type fieldOfRow struct {
	offset uintptr
	set    setter
}

// fieldNames matches the names of columns to fields.
var fieldNames = reflectx.NewMapperFunc("db", columnName)

// rowTypes has, for each type that was read, its fields by the names of columns.
var rowTypes sync.Map // map[reflect.Type]map[string]fieldOfRow

func fieldsFor(row reflect.Type, columns []string) ([]fieldOfRow, error) {
	fields := make([]fieldOfRow, len(columns))
	if row.Kind() != reflect.Struct && len(fields) == 1 {
		set, err := setterOf(row)
		fields[0] = fieldOfRow{set: set}
		return fields, err
	}
	byName := fieldsOf(row)
	for i, name := range columns {
		field, known := byName[name]
		if !known {
			return nil, fmt.Errorf("the column %q has no field in %s", name, row)
		}
		fields[i] = field
	}
	return fields, nil
}

func fieldsOf(row reflect.Type) map[string]fieldOfRow {
	if known, ok := rowTypes.Load(row); ok {
		return known.(map[string]fieldOfRow)
	}
	fields := map[string]fieldOfRow{}
	for name, info := range fieldNames.TypeMap(row).Names {
		if field, ok := fieldAt(row, info.Index); ok {
			fields[name] = field
		}
	}
	rowTypes.Store(row, fields)
	return fields
}

// fieldAt returns false for what no column can be read into.
func fieldAt(row reflect.Type, path []int) (f fieldOfRow, ok bool) {
	of := row
	for _, index := range path {
		if of.Kind() != reflect.Struct {
			return f, false // behind a pointer
		}
		field := of.Field(index)
		of, f.offset = field.Type, f.offset+field.Offset
	}
	var err error
	f.set, err = setterOf(of)
	return f, err == nil
}
