// Package live brings what happened in any instance to the subscriptions of this
// one, by LISTEN and NOTIFY.
package live

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/alert"
	"simgraph/db/announce"
	"simgraph/db/bulk"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/subscriber"
	"simgraph/domain"
	rules "simgraph/domain/bulk"
)

const (
	// Bounds of what waits for one stream.
	maxAlertBacklog = 1_000
	maxKeyBacklog   = 20_000
	// liveBatch is how much is loaded at once for a stream.
	liveBatch = 500
	// overlap is how far back the log is read again after a reconnect.
	overlap = 30 * time.Second
)

// Store follows what happens by LISTEN, on a connection of its own.
type Store struct {
	pool        *sqlx.DB
	url         string
	log         *slog.Logger
	alertLog    *alert.Log
	subscribers *subscriber.Store
	operations  *bulk.Store
	hub         hub
	// MaxWaiting is how many subscribers a stream has yet to take at most; New sets 20,000.
	MaxWaiting int
	// lease names this process among the followers.
	lease uuid.UUID
}

var (
	_ domain.Live = (*Store)(nil)
	_ rules.Live  = (*Store)(nil)
)

// New returns the port on the pool; Run has to run on the same database at
// url, not through a pooler.
func New(pool *sqlx.DB, url string, log *slog.Logger) *Store {
	return &Store{
		pool: pool, url: url, log: log, alertLog: alert.NewLog(pool), subscribers: subscriber.New(pool),
		operations: bulk.New(pool, bulk.Options{Log: log}), hub: newHub(), MaxWaiting: maxKeyBacklog, lease: uuid.Must(uuid.NewV7()),
	}
}

// Run listens until ctx ends.
func (l *Store) Run(ctx context.Context) error {
	const shortest, longest = 10 * time.Millisecond, 5 * time.Second
	address, err := listenAddress(l.url)
	if err != nil {
		return err
	}
	listener := pq.NewListener(address, shortest, longest, func(_ pq.ListenerEventType, err error) {
		if err != nil {
			l.log.Warn("live events: the connection to the database failed", "error", err)
		}
	})
	defer listener.Close()
	if err := listener.Listen(announce.Channel); err != nil {
		return pg.Translate(err)
	}
	lastNotice := time.Now()
	ping := time.NewTicker(10 * time.Second)
	defer ping.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case n := <-listener.Notify:
			if n == nil {
				l.reconnected(ctx, lastNotice)
			} else {
				l.hub.dispatch(n.Extra)
			}
			lastNotice = time.Now()
		case <-ping.C:
			_ = listener.Ping() // notices a dead connection, which it then replaces
			l.renew(ctx)
		}
	}
}

// listenAddress is the address with the name of the session, and with the TLS mode
// that Open uses where none is given: the listener of lib/pq takes no more than a text.
func listenAddress(address string) (string, error) {
	address, err := pg.Spread(address)
	if err != nil {
		return "", err
	}
	cfg, err := pq.NewConfig(address)
	if err != nil {
		return "", errors.New("the database address cannot be read")
	}
	preferTLS := cfg.SSLMode == "" && cfg.SSLNegotiation != pq.SSLNegotiationDirect
	at, err := url.Parse(address)
	if err != nil || at.Scheme == "" {
		address += " application_name=" + ServerSession
		if preferTLS {
			address += " sslmode=prefer"
		}
		return address, nil
	}
	query := at.Query()
	query.Set("application_name", ServerSession)
	if preferTLS {
		query.Set("sslmode", "prefer")
	}
	at.RawQuery = query.Encode()
	return at.String(), nil
}

const notifiedSince = `
SELECT l.notification_id
FROM alert_log l
WHERE l.company_id = $1 AND l.date_created >= $2 AND l.notification_id IS NOT NULL
UNION
SELECT l.notification_id
FROM condition_log l
WHERE l.company_id = $1 AND l.date_created >= $2`

// reconnected makes up for what was announced while nobody listened: what fired
// stands in the log, the rest is lost, so its streams fail.
func (l *Store) reconnected(ctx context.Context, lastNotice time.Time) {
	l.hub.fail(domain.Unavailable(errMissed))
	for _, company := range l.hub.companies() {
		var fired []uuid.UUID
		if err := l.pool.SelectContext(ctx, &fired, notifiedSince, company, lastNotice.Add(-overlap)); err != nil {
			l.log.Warn("live events: the alert log could not be read again", "error", err)
			continue
		}
		for _, notification := range fired {
			l.hub.alert(company, notification)
		}
	}
}

// AlertTriggered implements domain.Live.
func (l *Store) AlertTriggered(ctx context.Context, scope domain.Scope) (*domain.Stream[domain.AlertLogEntry], error) {
	backlog := newBacklog[uuid.UUID, struct{}](maxAlertBacklog, nil)
	leave := l.hub.alerts.join(scope.Company, backlog)
	return follow(ctx, backlog, leave, func(ctx context.Context, fired []uuid.UUID, _ []struct{}) ([]domain.AlertLogEntry, error) {
		return l.alertLog.OfNotifications(ctx, scope, fired)
	}), nil
}

// SubscriberChanged implements domain.Live.
func (l *Store) SubscriberChanged(ctx context.Context, scope domain.Scope, physicalIDs []string) (*domain.Stream[*domain.Subscriber], error) {
	wanted, err := l.wanted(ctx, scope, physicalIDs)
	if err != nil {
		return nil, err
	}
	backlog := newBacklog[int64, struct{}](l.MaxWaiting, nil)
	backlog.wanted = wanted
	leave := l.hub.changes.join(scope.Company, backlog)
	if err := l.declare(ctx, scope.Company); err != nil {
		leave()
		return nil, err
	}
	return follow(ctx, backlog, leave, func(ctx context.Context, keys []int64, _ []struct{}) ([]*domain.Subscriber, error) {
		found, err := l.subscribers.OfKeys(ctx, scope, keys, domain.Projection{Fields: domain.AllFields})
		changed := make([]*domain.Subscriber, 0, len(found))
		for _, key := range keys {
			if s := found[key]; s != nil {
				changed = append(changed, s)
			}
		}
		return changed, err
	}), nil
}

// UsageRecorded implements domain.Live.
func (l *Store) UsageRecorded(ctx context.Context, scope domain.Scope, physicalIDs []string) (*domain.Stream[*domain.UsageRecorded], error) {
	keys, err := l.wanted(ctx, scope, physicalIDs)
	if err != nil {
		return nil, err
	}
	backlog := newBacklog[usageKey](l.MaxWaiting, usageSum.plus)
	if keys != nil {
		backlog.wanted = func(k usageKey) bool { return keys(k.subscriber) }
	}
	leave := l.hub.usage.join(scope.Company, backlog)
	if err := l.declare(ctx, scope.Company); err != nil {
		leave()
		return nil, err
	}
	return follow(ctx, backlog, leave, func(ctx context.Context, of []usageKey, sums []usageSum) ([]*domain.UsageRecorded, error) {
		found, err := l.subscribers.OfKeys(ctx, scope, pg.Pluck(of, func(k usageKey) int64 { return k.subscriber }), domain.Projection{Fields: domain.AllFields})
		recorded := make([]*domain.UsageRecorded, 0, len(of))
		for i, key := range of {
			if s := found[key.subscriber]; s != nil {
				recorded = append(recorded, &domain.UsageRecorded{
					Subscriber: s, PeriodStart: time.Unix(key.period, 0).UTC(), Bytes: sums[i].bytes, Usage: sums[i].usage,
				})
			}
		}
		return recorded, err
	}), nil
}

// OperationChanged implements bulk.Live.
func (l *Store) OperationChanged(ctx context.Context, scope domain.Scope, operationID string) (*domain.Stream[*rules.Operation], error) {
	backlog := newBacklog[uuid.UUID, struct{}](maxAlertBacklog, nil)
	if operationID != "" {
		id, err := uuid.Parse(operationID)
		if err != nil {
			return nil, rules.NotFound(operationID)
		}
		if _, err := l.operations.Find(ctx, scope, operationID); err != nil {
			return nil, err
		}
		backlog.wanted = func(other uuid.UUID) bool { return other == id }
		backlog.put(id, struct{}{})
	}
	leave := l.hub.operations.join(scope.Company, backlog)
	return follow(ctx, backlog, leave, func(ctx context.Context, ids []uuid.UUID, _ []struct{}) ([]*rules.Operation, error) {
		found, err := l.operations.FindMany(ctx, scope, pg.Pluck(ids, uuid.UUID.String))
		changed := make([]*rules.Operation, 0, len(found))
		for _, id := range ids {
			if o := found[id.String()]; o != nil {
				changed = append(changed, o)
			}
		}
		return changed, err
	}), nil
}

// wanted returns the keys of the subscribers to follow; nil means all.
func (l *Store) wanted(ctx context.Context, scope domain.Scope, physicalIDs []string) (func(int64) bool, error) {
	if physicalIDs == nil {
		return nil, nil
	}
	if len(physicalIDs) > domain.MaxBatch {
		return nil, domain.Invalid("physicalIds", "at most %d subscribers, not %d", domain.MaxBatch, len(physicalIDs))
	}
	found, err := l.subscribers.FindMany(ctx, scope, physicalIDs, domain.Projection{Fields: domain.AllFields})
	if err != nil {
		return nil, err
	}
	keys := make([]int64, 0, len(found))
	for i, id := range physicalIDs {
		if found[id] == nil {
			return nil, domain.At(domain.Item("physicalIds", i), domain.NotFound("", "subscriber", id))
		}
		keys = append(keys, found[id].Key)
	}
	slices.Sort(keys)
	return func(key int64) bool { _, ok := slices.BinarySearch(keys, key); return ok }, nil
}

const (
	// declareFollowing counts a process as following for a minute.
	declareFollowing = `
INSERT INTO live_followers (company_id, lease, expires_at)
SELECT own.company_id, $2, now() + interval '1 minute' FROM companies own WHERE own.company_id = ANY($1)
ON CONFLICT (company_id, lease) DO UPDATE SET expires_at = excluded.expires_at`
	forgetFollowers = `DELETE FROM live_followers WHERE company_id = ANY($1) AND expires_at < now()`
)

// declare has changes of the companies announced to this process.
func (l *Store) declare(ctx context.Context, followed ...domain.CompanyID) error {
	if _, err := l.pool.ExecContext(ctx, declareFollowing, pq.Array(followed), l.lease); err != nil {
		return pg.Translate(err)
	}
	_, err := l.pool.ExecContext(ctx, forgetFollowers, pq.Array(followed))
	return pg.Translate(err)
}

// renew keeps changes announced to the streams that are still followed.
func (l *Store) renew(ctx context.Context) {
	followed := append(l.hub.usage.companies(), l.hub.changes.companies()...)
	if len(followed) == 0 {
		return
	}
	slices.Sort(followed)
	followed = slices.Compact(followed)
	err := companies.EachNode(ctx, l.pool, func(of pq.Int64Array) error {
		here := slices.DeleteFunc(slices.Clone(followed), func(company domain.CompanyID) bool {
			return of != nil && !slices.Contains(of, int64(company))
		})
		return l.declare(ctx, here...)
	})
	if err != nil && ctx.Err() == nil {
		l.log.Warn("live events: changes cannot be followed", "error", err)
	}
}
