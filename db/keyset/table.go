package keyset

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Table is a list that one statement reads: where the fields of its catalogue live, and
// what the statement has beside them.
type Table struct {
	// Columns are by the names of fields; each that can be filtered or ordered by is
	// there, and Key.
	Columns map[string]Column
	// Key is unique among the rows, and breaks ties.
	Key query.Field
	// Order is that of a listing without one; nil for the order of the key.
	Order []query.Order
	// Select are the columns of a row, From begins with FROM and ends in the WHERE clause,
	// with the parameters: $1 is the company, those of callers follow.
	Select, From string
	// WholeOnly names what is listed, where only scopes of a whole company may list it.
	WholeOnly string
}

// Check refuses a scope that may not list.
func (t Table) Check(scope domain.Scope) error {
	if t.WholeOnly == "" {
		return nil
	}
	return pg.WholeCompanyOnly(scope, t.WholeOnly)
}

// Keyed is embedded in the rows of Rows, RowsEach and Page.
type Keyed struct{ CursorKeys pg.NullableTexts }

// Keys returns the keys of the order.
func (k *Keyed) Keys() pg.NullableTexts { return k.CursorKeys }

// Newest is the order by a time, the last one first.
func Newest(field string) []query.Order {
	return []query.Order{{Field: query.Field{Name: field, Type: query.Time}, Desc: true}}
}

func (t Table) list(scope domain.Scope, args []any) *List {
	return New(func(field string) Column { return t.Columns[field] }, t.Key, append([]any{scope.Company}, args...)...)
}

// Page reads a page of the list.
func Page[R any, P Row[R], T any](
	ctx context.Context, in sqlx.QueryerContext, t Table, scope domain.Scope, listing domain.Listing, item func(*R) T, args ...any,
) (slice domain.Slice[T], err error) {
	if err := t.Check(scope); err != nil {
		return slice, err
	}
	return Rows[R, P](ctx, in, t.list(scope, args), "SELECT "+t.Select+", {cursor} AS cursor_keys"+t.From, listing.InOrder(t.Order), item)
}

// Count counts the rows that fit the filter of the listing.
func (t Table) Count(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, listing domain.Listing, args ...any) (int, error) {
	if err := t.Check(scope); err != nil {
		return 0, err
	}
	l := t.list(scope, args)
	where := l.Filter(listing.Filter)
	return pg.Count(ctx, in, "SELECT count(*)"+t.From+" AND "+where, l.Args...)
}

// ByKeys is the statement, with its parameters, that selects the rows with some keys. A text that
// is no UUID is the key of no row where keys are UUIDs.
func ByKeys[K int64 | string](t Table, scope domain.Scope, keys []K, args ...any) (sql string, all []any) {
	key, cast := t.Columns[t.Key.Name], ""
	if texts, ok := any(keys).([]string); ok && key.UUID {
		keys, cast = any([]string(pg.UUIDs(texts))).([]K), "::uuid[]"
		if len(keys) == 1 {
			cast = "::uuid"
		}
	}
	is, of := pg.Is(keys)
	all = append(append([]any{scope.Company}, args...), of)
	return fmt.Sprintf("SELECT %s%s AND %s %s ($%d%s)", t.Select, t.From, key.SQL, is, len(all), cast), all
}
