package resolvers

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
)

// aheadOfSubscribers loads the selected relations of all the subscribers, each
// with one statement.
func (l *loaders) aheadOfSubscribers(ctx context.Context, s selection, of []*domain.Subscriber) {
	if len(of) == 0 || s.empty() {
		return
	}
	l.aheadOfTheirGroups(ctx, s.below("group"), present(of, func(s *domain.Subscriber) *int64 { return s.GroupID }))
	if s.has("operator") {
		l.operator.ahead(ctx, each(of, func(s *domain.Subscriber) string { return s.OperatorCode }))
	}
	if s.has("tariff") {
		l.tariff.ahead(ctx, present(of, func(s *domain.Subscriber) *string { return s.TariffName }))
	}
	l.aheadOfTagLists(ctx, s, of)
	if s.has("numberOfTags") {
		l.tagNumber.ahead(ctx, subscriberKeys(of))
	}
	if s.has("dataUsage") {
		l.dataUsage.ahead(ctx, subscriberKeys(of))
	}
	if s.has("usage") {
		l.aheadOfUsage(ctx, s, subjects(domain.SubscriberSubject, of, func(s *domain.Subscriber) int64 { return s.Key }))
	}
	l.aheadOfWatching(ctx, s, of)
	l.aheadOfRelated(ctx, s, of)
}

func (l *loaders) aheadOfTagLists(ctx context.Context, s selection, of []*domain.Subscriber) {
	for _, field := range s.fields("tags") {
		page, err := offsetPageOf(s.op, field)
		if err != nil {
			continue // the field itself reports it
		}
		keys := subscriberKeys(of)
		l.tags.ahead(ctx, page, keys)
		if tag := s.below("tags"); !tag.only("name") {
			l.aheadOfTags(ctx, tag, slices.Concat(l.tags.known(page, keys)...))
		}
	}
}

func (l *loaders) aheadOfTheirGroups(ctx context.Context, group selection, ids []int64) {
	if group.empty() {
		return
	}
	l.group.ahead(ctx, ids)
	if !group.only("id", "groupId", "name") {
		l.aheadOfGroups(ctx, group, found(l.group.known(ids)))
	}
}

// aheadOfRelated loads the eUICCs above profiles, and the profiles on eUICCs.
func (l *loaders) aheadOfRelated(ctx context.Context, s selection, of []*domain.Subscriber) {
	related := s.below("related")
	parent := s.below("parent").and(related.below("parent"))
	if above := parent.below("subscriber"); !above.empty() {
		parents := l.subscriber.aheadValues(ctx, present(of, func(s *domain.Subscriber) *int64 { return s.ParentKey }))
		l.aheadOfSubscribers(ctx, above, found(parents))
	}
	profiles := s.below("profiles").and(related.below("profiles"))
	if !profiles.empty() || !related.empty() {
		keys := present(of, func(s *domain.Subscriber) *int64 {
			if s.HasNoProfiles {
				return nil
			}
			return &s.Key
		})
		below := l.profiles.aheadValues(ctx, keys)
		l.aheadOfSubscribers(ctx, profiles, slices.Concat(below...))
	}
}

func subscriberKeys(of []*domain.Subscriber) []int64 {
	return each(of, func(s *domain.Subscriber) int64 { return s.Key })
}

func each[T, K any](of []T, key func(T) K) []K {
	keys := make([]K, len(of))
	for i, item := range of {
		keys[i] = key(item)
	}
	return keys
}

// present is each without the nils.
func present[T, K any](of []T, key func(T) *K) []K {
	keys := make([]K, 0, len(of))
	for _, item := range of {
		if k := key(item); k != nil {
			keys = append(keys, *k)
		}
	}
	return keys
}

// offsetPageOf reads the arguments limit and offset of a selected field.
func offsetPageOf(op *graphql.OperationContext, field graphql.CollectedField) (domain.Page, error) {
	args := field.ArgumentMap(op.Variables)
	limit, err := intArgument(args["limit"])
	if err != nil {
		return domain.Page{}, err
	}
	offset, err := intArgument(args["offset"])
	if err != nil {
		return domain.Page{}, err
	}
	return offsetPage(limit, offset)
}

func intArgument(value any) (*int32, error) {
	if value == nil {
		return nil, nil
	}
	n, err := graphql.UnmarshalInt32(value)
	return &n, err
}

func textArgument(value any) *string {
	if text, ok := value.(string); ok {
		return &text
	}
	return nil
}
