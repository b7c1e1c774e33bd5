package domain

import (
	"slices"

	"simgraph/domain/query"
)

const (
	// DefaultLimit is the size of a list when none is requested (spec §8).
	DefaultLimit = 25
	// MaxLimit is the largest size of a list (spec §8).
	MaxLimit = 100
	// MaxBatch bounds how many identifiers an argument may name.
	MaxBatch = 1000
)

// Page selects a part of an ordered list: either Limit items from
// Offset, or Limit items after (or before) a cursor.
type Page struct {
	// Limit is 0 to MaxLimit; 0 is for a list that is only counted.
	Limit  int
	Offset int
	// Cursor is where to go on, as an earlier Slice gave it; "" means the edge.
	Cursor string
	// Backward walks towards the beginning: the last Limit items before Cursor.
	Backward bool
}

// Slice is a part of an ordered list.
type Slice[T any] struct {
	Items []T
	// Cursor returns the cursor of the i-th item. It is opaque, and holds only
	// for the order that it was made under.
	Cursor func(i int) string
	// HasNext and HasPrevious report whether the list goes on beyond the Items.
	HasNext, HasPrevious bool
	// Whole reports that the Items are known to be the whole list, so that nobody needs
	// to count it.
	Whole bool
}

// Listing selects items of a list, and their order. A unique
// key always breaks ties.
type Listing struct {
	Filter query.Expr
	Order  []query.Order
	Page   Page
	// Projection is what is read of subscribers. Its billing period is also that of
	// the field dataUsage in Filter and Order.
	Projection
	// NoCursors and NoLookahead spare the work for cursors and for HasNext, which
	// are then not to be used.
	NoCursors, NoLookahead bool
}

// InOrder returns the listing, in the usual order where it has none.
func (l Listing) InOrder(usual []query.Order) Listing {
	if len(l.Order) == 0 {
		l.Order = usual
	}
	return l
}

// Equal reports whether both select the same.
func (l Listing) Equal(other Listing) bool {
	return l.Page == other.Page && l.PeriodStart.Equal(other.PeriodStart) && l.Fields == other.Fields &&
		l.NoCursors == other.NoCursors && l.NoLookahead == other.NoLookahead &&
		slices.EqualFunc(l.Order, other.Order, func(a, b query.Order) bool { return a.String() == b.String() }) &&
		textOf(l.Filter) == textOf(other.Filter)
}

func textOf(filter query.Expr) string {
	if filter == nil {
		return ""
	}
	return filter.String()
}
