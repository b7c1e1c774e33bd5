package command

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	keys "simgraph/db/access"
	"simgraph/db/audit"
	"simgraph/db/bulk"
	"simgraph/db/carrier"
	"simgraph/db/condition"
	"simgraph/db/feed"
	"simgraph/db/fieldusage"
	"simgraph/db/live"
	mails "simgraph/db/mail"
	"simgraph/db/pg"
	reports "simgraph/db/report"
	"simgraph/db/retention"
	"simgraph/db/signin"
	sources "simgraph/db/source"
	accounts "simgraph/db/upstream"
	"simgraph/db/usage"
	"simgraph/db/volume"
	hooks "simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/internal/access"
	"simgraph/internal/changes"
	trusted "simgraph/internal/document"
	"simgraph/internal/httpd"
	"simgraph/internal/intake"
	"simgraph/internal/limit"
	"simgraph/internal/mail"
	"simgraph/internal/pace"
	"simgraph/internal/problem"
	"simgraph/internal/profile"
	"simgraph/internal/radius"
	"simgraph/internal/replica"
	reporting "simgraph/internal/report"
	"simgraph/internal/seal"
	login "simgraph/internal/signin"
	"simgraph/internal/stores"
	"simgraph/internal/upstream"
	sending "simgraph/internal/webhook"
	"simgraph/resolvers"
)

// service is everything that serve runs.
type service struct {
	failures failures
	log      *slog.Logger
	access   *keys.Store
	// sessions are those of the page.
	sessions *signin.Store
	browsers *access.Sessions
	signIn   *login.Handler
	// machines are programs that issuers speak for; nil for none.
	machines *login.Machines
	usage    *usage.Store
	live     *live.Store
	mail     *mail.Worker
	// reports are kept, reporting answers those that are due.
	reports   *reports.Store
	reporting *reporting.Worker
	graph     *resolvers.Graph
	engine    *transport.Server
	server    *httpd.Server
	// upkeep is the ledger on connections whose statements have no time limit.
	upkeep *usage.Store
	// ledger announces, detaches and drops the months of it, by firstRetention
	// where the database has none yet.
	ledger         *usage.Ledger
	firstRetention int
	// retentions are for how long the stores below keep what is old.
	retentions *retention.Store
	audit      *audit.Log
	outbox     *mails.Outbox
	schema     *schemaGate
	// hooking sends the messages of webhooks.
	hooking  *sending.Worker
	webhooks *hooks.Store
	commands *carrier.Store
	// sources keeps what intake reads.
	sources *sources.Store
	intake  *intake.Intake
	// synchronizing does the passes of upstreams.
	synchronizing *upstream.Worker
	// folder takes files; nil without --drop-dir.
	folder    *intake.Folder
	telemetry *observed
	// pace is that of the workers that look for work.
	pace   pace.Pace
	limits *limit.Limits
	writes *writes
	// operations runs the changes of many subscribers, oldOperations removes old ones.
	operations, oldOperations *bulk.Store
	// conditions are evaluated by the clock.
	conditions *condition.Store
	// fields counts what operations use of the schema.
	fields *fieldusage.Store
	// radius takes accounting; nil without --radius-addr.
	radius *radius.Listener
	// feed stores what the listener takes, on connections of its own.
	feed     *feed.Store
	feedPool *sqlx.DB
	// demo feeds the demo company; nil when it does not feed itself.
	demo *demoFeed
	// sessionInterval is the longest interval of reports that is expected.
	sessionInterval time.Duration
	// address is that of the database, without a pooler before it.
	address string
	// replicas take queries; nil without standbys.
	replicas *replica.Set
	standbys []*pg.Replica
}

// newService puts the parts together. pool answers requests; upkeep runs long
// work; direct is the address of the database without a pooler before it.
func (s *Serve) newService(ctx context.Context, env *Env, telemetry *observed, pool, upkeep *sqlx.DB, direct string) (*service, error) {
	outbox := mails.NewOutbox(pool, time.Now)
	v := &service{
		log: env.Log, access: keys.New(pool), usage: newUsage(pool, env.Log), upkeep: newUsage(upkeep, env.Log),
		live: live.New(pool, direct, env.Log), telemetry: telemetry, limits: s.limits(telemetry.Metrics),
		writes: &writes{pool: pool, log: env.Log}, address: direct,
	}
	v.pace.Use() // what waited for the start is not left to wait longer
	var err error
	if v.mail, err = s.worker(env, v, outbox); err != nil {
		return nil, err
	}
	v.schema = newSchemaGate(pool, !env.NoMigrate)
	v.ledger, v.firstRetention = usage.NewLedger(upkeep, usage.LedgerOptions{Rules: s.ledgerRules()}), s.firstRetention()
	v.retentions, v.outbox = retention.New(upkeep, retention.Options{}), mails.NewOutbox(upkeep, time.Now)
	key := sync.OnceValues(func() (seal.Key, error) { return s.key(env.DataDir) })
	v.webhooks = s.endpoints(upkeep, key)
	v.commands = carrier.New(upkeep, v.webhooks, time.Now)
	webhooks := s.endpoints(pool, key)
	v.hooking = s.sender(env, v, webhooks)
	v.operations, v.oldOperations = bulk.New(pool, bulk.Options{Log: env.Log, After: v.pace.After}), bulk.New(upkeep, bulk.Options{})
	v.conditions = condition.New(pool, time.Now)
	v.audit = audit.NewLog(upkeep)
	v.fields = fieldusage.New(pool, fieldusage.Options{})
	v.sessionInterval = s.SessionInterval
	v.sources = sources.New(pool, sources.Options{Key: key, Check: profile.Check, Ready: profile.ReadyProfiles(), Now: time.Now})
	v.intake = &intake.Intake{Sources: v.sources, Usage: metered{v.usage, telemetry.Metrics, &v.pace}, Now: time.Now}
	if v.folder, err = s.watchFolder(v, pool); err != nil {
		return nil, err
	}
	accounts := s.upstreams(pool, key)
	v.synchronizing = s.synchronizer(env, pool, accounts, v)
	v.reports = stores.Reports(pool, time.Now)
	v.reporting = s.reporter(env, pool, v)
	v.graph = v.newGraph(pool, v.access, v.usage, webhooks, v.sources, accounts)
	if err := s.openReplicas(ctx, env, v, pool); err != nil {
		return nil, err
	}
	if err := s.signIn(env, v, pool); err != nil {
		return nil, err
	}
	return v, v.open(s, pool, outbox)
}

func (v *service) newGraph(pool *sqlx.DB, access *keys.Store, store *usage.Store, webhooks *hooks.Store, senders *sources.Store, accounts *accounts.Store) *resolvers.Graph {
	ports := stores.Ports(pool, time.Now)
	ports.Access, ports.Usage, ports.Analytics = access, metered{store, v.telemetry.Metrics, &v.pace}, usage.NewAnalytics(store)
	ports.Documents, ports.FieldUsage, ports.Webhooks = newDocuments(pool), v.fields, webhooks
	ports.Live, ports.LiveOperations, ports.Operations = v.live, v.live, bulk.New(pool, bulk.Options{Log: v.log})
	ports.Commands = carrier.New(pool, webhooks, time.Now)
	ports.Sources, ports.Intake, ports.Upstreams = senders, v.intake, accounts
	ports.Reports, ports.ReportPreviews = v.reports, v.reporting
	return resolvers.New(ports, time.Now)
}

// newUsage returns the ledger; what it books is held against the alerts.
func newUsage(pool *sqlx.DB, log *slog.Logger) *usage.Store {
	return usage.New(pool, volume.NewEvaluator(time.Now), usage.Options{MonthLost: func(month time.Time) { warnOfLost(log, month) }})
}

// open builds the endpoints and the server on them.
func (v *service) open(s *Serve, pool *sqlx.DB, outbox *mails.Outbox) error {
	gate := access.NewGate(tokens{v.access, v.orStandby(v.access.Authenticate, func(pool *sqlx.DB) replica.Authenticate {
		return keys.New(pool).Authenticate
	})}, time.Now)
	gate.Admitted, gate.Sessions = v.admitted, v.browsers
	page, err := s.page(pool)
	if err != nil {
		return err
	}
	shipped, err := pageDocuments()
	if err != nil {
		return err
	}
	v.engine = transport.New(v.graph.Schema(), v.engineConfig(s, gate, page["/"], shipped))
	page[mail.UnsubscribePath] = mail.UnsubscribeHandler(outbox, v.reports)
	page[changes.TemplatePath] = http.HandlerFunc(changes.ServeTemplate)
	of := &endpoints{service: v, serve: s, pool: pool, gate: gate, challenge: problem.Challenge{Metadata: access.ResourceMetadata(s.PublicURL, "")}}
	streams := of.streams()
	health := &httpd.Health{Check: func(ctx context.Context) error { return db.Current(ctx, pool) }, ReadOnly: v.writes.look, Stands: v.stands}
	all, err := of.all(page, streams)
	if err != nil {
		return err
	}
	all.Health = health
	v.telemetry.name(all.Names())
	if all.Around, err = s.around(v); err != nil {
		return err
	}
	v.server = &httpd.Server{Handler: httpd.Handler(*all), Health: health, Log: v.log, Close: v.closer(streams)}
	return nil
}

// engineConfig says how the engine meets the rest.
func (v *service) engineConfig(s *Serve, gate *access.Gate, explorer http.Handler, shipped map[string]string) transport.Config {
	cfg := transport.Config{
		Log:                    v.log,
		Limits:                 s.documents(),
		Present:                resolvers.Present,
		PerResponse:            v.perResponse(v.graph),
		AfterRootMutationField: resolvers.ForgetLoaded,
		Charge:                 httpd.Charge(v.limits),
		Enter:                  httpd.Turns(v.limits),
		Authenticate:           httpd.AdmitPayload(gate, v.limits),
		StillValid:             gate.StillValid,
		Explorer:               explorer,
		Document:               trusted.NewLibrary(newDocuments(v.schema.pool).Text, shipped, time.Now).Find,
		DocumentsOnly:          s.documentsOnly,
		Count:                  v.countUse,
		Share:                  resolvers.ShareEvents,
	}
	if v.telemetry.On() {
		cfg.Observe = v.telemetry.Operation
	}
	if v.replicas != nil {
		v.useReplicas(&cfg)
	}
	return cfg
}

// countUse counts what an operation of a caller uses of the schema.
func (v *service) countUse(ctx context.Context, use transport.Use) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return
	}
	client, version := domain.ClientOf(caller, domain.OriginOf(ctx).Door, use.Client, use.Version)
	v.fields.Note(caller.Company.CompanyID, client, version, use.Fields, use.Given)
}

// perResponse puts the loaders of the graph into the context of a response.
func (v *service) perResponse(graph *resolvers.Graph) func(context.Context) context.Context {
	metrics := v.telemetry.Metrics
	if metrics == nil {
		return graph.WithLoaders
	}
	return func(ctx context.Context) context.Context {
		return resolvers.WithBatches(graph.WithLoaders(ctx), metrics.Batch)
	}
}
