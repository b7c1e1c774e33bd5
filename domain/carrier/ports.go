package carrier

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/retention"
	"simgraph/domain/webhook"
)

// Commands keeps the provider of a company and the queue of commands to it. A command
// is written in the transaction of the change that asks for it. Those of a subscriber
// are sent one after the other, in the order of the changes.
type Commands interface {
	// HasProvider reports whether changes become commands. Without a provider they
	// stay in the inventory.
	HasProvider(ctx context.Context, scope domain.Scope) (bool, error)
	// Provider returns that of the company, nil for none. It is the whole company's: a
	// restricted scope is Forbidden, also below.
	Provider(ctx context.Context, scope domain.Scope) (*Provider, error)
	// SetProvider makes the provider or changes it, and enables it. It returns the
	// secret where that is new, nil elsewhere.
	SetProvider(ctx context.Context, scope domain.Scope, settings Settings) (*Provider, webhook.Secret, error)
	// RemoveProvider removes the provider with that URL. What waits is Cancelled.
	RemoveProvider(ctx context.Context, scope domain.Scope, url string) (*Provider, error)

	// List returns commands, the newest first unless the listing has another order.
	List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Command], error)
	Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*Command, error)
	// OfSubscribers lists the same part of the commands of each subscriber, the newest first.
	OfSubscribers(ctx context.Context, scope domain.Scope, keys []int64, listing domain.Listing) (map[int64]domain.Slice[*Command], error)
	CountOfSubscribers(ctx context.Context, scope domain.Scope, keys []int64, listing domain.Listing) (map[int64]int, error)

	// Report notes what became of a command.
	Report(ctx context.Context, scope domain.Scope, report Report) (*Command, error)
	// Retry sends a command again, by a new schedule under the same id, unless a newer
	// one replaces it.
	Retry(ctx context.Context, scope domain.Scope, id string) (*Command, error)
	// Cancel withdraws a command that was not sent yet. The inventory stays as it is.
	Cancel(ctx context.Context, scope domain.Scope, id string) (*Command, error)

	// Prune removes the commands that got their state before the messages expire, and gives
	// up those that wait since then. It returns how many it removed.
	Prune(ctx context.Context, expired retention.Expired) (int, error)
}
