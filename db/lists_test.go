package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/access"
	"simgraph/db/alert"
	"simgraph/db/audit"
	"simgraph/db/bulk"
	"simgraph/db/carrier"
	"simgraph/db/catalogue"
	"simgraph/db/dashboard"
	"simgraph/db/delivery"
	"simgraph/db/document"
	"simgraph/db/feed"
	"simgraph/db/fieldusage"
	"simgraph/db/fleettest"
	"simgraph/db/group"
	"simgraph/db/mail"
	"simgraph/db/note"
	questions "simgraph/db/question"
	reports "simgraph/db/report"
	"simgraph/db/silence"
	"simgraph/db/source"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/upstream"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/query"
	rules "simgraph/domain/report"
	"simgraph/graph/lists"
)

// lister is a list whose statement is put together for each request: it returns a
// cursor of the page, "" where the page is empty.
type lister func(scope domain.Scope, listing domain.Listing) (cursor string, err error)

// PostgreSQL takes the statement of every list with every field in the filter and
// in the order, of both kinds of scope, in both directions, with a cursor and an
// offset.
func TestEveryListCanBePrepared(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), fleettest.NewInventory(t)
	subscribers, alerts, log := subscriber.New(pool), volume.NewAlerts(pool, time.Now), volume.NewLog(pool)
	all := map[string]preparedList{
		"subscribers": {domain.SubscriberFields, []domain.Scope{fleettest.All, fleettest.VansOnly}, []lister{
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
		"alerts": {domain.VolumeAlertFields, []domain.Scope{fleettest.All, fleettest.VansOnly}, []lister{
			func(scope domain.Scope, l domain.Listing) (string, error) {
				return lastCursor(alerts.List(ctx, scope, l))
			},
			func(scope domain.Scope, l domain.Listing) (string, error) {
				_, err := alerts.Count(ctx, scope, l)
				return "", err
			},
		}},
		"alert log": {domain.VolumeLogFields, []domain.Scope{fleettest.All, fleettest.VansOnly}, []lister{
			func(scope domain.Scope, l domain.Listing) (string, error) { return lastCursor(log.List(ctx, scope, l)) },
			func(scope domain.Scope, l domain.Listing) (string, error) {
				_, err := log.Count(ctx, scope, l)
				return "", err
			},
		}},
	}
	ports := generatedLists(t, pool)
	for _, list := range lists.Generated {
		all[list.Type] = preparedList{list.Fields, []domain.Scope{fleettest.All, fleettest.VansOnly}, ports[list.Type]}
		if len(ports[list.Type]) == 0 {
			t.Errorf("no port lists %s", list.Plural)
		}
	}
	for name, list := range all {
		for _, field := range list.fields.All() {
			filter := everyOperator(t, list.fields, field)
			for _, scope := range list.scopes {
				for n, run := range list.run {
					listing := domain.Listing{Filter: filter, Page: domain.Page{Limit: 1}, Projection: fleettest.EveryField}
					if err := everyPage(run, scope, listing, field); err != nil && !isForbidden(err) {
						t.Errorf("%s %d by %s of %+v: %v", name, n, field.Name, scope, err)
					}
				}
			}
		}
	}
}

// preparedList is a list with the ports that read it.
type preparedList struct {
	fields query.Fields
	scopes []domain.Scope
	run    []lister
}

// isForbidden reports that a list is for users of the whole company.
func isForbidden(err error) bool {
	fault, is := domain.AsError(err)
	return is && fault.Kind == domain.KindForbidden
}

// generatedLists are the ports of lists.Generated, by the type that they list.
func generatedLists(t *testing.T, pool *sqlx.DB) map[string][]lister {
	t.Helper()
	users, catalogue, groups, tags := access.New(pool), catalogue.New(pool), group.New(pool), tag.New(pool)
	recipients, entries, state, sessions := mail.NewRecipients(pool, time.Now), audit.NewLog(pool), feed.NewState(pool), feed.NewSessions(pool)
	hooks := webhook.New(pool, webhook.Options{})
	commands, operations := carrier.New(pool, hooks, time.Now), bulk.New(pool, bulk.Options{})
	upstreams := upstream.New(pool, upstream.Options{Now: time.Now})
	silences, sources := silence.New(pool, time.Now), source.New(pool, source.Options{})
	alerts, log, deliveries := alert.NewAlerts(pool), alert.NewLog(pool), delivery.New(pool)
	recorded := usage.New(pool, nil, usage.Options{})
	questions, dashboards := questions.New(pool, time.Now), dashboard.New(pool, dashboard.Options{Now: time.Now})
	documents, uses := document.New(pool, document.Options{}), fieldusage.New(pool, fieldusage.Options{})
	notes := note.New(pool, time.Now)
	kept := reports.New(pool, rules.Finder{Questions: questions, Dashboards: dashboards}, time.Now)
	key, operation := []int64{4}, []string{"01900000-0000-7000-8000-000000000001"}
	return map[string][]lister{
		"AccessKey": listers(t, users.Keys, users.CountKeys), "AuditEntry": listers(t, entries.List, entries.Count),
		"Command": append(listers(t, commands.List, commands.Count), listersOf(t, key, commands.OfSubscribers, commands.CountOfSubscribers)...),
		"Alert":   append(listers(t, alerts.List, alerts.Count), listersOf(t, key, alerts.OfGroups, alerts.CountOfGroups)...), "AlertLogEntry": listers(t, log.List, log.Count),
		"Dashboard": listers(t, dashboards.List, dashboards.Count),
		"Delivery":  listers(t, deliveries.List, deliveries.Count), "WebhookDelivery": listers(t, hooks.Deliveries, hooks.CountDeliveries),
		"FieldUsage":  listers(t, uses.List, uses.Count),
		"FeedElement": listers(t, state.Elements, state.CountElements), "FeedReject": listers(t, state.Rejects, state.CountRejects),
		"Group":       append(listers(t, groups.List, groups.Count), listersOf(t, key, groups.OfUsers, groups.CountOfUsers)...),
		"UsageSource": listers(t, recorded.ListSources, recorded.CountSources), "Operation": listers(t, operations.List, operations.Count),
		"OperationResult": append(listersOf(t, operation, operations.ResultsOf, operations.CountResultsOf), listersOf(t, key, operations.ChangesOf, operations.CountChangesOf)...),
		"Operator":        listers(t, catalogue.Operators, catalogue.CountOperators), "Recipient": listers(t, recipients.List, recipients.Count),
		"Session":  append(listers(t, sessions.List, sessions.Count), listersOf(t, key, sessions.OfSubscribers, sessions.CountOfSubscribers)...),
		"Note":     listers(t, notes.List, notes.Count),
		"Question": listers(t, questions.List, questions.Count), "Report": listers(t, kept.List, kept.Count),
		"Silence": listers(t, silences.List, silences.Count), "Source": listers(t, sources.List, sources.Count),
		"SourceReject": listers(t, sources.Rejects, sources.CountRejects), "Tag": listers(t, tags.List, tags.Count),
		"TrustedDocument": listers(t, documents.List, documents.Count),
		"Tariff":          listers(t, catalogue.Tariffs, catalogue.CountTariffs), "User": listers(t, users.Users, users.CountUsers),
		"Upstream": listers(t, upstreams.List, upstreams.Count), "WaitingUsage": listers(t, state.Waiting, state.CountWaiting), "Webhook": listers(t, hooks.List, hooks.Count),
	}
}

// listers are a list and its count.
func listers[T any](
	t *testing.T, list func(context.Context, domain.Scope, domain.Listing) (domain.Slice[T], error),
	count func(context.Context, domain.Scope, domain.Listing) (int, error),
) []lister {
	return []lister{
		func(scope domain.Scope, l domain.Listing) (string, error) {
			return lastCursor(list(t.Context(), scope, l))
		},
		func(scope domain.Scope, l domain.Listing) (string, error) {
			_, err := count(t.Context(), scope, l)
			return "", err
		},
	}
}

// listersOf are the lists of several parents and their counts.
func listersOf[K comparable, T any](
	t *testing.T, parents []K, list func(context.Context, domain.Scope, []K, domain.Listing) (map[K]domain.Slice[T], error),
	count func(context.Context, domain.Scope, []K, domain.Listing) (map[K]int, error),
) []lister {
	return []lister{
		func(scope domain.Scope, l domain.Listing) (string, error) {
			pages, err := list(t.Context(), scope, parents, l)
			return lastCursor(pages[parents[0]], err)
		},
		func(scope domain.Scope, l domain.Listing) (string, error) {
			_, err := count(t.Context(), scope, parents, l)
			return "", err
		},
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
	text := "x"
	if field.Values != nil {
		text = field.Values[0]
	}
	value := map[query.Type]any{query.Text: text, query.Set: "x", query.Integer: int64(1), query.Number: 1.5, query.Boolean: true,
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
