package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/companies"
	"simgraph/domain"
	"simgraph/internal/bundle"
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
	snapshot, err := db.NewSnapshots(pool).Open(ctx, domain.Whole(company.CompanyID))
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
