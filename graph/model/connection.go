// Package model holds the shapes of the graph that are no nouns of the domain:
// connections, lists, payloads.
package model

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/document"
)

// Connection is a page of a list. Total counts the whole list, when selected.
type Connection[T any] struct {
	domain.Slice[T]
	Total Counter
}

// Counter counts a list.
type Counter interface {
	Count(ctx context.Context) (int, error)
}

// Count is a Counter by itself.
type Count func(ctx context.Context) (int, error)

// Count implements Counter.
func (c Count) Count(ctx context.Context) (int, error) { return c(ctx) }

// Edge is an item with the cursor that goes on from it.
type Edge[T any] struct {
	Cursor string
	Node   T
}

// PageInfo returns where a page stands in the whole list.
type PageInfo struct {
	HasNextPage, HasPreviousPage bool
	StartCursor, EndCursor       string
}

// Edges returns the items with their cursors.
func (c *Connection[T]) Edges() []Edge[T] {
	edges := make([]Edge[T], len(c.Items))
	for i, item := range c.Items {
		edges[i] = Edge[T]{Cursor: c.Cursor(i), Node: item}
	}
	return edges
}

// Nodes returns the items alone.
func (c *Connection[T]) Nodes() []T { return c.Items }

// PageInfo returns where the page stands.
func (c *Connection[T]) PageInfo() PageInfo {
	info := PageInfo{HasNextPage: c.HasNext, HasPreviousPage: c.HasPrevious}
	if n := len(c.Items); n > 0 {
		info.StartCursor, info.EndCursor = c.Cursor(0), c.Cursor(n-1)
	}
	return info
}

// TotalCount counts the whole list.
func (c *Connection[T]) TotalCount(ctx context.Context) (int, error) { return c.Total.Count(ctx) }

// List is a part of a list by offset.
type List[T any] struct {
	Items []T
	Total func(ctx context.Context) (int, error)
}

// TotalCount counts the whole list.
func (l *List[T]) TotalCount(ctx context.Context) (int, error) { return l.Total(ctx) }

// The connections and lists of the graph.
type (
	SubscriberConnection = Connection[*domain.Subscriber]
	SubscriberEdge       = Edge[*domain.Subscriber]
	SubscriberList       = List[*domain.Subscriber]
	GroupConnection      = Connection[*domain.Group]
	GroupEdge            = Edge[*domain.Group]
	GroupList            = List[*domain.Group]
	TagConnection        = Connection[domain.TagName]
	TagEdge              = Edge[domain.TagName]
	TagList              = List[domain.TagName]
	OperatorConnection   = Connection[*domain.Operator]
	OperatorEdge         = Edge[*domain.Operator]
	TariffConnection     = Connection[*domain.Tariff]
	TariffEdge           = Edge[*domain.Tariff]
	UserConnection       = Connection[*domain.User]
	UserEdge             = Edge[*domain.User]
	AccessKeyConnection  = Connection[*domain.AccessKey]
	AccessKeyEdge        = Edge[*domain.AccessKey]

	TrustedDocumentConnection = Connection[*document.Document]
	TrustedDocumentEdge       = Edge[*document.Document]
	SessionConnection         = Connection[*Session]
	SessionEdge               = Edge[*Session]

	FeedElementConnection  = Connection[*FeedElement]
	FeedElementEdge        = Edge[*FeedElement]
	FeedRejectConnection   = Connection[*domain.FeedReject]
	FeedRejectEdge         = Edge[*domain.FeedReject]
	FieldUsageConnection   = Connection[*domain.FieldUsage]
	FieldUsageEdge         = Edge[*domain.FieldUsage]
	UsageSourceConnection  = Connection[*domain.UsageSource]
	UsageSourceEdge        = Edge[*domain.UsageSource]
	WaitingUsageConnection = Connection[*domain.WaitingUsage]
	WaitingUsageEdge       = Edge[*domain.WaitingUsage]

	OperationConnection       = Connection[*bulk.Operation]
	OperationEdge             = Edge[*bulk.Operation]
	OperationResultConnection = Connection[*bulk.Result]
	OperationResultEdge       = Edge[*bulk.Result]
)
