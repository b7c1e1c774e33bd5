//go:build linux

package faults_test

import (
	"fmt"
	"testing"
)

// operated is how many subscribers an operation changes, in chunks of 1,000.
const operated = 20_000

// Whenever processes that run an operation are killed, it goes on with the next chunk,
// and each subscriber is changed once: its nickname grows by one letter.
func TestProcessesThatRunAnOperationAreKilled(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	instances := []*serving{nil, nil}
	launches := make([]launch, len(instances))
	for i := range instances {
		launches[i] = launch{databaseURL: d.url(), dataDir: t.TempDir(), addr: freeAddress(t)}
		instances[i] = serve(t, launches[i])
	}
	pool := d.open()
	pool.MustExec(`
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date, expiry_date,
  contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT c.company_id, 'cellular', 'operated-' || n, 's' || n, '', '', '23415', 'IoT', '2025-01-01Z', '2037-01-01Z', 12, false, true, 'physical', false, false
FROM companies c, generate_series(1, $1) AS n`, operated)
	c := newCaller(t, instances[0].base)
	var started struct {
		Start struct{ Operation struct{ OperationID string } } `json:"startSubscriberChange"`
	}
	query := fmt.Sprintf(`mutation { startSubscriberChange(input: {where: {physicalId: {like: "operated-"}}, change: {nicknamePattern: "{nickname}x"},
  errorPolicy: REJECT_FAILED_ROWS, expect: %d}) { operation { operationId } } }`, operated)
	if c.graph(t.Context(), query, nil, &started) != done {
		t.Fatal(c.wrong)
	}
	count := func(query string, args ...any) (n int) {
		if err := pool.GetContext(t.Context(), &n, query, args...); err != nil {
			t.Fatal(err)
		}
		return n
	}
	id := started.Start.Operation.OperationID
	worked := func() int { return count(`SELECT done FROM operations WHERE operation_id = $1`, id) }
	for kill := range 4 {
		before := worked()
		eventually(t, "the operation goes on", func() bool { return worked() > before || worked() == operated })
		instances[kill%2].kill()
		instances[kill%2] = serve(t, launches[kill%2])
	}
	eventually(t, "the operation ends", func() bool {
		return count(`SELECT count(*) FROM operations WHERE state = 'DONE' AND changed = done`) == 1
	})
	for what, n := range map[string]int{
		"subscribers": count(`SELECT count(*) FROM subscribers WHERE nickname = 'x'`),
		"results":     count(`SELECT count(*) FROM operation_rows WHERE outcome = 'CHANGED' AND changes::text LIKE '%"After":"x"%'`),
		"noted":       count(`SELECT sum((c.value ->> 'After')::integer) FROM audit_log a, json_array_elements(a.changes) AS c(value) WHERE a.action = 'operation.run' AND c.value ->> 'Field' = 'changed'`),
	} {
		if n != operated {
			t.Errorf("%d %s have changed once, want %d", n, what, operated)
		}
	}
}
