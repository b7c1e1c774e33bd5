package db

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// decoder takes the value of a column, as the server sent it, into a field. What
// it sets may be part of the value.
type decoder func(field unsafe.Pointer, value []byte) error

// columnReader is a field that reads a column by itself. What it keeps may be
// part of the value.
type columnReader interface{ readColumn(value []byte) error }

// decoderOf returns the decoder for the columns of a type, by the name that
// lib/pq has for it; nil when only lib/pq reads them.
func decoderOf(column string, f *fieldOfRow) decoder {
	made := reflect.PointerTo(f.of)
	switch {
	case made.Implements(reflect.TypeFor[columnReader]()):
		return func(field unsafe.Pointer, value []byte) error {
			return reflect.NewAt(f.of, field).Interface().(columnReader).readColumn(value)
		}
	case made.Implements(reflect.TypeFor[sql.Scanner]()):
	case f.of.Kind() == reflect.Pointer:
		if decode := directDecoder(column, f.of.Elem()); decode != nil {
			made, _ := settersOf(f.of.Elem())
			return func(field unsafe.Pointer, value []byte) error {
				to := made()
				*(*unsafe.Pointer)(field) = to
				return decode(to, value)
			}
		}
	default:
		if decode := directDecoder(column, f.of); decode != nil {
			return decode
		}
	}
	box := boxOf(column)
	if box == nil {
		return nil
	}
	return func(field unsafe.Pointer, value []byte) error {
		v, err := box(value)
		if err != nil {
			return err
		}
		return f.set(field, v)
	}
}

// directDecoder is for the types that most columns have.
func directDecoder(column string, field reflect.Type) decoder {
	switch column {
	case "INT2", "INT4", "INT8":
		switch field.Kind() {
		case reflect.Int64:
			return decodeInteger[int64]
		case reflect.Int:
			return decodeInteger[int]
		case reflect.Int32:
			return decodeInteger[int32]
		case reflect.Int16:
			return decodeInteger[int16]
		}
	case "BOOL":
		if field.Kind() == reflect.Bool {
			return func(field unsafe.Pointer, value []byte) error { return store(field, truthOf, value) }
		}
	case "TIMESTAMPTZ":
		if field == reflect.TypeFor[time.Time]() {
			return func(field unsafe.Pointer, value []byte) error { return store(field, momentOf, value) }
		}
	case "FLOAT4", "FLOAT8", "UUID", "DATE", "TIMESTAMP", "TIME", "TIMETZ":
	default:
		if field.Kind() == reflect.String {
			return decodeText
		}
	}
	return nil
}

func store[T any](field unsafe.Pointer, read func([]byte) (T, error), value []byte) (err error) {
	*(*T)(field), err = read(value)
	return err
}

func decodeInteger[T int | int64 | int32 | int16](field unsafe.Pointer, value []byte) error {
	n, err := integerOf(value)
	if err != nil {
		return err
	}
	if int64(T(n)) != n {
		return converted((*T)(field), n)
	}
	*(*T)(field) = T(n)
	return nil
}

func decodeText(field unsafe.Pointer, value []byte) error {
	*(*string)(field) = unsafe.String(unsafe.SliceData(value), len(value))
	return nil
}

// boxOf returns what makes the driver's value of a column, the same as lib/pq;
// nil for the types that only lib/pq reads.
func boxOf(column string) func([]byte) (driver.Value, error) {
	switch column {
	case "INT2", "INT4", "INT8":
		return boxed(integerOf)
	case "TEXT", "VARCHAR", "BPCHAR", "CHAR":
		return func(value []byte) (driver.Value, error) { return string(value), nil }
	case "BOOL":
		return boxed(truthOf)
	case "FLOAT4", "FLOAT8":
		return func(value []byte) (driver.Value, error) { return strconv.ParseFloat(string(value), 64) }
	case "TIMESTAMPTZ":
		return boxed(momentOf)
	case "UUID":
		return func(value []byte) (driver.Value, error) {
			id, err := uuid.FromBytes(value)
			return []byte(id.String()), err
		}
	case "DATE", "TIMESTAMP", "TIME", "TIMETZ":
		return nil
	}
	return func(value []byte) (driver.Value, error) { return value, nil }
}

func boxed[T any](read func([]byte) (T, error)) func([]byte) (driver.Value, error) {
	return func(value []byte) (driver.Value, error) { return read(value) }
}

func integerOf(value []byte) (int64, error) {
	switch len(value) {
	case 8:
		return int64(binary.BigEndian.Uint64(value)), nil
	case 4:
		return int64(int32(binary.BigEndian.Uint32(value))), nil
	case 2:
		return int64(int16(binary.BigEndian.Uint16(value))), nil
	}
	return 0, fmt.Errorf("an integer of %d bytes", len(value))
}

func truthOf(value []byte) (bool, error) { return len(value) > 0 && value[0] == 't', nil }

// momentOf reads a timestamptz.
func momentOf(value []byte) (time.Time, error) {
	if t, ok := utcOf(value); ok {
		return t, nil
	}
	return pq.ParseTimestamp(time.UTC, string(value))
}

const (
	secondShape = "0000-00-00 00:00:00"
	momentShape = secondShape + "." // before the digits of a fraction
	offsetUTC   = "+00"
	mostDigits  = 6 // of a fraction of a second
)

// utcOf reads what nearly all moments look like: of four digits for the year,
// and in UTC.
func utcOf(value []byte) (t time.Time, ok bool) {
	value, ok = bytes.CutSuffix(value, []byte(offsetUTC))
	if !ok || len(value) != len(secondShape) && (len(value) < len(momentShape)+1 || len(value) > len(momentShape)+mostDigits) {
		return t, false
	}
	for i, c := range value {
		if i < len(momentShape) && momentShape[i] != '0' {
			ok = c == momentShape[i]
		} else {
			ok = '0' <= c && c <= '9'
		}
		if !ok {
			return t, false
		}
	}
	nanoseconds := 0
	if len(value) > len(momentShape) {
		digits := value[len(momentShape):]
		nanoseconds = decimal(digits)
		for range 9 - len(digits) {
			nanoseconds *= 10
		}
	}
	return time.Date(decimal(value[:4]), time.Month(decimal(value[5:7])), decimal(value[8:10]),
		decimal(value[11:13]), decimal(value[14:16]), decimal(value[17:19]), nanoseconds, time.UTC), true
}

func decimal(digits []byte) (n int) {
	for _, digit := range digits {
		n = 10*n + int(digit-'0')
	}
	return n
}
