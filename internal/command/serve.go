package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"simgraph/db"
	"simgraph/db/embedded"
	"simgraph/domain"
)

// Serve runs the server.
type Serve struct {
	Addr           string `default:"127.0.0.1:8080" help:"The address to listen on."`
	Demo           bool   `help:"Fill an empty database with a demo company, and print a token of it."`
	Retention      int    `default:"13" help:"How many months of usage records are kept, at least 3; totals stay."`
	MailRetention  uint   `default:"90" placeholder:"DAYS" help:"How many days sent mails are kept; 0 keeps them for ever."`
	AuditRetention uint   `default:"0" placeholder:"MONTHS" help:"How many months of the audit log are kept; 0 keeps it for ever."`

	NoRuntimeTuning bool `help:"Leave the garbage collector and the sampling of profiles as Go sets them."`

	Mailing
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

// Run serves until ctx ends.
func (s *Serve) Run(ctx context.Context, env *Env) error {
	if !s.NoRuntimeTuning {
		tuneRuntime()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // the server may have closed it
	telemetry, err := s.observe(ctx, env.Log)
	if err != nil {
		return err
	}
	defer func() { env.warn("stop the telemetry", telemetry.end()) }()
	env.Trace = telemetry.trace()
	url, done, err := env.database(ctx, stop)
	if err != nil {
		return err
	}
	defer done()
	pool, err := env.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { env.warn("close the database", pool.Close()) }()
	upkeep, err := db.Open(ctx, env.past(url), db.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	defer func() { env.warn("close the database", upkeep.Close()) }()
	telemetry.watch(pool, upkeep)
	v, err := s.newService(ctx, env, telemetry, pool, upkeep, env.past(url))
	if err != nil {
		return err
	}
	defer v.closeReplicas(env)
	if v.server.Timing, err = s.timing(env.Timeout); err != nil {
		return err
	}
	if err := s.secure(ctx, v); err != nil {
		return err
	}
	return s.serve(ctx, env, v, pool, listener)
}

// serve runs the server with its workers.
func (s *Serve) serve(ctx context.Context, env *Env, v *service, pool *sqlx.DB, listener net.Listener) error {
	if err := v.upkeep.EnsurePartitions(ctx); err != nil {
		return err
	}
	if err := s.announce(ctx, env, pool, listener.Addr()); err != nil {
		return err
	}
	env.Log.Info("mail goes to " + v.mail.Destination())
	// Workers outlive the requests that are in flight when ctx ends.
	working, rest := context.WithCancel(context.WithoutCancel(ctx))
	var running errgroup.Group
	for name, run := range map[string]func(context.Context) error{
		workerReplica: v.followReplicas,
		workerAdmin:   v.telemetry.serve,
		workerLive:    v.live.Run,
		workerMail:    v.mail.Run,
		workerSettle:  every(settleEvery, v.upkeep.Settle),
		workerRetain:  every(retainEvery, v.retain),
		workerRefuse:  every(noteEvery, v.access.NoteRefusals),
	} {
		running.Go(func() error { v.keepRunning(working, name, run); return nil })
	}
	err := v.server.Run(ctx, listener)
	rest()
	return errors.Join(err, running.Wait(), v.noteRest(ctx), lost(ctx))
}

// errDatabaseStopped ends the server when the embedded database ends by itself.
var errDatabaseStopped = errors.New("the database stopped")

// lost returns why the context ended when it was not by a signal.
func lost(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errDatabaseStopped) {
		return cause
	}
	return nil
}

// database starts the embedded server, unless another one was named. When the
// embedded server ends by itself, stop is told why.
func (e *Env) database(ctx context.Context, stop context.CancelCauseFunc) (url string, done func(), err error) {
	if e.DatabaseURL != "" {
		return e.DatabaseURL, func() {}, nil
	}
	server, err := embedded.Start(ctx, embedded.Config{Dir: e.DataDir, Log: e.Log, Purpose: "serve"})
	if err != nil {
		return "", nil, err
	}
	go func() {
		select {
		case <-server.Done():
			stop(fmt.Errorf("%w: %w", errDatabaseStopped, server.Err()))
		case <-ctx.Done():
		}
	}()
	return server.URL(), func() { e.warn("stop the database", server.Close()) }, nil
}

// announce says where the server is and how to try it.
func (s *Serve) announce(ctx context.Context, env *Env, pool *sqlx.DB, addr net.Addr) error {
	base := "http://" + addr.String()
	if s.TLSCert != "" {
		base = "https://" + addr.String()
	}
	try, err := s.invitation(ctx, env, pool, base)
	if err != nil {
		return err
	}
	env.printf("simgraph is ready\n  Page     %s/\n  GraphQL  %s/graphql\n  REST     %s/docs\n%s", base, base, base, try)
	return nil
}

// invitation says what to do next.
func (s *Serve) invitation(ctx context.Context, env *Env, pool *sqlx.DB, base string) (string, error) {
	if !s.Demo {
		return emptyHint(ctx, env, pool), nil
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

// emptyHint is "" where there is a company, or the database does not tell.
func emptyHint(ctx context.Context, env *Env, pool *sqlx.DB) string {
	ctx, cancel := context.WithTimeout(ctx, hintTime)
	defer cancel()
	companies, err := db.NewCompanies(pool).List(ctx)
	if err != nil || len(companies) > 0 {
		return ""
	}
	on := ""
	if env.DatabaseURL == "" {
		on = " --data-dir " + env.DataDir
	}
	return fmt.Sprintf("\nThere is no company yet. Load one, and call as one of its users:\n"+
		"  simgraph import acme.ndjson%[1]s\n  simgraph token --user ops@acme.example%[1]s\n", on)
}

// demoToken returns a token of the demo company, which it loads into an empty
// database.
func demoToken(ctx context.Context, env *Env, pool *sqlx.DB) (*domain.Grant, error) {
	companies, err := db.NewCompanies(pool).List(ctx)
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
	store := db.NewAccess(pool)
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

// OneLine is the text of an error on one line.
func OneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
