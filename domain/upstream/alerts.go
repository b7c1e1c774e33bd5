package upstream

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"simgraph/domain"
)

// Fired is an entry of the other server's log of alerts.
type Fired struct {
	RuleType    domain.RuleType
	Target      string
	Boundary    domain.Boundary
	DateCreated time.Time
}

// Copies numbers equal alerts, as bundles do.
func Copies(specs []domain.AlertSpec) []domain.AlertImport {
	seen := map[domain.AlertSpec]int{}
	alerts := make([]domain.AlertImport, len(specs))
	for i, spec := range specs {
		alerts[i] = domain.AlertImport{AlertSpec: spec, Copy: seen[spec]}
		seen[spec]++
	}
	return alerts
}

// Firings returns the entries of the log by which alerts do not fire again, and how many say
// too little for that: those of rules on each subscriber do not name the subscriber, and
// those of alerts that are no more have no threshold. Of several alerts on the same target
// the one with the lowest threshold fired first in a billing period. physicalID returns the
// subscriber of a subscriberId; "" for none.
func Firings(log []Fired, alerts []domain.AlertImport, billing domain.Billing, physicalID func(string) string) (firings []domain.Firing, incomplete int) {
	type occasion struct {
		rule     domain.RuleType
		target   string
		boundary domain.Boundary
		period   int64
	}
	count := map[occasion]int{}
	for _, entry := range log {
		period := billing.PeriodAt(entry.DateCreated)
		at := occasion{entry.RuleType, entry.Target, entry.Boundary, period.Start.Unix()}
		alert := nth(alerts, entry, count[at])
		count[at]++
		f := domain.Firing{Alert: alert}
		f.RuleType, f.Target, f.LimitBoundary, f.DateCreated = entry.RuleType, entry.Target, entry.Boundary, entry.DateCreated
		f.PeriodStart, f.PeriodEnd = period.Start, period.End
		if alert == nil || !name(&f, physicalID) {
			incomplete++
			continue
		}
		f.Threshold = threshold(alert, entry.Boundary)
		f.Usage = f.Threshold // the log does not say by how much the usage was above it
		firings = append(firings, f)
	}
	return firings, incomplete
}

// name sets whose usage it was.
func name(f *domain.Firing, physicalID func(string) string) bool {
	switch f.RuleType {
	case domain.RuleSIM:
		f.PhysicalID = physicalID(f.Target)
		return f.PhysicalID != ""
	case domain.RuleGroup:
		id, err := strconv.ParseInt(f.Target, 10, 64)
		f.GroupID, f.TargetGroupID = &id, &id
		return err == nil
	}
	return false
}

// nth returns the alert that fired as the nth of those on a target, from 0; nil for none.
func nth(alerts []domain.AlertImport, entry Fired, n int) *domain.AlertImport {
	var on []*domain.AlertImport
	for i := range alerts {
		if a := &alerts[i]; a.RuleType == entry.RuleType && a.Target == entry.Target {
			on = append(on, a)
		}
	}
	slices.SortStableFunc(on, func(a, b *domain.AlertImport) int {
		return cmp.Compare(threshold(a, entry.Boundary), threshold(b, entry.Boundary))
	})
	if n >= len(on) {
		return nil
	}
	return on[n]
}

func threshold(of *domain.AlertImport, b domain.Boundary) int64 {
	if b == domain.Upper {
		return of.UpperThreshold
	}
	return of.LowerThreshold
}
