package usage_test

import (
	"testing"
	"time"

	"simgraph/db/usage"
	"simgraph/domain"
)

func TestHoursByProtocolAreBounded(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	f.Pool.MustExec(`INSERT INTO company_hours SELECT $1, h, p, 1, 0
FROM generate_series(timestamptz '2020-01-01Z', timestamptz '2020-01-01Z' + interval '50000 hours', interval '1 hour') AS h, unnest(ARRAY['TCP', 'UDP']) AS p`, f.Scope.Company)
	analytics, start := usage.NewAnalytics(f.Usage), time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for hours, refused := range map[int]bool{50_000: false, 50_001: true} {
		entries := 0
		err := analytics.ProtocolHours(t.Context(), f.Scope, []domain.Subject{{Kind: domain.CompanySubject}}, domain.Range{Start: start, End: start.Add(time.Duration(hours) * time.Hour)},
			func(domain.Subject, domain.ProtocolHour) error {
				entries++
				return nil
			})
		public, _ := domain.AsError(err)
		if refused != (public != nil && public.Kind == domain.KindInvalid) || entries != domain.MaxSeriesPoints {
			t.Errorf("%d hours: %d entries, %v", hours, entries, err)
		}
	}
}
