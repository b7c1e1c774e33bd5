package domain

import (
	"context"

	"simgraph/domain/query"
)

// Tags keeps the tags of subscribers. A tag lives only through its
// associations. Methods that name a subscriber return NotFound when the scope
// shows none such.
type Tags interface {
	// List returns the tags carried by visible subscribers, ordered by name.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[TagName], error)
	// Count returns how many tags List has in all.
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// CountsOf counts the visible subscribers of each tag; a tag that none
	// carries is missing from the map.
	CountsOf(ctx context.Context, scope Scope, tags []TagName) (map[TagName]int, error)
	// OfMany returns the same part (Limit and Offset) of the tags of each
	// subscriber, ordered by name, keyed by the subscriber's key.
	OfMany(ctx context.Context, scope Scope, subscribers []int64, page Page) (map[int64][]TagName, error)
	// NumberOf counts the tags of each subscriber, keyed by its key; a
	// subscriber without tags is missing from the map.
	NumberOf(ctx context.Context, scope Scope, subscribers []int64) (map[int64]int, error)
	// Attach puts the tag on all the subscribers and returns on how many it was
	// new. It changes nothing when one of them is unknown.
	Attach(ctx context.Context, scope Scope, tag TagName, physicalIDs []string) (int, error)
	// Detach takes the tag off all the subscribers. It changes nothing and
	// returns NotFound when one of them is unknown or does not carry it.
	Detach(ctx context.Context, scope Scope, tag TagName, physicalIDs []string) error
}

// TagFields are what tags can be filtered and ordered by.
var TagFields = query.NewFields(
	query.Field{Name: "name", Type: query.Text, NFC: true},
)
