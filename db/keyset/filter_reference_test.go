package keyset_test

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

// filterRow is a row whose nil fields are null.
type filterRow struct {
	ID     int
	Name   *string
	Bytes  *int64
	Small  *int64
	Signal *string
	Online *bool
	At     *time.Time
	Tariff *string
	Fee    *int64
	// Hidden rows mask Tariff and Fee; null is not hidden.
	Hidden *bool
	Tags   []string
	// Note is never NULL: "" is its null.
	Note string
}

// What rows hold and filters ask for: few values, so that they meet, and such as
// are near a border of the rules.
var (
	someTexts   = []string{"", "a", "A", "ab", "aB", "b", "_", "a%b", `\`, `a\"b`, "'", "Z", "~", "ß", "日本", "null"}
	someInts    = []int64{math.MinInt64, -1, 0, 1, 7, math.MaxInt64}
	someSmall   = []int64{math.MinInt32, -1, 0, 1, math.MaxInt32}
	someNumbers = []string{"0", "-0.5", "0.5", "7", "12345678901234567890.5"}
	someTags    = []string{"a", "b", "A", "é"}
	someTimes   = []time.Time{
		moment(2024, 2, 28, 12, 0), moment(2024, 2, 28, 23, 59).Add(time.Minute - time.Microsecond), moment(2024, 2, 29, 0, 0),
		moment(2024, 2, 29, 0, 0).Add(time.Microsecond), moment(2024, 2, 29, 12, 0),
		moment(2024, 2, 29, 23, 59).Add(time.Minute - time.Microsecond), moment(2024, 3, 1, 0, 0), moment(1, 1, 1, 0, 0),
		moment(9999, 12, 31, 23, 59),
	}
	someDates = []string{"2024-02-28", "2024-02-29", "2024-03-01", "0001-01-01", "9999-12-31"}
)

func moment(year int, month time.Month, day, hour, minute int) time.Time {
	return time.Date(year, month, day, hour, minute, 0, 0, time.UTC)
}

// filterRows returns rows that mix the values, a fifth of them null.
func filterRows() []filterRow {
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]filterRow, 150)
	for i := range rows {
		rows[i] = filterRow{
			ID: i, Name: some(random, someTexts), Bytes: some(random, someInts), Small: some(random, someSmall),
			Signal: some(random, someNumbers), Online: some(random, []bool{false, true}), At: some(random, someTimes),
			Tariff: some(random, someTexts[:4]), Fee: some(random, someSmall), Hidden: some(random, []bool{false, true}),
		}
		if note := some(random, someTexts[:4]); note != nil {
			rows[i].Note = *note
		}
		for _, tag := range someTags {
			if random.IntN(3) == 0 {
				rows[i].Tags = append(rows[i].Tags, tag)
			}
		}
	}
	return rows
}

func some[T any](random *rand.Rand, values []T) *T {
	if random.IntN(5) == 0 {
		return nil
	}
	return &values[random.IntN(len(values))]
}

// drawFilter draws a tree of at most that many levels.
func drawFilter(t *rapid.T, levels int) query.Expr {
	if levels == 0 {
		return drawComparison(t)
	}
	parts := func() []query.Expr {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) query.Expr { return drawFilter(t, levels-1) }), 2, 3).Draw(t, "parts")
	}
	switch rapid.SampledFrom([]string{"and", "or", "not", "comparison"}).Draw(t, "node") {
	case "and":
		return query.All(parts()...)
	case "or":
		return query.Any(parts()...)
	case "not":
		return query.Not{Expr: drawFilter(t, levels-1)}
	}
	return drawComparison(t)
}

func drawComparison(t *rapid.T) query.Expr {
	field := rapid.SampledFrom(filterFields.All()).Draw(t, "field")
	ops := []query.Op{query.Eq, query.Ne, query.In}
	if field.Type != query.Boolean && field.Type != query.Set {
		ops = append(ops, query.Gt, query.Ge, query.Lt, query.Le)
	}
	if field.Type == query.Text {
		ops = append(ops, query.Like)
	}
	op := rapid.SampledFrom(ops).Draw(t, "op")
	shortest, longest := 1, 1
	if op == query.In {
		shortest, longest = 0, 4
	}
	nullable := op != query.Like && field.Type != query.Set
	values := rapid.SliceOfN(drawValue(field.Type, nullable), shortest, longest).Draw(t, "values")
	e, err := query.Compare(filterFields, field.Name, op, values...)
	fatal.If(t, err)
	return e
}

func drawValue(t query.Type, nullable bool) *rapid.Generator[any] {
	var values []any
	switch t {
	case query.Text:
		values = anys(someTexts)
	case query.Integer:
		values = anys(someInts)
	case query.Number:
		values = anys(someNumbers)
	case query.Boolean:
		values = []any{false, true}
	case query.Time:
		values = append(anys(someTimes), anys(someDates)...)
	case query.Set:
		values = anys(someTags)
	}
	if nullable {
		values = append(values, nil)
	}
	return rapid.SampledFrom(values)
}

func anys[T any](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// truth is a value of Kleene's logic; and is the least, or the greatest.
type truth int

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// evaluate is the meaning of a filter, case by case as package query documents it.
func evaluate(e query.Expr, row filterRow) truth {
	switch e := e.(type) {
	case query.And:
		result := yes
		for _, part := range e {
			result = min(result, evaluate(part, row))
		}
		return result
	case query.Or:
		result := no
		for _, part := range e {
			result = max(result, evaluate(part, row))
		}
		return result
	case query.Not:
		return yes - evaluate(e.Expr, row)
	}
	c := e.(query.Comparison)
	if (c.Field.Name == "tariff" || c.Field.Name == "fee") && row.Hidden != nil && *row.Hidden {
		return unknown
	}
	return truthOf(holds(c, row))
}

func holds(c query.Comparison, row filterRow) bool {
	switch c.Op {
	case query.Ne:
		return !equals(c.Field, row, c.Values[0])
	case query.Eq, query.In:
		return slices.ContainsFunc(c.Values, func(v query.Value) bool { return equals(c.Field, row, v) })
	case query.Like:
		text, _ := fieldOf(c.Field.Name, row).(string)
		known := fieldOf(c.Field.Name, row) != nil
		return known && strings.Contains(strings.ToLower(text), strings.ToLower(c.Values[0].Text))
	}
	value := fieldOf(c.Field.Name, row)
	if value == nil || c.Values[0].Null {
		return false
	}
	order := compare(value, c.Field.Type, c.Values[0])
	switch c.Op {
	case query.Gt:
		return order > 0
	case query.Ge:
		return order >= 0
	case query.Lt:
		return order < 0
	}
	return order <= 0
}

func equals(field query.Field, row filterRow, v query.Value) bool {
	if field.Type == query.Set {
		return slices.Contains(row.Tags, v.Text)
	}
	value := fieldOf(field.Name, row)
	if field.Name == "note" && v.Null {
		return value == ""
	}
	if value == nil || v.Null {
		return value == nil && v.Null
	}
	return compare(value, field.Type, v) == 0
}

// fieldOf returns what the row holds, nil for null.
func fieldOf(field string, row filterRow) any {
	switch field {
	case "name":
		return orNil(row.Name)
	case "bytes":
		return orNil(row.Bytes)
	case "small":
		return orNil(row.Small)
	case "signal":
		return orNil(row.Signal)
	case "online":
		return orNil(row.Online)
	case "at":
		return orNil(row.At)
	case "tariff":
		return orNil(row.Tariff)
	case "note":
		return row.Note
	}
	return orNil(row.Fee)
}

func orNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// compare reports whether what the row holds is below (-1), equal to (0) or above (1)
// the value; a moment within a day is equal to it.
func compare(held any, t query.Type, v query.Value) int {
	switch t {
	case query.Integer:
		return cmp.Compare(held.(int64), v.Int)
	case query.Number:
		return rational(held.(string)).Cmp(rational(v.Text))
	case query.Boolean:
		return cmp.Compare(truthOf(held.(bool)), truthOf(v.Bool))
	case query.Time:
		return compareTime(held.(time.Time), v.Time)
	}
	return strings.Compare(held.(string), v.Text)
}

func compareTime(held time.Time, at query.Interval) int {
	switch {
	case held.Before(at.From):
		return -1
	case held.Equal(at.From), held.Before(at.To):
		return 0
	}
	return 1
}

func rational(s string) *big.Rat {
	r, _ := new(big.Rat).SetString(s)
	return r
}
