package bundle_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	bundles "simgraph/db/bundle"
	"simgraph/db/companies"
	"simgraph/db/dbtest"
	"simgraph/db/source"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/internal/bundle"
	"simgraph/internal/fatal"
	"simgraph/internal/profile"
	plain "simgraph/internal/stores"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// now is when the tests take place, as far as usage is concerned.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// database is a real one, with the bad lines of the last load.
type database struct {
	*testing.T
	pool *sqlx.DB
	bad  []string
}

func newDatabase(t *testing.T) *database { return &database{T: t, pool: dbtest.New(t)} }

func stores(pool *sqlx.DB) bundle.Stores {
	clock := func() time.Time { return now }
	all := plain.Bundles(pool, clock)
	all.Profiles = source.New(pool, source.Options{Check: profile.Check, Ready: profile.ReadyProfiles(), Now: clock})
	all.Usage = usage.New(pool, volume.NewEvaluator(clock), usage.Options{Now: clock})
	return all
}

// load imports lines and returns the counts that are not zero, in the order of
// types: "tag +1" is one created, ~ updated, = unchanged, ? quarantined, ! failed.
func (d *database) load(lines ...string) string {
	d.Helper()
	counts, err := d.tryLoad(d.Context(), strings.Join(lines, "\n"))
	fatal.If(d, err)
	var texts []string
	for _, t := range append(bundle.Types(), "") {
		c := counts[t]
		text := string(t)
		for _, part := range []struct {
			sign  string
			count int
		}{{"+", c.Created}, {"~", c.Updated}, {"=", c.Unchanged}, {"?", c.Quarantined}, {"!", c.Failed}} {
			if part.count > 0 {
				text += fmt.Sprintf(" %s%d", part.sign, part.count)
			}
		}
		if text != string(t) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ", ")
}

func (d *database) tryLoad(ctx context.Context, text string) (bundle.Counts, error) {
	d.bad = nil
	return stores(d.pool).Import(ctx, bundle.NewReader(strings.NewReader(text)), bundle.Options{
		BadLine: func(bad *bundle.LineError) { d.bad = append(d.bad, fmt.Sprintf("%d: %v", bad.Line, bad)) },
	})
}

// export returns the bundle of a company.
func (d *database) export(company string) string {
	d.Helper()
	found, err := companies.New(d.pool).FindExternal(d.Context(), company)
	fatal.If(d, err)
	snapshot, err := bundles.NewSnapshots(d.pool).Open(d.Context(), domain.Whole(found.CompanyID))
	fatal.If(d, err)
	var b bytes.Buffer
	fatal.If(d, bundle.Export(d.Context(), snapshot, bundle.NewWriter(&b), nil))
	fatal.If(d, snapshot.Close())
	return b.String()
}

func (d *database) get(query string, args ...any) (value string) {
	d.Helper()
	fatal.If(d, d.pool.GetContext(d.Context(), &value, query, args...))
	return value
}
