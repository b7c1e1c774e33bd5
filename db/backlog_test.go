package db_test

import (
	"testing"
	"time"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/domain"
)

func TestTheBacklogIsWhatWaits(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	backlog := db.NewBacklog(pool)
	if read, err := backlog.Read(t.Context()); err != nil || read != (domain.Backlog{}) {
		t.Fatalf("%+v, %v", read, err)
	}
	pool.MustExec(`INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 1), ('rival', 2)`)
	pool.MustExec(`INSERT INTO companies (company_id, external_id, name) VALUES (1, 'acme', 'Acme'), (2, 'rival', 'Rival')`)
	pool.MustExec(`
INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, state, due_at, created_at) VALUES
  (1, gen_random_uuid(), 1, 'a@b.example', 'alerts', 'queued', '2026-11-20 11:00Z', '2026-11-20 10:00Z'),
  (2, gen_random_uuid(), 1, 'a@b.example', 'alerts', 'queued', '2026-11-20 11:00Z', '2026-11-20 09:00Z'),
  (1, gen_random_uuid(), 1, 'a@b.example', 'alerts', 'sent', '2026-11-20 11:00Z', '2026-11-20 08:00Z')`)
	pool.MustExec(`
INSERT INTO alert_deliveries (company_id, notification_id, recipient_id, email, created_at, suppressed) VALUES
  (1, gen_random_uuid(), 1, 'a@b.example', '2026-11-20 07:00Z', true), (1, gen_random_uuid(), 1, 'a@b.example', '2026-11-20 08:00Z', false)`)
	pool.MustExec(`INSERT INTO usage_sources VALUES (1, 'pgw', '2026-11-20 10:00Z'), (2, 'pgw', '2026-11-20 06:00Z')`)
	at := func(hour int) time.Time { return time.Date(2026, 11, 20, hour, 0, 0, 0, time.UTC) }
	read, err := backlog.Read(t.Context())
	if err != nil || read.Mails != 2 || read.Deliveries != 1 || !read.OldestMail.Equal(at(9)) || !read.OldestDelivery.Equal(at(8)) || !read.Watermark.Equal(at(10)) {
		t.Errorf("%+v, %v", read, err)
	}
	pool.MustExec(`
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, period_start, period_end, threshold, usage, late, date_created)
SELECT c, 1, 'sim', '', 'lower', 1, n, '2026-11-01', '2026-12-01', 1, 2, false, '2026-11-20'::timestamptz + n * interval '1 hour'
FROM generate_series(1, 2) c, generate_series(1, 5) n`)
	if n, err := backlog.Fired(t.Context(), at(2), at(4)); err != nil || n != 4 {
		t.Errorf("%d fired, %v", n, err)
	}
}
