package pg

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
	"time"
	"unsafe"
)

// setter takes the value of a column into a field, which is of the type that the
// setter is for. The value is the driver's and changes with the next row.
type setter func(field unsafe.Pointer, v driver.Value) error

// setterOf returns the setter for fields of a type. Named types are set as what
// they are in memory.
func setterOf(t reflect.Type) (setter, error) {
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]()):
		return scanning(t), nil
	case t.Kind() == reflect.Pointer:
		if made, set := settersOf(t.Elem()); made != nil {
			return optional(made, set), nil
		}
	default:
		if _, set := settersOf(t); set != nil {
			return set, nil
		}
	}
	return nil, fmt.Errorf("no column is read into %s", t)
}

// settersOf returns what makes a value of the type, and what sets one; nil when
// no column can be of the type.
func settersOf(t reflect.Type) (func() unsafe.Pointer, setter) {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return made[time.Time], required[time.Time]
	case t == reflect.TypeFor[[]byte]():
		return made[[]byte], setBytes
	}
	switch t.Kind() {
	case reflect.String:
		return made[string], setText
	case reflect.Bool:
		return made[bool], required[bool]
	case reflect.Int64:
		return made[int64], required[int64]
	case reflect.Int:
		return made[int], integer[int]
	case reflect.Int32:
		return made[int32], integer[int32]
	case reflect.Int16:
		return made[int16], integer[int16]
	case reflect.Float64:
		return made[float64], required[float64]
	}
	return nil, nil
}

func made[T any]() unsafe.Pointer { return unsafe.Pointer(new(T)) }

// required is for a column without NULL, or whose NULL is an error.
func required[T any](field unsafe.Pointer, v driver.Value) error {
	if value, ok := v.(T); ok {
		*(*T)(field) = value
		return nil
	}
	return converted((*T)(field), v)
}

func integer[T int | int32 | int16](field unsafe.Pointer, v driver.Value) error {
	if n, ok := v.(int64); ok && int64(T(n)) == n {
		*(*T)(field) = T(n)
		return nil
	}
	return converted((*T)(field), v)
}

// setText also takes values of types that the driver does not convert.
func setText(field unsafe.Pointer, v driver.Value) error {
	if b, ok := v.([]byte); ok {
		*(*string)(field) = string(b)
		return nil
	}
	return required[string](field, v)
}

func setBytes(field unsafe.Pointer, v driver.Value) error {
	if b, ok := v.([]byte); ok || v == nil {
		*(*[]byte)(field) = bytes.Clone(b)
		return nil
	}
	return converted((*[]byte)(field), v)
}

// optional is for a column with NULL.
func optional(made func() unsafe.Pointer, set setter) setter {
	return func(field unsafe.Pointer, v driver.Value) error {
		if v == nil {
			*(*unsafe.Pointer)(field) = nil
			return nil
		}
		value := made()
		*(*unsafe.Pointer)(field) = value
		return set(value, v)
	}
}

// scanning is for types that read columns themselves.
func scanning(t reflect.Type) setter {
	return func(field unsafe.Pointer, v driver.Value) error {
		return reflect.NewAt(t, field).Interface().(sql.Scanner).Scan(v)
	}
}

// converted has database/sql convert what did not fit.
func converted[T any](to *T, v driver.Value) error {
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
