package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/model"
)

func (q queryRoot) DataUsage(ctx context.Context, startDate, endDate string) (*model.DataUsageByDirection, error) {
	span, err := domain.ParseRange(startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.byDirection(ctx, domain.Subject{Kind: domain.CompanySubject}, span)
}

func (q queryRoot) SubscriberDataUsage(ctx context.Context, physicalID, startDate, endDate string) (*model.DataUsageByDirection, error) {
	of, span, err := q.subscriberIn(ctx, physicalID, startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.byDirection(ctx, of, span)
}

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
	subscriber, err := g.Ports.Subscribers.Find(ctx, scope, physicalID, onlyKey)
	if err != nil {
		return of, span, err
	}
	return domain.Subject{Kind: domain.SubscriberSubject, ID: subscriber.Key}, span, nil
}

// hours returns the hours of a span that have usage or sessions. An empty span
// has none.
func (g *Graph) hours(ctx context.Context, of domain.Subject, span domain.Range) ([]domain.UsagePoint, error) {
	scope, err := scopeOf(ctx)
	if err != nil || span.Start.Equal(span.End) {
		return nil, err
	}
	hourly, err := domain.NewInterval(domain.Hourly, "UTC")
	if err != nil {
		return nil, err
	}
	series, err := g.Analytics.Series(ctx, scope, []domain.Subject{of}, span, hourly)
	return series[of], err
}

func (g *Graph) byDirection(ctx context.Context, of domain.Subject, span domain.Range) (*model.DataUsageByDirection, error) {
	points, err := g.hours(ctx, of, span)
	if err != nil {
		return nil, err
	}
	usage := &model.DataUsageByDirection{MobileTerminated: &model.UsageMap{}, MobileOriginated: &model.UsageMap{}}
	for _, p := range points {
		key := span.Key(p.Start)
		addHour(usage.MobileTerminated, key, p.MobileTerminated)
		addHour(usage.MobileOriginated, key, p.MobileOriginated)
	}
	return usage, nil
}

// addHour leaves out hours with nothing.
func addHour(m *model.UsageMap, key string, n int64) {
	if n > 0 {
		m.Key(key)
		m.Int(n)
	}
}

func (q queryRoot) SessionCount(ctx context.Context, startDate, endDate string) (*model.SessionCount, error) {
	span, err := domain.ParseRange(startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.sessions(ctx, domain.Subject{Kind: domain.CompanySubject}, span)
}

func (q queryRoot) SubscriberSessionCount(ctx context.Context, physicalID, startDate, endDate string) (*model.SessionCount, error) {
	of, span, err := q.subscriberIn(ctx, physicalID, startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.sessions(ctx, of, span)
}

func (g *Graph) sessions(ctx context.Context, of domain.Subject, span domain.Range) (*model.SessionCount, error) {
	points, err := g.hours(ctx, of, span)
	if err != nil {
		return nil, err
	}
	count := &model.SessionCount{Sessions: &model.UsageMap{}}
	for _, p := range points {
		addHour(count.Sessions, span.Key(p.Start), p.Sessions)
	}
	return count, nil
}

func (q queryRoot) DataUsageByNetworkProtocol(ctx context.Context, startDate, endDate string) (*model.DataUsageByNetworkProtocol, error) {
	span, err := domain.ParseRange(startDate, endDate)
	if err != nil {
		return nil, err
	}
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	hours, err := q.Analytics.ProtocolHours(ctx, scope, span)
	if err != nil {
		return nil, err
	}
	usage := &model.UsageMap{}
	for i, h := range hours {
		if i == 0 || hours[i-1].Protocol != h.Protocol {
			usage.Key(h.Protocol)
			usage.Open()
		}
		addHour(usage, span.Key(h.Hour), h.Total())
		if i == len(hours)-1 || hours[i+1].Protocol != h.Protocol {
			usage.Close()
		}
	}
	return &model.DataUsageByNetworkProtocol{Usage: usage}, nil
}

func (q queryRoot) DataUsageBySubscriber(ctx context.Context, startDate, endDate string) (*model.DataUsageBySubscriber, error) {
	span, err := domain.ParseRange(startDate, endDate)
	if err != nil {
		return nil, err
	}
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	list := &subscriberList{span: span, usage: &model.UsageMap{}}
	if err := q.Analytics.Subscribers(ctx, scope, span, list.add); err != nil {
		return nil, err
	}
	list.end()
	return &model.DataUsageBySubscriber{SubscriberDataUsage: list.usage, TotalDataUsage: list.total}, nil
}

// subscriberList writes the usage of subscribers that come in the order of
// their ids. A number may have been given to another subscriber since: then
// both are listed under it, and added up where they were last seen at once.
type subscriberList struct {
	span     domain.Range
	usage    *model.UsageMap
	total    int64
	isOpen   bool
	id, seen string
	bytes    int64
}

func (l *subscriberList) add(s domain.SubscriberUsage) error {
	l.total += s.Total()
	seen := l.span.Key(s.LastSeen)
	if l.isOpen && s.SubscriberID == l.id && seen == l.seen {
		l.bytes += s.Total()
		return nil
	}
	if l.isOpen && s.SubscriberID == l.id {
		l.endTime()
	} else {
		l.end()
		l.usage.Key(s.SubscriberID)
		l.usage.Open()
	}
	l.isOpen, l.id, l.seen, l.bytes = true, s.SubscriberID, seen, s.Total()
	return nil
}

func (l *subscriberList) endTime() {
	l.usage.Key(l.seen)
	l.usage.Int(l.bytes)
}

func (l *subscriberList) end() {
	if l.isOpen {
		l.endTime()
		l.usage.Close()
	}
}

func (q queryRoot) DataUsageByIPAddress(ctx context.Context, startDate, endDate string) (*model.DataUsageByIPAddress, error) {
	span, err := domain.ParseRange(startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.byAddress(ctx, domain.Subject{Kind: domain.CompanySubject}, span)
}

func (q queryRoot) SubscriberDataUsageByIPAddress(ctx context.Context, physicalID, startDate, endDate string) (*model.DataUsageByIPAddress, error) {
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
	err = g.Analytics.Addresses(ctx, scope, of, span, func(a domain.AddressUsage) error {
		m := usage.DataUsageByIP
		m.Key(a.IPAddress)
		m.Open()
		m.Key("lastSeen")
		m.Text(span.Key(a.LastSeen))
		m.Key("bytes")
		m.Int(a.Total())
		m.Close()
		usage.TotalData += a.Total()
		return nil
	})
	return usage, err
}
