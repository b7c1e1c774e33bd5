package backlog_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/backlog"
	"simgraph/db/dbtest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// twoCompanies are companies without anything.
func twoCompanies(t *testing.T) *sqlx.DB {
	t.Helper()
	pool := dbtest.New(t)
	pool.MustExec(`INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 1), ('rival', 2)`)
	pool.MustExec(`INSERT INTO companies (company_id, external_id, name) VALUES (1, 'acme', 'Acme'), (2, 'rival', 'Rival')`)
	return pool
}

// on is an hour of the 20th of November.
func on(hour int) time.Time { return time.Date(2026, 11, 20, hour, 0, 0, 0, time.UTC) }

func TestTheBacklogIsWhatWaits(t *testing.T) {
	t.Parallel()
	pool := twoCompanies(t)
	backlog := backlog.New(pool)
	nothing := domain.Backlog{Queues: map[domain.Queue]domain.Waiting{}, Housekeeping: map[domain.Step]int{}}
	for _, queue := range domain.Queues {
		nothing.Queues[queue] = domain.Waiting{}
	}
	for _, step := range domain.Steps {
		nothing.Housekeeping[step] = 0
	}
	if read, err := backlog.Read(t.Context()); err != nil || !reflect.DeepEqual(read, nothing) {
		t.Fatalf("%+v, %v", read, err)
	}
	pool.MustExec(`
INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, state, due_at, created_at) VALUES
  (1, gen_random_uuid(), 1, 'a@b.example', 'alerts', 'queued', '2026-11-20 11:00Z', '2026-11-20 10:00Z'),
  (2, gen_random_uuid(), 1, 'a@b.example', 'alerts', 'queued', '2026-11-20 11:00Z', '2026-11-20 09:00Z'),
  (1, gen_random_uuid(), 1, 'a@b.example', 'alerts', 'sent', '2026-11-20 11:00Z', '2026-11-20 08:00Z')`)
	pool.MustExec(`
INSERT INTO alert_deliveries (company_id, notification_id, recipient_id, email, created_at, suppressed) VALUES
  (1, gen_random_uuid(), 1, 'a@b.example', '2026-11-20 07:00Z', true), (1, gen_random_uuid(), 1, 'a@b.example', '2026-11-20 08:00Z', false)`)
	pool.MustExec(`INSERT INTO usage_sources VALUES (1, 'pgw', '2026-11-20 10:00Z'), (2, 'pgw', '2026-11-20 06:00Z')`)
	read, err := backlog.Read(t.Context())
	if err != nil || read.Mails != 2 || read.Deliveries != 1 || !read.OldestMail.Equal(on(9)) || !read.OldestDelivery.Equal(on(8)) || !read.Watermark.Equal(on(10)) {
		t.Errorf("%+v, %v", read, err)
	}
	pool.MustExec(`
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, period_start, period_end, threshold, usage, late, date_created)
SELECT c, 1, 'sim', '', 'lower', 1, n, '2026-11-01', '2026-12-01', 1, 2, false, '2026-11-20'::timestamptz + n * interval '1 hour'
FROM generate_series(1, 2) c, generate_series(1, 5) n`)
	if n, err := backlog.Fired(t.Context(), on(2), on(4)); err != nil || n != 4 {
		t.Errorf("%d fired, %v", n, err)
	}
}

// fillQueues puts one thing that waits, and one that does not, into each queue and step.
func fillQueues(pool *sqlx.DB) {
	for _, sql := range []string{`
INSERT INTO webhooks (company_id, webhook_id, name, url, format, event_types, alert_ids, group_ids, tag_names, secret, created_at, disabled_at, disabled_reason, is_provider) VALUES
  (1, 1, 'a', 'https://a.example', 'cloudevents', '{}', '{}', '{}', '{}', '', now(), NULL, NULL, false),
  (1, 2, 'b', 'https://b.example', 'cloudevents', '{}', '{}', '{}', '{}', '', now(), now(), 'user', false),
  (2, 3, 'c', 'https://c.example', 'cloudevents', '{}', '{}', '{}', '{}', '', now(), NULL, NULL, true)`, `
INSERT INTO webhook_messages (company_id, message_id, webhook_id, event_type, event, state, attempts, retry_at, created_at) VALUES
  (1, gen_random_uuid(), 1, 'x', '', 'queued', 0, NULL, '2026-11-20 03:00Z'), (1, gen_random_uuid(), 1, 'x', '', 'queued', 2, now(), '2026-11-20 02:00Z'),
  (1, gen_random_uuid(), 1, 'x', '', 'delivered', 1, NULL, '2026-11-20 01:00Z'), (1, gen_random_uuid(), 2, 'x', '', 'queued', 0, NULL, '2026-11-20 04:00Z'),
  (1, gen_random_uuid(), 2, 'x', '', 'queued', 0, now(), '2026-11-20 05:00Z'), (2, gen_random_uuid(), 3, 'command.requested', '', 'queued', 0, NULL, '2026-11-20 01:00Z')`, `
INSERT INTO commands (company_id, command_id, subscriber_key, sequence, kind, state, event, requested_at, changed_at) VALUES
  (1, gen_random_uuid(), 1, 1, 'bar', 'requested', '', '2026-11-20 05:00Z', '2026-11-20 05:00Z'),
  (2, gen_random_uuid(), 1, 1, 'bar', 'accepted', '', '2026-11-20 01:00Z', '2026-11-20 06:00Z'),
  (2, gen_random_uuid(), 1, 2, 'bar', 'done', '', '2026-11-20 01:00Z', '2026-11-20 01:00Z')`, `
INSERT INTO operations (company_id, operation_id, state, is_dry_run, error_policy, change, permissions, digest, total, started_at, ended_at, user_id, actor, access_key_id, door, address, request_id) VALUES
  (1, gen_random_uuid(), 'RUNNING', false, 'IGNORE_FAILED', '{}', '{}', '', 1, '2026-11-20 07:00Z', NULL, 1, '', '', '', '', ''),
  (1, gen_random_uuid(), 'DONE', false, 'IGNORE_FAILED', '{}', '{}', '', 1, '2026-11-20 01:00Z', '2026-11-20 02:00Z', 1, '', '', '', '', '')`, `
INSERT INTO reports (company_id, report_id, question_id, frequency, hour, recipients, is_paused, owner_id, owner, next_due_at, created_at, changed_at) VALUES
  (1, gen_random_uuid(), gen_random_uuid(), 'DAILY', 7, '{}', false, 1, '', '2026-11-20 10:00Z', '2026-11-01', '2026-11-01'),
  (1, gen_random_uuid(), gen_random_uuid(), 'DAILY', 7, '{}', false, 1, '', now() + interval '1 day', '2026-11-01', '2026-11-01'),
  (2, gen_random_uuid(), gen_random_uuid(), 'DAILY', 7, '{}', true, 1, '', NULL, '2026-11-01', '2026-11-01')`, `
INSERT INTO usage_quarantine (company_id, identity, physical_id, started_at, ended_at, mobile_originated, mobile_terminated, sequence, protocol, session_id, source, record_id, held_at) VALUES
  (1, gen_random_uuid(), 'p', '2026-11-01', '2026-11-01', 1, 1, 1, '', '', '', '', '2026-11-20 09:00Z'),
  (2, gen_random_uuid(), 'p', '2026-11-01', '2026-11-01', 1, 1, 1, '', '', '', '', '2026-11-20 08:00Z')`, `
INSERT INTO feed_rejects VALUES (1, 'pgw', 'nas', 'no time', 7, '2026-11-20 09:00Z', now(), ''), (2, 'pgw', 'nas', 'no time', 2, '2026-11-20 10:00Z', now(), ''),
  (2, 'pgw', 'nas', 'no id', 9, '2026-11-20 01:00Z', now() - interval '2 days', '')`,
		`INSERT INTO condition_turns (company_id, due_at, evaluated_at) VALUES (1, now(), '2026-11-20 05:00Z'), (2, now(), '2026-11-20 04:00Z')`, `
INSERT INTO silences (company_id, reason, alert_ids, group_ids, tag_names, physical_ids, starts_at, ends_at, weekly, created_by, created_at) VALUES
  (1, '', '{}', '{}', '{}', '{}', now() - interval '1 day', now() + interval '1 day', '[]', '', now()),
  (1, '', '{}', '{}', '{}', '{}', now() - interval '2 days', now() - interval '1 day', '[]', '', now()),
  (2, '', '{}', '{}', '{}', '{}', now() + interval '1 day', now() + interval '2 days', '[]', '', now())`,
		`INSERT INTO usage_ledger_months (month, announced_at, detached_at, dropped_at) VALUES ('2025-01-01', now(), NULL, NULL), ('2024-12-01', now(), now(), NULL), ('2024-11-01', now(), now(), now())`,
		`INSERT INTO retentions (name, revision, kept, set_at, set_by, effective_at) VALUES ('mails', 1, 90, now(), '', now()), ('mails', 2, 10, now(), '', NULL)`,
		`INSERT INTO company_moves (company_id, since) VALUES (1, '2026-11-01')`,
		`INSERT INTO usage_moves (company_id, since) VALUES (2, '2026-11-01')`,
		`INSERT INTO usage_rebuilds (company_id, reached, set_right) VALUES (1, now(), 0)`,
		`INSERT INTO operation_uploads (company_id, operation_id, written_at) VALUES (2, gen_random_uuid(), now() - interval '1 hour'), (2, gen_random_uuid(), now())`,
	} {
		pool.MustExec(sql)
	}
}

func TestEveryQueueAndStepIsCounted(t *testing.T) {
	t.Parallel()
	pool := twoCompanies(t)
	fillQueues(pool)
	read, err := backlog.New(pool).Read(t.Context())
	fatal.If(t, err)
	want := map[domain.Queue]domain.Waiting{
		domain.QueueMessages: {Number: 2, Oldest: on(2)}, domain.QueueHeld: {Number: 2, Oldest: on(4)}, domain.QueueCommands: {Number: 1, Oldest: on(5)},
		domain.QueueReports: {Number: 1, Oldest: on(6)}, domain.QueueOperations: {Number: 1, Oldest: on(7)}, domain.QueueQuarantine: {Number: 2, Oldest: on(8)},
		domain.QueueRejects: {Number: 9, Oldest: on(9)}, domain.QueueMailedReports: {Number: 1, Oldest: on(10)},
	}
	for _, queue := range domain.Queues {
		if got := read.Queues[queue]; got.Number == 0 || got.Number != want[queue].Number || !got.Oldest.Equal(want[queue].Oldest) {
			t.Errorf("%s: %+v, want %+v", queue, got, want[queue])
		}
	}
	steps := map[domain.Step]int{
		domain.StepAnnounced: 1, domain.StepDetached: 1, domain.StepRetentions: 1, domain.StepMoves: 2, domain.StepRebuilds: 1, domain.StepUploads: 1,
	}
	if !maps.Equal(read.Housekeeping, steps) || len(slices.Collect(maps.Keys(steps))) != len(domain.Steps) {
		t.Errorf("%v, want %v", read.Housekeeping, steps)
	}
	if read.Silences != 1 || !read.Evaluated.Equal(on(4)) {
		t.Errorf("%d silences, evaluated at %s", read.Silences, read.Evaluated)
	}
}

// What is finished is many times what waits: no reading of the backlog goes over it.
func TestTheBacklogReadsOnlyWhatWaits(t *testing.T) {
	dbtest.WithoutCitus(t, "blocks that PostgreSQL reads")
	t.Parallel()
	pool := twoCompanies(t)
	pool.SetMaxOpenConns(1)
	fillQueues(pool)
	for _, sql := range []string{`
INSERT INTO webhook_messages (company_id, message_id, webhook_id, event_type, event, state, created_at)
SELECT 1, gen_random_uuid(), 1, 'x', repeat('x', 200), 'delivered', now() FROM generate_series(1, 20000)`, `
INSERT INTO commands (company_id, command_id, subscriber_key, sequence, kind, state, event, requested_at, changed_at)
SELECT 1, gen_random_uuid(), n, 9, 'bar', 'done', repeat('x', 200), now(), now() FROM generate_series(1, 20000) n`, `
INSERT INTO operations (company_id, operation_id, state, is_dry_run, error_policy, change, permissions, digest, total, started_at, ended_at, user_id, actor, access_key_id, door, address, request_id)
SELECT 1, gen_random_uuid(), 'DONE', false, 'IGNORE_FAILED', '{}', '{}', repeat('x', 200), 1, now(), now(), 1, '', '', '', '', '' FROM generate_series(1, 20000)`, `
INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, state, due_at, created_at, note)
SELECT 1, gen_random_uuid(), 1, 'a@b.example', 'alerts', 'sent', now(), now(), repeat('x', 200) FROM generate_series(1, 20000)`,
		`ANALYZE`,
	} {
		pool.MustExec(sql)
	}
	const blocks = `
SELECT relname AS name, coalesce(heap_blks_hit + heap_blks_read, 0) AS n FROM pg_statio_user_tables
WHERE relname IN ('webhook_messages', 'commands', 'operations', 'mails')`
	touched := func() map[string]int {
		pool.MustExec(`SELECT pg_stat_force_next_flush()`)
		var rows []struct {
			Name string
			N    int
		}
		fatal.If(t, pool.SelectContext(t.Context(), &rows, blocks))
		counts := map[string]int{}
		for _, row := range rows {
			counts[row.Name] = row.N
		}
		return counts
	}
	backlog := backlog.New(pool)
	before := touched()
	for range 8 { // from the sixth execution on the plan may be kept
		if _, err := backlog.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, n := range touched() {
		if n -= before[name]; n > 8*50 {
			t.Errorf("8 readings went over %d blocks of %s", n, name)
		}
	}
}
