package domain

import (
	"context"

	"simgraph/domain/query"
)

// Group is a set of subscribers that users can be restricted to (spec §2.7).
type Group struct {
	GroupID int64
	Name    string
	// HideTariffDetails hides billing information about the group's
	// subscribers from the users attached to it.
	HideTariffDetails bool
}

// Version changes with what can be edited.
func (g *Group) Version() string { return VersionOf(g.Name, g.HideTariffDetails) }

// GroupCounts are what is attached to a group.
type GroupCounts struct{ Users, Subscribers int }

// CheckGroupID refuses ids that are no positive 32-bit integer, which is what
// GraphQL's Int can carry.
func CheckGroupID(id int64) error {
	if id < 1 || id > 1<<31-1 {
		return Invalid("groupId", "a group id must be 1 to 2147483647, not %d", id)
	}
	return nil
}

// Groups keeps the subscriber groups. A group outside the scope does not exist.
type Groups interface {
	Find(ctx context.Context, scope Scope, id int64) (*Group, error)
	// FindMany answers for a batch at once, keyed by group id.
	FindMany(ctx context.Context, scope Scope, ids []int64) (map[int64]*Group, error)
	// List returns the visible groups, ordered by id unless the listing has another order.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[*Group], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// OfUsers returns the pages of visible groups that users are attached to, keyed by user id.
	OfUsers(ctx context.Context, scope Scope, users []int64, listing Listing) (map[int64]Slice[*Group], error)
	CountOfUsers(ctx context.Context, scope Scope, users []int64, listing Listing) (map[int64]int, error)
	// CountsOf counts users and subscribers of each group, keyed by group id.
	CountsOf(ctx context.Context, scope Scope, ids []int64) (map[int64]GroupCounts, error)
	// Rename changes the name and returns the group as it is then.
	Rename(ctx context.Context, scope Scope, id int64, name string) (*Group, error)
}

// GroupFields are what groups can be filtered and ordered by.
var GroupFields = query.NewFields(
	query.Field{Name: "groupId", Type: query.Integer},
	query.Field{Name: "name", Type: query.Text},
	query.Field{Name: "isTariffHidden", Type: query.Boolean},
)
