package db

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
	"simgraph/domain/query"
)

// listColumn is where a field of a list lives.
type listColumn struct {
	// sql is the expression; see column.
	sql      string
	nullable bool
	// masked is the condition under which the row hides the field; "" is never.
	masked string
	// join names what FROM must hold for sql, "" for the list's own table.
	join string
}

// value is the expression as the caller may see it.
func (c listColumn) value() string {
	if c.masked == "" {
		return c.sql
	}
	return "CASE WHEN (" + c.masked + ") IS NOT TRUE THEN " + c.sql + " END"
}

// list turns a domain.Listing into the pieces of one statement. Callers' texts
// become parameters, never SQL.
type list struct {
	columns func(field string) listColumn
	// key is the field that is unique among the rows and breaks ties.
	key query.Field
	// args are the parameters so far; the statement's own come first.
	args []any
	// joins are the names of the joins that the pieces need.
	joins map[string]bool
}

// pieces are what a Listing adds to a statement.
type pieces struct {
	where   string // a condition
	orderBy string // the keys of ORDER BY
	limit   string // LIMIT and OFFSET
	cursor  string // an array of the keys as text, for cursorOf
	order   string // the order in words, for cursorOf
}

func newList(columns func(string) listColumn, key query.Field, args ...any) *list {
	return &list{columns: columns, key: key, args: args, joins: map[string]bool{}}
}

// slice cuts the surplus row off a page that was asked for with pieces, and puts
// a page that was walked backward in the order of the list.
func slice[T any](page domain.Page, rows []T, cursor func(T) string) domain.Slice[T] {
	more := len(rows) > page.Limit
	if more {
		rows = rows[:page.Limit]
	}
	s := domain.Slice[T]{Items: rows, HasNext: more, HasPrevious: page.Cursor != "" || page.Offset > 0}
	if page.Backward {
		slices.Reverse(rows)
		s.HasNext, s.HasPrevious = page.Cursor != "", more
	}
	s.Cursor = func(i int) string { return cursor(rows[i]) }
	return s
}

func (l *list) arg(value any, sqlType string) string {
	l.args = append(l.args, value)
	return fmt.Sprintf("$%d::%s", len(l.args), sqlType)
}

func (l *list) column(field string) listColumn {
	c := l.columns(field)
	if c.join != "" {
		l.joins[c.join] = true
	}
	return c
}

// filter returns the condition of the filter.
func (l *list) filter(e query.Expr) string {
	return compileFilter(e, func(field string) column {
		c := l.column(field)
		return column{sql: c.sql, masked: c.masked}
	}, &l.args)
}

// pieces returns what the listing adds. The page asks for one row more than
// its limit, which tells whether the list goes on.
func (l *list) pieces(listing domain.Listing) (pieces, error) {
	keys := l.keys(listing.Order)
	p := pieces{where: l.filter(listing.Filter), order: orderText(listing.Order)}
	if listing.Page.Cursor != "" {
		after, err := parseCursor(listing.Page, p.order, keys)
		if err != nil {
			return p, err
		}
		p.where += " AND " + l.beyond(keys, after.Values, listing.Page.Backward)
	}
	var order, texts []string
	for _, k := range keys {
		order = append(order, k.orderBy(listing.Page.Backward))
		texts = append(texts, k.text())
	}
	p.orderBy = strings.Join(order, ", ")
	p.cursor = "ARRAY[" + strings.Join(texts, ", ") + "]"
	p.limit = l.limit(listing.Page)
	return p, nil
}

// limit writes the limit out, so that the planner knows it, and the offset as a
// parameter, since every one would else be a statement of its own.
func (l *list) limit(page domain.Page) string {
	text := fmt.Sprintf("LIMIT %d", page.Limit+1)
	if page.Offset > 0 {
		text += " OFFSET " + l.arg(page.Offset, "bigint")
	}
	return text
}

func orderText(order []query.Order) string {
	texts := make([]string, len(order))
	for i, o := range order {
		texts[i] = o.String()
	}
	return strings.Join(texts, ",")
}

// listKey is one key of the order of a list.
type listKey struct {
	listColumn
	query.Order
}

// keys returns the keys of the order, ending with the unique one.
func (l *list) keys(order []query.Order) []listKey {
	var keys []listKey
	for _, o := range order {
		keys = append(keys, listKey{l.column(o.Field.Name), o})
		if o.Field.Name == l.key.Name {
			return keys
		}
	}
	return append(keys, listKey{l.column(l.key.Name), query.Order{Field: l.key}})
}

func (k listKey) nullable() bool { return k.listColumn.nullable || k.masked != "" }

// orderBy names NULLS only where there can be any, so that plain indexes fit.
func (k listKey) orderBy(backward bool) string {
	text := k.value()
	if k.Desc != backward {
		text += " DESC"
		if k.nullable() {
			text += " NULLS LAST"
		}
	} else if k.nullable() {
		text += " NULLS FIRST"
	}
	return text
}

// text is the key as a text that keySQLType reads back exactly.
func (k listKey) text() string {
	if k.Field.Type == query.Time {
		return "to_char(" + k.value() + ` AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
	}
	return "(" + k.value() + ")::text"
}

func (k listKey) sqlType() string {
	switch k.Field.Type {
	case query.Integer:
		return "bigint"
	case query.Number:
		return "numeric"
	case query.Boolean:
		return "boolean"
	case query.Time:
		return "timestamptz"
	}
	return "text"
}

// beyond is the condition that a row comes after the one with those values, in
// the direction of the walk: equal in the first keys, beyond in the next.
func (l *list) beyond(keys []listKey, values []*string, backward bool) string {
	var alternatives []string
	equal, start := "", ""
	for i, k := range keys {
		value := "NULL"
		if values[i] != nil {
			value = l.arg(*values[i], k.sqlType())
		}
		alternatives = append(alternatives, equal+k.after(value, backward))
		if i == 0 && len(keys) > 1 && !k.nullable() {
			// The rest implies it; it lets an index on the first key start there.
			start = k.value() + k.sign(backward) + "= " + value + " AND "
		}
		equal += k.equals(value) + " AND "
	}
	return start + "(" + strings.Join(alternatives, " OR ") + ")"
}

func (k listKey) equals(value string) string {
	if value == "NULL" {
		return k.value() + " IS NULL"
	}
	return k.value() + " = " + value
}

// sign compares a row further on with one before it.
func (k listKey) sign(backward bool) string {
	if k.Desc != backward {
		return " <"
	}
	return " >"
}

// after compares with NULL as the lowest value.
func (k listKey) after(value string, backward bool) string {
	falling := k.Desc != backward
	switch {
	case value == "NULL" && falling:
		return "FALSE"
	case value == "NULL":
		return k.value() + " IS NOT NULL"
	case falling && k.nullable():
		return "(" + k.value() + " < " + value + " OR " + k.value() + " IS NULL)"
	}
	return k.value() + k.sign(backward) + " " + value
}

// listByKey lists rows in the order of their unique key alone. sql ends in its
// WHERE clause, whose parameters are args.
func listByKey[T any](ctx context.Context, in sqlx.QueryerContext, sql string, key query.Field, column string, page domain.Page,
	value func(*T) string, args ...any,
) (domain.Slice[*T], error) {
	l := newList(func(string) listColumn { return listColumn{sql: column} }, key, args...)
	p, err := l.pieces(domain.Listing{Page: page})
	if err != nil {
		return domain.Slice[*T]{}, err
	}
	rows, err := selectAll[T](ctx, in, sql+" AND "+p.where+"\nORDER BY "+p.orderBy+"\n"+p.limit, l.args...)
	if err != nil {
		return domain.Slice[*T]{}, err
	}
	return slice(page, rows, func(row *T) string { return cursor{Values: []*string{new(value(row))}}.String() }), nil
}

func mapSlice[A, B any](s domain.Slice[A], to func(A) B) domain.Slice[B] {
	items := make([]B, len(s.Items))
	for i, item := range s.Items {
		items[i] = to(item)
	}
	return domain.Slice[B]{Items: items, Cursor: s.Cursor, HasNext: s.HasNext, HasPrevious: s.HasPrevious}
}
