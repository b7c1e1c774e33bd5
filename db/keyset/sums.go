package keyset

import (
	"strings"

	"simgraph/db/pg"
	"simgraph/domain/query"
)

// Scale is an indexed expression beside a number: it is never lower where the number
// is higher. Conditions and orders name it first, so that the index leads to the rows.
type Scale struct {
	SQL string
	// Of is the expression for the number {value}.
	Of string
}

// compared is the condition that holds wherever the number compares so with the value.
func (s *Scale) compared(sign, value string) string {
	if s == nil {
		return ""
	}
	return s.SQL + sign + pg.Fill(s.Of, "value", value) + " AND "
}

// Sum is how filters find an integer that is 0 where no row holds more.
type Sum struct {
	// Exists is the statement's condition that a row holds it and fits the condition;
	// nil where the rows of the list are those for which none does.
	Exists func(condition string) string
	// Least is the lowest of the rows of the list, 0 or 1.
	Least int64
	// Held is the number in that row, above 0 in the rows that count.
	Held  string
	Scale *Scale
}

// sum returns the condition of the comparison. Conditions on rows that are there stay
// plain, so that the planner begins with these rows; what rows without a sum fit is
// NOT EXISTS, an anti join.
func (f filterSQL) sum(c query.Comparison, of *Sum, negated bool) string {
	condition := "FALSE"
	switch {
	case c.Op == query.Eq, c.Op == query.Ne, c.Op == query.In:
		condition = f.sumIn(c, of)
		negated = negated != (c.Op == query.Ne)
	case c.Values[0].Null:
	case c.Op == query.Gt, c.Op == query.Le:
		condition = f.sumAbove(c, of, " > ", of.Least)
		negated = negated != (c.Op == query.Le)
	default:
		condition = f.sumAbove(c, of, " >= ", of.Least+1)
		negated = negated != (c.Op == query.Lt)
	}
	if negated {
		return "(NOT (" + condition + "))"
	}
	return "(" + condition + ")"
}

// sumAbove compares with a value of which every sum is above, or not below, where the
// value is lower than least.
func (f filterSQL) sumAbove(c query.Comparison, of *Sum, sign string, least int64) string {
	switch {
	case c.Values[0].Int < least:
		return "TRUE"
	case of.Exists == nil:
		return "FALSE"
	}
	value := f.value(c.Field.Type, c.Values[0])
	return of.where(of.Scale.compared(" >= ", value) + of.Held + sign + value + byValue)
}

func (f filterSQL) sumIn(c query.Comparison, of *Sum) string {
	var alternatives []string
	var above []query.Value
	none := false
	for _, v := range c.Values {
		switch {
		case v.Null, v.Int < of.Least:
		case v.Int == 0:
			none = true
		case of.Exists != nil:
			above = append(above, v)
		}
	}
	switch {
	case none && of.Exists == nil:
		return "TRUE"
	case none:
		alternatives = append(alternatives, "NOT "+of.where(of.Held+" > 0"))
	}
	switch len(above) {
	case 0:
	case 1:
		value := f.value(c.Field.Type, above[0])
		alternatives = append(alternatives, of.where(of.Scale.compared(" = ", value)+of.Held+" = "+value))
	default:
		alternatives = append(alternatives, of.where(of.Held+" = ANY("+f.array(c.Field.Type, above)+")"))
	}
	if len(alternatives) == 0 {
		return "FALSE"
	}
	return strings.Join(alternatives, " OR ")
}

func (s *Sum) where(condition string) string {
	return "(" + s.Exists(condition) + ")"
}
