package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"simgraph/domain"
)

const (
	// mostSeries are laid out over time beside that of the others, and mostListed are listed:
	// as on the page.
	mostSeries = 8
	mostListed = domain.MaxShares
)

// Answer is what a question about usage says.
type Answer struct {
	Asked
	// Times are the first instants of the steps; none where the values of a split are listed.
	Times []time.Time
	Parts []Part
	// Total is what the whole is, of which parts by tag may add up to more.
	Total int64
	// Former is the span that it is compared with; nil for none.
	Former *Former
	// IsCut is whether there may be values beside those that are listed.
	IsCut bool
}

// Part is what falls to one value of the split, or to all where there is none.
type Part struct {
	// Value is nil for what has none, and for the others.
	Value    *string
	Label    string
	IsOthers bool
	Total    int64
	// Before is the total in the span before; nil where it is not known, and then at most
	// AtMost.
	Before *int64
	AtMost int64
	// Values are by step.
	Values []int64
}

// Risen is by how much the part is more than before, at least.
func (p *Part) Risen() int64 {
	if p.Before == nil {
		return p.Total - p.AtMost
	}
	return p.Total - *p.Before
}

// Former is the span before in sum, and by step.
type Former struct {
	Total  int64
	Values []int64
}

// Answerer answers questions from the stores that the graph answers them from.
type Answerer struct {
	Analytics   domain.Analytics
	Subscribers domain.Subscribers
	Groups      domain.Groups
}

// Needs returns the permissions that are needed to ask the question, as in the graph.
func Needs(d *domain.QuestionDefinition) []domain.Permission {
	needs := []domain.Permission{domain.ViewStatisticsOverview}
	if d.GroupID != nil || d.TagName != nil || d.PhysicalID != nil || (d.Split != nil && *d.Split == domain.SplitSubscriber) {
		needs = append(needs, domain.ViewSubscriber)
	}
	return needs
}

// Answer answers what the definition asks at now, as the caller sees usage.
func (a Answerer) Answer(ctx context.Context, caller *domain.Caller, d *domain.QuestionDefinition, period domain.Period, now time.Time) (*Answer, error) {
	if err := cmp.Or(d.Check(), caller.Need(Needs(d)...)); err != nil {
		return nil, err
	}
	subject, err := a.subject(ctx, caller.Scope, d)
	if err != nil {
		return nil, err
	}
	billing := caller.Company.Billing()
	asked := AskedOf(d, billing, period, now)
	q := asking{Answerer: a, scope: caller.Scope, d: d, of: subject, interval: domain.Interval{Unit: d.Interval, Zone: billing.Zone}}
	answer := &Answer{Asked: asked}
	if !q.ranks() && d.Chart != domain.ChartNumber {
		answer.Times = q.times(asked.Span, now)
	}
	if answer.Total, err = q.total(ctx, asked.Span); err != nil {
		return nil, err
	}
	if answer.Parts, answer.IsCut, err = q.parts(ctx, asked.Span, answer); err != nil {
		return nil, err
	}
	if asked.Before == nil {
		return answer, nil
	}
	return answer, q.compare(ctx, answer, now)
}

func (a Answerer) subject(ctx context.Context, scope domain.Scope, d *domain.QuestionDefinition) (domain.Subject, error) {
	switch {
	case d.GroupID != nil:
		group, err := a.Groups.Find(ctx, scope, *d.GroupID)
		if err != nil {
			return domain.Subject{}, err
		}
		return domain.Subject{Kind: domain.GroupSubject, ID: group.GroupID}, nil
	case d.TagName != nil:
		tag, err := domain.NewTagName(*d.TagName)
		return domain.Subject{Kind: domain.TagSubject, Tag: tag}, err
	case d.PhysicalID != nil:
		subscriber, err := a.Subscribers.Find(ctx, scope, *d.PhysicalID, domain.Projection{})
		if err != nil {
			return domain.Subject{}, err
		}
		return domain.Subject{Kind: domain.SubscriberSubject, ID: subscriber.Key}, nil
	}
	return domain.Subject{Kind: domain.CompanySubject}, nil
}

// asking is one question of one caller.
type asking struct {
	Answerer
	scope    domain.Scope
	d        *domain.QuestionDefinition
	of       domain.Subject
	interval domain.Interval
}

// ranks reports whether the values of the split are listed, and not laid out over time.
func (q *asking) ranks() bool {
	return q.d.Split != nil && (q.d.Chart == domain.ChartTop || q.d.Chart == domain.ChartRisers || *q.d.Split == domain.SplitSubscriber)
}

func (q *asking) figure(of domain.UsageTotals) int64 {
	switch q.d.Measure {
	case domain.MeasureSent:
		return of.MobileOriginated
	case domain.MeasureReceived:
		return of.MobileTerminated
	case domain.MeasureSessions:
		return of.Sessions
	}
	return of.Total()
}

func (q *asking) measures() domain.Measures {
	if q.d.Measure == domain.MeasureSessions {
		return domain.SessionCounts
	}
	return domain.Volumes
}

// times are the steps that have begun. A step that begins in the last half hour of the span is
// left out: usage is known by whole hours of UTC.
func (q *asking) times(span Span, now time.Time) []time.Time {
	var times []time.Time
	for at := q.interval.StartOf(span.Start); !at.After(now) && domain.WholeHour(at).Before(span.End); at = q.interval.Next(at) {
		times = append(times, at)
	}
	return times
}

// ranges are the ranges of the stores that the span is read by: usage by country and source is
// read record by record, a month at a time.
func (q *asking) ranges(span Span) ([]domain.Range, error) {
	ends := []time.Time{span.End}
	if q.d.Split != nil && (*q.d.Split == domain.SplitCountry || *q.d.Split == domain.SplitSource) {
		months := domain.Interval{Unit: domain.Monthly, Zone: q.interval.Zone}
		ends = ends[:0]
		for at := months.Next(months.StartOf(span.Start)); domain.WholeHour(at).Before(span.End); at = months.Next(at) {
			if end := domain.WholeHour(at); end.After(span.Start) {
				ends = append(ends, end)
			}
		}
		ends = append(ends, span.End)
	}
	var all []domain.Range
	for from := span.Start; len(ends) > 0; from, ends = ends[0], ends[1:] {
		one, err := domain.NewRange(from, ends[0])
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func (q *asking) total(ctx context.Context, span Span) (int64, error) {
	of, err := domain.NewRange(span.Start, span.End)
	if err != nil || !span.Start.Before(span.End) {
		return 0, err
	}
	totals, err := q.Analytics.Totals(ctx, q.scope, []domain.Subject{q.of}, of, domain.AllMeasures)
	return q.figure(totals[q.of]), err
}

// steps is the series of the whole, by the first instants of steps in Unix time.
func (q *asking) steps(ctx context.Context, span Span) (map[int64]int64, error) {
	of, err := domain.NewRange(span.Start, span.End)
	if err != nil || !span.Start.Before(span.End) {
		return nil, err
	}
	series, err := q.Analytics.Series(ctx, q.scope, []domain.Subject{q.of}, of, q.interval, q.measures())
	points := map[int64]int64{}
	for _, point := range series[q.of] {
		points[point.Start.Unix()] = q.figure(point.UsageTotals)
	}
	return points, err
}

func laidOut(points map[int64]int64, times []time.Time) []int64 {
	values := make([]int64, len(times))
	for i, at := range times {
		values[i] = points[at.Unix()]
	}
	return values
}

// parts returns those of the answer's span, and whether there may be more.
func (q *asking) parts(ctx context.Context, span Span, answer *Answer) ([]Part, bool, error) {
	if q.d.Split == nil {
		part := Part{Label: "all", Total: answer.Total}
		if len(answer.Times) > 0 {
			points, err := q.steps(ctx, span)
			if err != nil {
				return nil, false, err
			}
			part.Values = laidOut(points, answer.Times)
		}
		return []Part{part}, false, nil
	}
	values, isCut, err := q.values(ctx, span, q.ranks())
	if err != nil {
		return nil, false, err
	}
	parts := make([]Part, len(values))
	for i, v := range values {
		parts[i] = v.Part
		parts[i].Values = laidOut(v.points, answer.Times)
	}
	return fewer(parts, q.ranks()), isCut, nil
}

// value is one of a split.
type value struct {
	Part
	points map[int64]int64
}

// key identifies a part among those of an answer.
func (p *Part) key() string {
	switch {
	case p.IsOthers:
		return "others"
	case p.Value == nil:
		return "none"
	}
	return "=" + *p.Value
}

// values are those of a span, of several ranges together, the first that was named first.
func (q *asking) values(ctx context.Context, span Span, isList bool) (all []*value, isCut bool, err error) {
	ranges, err := q.ranges(span)
	if err != nil || !span.Start.Before(span.End) {
		return nil, false, err
	}
	known := map[string]*value{}
	for _, of := range ranges {
		found, err := q.valuesIn(ctx, of, isList, len(ranges) > 1)
		if err != nil {
			return nil, false, err
		}
		isCut = isCut || len(found) >= mostListed
		for _, one := range found {
			key := one.key()
			if known[key] == nil {
				known[key] = one
				all = append(all, one)
				continue
			}
			known[key].Total += one.Total
			for at, n := range one.points {
				known[key].points[at] += n
			}
		}
	}
	return all, isCut, nil
}

func (q *asking) valuesIn(ctx context.Context, of domain.Range, isList, isPart bool) ([]*value, error) {
	by := domain.Dimension(*q.d.Split)
	of1 := []domain.Subject{q.of}
	switch {
	case *q.d.Split == domain.SplitSubscriber:
		return q.subscribers(ctx, of)
	case isList && q.d.Measure != domain.MeasureSessions:
		shares, err := q.Analytics.Breakdown(ctx, q.scope, of1, of, by, mostListed)
		var all []*value
		for _, s := range shares[q.of] {
			all = append(all, q.value(s.Value, s.Label, false, domain.UsageTotals{Volume: s.Volume}))
		}
		return all, err
	}
	interval, first := q.interval, mostSeries
	if isList {
		interval.Unit = domain.Monthly
	}
	if isList || isPart {
		first = mostListed
	}
	series, err := q.Analytics.SeriesBy(ctx, q.scope, of1, of, interval, by, first)
	var all []*value
	for _, s := range series[q.of] {
		one := q.value(s.Value, s.Label, s.IsOthers, s.UsageTotals)
		for _, point := range s.Points {
			one.points[point.Start.Unix()] += q.figure(point.UsageTotals)
		}
		all = append(all, one)
	}
	return all, err
}

// noValue are the names of what has no value of a split.
var noValue = map[domain.QuestionSplit]string{
	domain.SplitGroup: "no group", domain.SplitTag: "no tag", domain.SplitTariff: "no tariff, or a hidden one",
	domain.SplitCountry: "no known network", domain.SplitSource: "no source",
}

func (q *asking) value(of, label *string, isOthers bool, totals domain.UsageTotals) *value {
	one := &value{Part: Part{Value: of, IsOthers: isOthers, Total: q.figure(totals)}, points: map[int64]int64{}}
	switch {
	case isOthers:
		one.Label = "others"
	case label != nil:
		one.Label = *label
	case of != nil:
		one.Label = *of
	default:
		one.Label = cmp.Or(noValue[*q.d.Split], "none")
	}
	return one
}

func (q *asking) subscribers(ctx context.Context, of domain.Range) ([]*value, error) {
	top, err := q.Analytics.Top(ctx, q.scope, []domain.Subject{q.of}, of, mostListed)
	if err != nil {
		return nil, err
	}
	var keys []int64
	for _, one := range top[q.of] {
		keys = append(keys, one.SubscriberKey)
	}
	known, err := q.Subscribers.OfKeys(ctx, q.scope, keys, domain.Projection{Fields: domain.AllFields})
	var all []*value
	for _, one := range top[q.of] {
		id, label := one.SubscriberID, one.SubscriberID
		if s := known[one.SubscriberKey]; s != nil {
			id, label = s.PhysicalID, cmp.Or(s.Nickname, s.PhysicalID)
		}
		all = append(all, q.value(&id, &label, false, domain.UsageTotals{Volume: one.Volume}))
	}
	return all, err
}

// fewer are the largest parts, and the others in one, as the stores give them of one range.
func fewer(parts []Part, isList bool) []Part {
	slices.SortStableFunc(parts, func(a, b Part) int {
		if a.IsOthers != b.IsOthers {
			if a.IsOthers {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.Total, a.Total)
	})
	named := len(parts)
	if named > 0 && parts[named-1].IsOthers {
		named--
	}
	if isList || named <= mostSeries {
		return parts
	}
	others := Part{Label: "others", IsOthers: true, Values: make([]int64, len(parts[0].Values))}
	for _, part := range parts[mostSeries:] {
		others.Total += part.Total
		for i, n := range part.Values {
			others.Values[i] += n
		}
	}
	return append(parts[:mostSeries:mostSeries], others)
}

// compare adds what was in the span before.
func (q *asking) compare(ctx context.Context, answer *Answer, now time.Time) error {
	span := *answer.Before
	total, err := q.total(ctx, span)
	if err != nil {
		return err
	}
	answer.Former = &Former{Total: total}
	if len(answer.Times) > 0 {
		points, err := q.steps(ctx, span)
		if err != nil {
			return err
		}
		answer.Former.Values = laidOut(points, q.times(span, now))
	}
	if q.d.Split == nil {
		answer.Parts[0].Before = &total
		return nil
	}
	return q.compareParts(ctx, answer, span)
}

// compareParts adds what the parts of the answer had in the span before.
func (q *asking) compareParts(ctx context.Context, answer *Answer, span Span) error {
	values, isCut, err := q.values(ctx, span, true)
	if err != nil {
		return err
	}
	former := map[string]*value{}
	var least int64
	for i, v := range values {
		former[v.key()] = v
		if !v.IsOthers && (i == 0 || v.Total < least) {
			least = v.Total
		}
	}
	for i := range answer.Parts {
		part := &answer.Parts[i]
		switch then := former[part.key()]; {
		case part.IsOthers:
		case then != nil:
			part.Before = &then.Total
		case !isCut:
			part.Before = new(int64)
		default:
			part.AtMost = least
		}
		delete(former, part.key())
	}
	if q.d.Chart == domain.ChartRisers {
		q.addFallen(answer, values, former)
	}
	return nil
}

// addFallen adds what had usage before alone, and orders all by how much they rose.
func (q *asking) addFallen(answer *Answer, values []*value, left map[string]*value) {
	for _, v := range values {
		if left[v.key()] != nil && !v.IsOthers && !answer.IsCut {
			answer.Parts = append(answer.Parts, Part{Value: v.Value, Label: v.Label, Before: new(v.Total)})
		}
	}
	slices.SortStableFunc(answer.Parts, func(a, b Part) int { return cmp.Compare(b.Risen(), a.Risen()) })
}
