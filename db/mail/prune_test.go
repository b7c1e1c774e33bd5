package mail_test

import (
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/mail"
	"simgraph/domain/retention"
)

func TestOldMailsGoAndTheLogAndWhatWaitsStay(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	pool.MustExec(`INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 7)`)
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	old, fresh := now.AddDate(0, 0, -91), now.AddDate(0, 0, -89)
	for i, of := range []struct {
		state string
		at    time.Time
	}{{"sent", old}, {"failed", old}, {"cancelled", old}, {"queued", old}, {"sent", fresh}} {
		pool.MustExec(`INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, state, due_at, created_at)
SELECT 7, ('0192' || lpad(n::text, 28, $3))::uuid, 1, 'a@b.example', 'alerts', $1, $2, $2 FROM generate_series(1, 1200) n`, of.state, of.at, string(rune('a'+i)))
	}
	pool.MustExec(`INSERT INTO alert_deliveries SELECT 7, mail_id, 1, 'a@b.example', created_at, false, mail_id FROM mails`)
	pool.MustExec(`INSERT INTO alert_deliveries VALUES (7, gen_random_uuid(), 2, 'c@b.example', $1, true), (7, gen_random_uuid(), 2, 'c@b.example', $2, true),
  (7, gen_random_uuid(), 3, 'd@b.example', $1, false)`, old, fresh)
	n, err := mail.NewOutbox(pool, time.Now).Prune(t.Context(), fleettest.Expired(t, retention.Mails, 90, now))
	if err != nil || n != 3600 {
		t.Errorf("%d mails went, %v", n, err)
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM mails WHERE state = 'queued'`:                              1200,
		`SELECT count(*) FROM mails WHERE state = 'sent'`:                                1200,
		`SELECT count(*) FROM mails`:                                                     2400,
		`SELECT count(*) FROM alert_deliveries WHERE mail_id IS NOT NULL`:                2400,
		`SELECT count(*) FROM alert_deliveries WHERE mail_id IS NULL AND suppressed`:     1,
		`SELECT count(*) FROM alert_deliveries WHERE NOT suppressed AND mail_id IS NULL`: 1,
	} {
		var got int
		if err := pool.Get(&got, query); err != nil || got != want {
			t.Errorf("%s: %d, %v", query, got, err)
		}
	}
}
