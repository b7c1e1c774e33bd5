package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	store "simgraph/db/bundle"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/subscriber"
	"simgraph/domain"
	"simgraph/export"
	"simgraph/graph/engine/transport"
	"simgraph/internal/bundle"
	"simgraph/resolvers"
)

// Export writes a company as a bundle.
type Export struct {
	Company string `placeholder:"ID" xor:"companies" help:"The company; may be left out when there is only one."`
	All     bool   `xor:"companies" help:"All companies, one after the other, each as it is when its turn comes."`
	Output  string `short:"o" default:"-" placeholder:"FILE" help:"Where to write the bundle, or the file; - is standard output."`
	Overwriting
	Rows
}

// Help shows examples.
func (Export) Help() string {
	return `Examples:

	simgraph export --company acme --output acme.ndjson
	simgraph export --company acme | zstd > acme.ndjson.zst
	simgraph export --all --output fleet.ndjson

The bundle holds the company as it is at one moment, with its usage ledger and
the log of its alerts, and import restores it. Access keys, tokens and secrets
are left out, and so are sources, webhooks and clients of RADIUS; mails, the audit
log, and usage that the ledger does not keep any more.

With --what, rows are written for analysts instead, as at GET /export/:

	simgraph export --what usage --format parquet --company acme --from 2026-11-01 --to 2026-11-30 --output usage.parquet
	simgraph export --what subscribers --company acme --filter '{"isActive": {"eq": true}}' > active.csv`
}

// Validate is called by kong.
func (e *Export) Validate() error {
	if e.What == "" {
		return e.unused()
	}
	if e.All {
		return errors.New("--all is for bundles: rows are of one company")
	}
	return nil
}

// Run writes the bundle.
func (e *Export) Run(ctx context.Context, env *Env) error {
	if err := e.check(e.Output); err != nil {
		return err
	}
	pool, url, done, err := env.openAt(ctx, "export")
	if err != nil {
		return err
	}
	defer done()
	if e.What != "" {
		company, err := OneCompany(ctx, companies.New(pool), e.Company)
		if err != nil {
			return err
		}
		return e.writeTo(env, e.Output, func(out io.Writer) error { return e.write(ctx, env, pool, url, company, out) })
	}
	all, err := e.companies(ctx, companies.New(pool))
	if err != nil {
		return err
	}
	return e.writeTo(env, e.Output, func(out io.Writer) error {
		for _, company := range all {
			if err := exportOne(ctx, env, pool, company, out); err != nil {
				return fmt.Errorf("%s: %w", company.ExternalID, err)
			}
		}
		return nil
	})
}

func (e *Export) companies(ctx context.Context, companies domain.Companies) ([]*domain.Company, error) {
	if e.All {
		return companies.List(ctx)
	}
	one, err := OneCompany(ctx, companies, e.Company)
	return []*domain.Company{one}, err
}

// exportOne writes a company as it is at one moment.
func exportOne(ctx context.Context, env *Env, pool *sqlx.DB, company *domain.Company, out io.Writer) error {
	snapshot, err := store.NewSnapshots(pool).Open(ctx, domain.Whole(company.CompanyID))
	if err != nil {
		return err
	}
	defer func() { env.warn("end the snapshot", snapshot.Close()) }()
	progress := env.newProgress("export "+company.ExternalID, 0)
	defer progress.clear()
	lines := 0
	return bundle.Export(ctx, snapshot, bundle.NewWriter(out), func() {
		lines++
		progress.report(lines, 0)
	})
}

// exportPatience is how long the client of an export may take nothing: the snapshot keeps old
// rows in the database.
const exportPatience = time.Minute

// newExporter returns what exports rows from snapshots, which open makes.
func (v *service) newExporter(open func(context.Context) (*sqlx.DB, error), audit domain.AuditLog, stillValid func(context.Context) error) (*export.Exporter, error) {
	schema := v.graph.Schema()
	engine := transport.New(schema, transport.Config{
		Log: v.log, Present: resolvers.Present, PerResponse: v.perResponse(v.graph),
		Alternate: func(ctx context.Context) *transport.Alternate {
			answers, _ := ctx.Value(snapshotKey{}).(*transport.Alternate)
			return answers
		},
	})
	return export.New(export.Config{
		Schema: schema.Schema(), Prepare: engine.Prepare, Audit: audit, StillValid: stillValid, Now: time.Now, Log: v.log,
		Open: func(ctx context.Context) (export.Snapshot, error) {
			pool, err := open(ctx)
			if err != nil {
				return nil, err
			}
			graph := v.readGraph(pool)
			graph.Ports.Subscribers = export.Subscribers{Subscribers: graph.Ports.Subscribers}
			return &exported{pool, &transport.Alternate{
				Schema: graph.Schema(), PerResponse: v.perResponse(graph), ShouldFallBack: func(error) bool { return false },
			}}, nil
		},
	})
}

// openSnapshot begins one on a standby, where one may answer the caller, or on the primary.
func (v *service) openSnapshot(ctx context.Context) (*sqlx.DB, error) {
	if v.replicas != nil {
		if standby, is := v.replicas.Standby(ctx).(*pg.Replica); is {
			pool, err := standby.OpenSnapshot(ctx, pg.Options{})
			if err == nil || ctx.Err() != nil {
				return pool, err
			}
			v.log.WarnContext(ctx, "an export is read from the primary", "standby", standby.Place(), "error", err)
		}
	}
	return pg.OpenSnapshot(ctx, v.address, pg.Options{})
}

// exported implements export.Snapshot.
type exported struct {
	pool    *sqlx.DB
	answers *transport.Alternate
}

type snapshotKey struct{}

// Within implements export.Snapshot.
func (e *exported) Within(ctx context.Context) context.Context {
	return context.WithValue(ctx, snapshotKey{}, e.answers)
}

// Usage implements export.Snapshot.
func (e *exported) Usage() domain.UsageExports { return subscriber.NewUsageExports(e.pool) }

// Close implements export.Snapshot.
func (e *exported) Close() error { return e.pool.Close() }

// Rows are the flags of what export writes for analysts. They are the parameters of the
// paths below export.Prefix.
type Rows struct {
	What        string `enum:",subscribers,usage,sessions,alert-log,audit" default:"" group:"Rows for analysts" placeholder:"WHAT" help:"Write rows instead of a bundle: subscribers, usage, sessions, alert-log or audit."`
	Format      string `enum:",csv,ndjson,parquet" default:"" group:"Rows for analysts" placeholder:"FORMAT" help:"csv, which is the default, ndjson or parquet."`
	Filter      string `group:"Rows for analysts" placeholder:"JSON" help:"Only what fits: the JSON of a filter of the graph, for usage of subscribers."`
	After       string `group:"Rows for analysts" placeholder:"CURSOR" help:"Go on after this row."`
	Spreadsheet bool   `group:"Rows for analysts" help:"Keep spreadsheets from making numbers of identifiers."`
	From        string `group:"Rows for analysts" placeholder:"DATE" help:"The first day of usage, or a time; that of the billing period when missing."`
	To          string `group:"Rows for analysts" placeholder:"DATE" help:"The last day of usage, or the first time after the span."`
	Interval    string `group:"Rows for analysts" placeholder:"UNIT" help:"What a row of usage sums up: HOUR, DAY, WEEK or MONTH."`
	By          string `group:"Rows for analysts" placeholder:"SPLIT" help:"Split usage of subscribers by PROTOCOL, ADDRESS, GROUP, TAG, OPERATOR, TARIFF, KIND or COUNTRY."`
	TimeZone    string `group:"Rows for analysts" placeholder:"ZONE" help:"In which days begin; the company's when missing."`
	Group       string `group:"Rows for analysts" placeholder:"ID" help:"Only usage in this group."`
}

// values are the flags by the names of the parameters.
func (r *Rows) values() map[string]string {
	values := map[string]string{
		"format": r.Format, "filter": r.Filter, "after": r.After, "from": r.From, "to": r.To, "interval": r.Interval, "by": r.By, "timeZone": r.TimeZone, "group": r.Group,
	}
	if r.Spreadsheet {
		values["spreadsheet"] = "true"
	}
	return values
}

// unused returns an error for flags that need --what.
func (r *Rows) unused() error {
	for name, value := range r.values() {
		if value != "" {
			return fmt.Errorf("--%s is for rows: name them by --what", flagOf(name))
		}
	}
	return nil
}

// flagOf is the flag of a parameter.
func flagOf(parameter string) string {
	if parameter == "timeZone" {
		return "time-zone"
	}
	return parameter
}

// write writes the rows of a company.
func (r *Rows) write(ctx context.Context, env *Env, pool *sqlx.DB, url string, company *domain.Company, out io.Writer) error {
	v := &service{log: env.Log, address: url, telemetry: &observed{}}
	v.graph = v.readGraph(pool)
	exporter, err := v.newExporter(v.openSnapshot, audit.NewLog(pool), func(context.Context) error { return nil })
	if err != nil {
		return err
	}
	values := r.values()
	request := export.Request{Export: r.What, Format: values["format"]}
	if request.Format == "" {
		request.Format = export.CSV
	}
	if err := request.Read(func(name string) string { return values[name] }); err != nil {
		return err
	}
	ctx = domain.WithCaller(ctx, &domain.Caller{Company: company, Permissions: domain.AllPermissions(), Scope: domain.Whole(company.CompanyID).By(actor("export"))})
	running, err := exporter.Begin(ctx, request)
	if err != nil {
		return err
	}
	defer running.Close()
	summary, err := running.WriteTo(ctx, out)
	if err != nil {
		return fmt.Errorf("the file was cut after %d rows: %w", summary.Rows, err)
	}
	env.Log.Info("exported", "what", r.What, "rows", summary.Rows, "sha256", summary.SHA256)
	return nil
}
