package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/model"
)

func (q queryResolver) DataUsage(ctx context.Context, startDate, endDate string) (*model.DataUsageByDirection, error) {
	span, err := domain.ParseRange(startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.byDirection(ctx, domain.Subject{Kind: domain.CompanySubject}, span)
}

func (q queryResolver) SubscriberDataUsage(ctx context.Context, physicalID, startDate, endDate string) (*model.DataUsageByDirection, error) {
	of, span, err := q.subscriberIn(ctx, physicalID, startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.byDirection(ctx, of, span)
}

// keyAlone is for a subscriber of which only the key is used: it always comes.
var keyAlone domain.Projection

// subscriberIn checks the span before it looks for the subscriber.
func (g *Graph) subscriberIn(ctx context.Context, physicalID, startDate, endDate string) (of domain.Subject, span domain.Range, err error) {
	if span, err = domain.ParseRange(startDate, endDate); err != nil {
		return of, span, err
	}
	if err := domain.CheckPhysicalID(physicalID); err != nil {
		return of, span, err
	}
	scope, err := scopeOf(ctx)
	if err != nil {
		return of, span, err
	}
	subscriber, err := g.Ports.Subscribers.Find(ctx, scope, physicalID, keyAlone)
	if err != nil {
		return of, span, err
	}
	return domain.Subject{Kind: domain.SubscriberSubject, ID: subscriber.Key}, span, nil
}

// hours returns the hours of a span that have some of a measure.
func (g *Graph) hours(ctx context.Context, of domain.Subject, span domain.Range, measure domain.Measures) ([]domain.UsagePoint, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	hourly, err := domain.NewInterval(domain.Hourly, "UTC")
	if err != nil {
		return nil, err
	}
	series, err := g.Analytics.Series(ctx, scope, []domain.Subject{of}, span, hourly, measure)
	return series[of], err
}

func (g *Graph) byDirection(ctx context.Context, of domain.Subject, span domain.Range) (*model.DataUsageByDirection, error) {
	points, err := g.hours(ctx, of, span, domain.Volumes)
	if err != nil {
		return nil, err
	}
	return directionMaps(points, span), nil
}

func (q queryResolver) SessionCount(ctx context.Context, startDate, endDate string) (*model.SessionCount, error) {
	span, err := domain.ParseRange(startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.sessions(ctx, domain.Subject{Kind: domain.CompanySubject}, span)
}

func (q queryResolver) SubscriberSessionCount(ctx context.Context, physicalID, startDate, endDate string) (*model.SessionCount, error) {
	of, span, err := q.subscriberIn(ctx, physicalID, startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.sessions(ctx, of, span)
}

func (g *Graph) sessions(ctx context.Context, of domain.Subject, span domain.Range) (*model.SessionCount, error) {
	points, err := g.hours(ctx, of, span, domain.SessionCounts)
	if err != nil {
		return nil, err
	}
	return sessionMap(points, span), nil
}

func (q queryResolver) DataUsageByNetworkProtocol(ctx context.Context, startDate, endDate string) (*model.DataUsageByNetworkProtocol, error) {
	list := &protocolList{usage: &model.UsageMap{}}
	err := q.ofCompany(ctx, startDate, endDate, func(scope domain.Scope, span domain.Range) error {
		list.span = span
		return q.Analytics.ProtocolHours(ctx, scope, theCompany, span, func(_ domain.Subject, h domain.ProtocolHour) error {
			list.add(h)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return list.closed(), nil
}

func (q queryResolver) DataUsageBySubscriber(ctx context.Context, startDate, endDate string) (*model.DataUsageBySubscriber, error) {
	list := &subscriberList{usage: &model.UsageMap{}}
	err := q.ofCompany(ctx, startDate, endDate, func(scope domain.Scope, span domain.Range) error {
		list.span = span
		return q.Analytics.Subscribers(ctx, scope, theCompany, span, func(_ domain.Subject, s domain.SubscriberUsage) error {
			list.add(s)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return list.closed(), nil
}

var theCompany = []domain.Subject{{Kind: domain.CompanySubject}}

// ofCompany reads what the caller sees of the company in a span.
func (g *Graph) ofCompany(ctx context.Context, startDate, endDate string, ask func(domain.Scope, domain.Range) error) error {
	span, err := domain.ParseRange(startDate, endDate)
	if err != nil {
		return err
	}
	scope, err := scopeOf(ctx)
	if err != nil {
		return err
	}
	return ask(scope, span)
}

func (q queryResolver) DataUsageByIPAddress(ctx context.Context, startDate, endDate string) (*model.DataUsageByIPAddress, error) {
	span, err := domain.ParseRange(startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.byAddress(ctx, domain.Subject{Kind: domain.CompanySubject}, span)
}

func (q queryResolver) SubscriberDataUsageByIPAddress(ctx context.Context, physicalID, startDate, endDate string) (*model.DataUsageByIPAddress, error) {
	of, span, err := q.subscriberIn(ctx, physicalID, startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.byAddress(ctx, of, span)
}

func (g *Graph) byAddress(ctx context.Context, of domain.Subject, span domain.Range) (*model.DataUsageByIPAddress, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	usage := &model.DataUsageByIPAddress{DataUsageByIP: &model.UsageMap{}}
	err = g.Analytics.Addresses(ctx, scope, []domain.Subject{of}, span, func(_ domain.Subject, a domain.AddressUsage) error {
		addAddress(usage, a, span)
		return nil
	})
	return usage, err
}
