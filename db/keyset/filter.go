package keyset

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain/query"
)

// filterColumn is where a field of the filter language lives in a statement.
type filterColumn struct {
	// sql is an expression that needs no parentheses. Of a Set it is an EXISTS
	// in which {values} stands for the array of the texts looked for:
	// EXISTS (SELECT … AND t.tag_name = ANY({values})).
	sql string
	// masked is the condition under which a row hides the field; "" is never,
	// and NULL is as good as false.
	masked string
	// sum, unless nil, stands for sql in filters.
	sum *Sum
	// uuid reports that sql is of that type.
	uuid bool
	// notNull reports that sql is never NULL: a text without a value is "".
	notNull bool
}

// compileFilter returns the condition of a WHERE that e stands for, in parentheses
// where it needs them, and appends its parameters to args. No text of the caller
// is part of the SQL. columns must know every field of the catalogue that e was
// read with.
//
// The condition is NULL or FALSE where a comparison is false, which WHERE does not
// distinguish: not is pushed down to the comparisons first, so that only AND and OR
// stand above them, and plain comparisons stay open to indexes. A masked
// comparison is unknown, negated or not, and becomes FALSE in the same way.
func compileFilter(e query.Expr, columns func(field string) filterColumn, args *[]any) string {
	if e == nil {
		return "TRUE"
	}
	return filterSQL{columns: columns, args: args}.expr(e, false)
}

type filterSQL struct {
	columns func(field string) filterColumn
	args    *[]any
}

func (f filterSQL) expr(e query.Expr, negated bool) string {
	switch e := e.(type) {
	case query.Not:
		return f.expr(e.Expr, !negated)
	case query.And:
		return f.join(e, negated, !negated)
	case query.Or:
		return f.join(e, negated, negated)
	case query.Comparison:
		return f.masked(e, negated)
	}
	panic(fmt.Sprintf("db: no filter is a %T", e))
}

// join puts AND or OR between the parts; the caller has swapped them for a
// negation (De Morgan). Without parts, AND is true and OR is not.
func (f filterSQL) join(exprs []query.Expr, negated, and bool) string {
	word, none := " OR ", "FALSE"
	if and {
		word, none = " AND ", "TRUE"
	}
	if len(exprs) == 0 {
		return none
	}
	parts := make([]string, len(exprs))
	for i, e := range exprs {
		parts[i] = f.expr(e, negated)
	}
	return "(" + strings.Join(parts, word) + ")"
}

func (f filterSQL) masked(c query.Comparison, negated bool) string {
	col := f.columns(c.Field.Name)
	switch {
	case col.sum != nil:
		return f.sum(c, col.sum, negated)
	case col.masked == "":
		return f.comparison(c, col, negated)
	}
	return "((" + col.masked + ") IS NOT TRUE AND " + f.comparison(c, col, negated) + ")"
}

func (f filterSQL) comparison(c query.Comparison, col filterColumn, negated bool) string {
	if c.Op == query.Ne {
		negated = !negated
	}
	condition, nullable := f.typed(c, col)
	switch {
	case !negated:
		return "(" + condition + ")"
	case nullable:
		return "((" + condition + ") IS NOT TRUE)"
	}
	return "(NOT (" + condition + "))"
}

// typed is positive of a column with its type.
func (f filterSQL) typed(c query.Comparison, col filterColumn) (condition string, nullable bool) {
	switch {
	case !col.uuid:
		return f.positive(c, col)
	case c.Op == query.Eq, c.Op == query.Ne, c.Op == query.In:
		return f.equalUUID(c, col.sql)
	}
	col.sql = "(" + col.sql + "::text)"
	return f.positive(c, col)
}

// equalUUID compares with the values as UUIDs, so that an index on the column fits. A
// text that is none equals no row.
func (f filterSQL) equalUUID(c query.Comparison, col string) (condition string, nullable bool) {
	var alternatives []string
	var ids pq.StringArray
	for _, v := range c.Values {
		switch {
		case v.Null:
			alternatives = append(alternatives, col+" IS NULL")
		case pg.IsUUID(v.Text):
			ids = append(ids, v.Text)
		}
	}
	if len(ids) > 0 {
		alternatives = append(alternatives, col+" = ANY("+f.arg(ids, "uuid[]")+")")
	}
	if len(alternatives) == 0 {
		return "FALSE", false
	}
	return strings.Join(alternatives, " OR "), len(ids) > 0
}

// positive returns the condition of the comparison, of its opposite for ne, and
// reports whether it is NULL where the field is.
func (f filterSQL) positive(c query.Comparison, column filterColumn) (condition string, nullable bool) {
	first, col := c.Values[0], column.sql
	switch {
	case c.Field.Type == query.Set:
		return pg.Fill(col, "values", f.array(c.Field.Type, c.Values)) + byValue, false
	case c.Op == query.Eq, c.Op == query.Ne, c.Op == query.In:
		return f.equal(c, column)
	case first.Null:
		return "FALSE", false
	case c.Op == query.Like:
		// The columns collate by code point, where only a to z have two cases.
		return col + ` COLLATE "default" ILIKE ` + f.arg(likePattern(first.Text), "text") + ` ESCAPE '\'` + byValue, true
	case c.Field.Type == query.Time:
		return f.ordered(c.Op, col, first.Time), true
	case c.Field.Type == query.Text:
		col += ` COLLATE "C"`
	}
	return col + sqlOperator[c.Op] + f.value(c.Field.Type, first) + byValue, true
}

// byValue stands behind a pattern, a range and a set.
const byValue = " " + pg.ByValue

var sqlOperator = map[query.Op]string{query.Gt: " > ", query.Ge: " >= ", query.Lt: " < ", query.Le: " <= "}

// ordered compares with the near or the far end of a day; of an instant they are one.
func (f filterSQL) ordered(op query.Op, col string, at query.Interval) string {
	sign, end := sqlOperator[op], at.From
	switch {
	case at.IsInstant():
	case op == query.Gt:
		sign, end = " >= ", at.To
	case op == query.Le:
		sign, end = " < ", at.To
	}
	return col + sign + f.arg(end, "timestamptz") + byValue
}

// equal compares whether the field has one of the values.
func (f filterSQL) equal(c query.Comparison, column filterColumn) (condition string, nullable bool) {
	var alternatives []string
	var values []query.Value
	col := column.sql
	for _, v := range c.Values {
		switch {
		case v.Null && column.notNull && c.Field.Type == query.Text:
			alternatives = append(alternatives, col+" = ''")
		case v.Null:
			alternatives = append(alternatives, col+" IS NULL")
		case c.Field.Type == query.Time:
			alternatives = append(alternatives, f.within(col, v.Time))
		default:
			values = append(values, v)
		}
	}
	switch len(values) {
	case 0:
	case 1:
		alternatives = append(alternatives, col+" = "+f.value(c.Field.Type, values[0]))
	default:
		alternatives = append(alternatives, col+" = ANY("+f.array(c.Field.Type, values)+")")
	}
	onlyNull := len(c.Values) == 1 && c.Values[0].Null
	return strings.Join(alternatives, " OR "), !onlyNull
}

func (f filterSQL) within(col string, at query.Interval) string {
	if at.IsInstant() {
		return col + " = " + f.arg(at.From, "timestamptz")
	}
	return col + " >= " + f.arg(at.From, "timestamptz") + " AND " + col + " < " + f.arg(at.To, "timestamptz") + byValue
}

// arg adds a parameter. Its type is named, for a narrower column would refuse
// values that the language allows.
func (f filterSQL) arg(value any, sqlType string) string {
	*f.args = append(*f.args, value)
	return fmt.Sprintf("$%d::%s", len(*f.args), sqlType)
}

var sqlType = map[query.Type]string{
	query.Text: "text", query.Set: "text", query.Integer: "bigint", query.Number: "numeric", query.Boolean: "boolean",
}

func (f filterSQL) value(t query.Type, v query.Value) string {
	switch t {
	case query.Integer:
		return f.arg(v.Int, sqlType[t])
	case query.Boolean:
		return strconv.FormatBool(v.Bool) // an index of the rows where it is true fits no parameter
	}
	return f.arg(v.Text, sqlType[t])
}

func (f filterSQL) array(t query.Type, values []query.Value) string {
	switch t {
	case query.Integer:
		return f.arg(pq.Int64Array(pick(values, func(v query.Value) int64 { return v.Int })), "bigint[]")
	case query.Boolean:
		return f.arg(pq.BoolArray(pick(values, func(v query.Value) bool { return v.Bool })), "boolean[]")
	}
	return f.arg(pq.StringArray(pick(values, func(v query.Value) string { return v.Text })), sqlType[t]+"[]")
}

func pick[T any](values []query.Value, of func(query.Value) T) []T {
	picked := make([]T, len(values))
	for i, v := range values {
		picked[i] = of(v)
	}
	return picked
}

// likePattern finds a text anywhere, with nothing in it that ILIKE reads as a wildcard.
func likePattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}
