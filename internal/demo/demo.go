// Package demo makes up a believable company: a fleet of cellular, LoRaWAN and
// satellite devices with its contracts, people, alerts and usage. The same
// options always give the same company, and the usage of a day is the same
// whatever days are requested, so a later call can add to an earlier one.
package demo

import (
	"iter"
	"regexp"
	"slices"
	"time"

	"simgraph/domain"
	"simgraph/internal/bundle"
)

// Bounds of Options.
const (
	MaxSubscribers = 10_000_000
	MaxDays        = 390 // what the ledger keeps
)

// Options select the company that is generated.
type Options struct {
	// Company is its external id: lower-case letters, digits and hyphens. Its
	// people have addresses at Company.example.
	Company string
	// Subscribers is the size of the fleet, Days how much usage it has; 0 is none.
	Subscribers, Days int
	Seed              uint64
	// Until is when the usage ends, and the present of all dates.
	Until time.Time
}

var companyName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// Check refuses options out of bounds.
func (o Options) Check() error {
	switch {
	case !companyName.MatchString(o.Company):
		return domain.Invalid("company", "company must have 1 to 40 lower-case letters, digits and inner hyphens, not %q", o.Company)
	case o.Subscribers < 0 || o.Subscribers > MaxSubscribers:
		return domain.Invalid("subscribers", "subscribers must be 0 to %d, not %d", MaxSubscribers, o.Subscribers)
	case o.Days < 0 || o.Days > MaxDays:
		return domain.Invalid("days", "days must be 0 to %d, not %d", MaxDays, o.Days)
	case o.Until.Year() < 2000 || o.Until.Year() > 2100:
		return domain.Invalid("until", "until must be in the years 2000 to 2100")
	}
	return nil
}

// Items returns the lines of the company, in the order of bundle.Types. The
// options must have passed Check.
func Items(o Options) iter.Seq[bundle.Item] {
	o.Until = o.Until.UTC().Truncate(time.Hour)
	parts := []func(Options) iter.Seq[bundle.Item]{frame, subscribers, tags, watch, questions, dashboards, notes, usage}
	return func(yield func(bundle.Item) bool) {
		for _, part := range parts {
			for item := range part(o) {
				if !yield(item) {
					return
				}
			}
		}
	}
}

// frame is what there is before the fleet.
func frame(o Options) iter.Seq[bundle.Item] {
	items := []bundle.Item{{Type: bundle.Company, Company: o.Company, Value: &domain.Company{
		ExternalID: o.Company, Name: "Northline Telematics (" + o.Company + ")", BillingDay: 1, TimeZone: "Europe/Berlin", CountryCode: "GB",
	}}}
	for _, op := range operators {
		items = append(items, bundle.Item{Type: bundle.Operator, Value: &domain.Operator{Code: op.code, Name: op.name}})
	}
	for i := range tariffs {
		items = append(items, bundle.Item{Type: bundle.Tariff, Company: o.Company, Value: &tariffs[i]})
	}
	for i := range groups {
		items = append(items, bundle.Item{Type: bundle.Group, Company: o.Company, Value: &groups[i]})
	}
	for _, user := range people(o) {
		items = append(items, bundle.Item{Type: bundle.User, Company: o.Company, Value: user})
	}
	return slices.Values(items)
}

func subscribers(o Options) iter.Seq[bundle.Item] {
	return func(yield func(bundle.Item) bool) {
		for i := range o.Subscribers {
			if !yield(bundle.Item{Type: bundle.Subscriber, Company: o.Company, Value: o.subscriber(i)}) {
				return
			}
		}
	}
}

func tags(o Options) iter.Seq[bundle.Item] {
	return func(yield func(bundle.Item) bool) {
		for i := range o.Subscribers {
			physicalID := o.physicalID(i)
			for _, name := range o.tags(i) {
				tag := domain.TagImport{PhysicalID: physicalID, TagName: name}
				if !yield(bundle.Item{Type: bundle.Tag, Company: o.Company, Value: tag}) {
					return
				}
			}
		}
	}
}
