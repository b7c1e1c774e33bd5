package keyset

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

// keyedRow is a row of a list that holds the keys of its order.
type keyedRow[R any] interface {
	*R
	Keys() pg.NullableTexts
}

// Rows runs a page of a list. sql ends in its WHERE clause and has {cursor} where
// the keys of the order go.
func Rows[R any, P keyedRow[R], T any](ctx context.Context, in sqlx.QueryerContext, l *List, sql string, listing domain.Listing, item func(*R) T) (domain.Slice[T], error) {
	p, err := l.Pieces(listing)
	if err != nil {
		return domain.Slice[T]{}, err
	}
	sql = pg.Fill(sql, "cursor", p.Cursor) + " AND " + p.Where + "\nORDER BY " + p.OrderBy + "\n" + p.Limit
	rows, err := pg.SelectAll[R](ctx, in, sql, l.Args...)
	if err != nil {
		return domain.Slice[T]{}, err
	}
	cut := Cut(listing.Page, rows, func(row *R) string {
		return Cursor{Order: p.Order, Values: P(row).Keys().Values()}.String()
	})
	return domain.Slice[T]{Items: pg.Pluck(cut.Items, item), Cursor: cut.Cursor, HasNext: cut.HasNext, HasPrevious: cut.HasPrevious}, nil
}
