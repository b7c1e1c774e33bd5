package command

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"golang.org/x/sync/errgroup"

	"simgraph/db/access"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/httpd"
	"simgraph/internal/telemetry"
	"simgraph/web"
)

// Serve runs the server.
type Serve struct {
	Addr string `default:"127.0.0.1:8080" help:"The address to listen on."`
	Demo bool   `help:"Fill an empty database with a demo company, and print a token of it."`

	Compress bool `default:"true" negatable:"" help:"Compress answers from 1 kB on by gzip or zstd for clients that accept it; streams are never compressed."`

	DemoFeed string `enum:"on,off" default:"on" help:"Whether simulated gateways report sessions of the demo company by RADIUS, with --demo, and it gets alerts on conditions, silences, a webhook, a key and an operation: on or off."`

	DocumentsOnly bool `help:"Run trusted documents alone on the graph: see simgraph documents. The page, whose operations are such documents, REST paths and tools for agents stay open."`

	MCPQueries bool `name:"mcp-queries" help:"Let agents search the schema and run queries that they write, within the limits of queries: the tools search_schema and run_query. Not with --documents-only, and not for keys that are limited to trusted documents."`

	NoRuntimeTuning bool `help:"Leave the garbage collector and the sampling of profiles as Go sets them."`

	Feeding
	Sealing
	Retaining
	Mailing
	Hooking
	Upstreams
	SigningIn
	Replicas
	Observation
	LifeCycle
	Security
	Limits
}

// Help shows examples.
func (Serve) Help() string {
	return `Examples:

	simgraph serve --demo
	simgraph serve --addr :8080 --database-url postgres://simgraph@db.example/simgraph --smtp-url smtp://mail.example:587`
}

// Check returns an error when flags do not go together.
func (s *Serve) Check(database *Database) error {
	if s.MCPQueries && s.DocumentsOnly {
		return errors.New("--mcp-queries does nothing with --documents-only: leave one of them out")
	}
	return errors.Join(s.LifeCycle.check(database.Timeout), s.Replicas.check(database.DatabaseURL), s.SigningIn.check(&s.Mailing))
}

// Run serves until ctx ends. Where a command runs the embedded database, and is
// killed before the server has taken over from it, the server starts once more.
func (s *Serve) Run(ctx context.Context, env *Env) error {
	if !s.NoRuntimeTuning {
		tuneRuntime()
	}
	reload := &reloader{log: env.Log}
	env.Log = telemetry.Unrepeated(env.Log)
	go reload.follow(env.Hangups)
	for {
		err := s.run(ctx, env, reload)
		if err != nil && ctx.Err() != nil && stopped(err) {
			env.Log.Info("stopped while starting")
			return nil
		}
		if !errors.Is(err, errAbandoned) || ctx.Err() != nil {
			if err == nil {
				env.Log.Info("stopped")
			}
			return err
		}
		env.Log.Warn("starting once more", "because", err)
	}
}

// stopped reports whether an error says no more than that the work was to stop.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, sql.ErrTxDone) || pq.As(err, pqerror.QueryCanceled) != nil
}

// run serves until ctx ends.
func (s *Serve) run(ctx context.Context, env *Env, reload *reloader) (err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	listener, err := httpd.Listen(ctx, s.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // the server may have closed it
	observed, err := s.observe(ctx, env.Log)
	if err != nil {
		return err
	}
	defer func() { env.warn("stop the telemetry", observed.end()) }()
	env.Trace = observed.trace()
	database, err := env.database(ctx, stop)
	if err != nil {
		return err
	}
	defer func() { err = database.close(err) }()
	url := database.url
	pool, err := env.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { env.warn("close the database", pool.Close()) }()
	upkeep, err := pg.Open(ctx, env.past(url), pg.Options{MaxConns: 2, IdleTimeout: env.idleTimeout()})
	if err != nil {
		return err
	}
	defer func() { env.warn("close the database", upkeep.Close()) }()
	observed.watch(pool, upkeep)
	v, err := s.newService(ctx, env, observed, pool, upkeep, env.past(url))
	if err != nil {
		return err
	}
	defer v.closeReplicas(env)
	if err := s.feed(ctx, env, v, url); err != nil {
		return err
	}
	defer v.closeFeed(env)
	v.server.Timing = s.timing()
	if err := s.secure(v, reload); err != nil {
		return err
	}
	return s.serve(ctx, env, v, database, listener)
}

// serve runs the server with its workers.
func (s *Serve) serve(ctx context.Context, env *Env, v *service, database *attached, listener net.Listener) error {
	if err := s.begin(ctx, env, v, listener.Addr()); err != nil {
		return err
	}
	database.takeOver()
	env.Log.Info("mail goes to " + v.mail.Destination())
	// Workers outlive the requests that are in flight when ctx ends.
	working, rest := context.WithCancel(context.WithoutCancel(ctx))
	var running errgroup.Group
	for name, run := range map[string]func(context.Context) error{
		workerReplica:   v.followReplicas,
		workerAdmin:     v.telemetry.serve,
		workerLive:      v.live.Run,
		workerMail:      v.mail.Run,
		workerReports:   v.reporting.Run,
		workerWebhook:   v.hooking.Run,
		workerReconcile: every(reconcileEvery, v.upkeep.ReconcileAll),
		workerRetain:    every(retainEvery, v.retain),
		workerRefuse:    every(noteEvery, v.noteRefusals),
		workerRenew:     every(renewEvery, v.sessions.Renew),
		workerProviders: v.paced(askEvery, v.signIn.CheckSessions),
		workerLinks:     v.signIn.MailLinks,
		workerWrites:    v.paced(lookEvery, v.writes.work),
		workerRADIUS:    v.listen,
		workerDemo:      v.feedDemo,
		workerSessions:  every(sweepEvery, v.endSilent),
		workerTally:     every(tallyEvery, v.tallyFeed),
		workerBulk:      v.operations.Run,
		workerCondition: v.paced(evaluateEvery, v.conditions.Round),
		workerFiles:     v.takeFiles,
		workerUpstream:  v.synchronizing.Run,
		workerDocuments: every(checkDocumentsEvery, v.checkDocuments),
		workerFields:    every(tallyEvery, v.fields.Flush),
		workerSQLRoles:  v.paced(endOverdueEvery, v.endOverdue),
	} {
		running.Go(func() error {
			if name != workerAdmin {
				v.schema.await(working)
			}
			v.keepRunning(working, name, run)
			return nil
		})
	}
	unasked := context.AfterFunc(ctx, func() { v.log.Info("asked to stop", "by", context.Cause(ctx)) })
	err := v.server.Run(ctx, listener)
	if !unasked() {
		v.log.Info("requests have ended")
	}
	rest()
	return errors.Join(err, running.Wait(), v.noteRest(ctx), databaseStopped(ctx))
}

// errDatabaseStopped ends the server when the embedded database ends by itself.
var errDatabaseStopped = errors.New("the database stopped")

// databaseStopped returns the error of a context that ended because the database did, and not by a signal.
func databaseStopped(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errDatabaseStopped) {
		return cause
	}
	return nil
}

// begin makes the ledger ready and announces the server. With --no-migrate the
// schema may be missing: the server is not ready then, and waits for it.
func (s *Serve) begin(ctx context.Context, env *Env, v *service, addr net.Addr) error {
	err := v.schema.check(ctx)
	if err != nil && !s.Demo {
		env.Log.Warn("not ready, and waiting for the schema", "because", err)
		env.printf("simgraph is not ready: %v\n%s", err, places(s.base(addr)))
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.adoptRetentions(ctx, v); err != nil {
		return err
	}
	if err := v.inspect(ctx); err != nil {
		env.Log.Warn("the usage ledger could not be inspected; it is tried again", "error", err)
	}
	if err := v.upkeep.EnsurePartitions(ctx); err != nil {
		return err
	}
	if err := warnRestored(ctx, env, v.schema.pool); err != nil {
		return err
	}
	return s.announce(ctx, env, v.schema.pool, addr)
}

// announce says where the server is and how to try it.
func (s *Serve) announce(ctx context.Context, env *Env, pool *sqlx.DB, addr net.Addr) error {
	try, err := s.invitation(ctx, env, pool, s.base(addr))
	if err != nil {
		return err
	}
	env.Log.InfoContext(ctx, "ready", "address", s.base(addr), "version", BuildVersion())
	env.printf("simgraph is ready\n%s%s", places(s.base(addr)), try)
	return nil
}

// base is the address of the server for browsers of this machine.
func (s *Serve) base(addr net.Addr) string {
	if s.TLSCert != "" {
		return "https://" + addr.String()
	}
	return "http://" + addr.String()
}

func places(base string) string {
	return fmt.Sprintf("  Page     %[1]s/\n  GraphQL  %[1]s/graphql\n  REST     %[1]s/docs\n", base)
}

// invitation says what to do next.
func (s *Serve) invitation(ctx context.Context, env *Env, pool *sqlx.DB, base string) (string, error) {
	if !s.Demo {
		return emptyHint(ctx, env, pool, base), nil
	}
	grant, err := demoToken(ctx, env, pool)
	if err != nil {
		return "", err
	}
	token := string(grant.Token)
	return fmt.Sprintf("\nLook around:\n  %s/#token=%s\n\nTry it:\n  curl -H 'Authorization: Bearer %s' '%s/subscribers?limit=3'\n", base, token, token, base), nil
}

// hintTime bounds what is done for a hint, without which the server serves, too.
const hintTime = 2 * time.Second

// emptyHint is "" where there is a company, or the database does not answer.
func emptyHint(ctx context.Context, env *Env, pool *sqlx.DB, base string) string {
	ctx, cancel := context.WithTimeout(ctx, hintTime)
	defer cancel()
	companies, err := companies.New(pool).List(ctx)
	if err != nil || len(companies) > 0 {
		return ""
	}
	on := ""
	if env.DatabaseURL == "" {
		on = " --data-dir " + env.DataDir
	}
	return fmt.Sprintf("\nThere is no company yet. Make one with a user, and call as that user:\n"+
		"  simgraph company create acme --name \"Acme Ltd\"%[1]s\n  simgraph user create ops@acme.example --company acme%[1]s\n  simgraph token --user ops@acme.example%[1]s\n"+
		"\nStep by step, with mail, backup and monitoring:\n  %[2]s/docs/start-operator\n", on, base)
}

// demoToken returns a token of the demo company, which it loads into an empty
// database.
func demoToken(ctx context.Context, env *Env, pool *sqlx.DB) (*domain.Grant, error) {
	companies, err := companies.New(pool).List(ctx)
	if err != nil {
		return nil, err
	}
	if len(companies) == 0 {
		if err := loadDefaultDemo(ctx, env, pool); err != nil {
			return nil, err
		}
	}
	return issueDemoToken(ctx, pool)
}

func issueDemoToken(ctx context.Context, pool *sqlx.DB) (*domain.Grant, error) {
	store := access.New(pool)
	company, user, err := store.FindUser(ctx, demoAdmin)
	if err != nil {
		return nil, fmt.Errorf("the database holds other companies than the demo: serve it without --demo (%w)", err)
	}
	return store.Issue(ctx, domain.Whole(company).By(actor("serve")), user.Email, 24*time.Hour)
}

// loadDefaultDemo loads what the command demo would.
func loadDefaultDemo(ctx context.Context, env *Env, pool *sqlx.DB) error {
	env.Log.Info("making up a demo company")
	// Two months, so that there is a whole billing period before this one.
	options, err := (&Demo{Subscribers: 500, Days: 62, Seed: 1, Company: "demo"}).options(time.Now())
	if err != nil {
		return err
	}
	_, err = LoadDemo(ctx, env, pool, options)
	return err
}

// demoAdmin is the user of the demo company who may do everything.
const demoAdmin = "admin@demo.example"

// OneLine is the text of an error on one line. What several errors that were
// joined say alike is written once.
func OneLine(err error) string {
	var texts []string
	for line := range strings.Lines(err.Error()) {
		text := strings.Join(strings.Fields(line), " ")
		said := func(before string) bool { return before == text || strings.HasSuffix(before, ": "+text) }
		if text != "" && !slices.ContainsFunc(texts, said) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}

// page returns the handlers of the page for people by their exact paths. In
// demo mode it offers a token of the demo company to browsers of this machine.
func (s *Serve) page(pool *sqlx.DB) (map[string]http.Handler, error) {
	files, err := web.Files(BuildVersion())
	if err != nil {
		return nil, err
	}
	var demo web.DemoToken
	if s.Demo {
		demo = func(ctx context.Context) (string, time.Time, error) {
			grant, err := issueDemoToken(ctx, pool)
			if err != nil {
				return "", time.Time{}, err
			}
			return string(grant.Token), grant.ExpiresAt, nil
		}
	}
	maps.Copy(files, web.Offers(strings.TrimRight(s.PublicURL, "/"), s.DocumentsOnly, demo))
	return files, nil
}
