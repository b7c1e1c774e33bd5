package main

import (
	"context"
	"fmt"
	"time"

	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
)

// alertsOfRule is how many alerts there are of each of the four rules.
const alertsOfRule = 2_500

// alerts measures what 10,000 alerts add to a record, in the period that runs.
func (b *bench) alerts(ctx context.Context) error {
	if err := b.setAlerts(ctx); err != nil {
		return err
	}
	start := time.Now().Add(-24 * time.Hour)
	without, err := b.observed(ctx, usage.New(b.pool, nil, usage.Options{}), start)
	if err != nil {
		return err
	}
	with, err := b.observed(ctx, usage.New(b.pool, volume.NewEvaluator(time.Now), usage.Options{}), start)
	if err != nil {
		return err
	}
	var fired int
	if err := b.pool.GetContext(ctx, &fired, "SELECT count(*) FROM alert_log WHERE company_id = $1", b.scope.Company); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## Alerts\n\nBatches of %d, one writer, %d alerts, of which %d thresholds fired: %s of CPU a record instead of %s, %.0f records/s instead of %.0f.\n",
		domain.MaxUsageBatch, 4*alertsOfRule, fired, micros(with.each()), micros(without.each()), with.rate(), without.rate())
	return nil
}

func (b *bench) observed(ctx context.Context, usage *usage.Store, start time.Time) (measured, error) {
	records := newSource(int(nextSource.Add(1)), b.subscribers, start)
	return b.during(ctx, 1, func(ctx context.Context, _ int) (int, error) {
		return domain.MaxUsageBatch, accepted(usage.Record(ctx, b.scope, records.records(domain.MaxUsageBatch)))
	})
}

// setAlerts spreads thresholds so that some fire at any time.
func (b *bench) setAlerts(ctx context.Context) error {
	alerts := make([]domain.AlertImport, 0, 4*alertsOfRule)
	for n := range int64(alertsOfRule) {
		lower := 1_000_000 + n*1_000
		for _, spec := range []domain.AlertSpec{
			{RuleType: domain.RuleSIM, Target: fmt.Sprintf("4477%08d", n%int64(b.subscribers)), LowerThreshold: lower},
			{RuleType: domain.RuleCompany, LowerThreshold: 20_000_000 + n*100_000_000},
			{RuleType: domain.RuleGroup, Target: fmt.Sprint(1 + n%200), LowerThreshold: lower * 1_000},
			{RuleType: domain.RuleGroupMember, Target: fmt.Sprint(1 + n%200), LowerThreshold: 10_000_000 + n*10_000_000},
		} {
			spec.UpperThreshold = spec.LowerThreshold * 10
			alerts = append(alerts, domain.AlertImport{AlertSpec: spec})
		}
	}
	kept, err := volume.NewAlerts(b.pool, time.Now).Keep(ctx, b.scope, alerts)
	for _, k := range kept {
		if err == nil && k.Err != nil {
			err = k.Err
		}
	}
	return err
}
