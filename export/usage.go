package export

import (
	"context"
	"errors"
	"slices"
	"time"

	"simgraph/domain"
)

// taken is what the graph has read from an operation about subscribers.
type taken struct {
	scope   domain.Scope
	listing domain.Listing
}

type takenKey struct{}

// Subscribers are those of a graph that answers exports. They let an export of usage have the
// scope and the filter as the graph has read them.
type Subscribers struct{ domain.Subscribers }

// List implements domain.Subscribers.
func (s Subscribers) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.Subscriber], error) {
	if into, is := ctx.Value(takenKey{}).(*taken); is {
		*into = taken{scope, listing}
		return domain.Slice[*domain.Subscriber]{}, nil
	}
	return s.Subscribers.List(ctx, scope, listing)
}

// The columns of usage.
var (
	usageColumns = []column{{name: "start", kind: moment}, {name: "physicalId"}, {name: "subscriberId"}}
	splitColumns = []column{{name: "value"}, {name: "label"}}
	sumColumns   = []column{{name: "mobileOriginated", kind: integer}, {name: "mobileTerminated", kind: integer}, {name: "total", kind: integer}, {name: "sessions", kind: integer}}
)

// prepareUsage reads the request for usage: the graph reads its filter and its span.
func (r *Running) prepareUsage(ctx context.Context) error {
	zone := r.request.TimeZone
	if zone == "" {
		zone = r.header.TimeZone
	}
	interval, err := domain.NewInterval(r.request.Interval, zone)
	if err != nil {
		return err
	}
	variables, err := r.usageVariables(interval.Zone)
	if err != nil {
		return err
	}
	var of struct {
		Company struct {
			Usage struct {
				Period struct{ StartsAt, EndsAt time.Time }
			}
		}
	}
	var read taken
	if err := r.ask(context.WithValue(ctx, takenKey{}, &read), r.usage, variables, &of); err != nil {
		return err
	}
	if read.scope.Company == 0 {
		return errors.New("the graph has read no filter of subscribers")
	}
	period := of.Company.Usage.Period
	r.scope = read.scope
	r.asked = domain.UsageExport{
		Subscribers: read.listing, Group: r.request.Group, Span: domain.Range{Start: period.StartsAt, End: period.EndsAt},
		By: interval, Split: r.request.Split,
	}
	if r.request.After != "" {
		if r.asked.After, err = domain.ParseUsageKey(r.request.After); err != nil {
			return err
		}
	}
	r.columns = columnsOfUsage(r.asked.Split)
	return r.asked.Check()
}

// usageVariables are those of the operation that reads the filter and the span.
func (r *Running) usageVariables(zone *time.Location) (map[string]any, error) {
	variables := map[string]any{}
	if r.request.Filter != nil {
		variables["filter"] = r.request.Filter
	}
	for name, bound := range map[string]struct {
		of, text string
		days     int
	}{"start": {"from", r.request.From, 0}, "end": {"to", r.request.To, 1}} {
		if bound.text == "" {
			continue
		}
		at, err := boundOf(bound.of, bound.text, zone, bound.days)
		if err != nil {
			return nil, err
		}
		variables[name] = at.Format(time.RFC3339Nano)
	}
	return variables, nil
}

func columnsOfUsage(split domain.Dimension) []column {
	if split == "" {
		return slices.Concat(usageColumns, sumColumns)
	}
	return slices.Concat(usageColumns, splitColumns, sumColumns)
}

// boundOf reads a time, or a date, which stands for its whole day in the zone.
func boundOf(field, text string, zone *time.Location, days int) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, domain.Invalid(field, "%s must be a date such as 2026-11-01, or a time such as 2026-11-01T00:00:00Z", field)
	}
	midnight := time.Date(day.Year(), day.Month(), day.Day()+days, 0, 0, 0, 0, zone)
	return domain.Interval{Unit: domain.Daily, Zone: zone}.StartOf(midnight), nil
}

func (r *Running) usageRows(ctx context.Context, out encoder) error {
	var last domain.UsageKey
	cells := make([]cell, len(r.columns))
	sums := len(cells) - len(sumColumns)
	noSessions := r.asked.Split != "" && !r.asked.Split.CountsSessions()
	err := r.snapshot.Usage().Rows(ctx, r.scope, r.asked, func(row domain.UsageRow) error {
		cells[0].number, cells[1].text, cells[2].text = row.Start.UnixMicro(), row.PhysicalID, row.SubscriberID
		if r.asked.Split != "" {
			cells[3], cells[4] = textOf(row.Value), textOf(row.Label)
		}
		cells[sums].number, cells[sums+1].number, cells[sums+2].number = row.MobileOriginated, row.MobileTerminated, row.Total()
		cells[sums+3] = cell{number: row.Sessions, isNull: noSessions}
		last = row.Key()
		return r.row(ctx, out, cells)
	})
	if !last.IsZero() {
		r.summary.After = last.String()
	}
	return err
}

func textOf(of *string) cell {
	if of == nil {
		return cell{isNull: true}
	}
	return cell{text: *of}
}
