package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/model"
)

// The documented shapes of usage (spec §2.8), written from its parts in their
// order.

func directionMaps(points []domain.UsagePoint, span domain.Range) *model.DataUsageByDirection {
	usage := &model.DataUsageByDirection{MobileTerminated: &model.UsageMap{}, MobileOriginated: &model.UsageMap{}}
	for _, p := range points {
		key := span.Key(p.Start)
		addHour(usage.MobileTerminated, key, p.MobileTerminated)
		addHour(usage.MobileOriginated, key, p.MobileOriginated)
	}
	return usage
}

func sessionMap(points []domain.UsagePoint, span domain.Range) *model.SessionCount {
	count := &model.SessionCount{Sessions: &model.UsageMap{}}
	for _, p := range points {
		addHour(count.Sessions, span.Key(p.Start), p.Sessions)
	}
	return count
}

// addHour leaves out hours with nothing.
func addHour(m *model.UsageMap, key string, n int64) {
	if n > 0 {
		m.Key(key)
		m.Int(n)
	}
}

// protocolList writes the usage of protocols, each with its hours.
type protocolList struct {
	span     domain.Range
	usage    *model.UsageMap
	isOpen   bool
	protocol string
}

func (l *protocolList) add(h domain.ProtocolHour) {
	if !l.isOpen || h.Protocol != l.protocol {
		l.end()
		l.usage.Key(h.Protocol)
		l.usage.Open()
	}
	l.isOpen, l.protocol = true, h.Protocol
	addHour(l.usage, l.span.Key(h.Hour), h.Total())
}

func (l *protocolList) end() {
	if l.isOpen {
		l.usage.Close()
	}
}

func (l *protocolList) closed() *model.DataUsageByNetworkProtocol {
	l.end()
	return &model.DataUsageByNetworkProtocol{Usage: l.usage}
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

func (l *subscriberList) add(s domain.SubscriberUsage) {
	l.total += s.Total()
	seen := l.span.Key(s.LastSeen)
	if l.isOpen && s.SubscriberID == l.id && seen == l.seen {
		l.bytes += s.Total()
		return
	}
	if l.isOpen && s.SubscriberID == l.id {
		l.endTime()
	} else {
		l.end()
		l.usage.Key(s.SubscriberID)
		l.usage.Open()
	}
	l.isOpen, l.id, l.seen, l.bytes = true, s.SubscriberID, seen, s.Total()
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

func (l *subscriberList) closed() *model.DataUsageBySubscriber {
	l.end()
	return &model.DataUsageBySubscriber{SubscriberDataUsage: l.usage, TotalDataUsage: l.total}
}

func addAddress(usage *model.DataUsageByIPAddress, a domain.AddressUsage, span domain.Range) {
	m := usage.DataUsageByIP
	m.Key(a.IPAddress)
	m.Open()
	m.Key("lastSeen")
	m.Text(span.Key(a.LastSeen))
	m.Key("bytes")
	m.Int(a.Total())
	m.Close()
	usage.TotalData += a.Total()
}

func (u usageResolver) DataUsage(ctx context.Context, of *model.Usage) (*model.DataUsageByDirection, error) {
	points, err := hoursOfUsage.of(ctx, of)
	return directionMaps(points, of.Span), err
}

func (u usageResolver) SessionCount(ctx context.Context, of *model.Usage) (*model.SessionCount, error) {
	points, err := hoursOfUsage.of(ctx, of)
	return sessionMap(points, of.Span), err
}

func (u usageResolver) DataUsageByNetworkProtocol(ctx context.Context, of *model.Usage) (*model.DataUsageByNetworkProtocol, error) {
	hours, err := protocolsOfUsage.of(ctx, of)
	list := &protocolList{span: of.Span, usage: &model.UsageMap{}}
	for _, h := range hours {
		list.add(h)
	}
	return list.closed(), err
}

func (u usageResolver) DataUsageBySubscriber(ctx context.Context, of *model.Usage) (*model.DataUsageBySubscriber, error) {
	subscribers, err := subscribersOfUsage.of(ctx, of)
	list := &subscriberList{span: of.Span, usage: &model.UsageMap{}}
	for _, s := range subscribers {
		list.add(s)
	}
	return list.closed(), err
}

func (u usageResolver) DataUsageByIPAddress(ctx context.Context, of *model.Usage) (*model.DataUsageByIPAddress, error) {
	addresses, err := addressesOfUsage.of(ctx, of)
	usage := &model.DataUsageByIPAddress{DataUsageByIP: &model.UsageMap{}}
	for _, a := range addresses {
		addAddress(usage, a, of.Span)
	}
	return usage, err
}
