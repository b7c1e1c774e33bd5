package command

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"text/tabwriter"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/bundle"
	"simgraph/db/catalogue"
	"simgraph/db/group"
	"simgraph/db/mail"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	accounts "simgraph/db/upstream"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	rules "simgraph/domain/upstream"
	"simgraph/internal/seal"
	"simgraph/internal/upstream"
	sending "simgraph/internal/webhook"
)

// Move takes over the account of another server of the documented API.
type Move struct {
	From       string `required:"" placeholder:"URL" help:"The other server: where its documented paths begin."`
	KeyFile    string `required:"" placeholder:"FILE" help:"An access key of the other server, as ID:SECRET; - reads standard input. Its user needs View Subscriber, View Statistics Overview, View Monitoring Alerts and View a User's Details, and must see the whole company."`
	Company    string `placeholder:"ID" help:"The company that takes the account over; may be left out when there is only one."`
	Source     string `placeholder:"NAME" help:"What the usage that is copied has as its source; the host of --from when missing. Give the same each time."`
	Days       int    `default:"60" range:"1..400" help:"How many days of usage are copied and compared, today among them."`
	Currency   string `default:"GBP" placeholder:"CODE" help:"The currency of tariffs, by ISO 4217, which the documented API does not return."`
	AtOnce     int    `default:"4" range:"1..64" help:"How many requests to the other server run at the same time."`
	Recipients bool   `help:"Copy the recipients of alert mail too: from then on both sides send mail."`
	VerifyOnly bool   `help:"Compare both sides, and copy nothing."`
}

// Help shows examples.
func (Move) Help() string {
	return `Examples:

	simgraph move --from https://old.example --key-file key.txt --company acme
	simgraph move --from https://old.example --key-file key.txt --company acme --recipients
	simgraph move --from https://old.example --key-file key.txt --company acme --verify-only

It copies groups, operators, tariffs, subscribers, tags, alerts with their log, and
usage by hour, compares all of it afterwards, and says whether clients can be switched
over. It changes nothing on the other side, and can be repeated, also after it was
interrupted: what was revised there since books the difference. The exit status is 1
while something differs.`
}

// Run copies, compares and reports.
func (m *Move) Run(ctx context.Context, env *Env) error {
	client, err := m.client(env)
	if err != nil {
		return err
	}
	pool, company, done, err := openCompany(ctx, env, "move", m.Company)
	if err != nil {
		return err
	}
	defer done()
	mover, progress, err := m.mover(env, pool, client, company)
	if err != nil {
		return err
	}
	refused := 0
	mover.Refused = func(what string, why error) {
		refused++
		progress.clear()
		_, _ = fmt.Fprintf(env.Stderr, "%s: %v\n", what, why)
	}
	if !m.VerifyOnly {
		if err := mover.Copy(ctx); err != nil {
			return err
		}
	}
	report, err := mover.Verify(ctx)
	if err != nil {
		return err
	}
	progress.clear()
	return printReport(env, report, refused)
}

func (m *Move) client(env *Env) (*upstream.Client, error) {
	in := env.Stdin
	if m.KeyFile != "-" {
		file, err := os.Open(m.KeyFile)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, rules.MaxKey))
	if err != nil {
		return nil, err
	}
	key, err := rules.ParseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("--key-file: %w", err)
	}
	return upstream.NewClient(upstream.Config{BaseURL: m.From, Key: key})
}

func (m *Move) mover(env *Env, pool *sqlx.DB, client *upstream.Client, company *domain.Company) (*upstream.Mover, *progress, error) {
	source := m.Source
	if source == "" {
		from, err := url.Parse(m.From)
		if err != nil {
			return nil, nil, err
		}
		source = from.Hostname()
	}
	progress := env.newProgress("move", 0)
	return &upstream.Mover{
		From: client, Company: company, By: actor("move"), Source: source, Currency: m.Currency, Days: m.Days, AtOnce: m.AtOnce, WithRecipients: m.Recipients,
		Now: time.Now, Stores: newStores(pool, newUsage(pool, env.Log)),
		Progress: progress.note,
	}, progress, nil
}

// printReport prints the lines of a report, what differs, and what follows from it.
func printReport(env *Env, report *rules.Report, refused int) error {
	for _, d := range report.Differences {
		_, _ = fmt.Fprintln(env.Stderr, d)
	}
	if more := report.Differ() - int64(len(report.Differences)); more > 0 {
		_, _ = fmt.Fprintf(env.Stderr, "… and more, %d in all\n", report.Differ())
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "\tthere\there\tdiffer\t")
	for _, line := range report.Lines {
		_, _ = fmt.Fprintf(table, "%s\t%d\t%d\t%d\t\n", line.What, line.There, line.Here, line.Differ)
	}
	_ = table.Flush() // standard output is as good as it is
	for _, note := range report.Notes {
		env.printf("- %s\n", note)
	}
	env.printf("usage was compared up to %s\n", report.Until.Format(time.RFC3339))
	if differ := report.Differ(); differ > 0 {
		return fmt.Errorf("%d differ: do not switch clients over yet; run the command again, since the other side may have changed meanwhile", differ)
	}
	if refused > 0 {
		env.printf("- %d could not be stored, as reported above, and make no difference\n", refused)
	}
	env.printf("nothing differs: clients can be switched over to this server\n")
	return nil
}

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
func (s *Serve) synchronizer(env *Env, pool *sqlx.DB, queue *accounts.Store, v *service) *upstream.Worker {
	stores := newStores(pool, v.usage)
	return upstream.NewWorker(upstream.WorkerConfig{
		Queue: queue, Stores: stores, By: actor("upstream"), Transport: sending.NewTransport(s.rules(), dialTime), Log: env.Log, Every: s.UpstreamEvery,
		After: v.pace.After, Ended: func(r upstream.Result) { v.telemetry.Metrics.Passed(string(r)) },
	})
}

// newStores returns where accounts go.
func newStores(pool *sqlx.DB, booked *usage.Store) upstream.Stores {
	tags := tag.New(pool)
	return upstream.Stores{
		Importer: bundle.NewImporter(pool), Subscribers: subscriber.New(pool), Groups: group.New(pool), Operators: catalogue.New(pool), Tags: tags, Detacher: tags,
		Alerts: volume.NewAlerts(pool, time.Now), Recipients: mail.NewRecipients(pool, time.Now), Usage: booked, Audit: audit.NewLog(pool),
	}
}
