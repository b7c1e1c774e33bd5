package command

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"simgraph/db"
	"simgraph/db/companies"
	"simgraph/domain"
	"simgraph/internal/bundle"
)

// Export writes a company as a bundle.
type Export struct {
	Company string `placeholder:"ID" help:"The company; may be left out when there is only one."`
	Output  string `short:"o" default:"-" placeholder:"FILE" help:"Where to write the bundle; - is standard output."`
}

// Help shows examples.
func (Export) Help() string {
	return `Examples:

	simgraph export --company acme --output acme.ndjson
	simgraph export --company acme | zstd > acme.ndjson.zst

The bundle holds the company as it is at one moment, with its usage ledger, and
import restores it. Access keys, tokens, the log of alerts and mails are left
out, as is usage that the ledger does not keep any more.`
}

// Run writes the bundle.
func (e *Export) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "export")
	if err != nil {
		return err
	}
	defer done()
	company, err := OneCompany(ctx, companies.New(pool), e.Company)
	if err != nil {
		return err
	}
	snapshot, err := db.NewSnapshots(pool).Open(ctx, domain.Whole(company.CompanyID))
	if err != nil {
		return err
	}
	defer func() { env.warn("end the snapshot", snapshot.Close()) }()
	progress := env.newProgress("export "+company.ExternalID, 0)
	defer progress.clear()
	lines := 0
	return writeTo(env, e.Output, func(out io.Writer) error {
		return bundle.Export(ctx, snapshot, bundle.NewWriter(out), func() {
			lines++
			progress.report(lines, 0)
		})
	})
}

// writeTo writes a file, or standard output for "-". A regular file appears when
// it is whole, readable by its owner only: it tells of people and their devices.
func writeTo(env *Env, name string, write func(io.Writer) error) (err error) {
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
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err := errors.Join(write(file), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
