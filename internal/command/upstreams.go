package command

import (
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/audit"
	accounts "simgraph/db/upstream"
	"simgraph/db/usage"
	"simgraph/internal/seal"
	"simgraph/internal/telemetry"
	"simgraph/internal/upstream"
	sending "simgraph/internal/webhook"
)

// Upstreams are the flags of other servers whose accounts are kept in step.
type Upstreams struct {
	UpstreamEvery time.Duration `default:"15m" group:"Upstreams" range:"1m..24h" help:"The time between two passes of an upstream, which read new subscribers and recent usage. All of the account is read once a day."`
}

// dialTime bounds how long an upstream may take to be connected to, and to begin its answer.
const dialTime = 2 * time.Minute

// upstreams returns the store of upstreams; the key of their keys is read when one is needed.
func (s *Serve) upstreams(pool *sqlx.DB, key func() (seal.Key, error)) *accounts.Store {
	return accounts.New(pool, accounts.Options{Key: key, Rules: s.rules(), Now: time.Now})
}

// synchronizer returns the worker that does the passes of upstreams.
func (s *Serve) synchronizer(env *Env, pool *sqlx.DB, queue *accounts.Store, booked *usage.Store, metrics *telemetry.Metrics) *upstream.Worker {
	stores := newStores(pool, booked)
	return upstream.NewWorker(upstream.WorkerConfig{
		Queue: queue, Stores: stores, By: actor("upstream"), Transport: sending.NewTransport(s.rules(), dialTime), Log: env.Log, Every: s.UpstreamEvery,
		Ended: func(r upstream.Result) { metrics.Passed(string(r)) },
	})
}

// newStores returns where accounts go.
func newStores(pool *sqlx.DB, booked *usage.Store) upstream.Stores {
	tags := db.NewTags(pool)
	return upstream.Stores{
		Importer: db.NewImporter(pool), Subscribers: db.NewSubscribers(pool), Groups: db.NewGroups(pool), Operators: db.NewCatalogue(pool), Tags: tags, Detacher: tags,
		Alerts: db.NewVolumeAlerts(pool, time.Now), Recipients: db.NewRecipients(pool, time.Now), Usage: booked, Audit: audit.NewLog(pool),
	}
}
