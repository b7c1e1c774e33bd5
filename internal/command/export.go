package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/companies"
	"simgraph/domain"
	"simgraph/internal/bundle"
	"simgraph/internal/durable"
)

// Export writes a company as a bundle.
type Export struct {
	Company string `placeholder:"ID" xor:"companies" help:"The company; may be left out when there is only one."`
	All     bool   `xor:"companies" help:"All companies, one after the other, each as it is when its turn comes."`
	Output  string `short:"o" default:"-" placeholder:"FILE" help:"Where to write the bundle; - is standard output."`
}

// Help shows examples.
func (Export) Help() string {
	return `Examples:

	simgraph export --company acme --output acme.ndjson
	simgraph export --company acme | zstd > acme.ndjson.zst
	simgraph export --all --output fleet.ndjson

The bundle holds the company as it is at one moment, with its usage ledger and
the log of its alerts, and import restores it. Access keys, tokens, mails and
the audit log are left out, as is usage that the ledger does not keep any more.`
}

// Run writes the bundle.
func (e *Export) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "export")
	if err != nil {
		return err
	}
	defer done()
	all, err := e.companies(ctx, companies.New(pool))
	if err != nil {
		return err
	}
	return writeTo(env, e.Output, func(out io.Writer) error {
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

// writeTo writes a file, or standard output for "-". A regular file appears when
// it is whole and on disk, readable by its owner only: it is about people and their
// devices.
func writeTo(env *Env, name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(env.Stdout)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		pipe, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(pipe), pipe.Close())
	}
	return durable.Replace(name, write)
}
