package main

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"golang.org/x/sync/errgroup"

	"simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/retention"
	rules "simgraph/domain/webhook"
	"simgraph/internal/seal"
)

const (
	// messageDays are the days over which messages are spread, keptDays those after which
	// they are removed.
	messageDays, keptDays = 60, 15
	// receivers are the endpoints; senders send to them, as workers of instances do.
	receivers, senders = 20, 4
	// refusedOf is of how many first attempts one is refused.
	refusedOf = 20
)

const (
	makeMessages = `
INSERT INTO webhook_messages (company_id, message_id, webhook_id, event_type, event, created_at)
SELECT own.company_id, m.message_id, m.webhook_id, 'alert.fired', repeat('x', 600), $4
FROM companies own CROSS JOIN unnest($2::uuid[], $3::bigint[]) AS m(message_id, webhook_id)
WHERE own.company_id = $1`
	waitingMessages = `SELECT count(*) FROM webhook_messages WHERE company_id = $1 AND state = 'queued'`
	sizeOfMessages  = `
SELECT (SELECT count(*) FROM webhook_messages) AS kept, pg_table_size(t.oid) AS heap, pg_indexes_size(t.oid) AS indexes,
  s.n_tup_upd AS updates, s.n_tup_hot_upd AS in_place, s.n_dead_tup AS dead, s.autovacuum_count AS vacuums
FROM pg_class t JOIN pg_stat_user_tables s ON s.relid = t.oid WHERE t.oid = 'webhook_messages'::regclass`
	// lookOften makes autovacuum look as often by the days of the run as it does by real ones.
	lookOften = `ALTER SYSTEM SET autovacuum_naptime = '1s'`
)

// outbox is a run of messages with a clock of its own.
type outbox struct {
	*bench
	store *webhook.Store
	// clock is in microseconds.
	clock     atomic.Int64
	endpoints []int64
}

// watched sends messages to webhooks by the store, and looks at what the table takes while
// the days of their retention go by.
func (b *bench) watched(ctx context.Context) error {
	if b.options.messages == 0 {
		return nil
	}
	o := &outbox{bench: b}
	o.clock.Store(time.Now().UnixMicro())
	o.store = webhook.New(b.pool, webhook.Options{
		Key: func() (seal.Key, error) { return bytes.Repeat([]byte("k"), 32), nil }, Now: func() time.Time { return time.UnixMicro(o.clock.Load()) },
	})
	if err := o.begin(ctx); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "## Messages\n\n%d messages to %d webhooks over %d days, one of %d first attempts refused; removed after %d days.\n\n",
		b.options.messages, receivers, messageDays, refusedOf, keptDays)
	fmt.Fprintln(b.out, "| day | kept | table | its indexes | bytes a kept message | updates in place | dead | vacuums | CPU a message |")
	fmt.Fprintln(b.out, "|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for day := 1; day <= messageDays; day++ {
		before := b.cpu.total()
		if err := o.day(ctx, b.options.messages/messageDays); err != nil {
			return err
		}
		if day%keptDays != 0 {
			continue
		}
		if err := o.row(ctx, day, b.cpu.total()-before); err != nil {
			return err
		}
	}
	fmt.Fprintln(b.out)
	return nil
}

func (o *outbox) begin(ctx context.Context) error {
	if o.databaseURL == "" {
		if _, err := o.pool.ExecContext(ctx, lookOften); err != nil {
			return err
		}
		if _, err := o.pool.ExecContext(ctx, "SELECT pg_reload_conf()"); err != nil {
			return err
		}
	}
	for n := range receivers {
		made, _, err := o.store.Create(ctx, o.scope, rules.Spec{
			Name: fmt.Sprint("receiver ", n), URL: fmt.Sprintf("https://r%d.example/", n), Format: rules.CloudEvents,
			Filter: rules.Filter{EventTypes: []rules.EventType{rules.AlertFired}},
		})
		if err != nil {
			return err
		}
		o.endpoints = append(o.endpoints, made.WebhookID)
	}
	return nil
}

// day makes messages, sends them until none waits, and removes old ones.
func (o *outbox) day(ctx context.Context, messages int) error {
	o.clock.Add((24 * time.Hour).Microseconds())
	for made := 0; made < messages; made += domain.MaxBatch {
		var ids pq.StringArray
		var to pq.Int64Array
		for n := range min(domain.MaxBatch, messages-made) {
			ids, to = append(ids, uuid.Must(uuid.NewV7()).String()), append(to, o.endpoints[n%receivers])
		}
		if _, err := o.pool.ExecContext(ctx, makeMessages, o.scope.Company, ids, to, time.UnixMicro(o.clock.Load())); err != nil {
			return err
		}
	}
	for waiting := 1; waiting > 0; o.clock.Add(time.Minute.Microseconds()) {
		group, sending := errgroup.WithContext(ctx)
		for range senders {
			group.Go(func() error { return o.send(sending) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		if err := o.pool.GetContext(ctx, &waiting, waitingMessages, o.scope.Company); err != nil {
			return err
		}
	}
	expired, _ := retention.InForce{Kind: retention.Of(retention.Messages), Kept: keptDays}.Expired(time.UnixMicro(o.clock.Load()))
	_, err := o.store.Prune(ctx, expired)
	return err
}

// send claims and finishes until nothing is due.
func (o *outbox) send(ctx context.Context) error {
	for sent := 0; ; sent++ {
		attempts, err := o.store.Claim(ctx, o.scope.Company, receivers, time.Minute)
		if err != nil || len(attempts) == 0 {
			return err
		}
		for n, attempt := range attempts {
			answer := rules.Answer{Status: 200}
			if (sent+n)%refusedOf == 0 && attempt.Attempts == 1 {
				answer.Status = 503
			}
			if _, _, err := o.store.Finish(ctx, attempt, answer); err != nil {
				return err
			}
		}
	}
}

func (o *outbox) row(ctx context.Context, day int, cpu time.Duration) error {
	var of struct{ Kept, Heap, Indexes, Updates, InPlace, Dead, Vacuums int64 }
	time.Sleep(2 * time.Second) // until the sessions have reported their counts
	if err := o.pool.GetContext(ctx, &of, sizeOfMessages); err != nil {
		return err
	}
	const mega = 1 << 20
	fmt.Fprintf(o.out, "| %d | %d | %.1f MB | %.1f MB | %d | %.0f %% | %d | %d | %s |\n", day, of.Kept, float64(of.Heap)/mega, float64(of.Indexes)/mega,
		(of.Heap+of.Indexes)/max(of.Kept, 1), 100*float64(of.InPlace)/float64(max(of.Updates, 1)), of.Dead, of.Vacuums,
		micros(cpu/time.Duration(max(o.options.messages/messageDays, 1))))
	return nil
}
