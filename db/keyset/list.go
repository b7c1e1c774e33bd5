// Package keyset turns the filter, order and page of a domain.Listing into SQL,
// and reads pages by the keys of their order.
package keyset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"simgraph/domain"
	"simgraph/domain/query"
)

// Column is where a field of a list lives.
type Column struct {
	// SQL is the expression; see column.
	SQL      string
	Nullable bool
	// Masked is the condition under which the row hides the field; "" is never.
	Masked string
	// Join names what FROM must hold for sql, "" for the list's own table.
	Join string
	// Scale, unless nil, leads in the order by a column that is neither nullable nor masked.
	Scale *Scale
	// Sum, unless nil, is how filters find the field, without Join.
	Sum *Sum
	// UUID reports that SQL is of the type uuid; the field is a Text, in canonical writing.
	UUID bool
}

// Value is the expression as the caller may see it.
func (c Column) Value() string {
	if c.Masked == "" {
		return c.SQL
	}
	return "CASE WHEN (" + c.Masked + ") IS NOT TRUE THEN " + c.SQL + " END"
}

// List turns a domain.Listing into the pieces of one statement. Callers' texts
// become parameters, never SQL.
type List struct {
	columns func(field string) Column
	// key is the field that is unique among the rows and breaks ties.
	key query.Field
	// Args are the parameters so far; the statement's own come first.
	Args []any
	// Joins are the names of the joins that the pieces need.
	Joins map[string]bool
}

// Pieces are what a Listing adds to a statement.
type Pieces struct {
	Where   string // a condition
	OrderBy string // the keys of ORDER BY
	Limit   string // LIMIT and OFFSET
	Cursor  string // an array of the keys as text, for cursorOf
	Order   string // the order in words, for cursorOf
	// FirstKey orders by the first key alone.
	FirstKey string
}

// New returns the list of a statement with those arguments. key is the field that
// is unique among the rows.
func New(columns func(string) Column, key query.Field, args ...any) *List {
	return &List{columns: columns, key: key, Args: args, Joins: map[string]bool{}}
}

// Cut cuts the surplus row off a page that was read with Pieces, and puts
// a page that was walked backward in the order of the list.
func Cut[T any](page domain.Page, rows []T, cursor func(T) string) domain.Slice[T] {
	more := len(rows) > page.Limit
	whole := page.Cursor == "" && page.Offset == 0 && len(rows) < page.Limit
	if more {
		rows = rows[:page.Limit]
	}
	s := domain.Slice[T]{Items: rows, HasNext: more, HasPrevious: page.Cursor != "" || page.Offset > 0, Whole: whole}
	if page.Backward {
		slices.Reverse(rows)
		s.HasNext, s.HasPrevious = page.Cursor != "", more
	}
	s.Cursor = func(i int) string { return cursor(rows[i]) }
	return s
}

// Arg adds a parameter and returns its place, cast to the type.
func (l *List) Arg(value any, sqlType string) string {
	l.Args = append(l.Args, value)
	return fmt.Sprintf("$%d::%s", len(l.Args), sqlType)
}

// Column returns where the field lives, and notes the join that it needs.
func (l *List) Column(field string) Column {
	c := l.columns(field)
	if c.Join != "" {
		l.Joins[c.Join] = true
	}
	return c
}

// Filter returns the condition of the filter.
func (l *List) Filter(e query.Expr) string {
	return compileFilter(e, func(field string) filterColumn {
		if c := l.columns(field); c.Sum != nil {
			return filterColumn{sum: c.Sum}
		}
		c := l.Column(field)
		return filterColumn{sql: c.SQL, masked: c.Masked, uuid: c.UUID, notNull: !c.Nullable}
	}, &l.Args)
}

// Pieces returns what the listing adds. The page has one row more than its
// limit, which shows whether the list goes on, unless nobody reads that.
func (l *List) Pieces(listing domain.Listing) (Pieces, error) {
	keys := l.keys(listing.Order)
	p := Pieces{Where: l.Filter(listing.Filter), Order: orderText(listing.Order)}
	if listing.Page.Cursor != "" {
		after, err := parseCursor(listing.Page, p.Order, keys)
		if err != nil {
			return p, err
		}
		p.Where += " AND " + l.beyond(keys, after.Values, listing.Page.Backward)
	}
	var order, texts []string
	for _, k := range keys {
		order = append(order, k.orderBy(listing.Page.Backward))
		texts = append(texts, k.text())
	}
	p.OrderBy, p.FirstKey = strings.Join(order, ", "), order[0]
	p.Cursor = "ARRAY[" + strings.Join(texts, ", ") + "]"
	p.Limit = l.Limit(listing)
	return p, nil
}

// NamedKeys returns the keys of the order as columns with names, and what orders a
// statement around this one by these names.
func (l *List) NamedKeys(listing domain.Listing) (columns, orderBy string) {
	var named, ordered []string
	for i, k := range l.keys(listing.Order) {
		name := fmt.Sprintf("key_%d", i+1)
		named = append(named, k.Value()+" AS "+name)
		ordered = append(ordered, k.ordered(name, listing.Page.Backward))
	}
	return strings.Join(named, ", "), strings.Join(ordered, ", ")
}

// Limit writes the limit out, so that the planner sees it, and the offset as a
// parameter, since every one would else be a statement of its own.
func (l *List) Limit(listing domain.Listing) string {
	text := fmt.Sprintf("LIMIT %d", most(listing))
	if listing.Page.Offset > 0 {
		text += " OFFSET " + l.Arg(listing.Page.Offset, "bigint")
	}
	return text
}

// Within returns how many rows the list has up to the end of the page at most.
func (l *List) Within(listing domain.Listing) string {
	if listing.Page.Offset > 0 {
		return l.Arg(listing.Page.Offset+most(listing), "bigint")
	}
	return strconv.Itoa(most(listing))
}

// most is how many rows a page is read with.
func most(listing domain.Listing) int {
	if listing.NoLookahead {
		return listing.Page.Limit
	}
	return listing.Page.Limit + 1
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
	Column
	query.Order
}

// keys returns the keys of the order, ending with the unique one.
func (l *List) keys(order []query.Order) []listKey {
	var keys []listKey
	for _, o := range order {
		keys = append(keys, listKey{l.Column(o.Field.Name), o})
		if o.Field.Name == l.key.Name {
			return keys
		}
	}
	return append(keys, listKey{l.Column(l.key.Name), query.Order{Field: l.key}})
}

func (k listKey) nullable() bool { return k.Column.Nullable || k.Masked != "" }

func (k listKey) orderBy(backward bool) string {
	text := k.ordered(k.Value(), backward)
	if k.Scale != nil {
		text = k.ordered(k.Scale.SQL, backward) + ", " + text
	}
	return text
}

// ordered names NULLS only where there can be any, so that plain indexes fit.
func (k listKey) ordered(text string, backward bool) string {
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
		return "to_char(" + k.Value() + ` AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
	}
	return "(" + k.Value() + ")::text"
}

func (k listKey) sqlType() string {
	if k.Column.UUID {
		return "uuid"
	}
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
func (l *List) beyond(keys []listKey, values []*string, backward bool) string {
	var alternatives []string
	equal, start := "", ""
	for i, k := range keys {
		value := "NULL"
		if values[i] != nil {
			value = l.Arg(*values[i], k.sqlType())
		}
		alternatives = append(alternatives, equal+k.after(value, backward))
		if i == 0 && len(keys) > 1 && !k.nullable() {
			// The rest implies it; it lets an index on the first key start there.
			start = k.Scale.compared(k.sign(backward)+"= ", value) + k.Value() + k.sign(backward) + "= " + value + " AND "
		}
		equal += k.equals(value) + " AND "
	}
	return start + "(" + strings.Join(alternatives, " OR ") + ")"
}

func (k listKey) equals(value string) string {
	if value == "NULL" {
		return k.Value() + " IS NULL"
	}
	return k.Value() + " = " + value
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
		return k.Value() + " IS NOT NULL"
	case falling && k.nullable():
		return "(" + k.Value() + " < " + value + " OR " + k.Value() + " IS NULL)"
	}
	return k.Value() + k.sign(backward) + " " + value
}
