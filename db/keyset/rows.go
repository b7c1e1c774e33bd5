package keyset

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

// Row is a row of a list that holds the keys of its order.
type Row[R any] interface {
	*R
	Keys() pg.NullableTexts
}

// Rows runs a page of a list. sql ends in its WHERE clause and has {cursor} where
// the keys of the order go.
func Rows[R any, P Row[R], T any](ctx context.Context, in sqlx.QueryerContext, l *List, sql string, listing domain.Listing, item func(*R) T) (domain.Slice[T], error) {
	sql, order, err := l.page(sql, listing)
	if err != nil {
		return domain.Slice[T]{}, err
	}
	rows, err := pg.SelectAll[R](ctx, in, sql, l.Args...)
	if err != nil {
		return domain.Slice[T]{}, err
	}
	return sliceOf[R, P](listing.Page, rows, order, item), nil
}

// RowsEach runs the pages of several parents in one statement. Beside what Rows
// takes, from is what FROM has before each page, and of returns the parent of a row.
func RowsEach[R any, P Row[R], K comparable, T any](
	ctx context.Context, in sqlx.QueryerContext, l *List, from, sql string, listing domain.Listing, parents []K, of func(*R) K, item func(*R) T,
) (map[K]domain.Slice[T], error) {
	sql, order, err := l.page(sql, listing)
	if err != nil {
		return nil, err
	}
	rows, err := pg.SelectAll[R](ctx, in, "SELECT item.* FROM "+from+" CROSS JOIN LATERAL (\n"+sql+"\n) item", l.Args...)
	if err != nil {
		return nil, err
	}
	byParent := make(map[K][]*R, len(parents))
	for _, row := range rows {
		byParent[of(row)] = append(byParent[of(row)], row)
	}
	slices := make(map[K]domain.Slice[T], len(parents))
	for _, parent := range parents {
		slices[parent] = sliceOf[R, P](listing.Page, byParent[parent], order, item)
	}
	return slices, nil
}

// page completes the statement of a page, and returns the order in words beside.
func (l *List) page(sql string, listing domain.Listing) (page, order string, err error) {
	p, err := l.Pieces(listing)
	if err != nil {
		return "", "", err
	}
	return pg.Fill(sql, "cursor", p.Cursor) + " AND " + p.Where + "\nORDER BY " + p.OrderBy + "\n" + p.Limit, p.Order, nil
}

func sliceOf[R any, P Row[R], T any](page domain.Page, rows []*R, order string, item func(*R) T) domain.Slice[T] {
	cut := Cut(page, rows, func(row *R) string {
		return Cursor{Order: order, Values: P(row).Keys().Values()}.String()
	})
	return domain.Slice[T]{Items: pg.Pluck(cut.Items, item), Cursor: cut.Cursor, HasNext: cut.HasNext, HasPrevious: cut.HasPrevious, Whole: cut.Whole}
}
