package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"simgraph/db"
	"simgraph/db/access"
	"simgraph/db/pg"
	sources "simgraph/db/source"
	accounts "simgraph/db/upstream"
	hooks "simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/internal/profile"
	"simgraph/internal/replica"
	"simgraph/internal/telemetry"
	"simgraph/resolvers"
)

// Replicas are the flags of standbys that take reads.
type Replicas struct {
	DatabaseReplicaURL []string      `name:"database-replica-url" group:"Standbys" placeholder:"URL" help:"Answer queries from this hot standby of the database (repeatable)."`
	ReplicaMaxLag      time.Duration `default:"10s" group:"Standbys" range:"1ms..24h" help:"Leave out standbys that are further behind the database."`
}

// check returns an error when standbys are named, but not their primary.
func (r *Replicas) check(primary string) error {
	if len(r.DatabaseReplicaURL) > 0 && primary == "" {
		return errors.New("--database-replica-url needs --database-url: the embedded database has no standbys")
	}
	return nil
}

// openReplicas makes the standbys of the pool's database answer queries. It does
// not wait for them.
func (s *Serve) openReplicas(ctx context.Context, env *Env, v *service, pool *sqlx.DB) error {
	if len(s.DatabaseReplicaURL) == 0 {
		return nil
	}
	distributed, err := pg.HasCitus(ctx, pool)
	if err != nil {
		return err
	}
	if distributed {
		return errors.New("--database-replica-url: the database is distributed by Citus; the position of its coordinator says nothing about standbys of its workers")
	}
	cluster, err := pg.Cluster(ctx, pool)
	if err != nil {
		return err
	}
	v.replicas = replica.New(replica.Config{
		Written: func(ctx context.Context) (string, error) { return pg.Written(ctx, pool) },
		MaxLag:  s.ReplicaMaxLag, Log: env.Log, Read: v.telemetry.read(),
	})
	options := pg.Options{MaxConns: env.MaxConns, Pooler: env.Pooler, StatementTimeout: env.Timeout, Trace: env.Trace}
	for _, url := range s.DatabaseReplicaURL {
		standby, err := pg.OpenReplica(url, cluster, options)
		if err != nil {
			return fmt.Errorf("--database-replica-url: %w", err)
		}
		v.standbys = append(v.standbys, standby)
		v.answerFrom(standby)
	}
	v.telemetry.watchReplicas(v)
	return nil
}

func (v *service) closeReplicas(env *Env) {
	for _, standby := range v.standbys {
		env.warn("close a standby", standby.Close())
	}
}

// answerFrom has a graph of its own answer queries from the standby.
func (v *service) answerFrom(standby *pg.Replica) {
	graph := v.readGraph(standby.Pool())
	v.replicas.Add(standby, graph.Schema(), v.perResponse(graph))
}

// readGraph is a graph for queries alone.
func (v *service) readGraph(pool *sqlx.DB) *resolvers.Graph {
	senders := sources.New(pool, sources.Options{Check: profile.Check, Ready: profile.ReadyProfiles(), Now: time.Now})
	return v.newGraph(pool, access.New(pool), newUsage(pool, v.log), hooks.New(pool, hooks.Options{Now: time.Now}), senders,
		accounts.New(pool, accounts.Options{Now: time.Now}))
}

// stands reports whether standbys answer reads although the primary failed a probe.
func (v *service) stands(failed error) bool {
	return v.replicas != nil && db.IsUnreached(failed) && v.replicas.Stands()
}

// orStandby returns what authenticates by the pool of the primary, and by those of the
// standbys while that is lost.
func (v *service) orStandby(primary replica.Authenticate, at func(*sqlx.DB) replica.Authenticate) replica.Authenticate {
	if v.replicas == nil {
		return primary
	}
	standbys := make([]replica.Authenticate, len(v.standbys))
	for i, standby := range v.standbys {
		standbys[i] = at(standby.Pool())
	}
	return v.replicas.OrStandby(primary, standbys)
}

// tokens are access tokens, which standbys know too.
type tokens struct {
	*access.Store
	authenticate replica.Authenticate
}

// Authenticate implements domain.Access.
func (t tokens) Authenticate(ctx context.Context, token domain.Secret) (*domain.Caller, error) {
	return t.authenticate(ctx, token)
}

// read counts queries by where they go.
func (v *observed) read() func(replica.Server) {
	if v.Metrics == nil {
		return nil
	}
	return func(server replica.Server) { v.Metrics.Read(string(server)) }
}

// watchReplicas adds the metrics of the standbys.
func (v *observed) watchReplicas(of *service) {
	if v.Metrics == nil {
		return
	}
	v.Metrics.BeginReads(replica.Servers)
	v.Metrics.Register(telemetry.NewReplicas(of.replicas.States))
	for _, standby := range of.standbys {
		v.Metrics.Register(collectors.NewDBStatsCollector(standby.Pool().DB, "standby "+standby.Place()))
	}
}

// useReplicas has queries answered by standbys, and records what their callers
// write and are sent.
func (v *service) useReplicas(cfg *transport.Config) {
	cfg.Alternate, cfg.BeforeEvent = v.replicas.Choose, v.replicas.RecordObservedWrite
	cfg.AfterRootMutationField = func(ctx context.Context) {
		resolvers.ForgetLoaded(ctx)
		v.replicas.RecordWrite(ctx)
	}
}

// followReplicas looks after the standbys until ctx ends.
func (v *service) followReplicas(ctx context.Context) error {
	if v.replicas == nil {
		<-ctx.Done()
		return nil
	}
	return v.replicas.Run(ctx)
}

// ingested is the ledger for streams of usage.
func (v *service) ingested() domain.Usage {
	usage := metered{v.usage, v.telemetry.Metrics, &v.pace}
	if v.replicas == nil {
		return usage
	}
	return observedUsage{usage, v.replicas}
}

// observedUsage records who has recorded usage.
type observedUsage struct {
	domain.Usage
	replicas *replica.Set
}

// RecordInTurn implements domain.Usage.
func (n observedUsage) RecordInTurn(ctx context.Context, scope domain.Scope, records []domain.UsageRecord, placed func()) ([]domain.Recorded, error) {
	results, err := n.Usage.RecordInTurn(ctx, scope, records, placed)
	n.replicas.RecordObservedWrite(ctx)
	return results, err
}
