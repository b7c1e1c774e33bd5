package db_test

import (
	"testing"
	"time"

	"simgraph/db"
	"simgraph/domain"
)

func TestAPreviewOverALargeFleetCountsAllAndShowsSome(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	f.pool.MustExec(`
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT company_id, kind, 'many' || n, 'many' || n, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online
FROM subscribers, generate_series(1, 5001) n`)
	start := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	f.pool.MustExec(`INSERT INTO subscriber_periods SELECT company_id, $1, key, key % 2 * 100, 10 FROM subscribers`, start)
	span, err := domain.NewRange(start, start.AddDate(0, 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	alerts := db.NewAlerts(f.pool, func() time.Time { return usageNow })
	spec := domain.AlertSpec{RuleType: domain.RuleCompany, LowerThreshold: 5, UpperThreshold: 50}
	p, err := alerts.Preview(t.Context(), f.scope, spec, span)
	if err != nil || !p.IsSample || p.Subjects != 5002 || p.Total < 5002+2500 || p.Total > 5002+2502 {
		t.Errorf("got %+v, %v", p, err)
	}
	spec.LowerThreshold = 50
	if p, err := alerts.Preview(t.Context(), f.scope, spec, span); err != nil || p.IsSample {
		t.Errorf("got %+v, %v", p, err)
	}
}
