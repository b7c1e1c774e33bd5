package db

import (
	"context"
	"strings"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// keyedRow is a row of a list that holds the keys of its order.
type keyedRow[R any] interface {
	*R
	keys() nullableTexts
}

// listRows runs a page of a list. sql ends in its WHERE clause and has %s where
// the keys of the order go.
func listRows[R any, P keyedRow[R], T any](ctx context.Context, in sqlx.QueryerContext, l *list, sql string, listing domain.Listing, item func(*R) T) (domain.Slice[T], error) {
	p, err := l.pieces(listing)
	if err != nil {
		return domain.Slice[T]{}, err
	}
	sql = strings.Replace(sql, "%s", p.cursor, 1) + " AND " + p.where + "\nORDER BY " + p.orderBy + "\n" + p.limit
	rows, err := selectAll[R](ctx, in, sql, l.args...)
	if err != nil {
		return domain.Slice[T]{}, err
	}
	cut := slice(listing.Page, rows, func(row *R) string {
		return cursor{Order: p.order, Values: P(row).keys().values()}.String()
	})
	return domain.Slice[T]{Items: pluck(cut.Items, item), Cursor: cut.Cursor, HasNext: cut.HasNext, HasPrevious: cut.HasPrevious}, nil
}
