package volume_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestAPreviewOverALargeFleetCountsAllAndShowsSome(t *testing.T) {
	t.Parallel()
	f := fleettest.NewUsageFleet(t, 1)
	f.Pool.MustExec(`
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT company_id, kind, 'many' || n, 'many' || n, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online
FROM subscribers, generate_series(1, 5001) n`)
	start := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	f.Pool.MustExec(`INSERT INTO subscriber_periods SELECT company_id, $1, key, key % 2 * 100, 10 FROM subscribers`, start)
	span, err := domain.NewRange(start, start.AddDate(0, 1, 0))
	fatal.If(t, err)
	alerts := volume.NewAlerts(f.Pool, func() time.Time { return fleettest.UsageNow })
	spec := domain.AlertSpec{RuleType: domain.RuleCompany, LowerThreshold: 5, UpperThreshold: 50}
	p, err := alerts.Preview(t.Context(), f.Scope, spec, span)
	if err != nil || !p.IsSample || p.Subjects != 5002 || p.Total < 5002+2500 || p.Total > 5002+2502 {
		t.Errorf("got %+v, %v", p, err)
	}
	spec.LowerThreshold = 50
	if p, err := alerts.Preview(t.Context(), f.Scope, spec, span); err != nil || p.IsSample {
		t.Errorf("got %+v, %v", p, err)
	}
}

// previewed is one firing: which boundary, whose, in which billing period, in
// which hour and at what usage.
func previewed(boundary domain.Boundary, subscriber, group *int64, period, at time.Time, usage int64) string {
	var who string
	if subscriber != nil {
		who = fmt.Sprint("p", *subscriber)
	} else {
		who = fmt.Sprint("group ", *group)
	}
	return fmt.Sprintf("%s %s %s %s %d", period.UTC().Format("2006-01-02T15:04"), who, boundary, at.UTC().Format("2006-01-02T15:04"), usage)
}

// edgeFleet is a fleet with usage around the edges of billing periods.
type edgeFleet struct {
	*fleettest.Fleet
	records []domain.UsageRecord
}

func newEdgeFleet(t *testing.T, zone string, day int) *edgeFleet {
	f := &edgeFleet{Fleet: fleettest.NewFleet(t, day, zone, fleettest.ClockAt("2026-02-01 00:00"))}
	random := rand.New(rand.NewPCG(uint64(day), uint64(len(zone))))
	for n := range 400 {
		at := fleettest.ClockAt("2026-02-20 00:00").Add(time.Duration(random.IntN(100*24*60)) * time.Minute)
		if n%4 > 0 {
			// Half an hour or so around where a period ends.
			at = f.Company.Billing().PeriodAt(at).End.Add(time.Duration(random.IntN(150)-75) * time.Minute)
		}
		f.records = append(f.records, domain.UsageRecord{
			RecordID: fmt.Sprint(n), Source: "pgw", PhysicalID: fmt.Sprint("p", 1+random.IntN(9)), Protocol: "TCP",
			StartedAt: at, EndedAt: at, MobileOriginated: 1 + random.Int64N(20), MobileTerminated: random.Int64N(10),
		})
	}
	// Some change their group within an hour that two periods may share.
	for n, since := range []string{"2026-03-14 18:20", "2026-03-31 13:40", "2026-04-30 14:10"} {
		f.Pool.MustExec(`INSERT INTO group_memberships VALUES (1, $1, $2, 13)`, n+1, fleettest.ClockAt(since))
		f.Pool.MustExec(`UPDATE subscribers SET group_id = 13 WHERE key = $1`, n+1)
	}
	return f
}

// groupAt is the group of a subscriber at a time.
func (f *edgeFleet) groupAt(key int64, at time.Time) (group int64) {
	err := f.Pool.Get(&group, `
SELECT coalesce(group_id, 0) FROM group_memberships WHERE company_id = 1 AND subscriber_key = $1 AND since <= $2 ORDER BY since DESC LIMIT 1`, key, at)
	fatal.If(f.T, err)
	return group
}

// reference adds up the records one by one.
func (f *edgeFleet) reference(alert domain.AlertSpec, over domain.Range) (all []string) {
	type subject struct {
		period time.Time
		id     int64
	}
	usage, crossed := map[subject]map[time.Time]int64{}, []string{}
	group, _ := alert.GroupID()
	for _, r := range f.records {
		var key int64
		_, err := fmt.Sscanf(r.PhysicalID, "p%d", &key)
		fatal.If(f.T, err)
		who := subject{f.Company.Billing().PeriodAt(r.StartedAt).Start, key}
		switch {
		case alert.RuleType == domain.RuleGroup && f.groupAt(key, r.StartedAt) == group:
			who.id = group
		case alert.RuleType == domain.RuleGroupMember && f.groupAt(key, f.Now) == group:
		case alert.RuleType == domain.RuleCompany:
		default:
			continue
		}
		if usage[who] == nil {
			usage[who] = map[time.Time]int64{}
		}
		usage[who][r.StartedAt.Truncate(time.Hour)] += r.MobileOriginated + r.MobileTerminated
	}
	for who, hours := range usage {
		for boundary, threshold := range map[domain.Boundary]int64{domain.Lower: alert.LowerThreshold, domain.Upper: alert.UpperThreshold} {
			total := int64(0)
			for _, hour := range slices.SortedFunc(maps.Keys(hours), time.Time.Compare) {
				if total += hours[hour]; total <= threshold {
					continue
				}
				if !hour.Before(over.Start) && hour.Before(over.End) {
					subscriber, of := &who.id, (*int64)(nil)
					if alert.RuleType == domain.RuleGroup {
						subscriber, of = nil, &who.id
					}
					crossed = append(crossed, previewed(boundary, subscriber, of, who.period, hour, total))
				}
				break
			}
		}
	}
	slices.Sort(crossed)
	return crossed
}

func (f *edgeFleet) preview(alert domain.AlertSpec, over domain.Range) (all []string) {
	p, err := f.Alerts.Preview(f.T.Context(), f.Whole(), alert, over)
	fatal.If(f.T, err)
	fleettest.Same(f.T, len(p.Firings), p.Total)
	for _, x := range p.Firings {
		all = append(all, previewed(x.Boundary, x.SubscriberKey, x.GroupID, x.Period.Start, x.At, x.Usage))
	}
	slices.Sort(all)
	return all
}

// logged are the firings in the log: whose, which boundary, in which period.
func (f *edgeFleet) logged(alert int64) (all []string) {
	slice, err := f.Log.List(f.T.Context(), f.Whole(), domain.Listing{Page: domain.Page{Limit: domain.MaxLogList}})
	fatal.If(f.T, err)
	for _, e := range slice.Items {
		if e.AlertID == alert {
			all = append(all, previewed(e.LimitBoundary, e.SubscriberKey, e.GroupID, e.PeriodStart, time.Time{}, 0))
		}
	}
	slices.Sort(all)
	return all
}

func TestAPreviewAgreesWithASlowReferenceAndWithWhatFires(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"UTC", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Adelaide", "Australia/Lord_Howe", "America/St_Johns"} {
		for _, day := range []int{1, 15, 31} {
			t.Run(fmt.Sprint(zone, " ", day), func(t *testing.T) {
				t.Parallel()
				f := newEdgeFleet(t, zone, day)
				specs := []domain.AlertSpec{
					spec(domain.RuleCompany, "", 60, 150), spec(domain.RuleGroupMember, "13", 100, 200),
					spec(domain.RuleGroup, "12", 200, 500), spec(domain.RuleGroup, "13", 300, 800),
				}
				var alerts []*domain.VolumeAlert
				for _, s := range specs {
					alerts = append(alerts, f.Create(s.RuleType, s.Target, s.LowerThreshold, s.UpperThreshold))
				}
				f.Now = fleettest.ClockAt("2026-07-01 00:00")
				clock := func() time.Time { return f.Now }
				_, err := usage.New(f.Pool, volume.NewEvaluator(clock), usage.Options{Now: clock}).Record(t.Context(), f.Whole(), f.records)
				fatal.If(t, err)
				for n, s := range specs {
					for _, over := range [][2]string{{"2026-02-01", "2026-06-30"}, {"2026-03-14T18:10:00Z", "2026-03-31T13:50:00Z"}, {"2026-04-30T14:00:00Z", "2026-05-14T18:30:00Z"}} {
						span, err := domain.ParseRange(over[0], over[1])
						fatal.If(t, err)
						fleettest.SameLines(t, f.preview(s, span), f.reference(s, span)...)
					}
					whole, err := domain.ParseRange("2026-02-01", "2026-06-30")
					fatal.If(t, err)
					p, err := f.Alerts.Preview(t.Context(), f.Whole(), s, whole)
					fatal.If(t, err)
					var fires []string
					for _, x := range p.Firings {
						fires = append(fires, previewed(x.Boundary, x.SubscriberKey, x.GroupID, x.Period.Start, time.Time{}, 0))
					}
					slices.Sort(fires)
					fleettest.SameLines(t, fires, f.logged(alerts[n].AlertID)...)
				}
			})
		}
	}
}
