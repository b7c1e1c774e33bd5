package db_test

import (
	"testing"
	"time"

	"simgraph/db"
	"simgraph/db/audit"
	"simgraph/db/feed"
	"simgraph/domain"
	"simgraph/domain/query"
)

// lister is a list whose statement is put together for each request: it returns a
// cursor of the page, "" where the page is empty.
type lister func(scope domain.Scope, listing domain.Listing) (cursor string, err error)

// PostgreSQL takes the statement of every list with every field in the filter and
// in the order, of both kinds of scope, in both directions, with a cursor and an
// offset.
func TestEveryListCanBePrepared(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), newInventory(t)
	subscribers, alerts, log, entries := db.NewSubscribers(pool), db.NewAlerts(pool, time.Now), db.NewAlertLog(pool), audit.NewLog(pool)
	sessions := feed.NewSessions(pool)
	for name, list := range map[string]struct {
		fields query.Fields
		scopes []domain.Scope
		run    []lister
	}{
		"subscribers": {domain.SubscriberFields, []domain.Scope{all, vansOnly}, []lister{
			func(scope domain.Scope, l domain.Listing) (string, error) {
				return lastCursor(subscribers.List(ctx, scope, l))
			},
			func(scope domain.Scope, l domain.Listing) (string, error) {
				pages, err := subscribers.OfGroups(ctx, scope, []int64{12, 13}, l)
				return lastCursor(pages[12], err)
			},
			func(scope domain.Scope, l domain.Listing) (string, error) {
				pages, err := subscribers.OfTags(ctx, scope, []domain.TagName{"fleet", "z"}, l)
				return lastCursor(pages["fleet"], err)
			},
			func(scope domain.Scope, l domain.Listing) (string, error) {
				_, err := subscribers.Count(ctx, scope, l)
				return "", err
			},
			func(scope domain.Scope, l domain.Listing) (string, error) {
				_, err := subscribers.CountOfGroups(ctx, scope, []int64{12, 13}, l)
				return "", err
			},
			func(scope domain.Scope, l domain.Listing) (string, error) {
				_, err := subscribers.CountOfTags(ctx, scope, []domain.TagName{"fleet"}, l)
				return "", err
			},
		}},
		"alerts": {domain.AlertFields, []domain.Scope{all, vansOnly}, []lister{
			func(scope domain.Scope, l domain.Listing) (string, error) {
				return lastCursor(alerts.List(ctx, scope, l))
			},
			func(scope domain.Scope, l domain.Listing) (string, error) {
				_, err := alerts.Count(ctx, scope, l)
				return "", err
			},
		}},
		"alert log": {domain.AlertLogFields, []domain.Scope{all, vansOnly}, []lister{
			func(scope domain.Scope, l domain.Listing) (string, error) { return lastCursor(log.List(ctx, scope, l)) },
			func(scope domain.Scope, l domain.Listing) (string, error) {
				_, err := log.Count(ctx, scope, l)
				return "", err
			},
		}},
		"sessions": {domain.SessionFields, []domain.Scope{all, vansOnly}, []lister{
			func(scope domain.Scope, l domain.Listing) (string, error) {
				return lastCursor(sessions.List(ctx, scope, l))
			},
			func(scope domain.Scope, l domain.Listing) (string, error) {
				_, err := sessions.Count(ctx, scope, l)
				return "", err
			},
		}},
		"audit log": {domain.AuditFields, []domain.Scope{all}, []lister{
			func(scope domain.Scope, l domain.Listing) (string, error) {
				return lastCursor(entries.List(ctx, scope, l))
			},
			func(scope domain.Scope, l domain.Listing) (string, error) {
				_, err := entries.Count(ctx, scope, l)
				return "", err
			},
		}},
	} {
		for _, field := range list.fields.All() {
			filter := everyOperator(t, list.fields, field)
			for _, scope := range list.scopes {
				for n, run := range list.run {
					listing := domain.Listing{Filter: filter, Page: domain.Page{Limit: 1}, Projection: everyField}
					if err := everyPage(run, scope, listing, field); err != nil {
						t.Errorf("%s %d by %s of %+v: %v", name, n, field.Name, scope, err)
					}
				}
			}
		}
	}
}

// everyPage runs the list by that field, and without a filter in its order, in both
// directions, from its start, from a cursor and from an offset.
func everyPage(run lister, scope domain.Scope, listing domain.Listing, field query.Field) error {
	if _, err := run(scope, listing); err != nil {
		return err
	}
	if listing.Filter = nil; field.NoOrder || field.Type == query.Set {
		return nil
	}
	for _, order := range []query.Order{{Field: field}, {Field: field, Desc: true}} {
		for _, page := range []domain.Page{{Limit: 1}, {Limit: 1, Backward: true}, {Limit: 1, Offset: 1}} {
			listing.Order, listing.Page = []query.Order{order}, page
			cursor, err := run(scope, listing)
			if err != nil {
				return err
			}
			if listing.Page.Cursor = cursor; cursor == "" || page.Offset > 0 {
				continue
			}
			if _, err := run(scope, listing); err != nil {
				return err
			}
		}
	}
	return nil
}

// everyOperator compares the field by each operator that it takes.
func everyOperator(t *testing.T, fields query.Fields, field query.Field) query.Expr {
	t.Helper()
	value := map[query.Type]any{query.Text: "x", query.Set: "x", query.Integer: int64(1), query.Number: 1.5, query.Boolean: true,
		query.Time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}[field.Type]
	var some query.Or
	for _, op := range []query.Op{query.Eq, query.Ne, query.Gt, query.Ge, query.Lt, query.Le, query.Like, query.In} {
		if expr, err := query.Compare(fields, field.Name, op, value); err == nil {
			some = append(some, expr, query.Not{Expr: expr})
		}
	}
	if len(some) < 2*len([]query.Op{query.Eq, query.Ne, query.In}) {
		t.Fatalf("%s takes %d operators only", field.Name, len(some)/2)
	}
	return some
}

func lastCursor[T any](slice domain.Slice[T], err error) (string, error) {
	if err != nil || len(slice.Items) == 0 {
		return "", err
	}
	return slice.Cursor(len(slice.Items) - 1), nil
}
