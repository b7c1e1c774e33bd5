package simgraph

import (
	"context"
	"iter"

	"github.com/Khan/genqlient/graphql"
)

// size is how many items a page has: the most that the server answers.
const size = 100

// page is one of a list.
type page[N any] interface {
	GetNodes() []N
	GetPageInfo() PageEnd
}

// all are the items of all pages, each of which is read when it is needed. An error is the last that comes.
func all[N any, P page[N]](read func(first *int, after *string) (P, error)) iter.Seq2[N, error] {
	return func(yield func(N, error) bool) {
		first := size
		var after *string
		for {
			part, err := read(&first, after)
			if err != nil {
				var none N
				yield(none, err)
				return
			}
			for _, item := range part.GetNodes() {
				if !yield(item, nil) {
					return
				}
			}
			end := part.GetPageInfo()
			if after = end.EndCursor; !end.HasNextPage || after == nil {
				return
			}
		}
	}
}

// Subscribers are those that fit the filter, in the order; nil and none are all by their physicalId.
func Subscribers(ctx context.Context, client graphql.Client, filter *SubscriberFilter, orderBy ...SubscriberOrder) iter.Seq2[Subscriber, error] {
	return all(func(first *int, after *string) (*ListSubscribersSubscribersSubscriberConnection, error) {
		answer, err := ListSubscribers(ctx, client, first, after, filter, orderBy)
		return answer.GetSubscribers(), err
	})
}

// Groups are those that fit the filter; nil is all.
func Groups(ctx context.Context, client graphql.Client, filter *GroupFilter) iter.Seq2[Group, error] {
	return all(func(first *int, after *string) (*ListGroupsGroupsGroupConnection, error) {
		answer, err := ListGroups(ctx, client, first, after, filter)
		return answer.GetGroups(), err
	})
}

// Tags are those that fit the filter; nil is all.
func Tags(ctx context.Context, client graphql.Client, filter *TagFilter) iter.Seq2[Tag, error] {
	return all(func(first *int, after *string) (*ListTagsTagsTagConnection, error) {
		answer, err := ListTags(ctx, client, first, after, filter)
		return answer.GetTags(), err
	})
}

// Alerts are those of all kinds that fit the filter; nil is all.
func Alerts(ctx context.Context, client graphql.Client, filter *AlertFilter) iter.Seq2[Alert, error] {
	return all(func(first *int, after *string) (*ListAlertsAlertsAlertConnection, error) {
		answer, err := ListAlerts(ctx, client, first, after, filter)
		return answer.GetAlerts(), err
	})
}

// AlertLog is what alerts noticed that fits the filter; nil is all.
func AlertLog(ctx context.Context, client graphql.Client, filter *AlertLogFilter) iter.Seq2[AlertLogEntry, error] {
	return all(func(first *int, after *string) (*ListAlertLogAlertLogAlertLogConnection, error) {
		answer, err := ListAlertLog(ctx, client, first, after, filter)
		return answer.GetAlertLog(), err
	})
}

// Silences are those that fit the filter; nil is all.
func Silences(ctx context.Context, client graphql.Client, filter *SilenceFilter) iter.Seq2[Silence, error] {
	return all(func(first *int, after *string) (*ListSilencesSilencesSilenceConnection, error) {
		answer, err := ListSilences(ctx, client, first, after, filter)
		return answer.GetSilences(), err
	})
}
