package command

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	store "simgraph/db/retention"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/domain/retention"
)

// Retaining are the flags of how long data is kept.
type Retaining struct {
	Retention      *int          `placeholder:"MONTHS" range:"3..1200" help:"How many months of usage records a new database keeps, 13 when missing; totals stay. A database that keeps another number is refused: see simgraph ledger retention."`
	DropDelay      time.Duration `default:"168h" range:"0s..8760h" help:"How long a month that was taken out of the usage ledger can be restored before it is dropped."`
	MailRetention  *int          `placeholder:"DAYS" range:"0..36500" help:"How many days a new database keeps sent mails, 90 when missing; 0 keeps them for ever. A database that keeps them for another time is refused: see simgraph retention set."`
	AuditRetention *int          `placeholder:"MONTHS" range:"0..1200" help:"How many months of the audit log a new database keeps; 0, as when missing, keeps it for ever. A database that keeps it for another time is refused: see simgraph retention set."`
}

// ledgerRules are the intervals in which months are dropped.
func (r *Retaining) ledgerRules() *domain.LedgerRules {
	rules := domain.DefaultLedgerRules
	rules.DropDelay = r.DropDelay
	return &rules
}

// adoptRetentions sets the retentions that a database has none of yet, and refuses
// to serve one that has others than the flags say.
func (s *Serve) adoptRetentions(ctx context.Context, v *service) error {
	has, err := v.ledger.AdoptRetention(ctx, actor("serve"), s.firstRetention())
	if err != nil {
		return err
	}
	if s.Retention != nil && has != *s.Retention {
		return fmt.Errorf("this database keeps %d months of usage records, --retention says %d: leave --retention out, or change the database with simgraph ledger retention %d",
			has, *s.Retention, *s.Retention)
	}
	flags := s.retentionFlags()
	first := map[retention.Name]int{}
	for _, kind := range retention.Kinds {
		first[kind.Name] = kind.Default
		if given := flags[kind.Name].kept; given != nil {
			first[kind.Name] = *given
		}
	}
	wanted, err := v.retentions.Adopt(ctx, actor("serve"), first)
	if err != nil {
		return err
	}
	for _, kind := range retention.Kinds {
		if flag := flags[kind.Name]; flag.kept != nil && wanted[kind.Name] != *flag.kept {
			return fmt.Errorf("this database keeps %s %s, %s says %d: leave %s out, or change the database with simgraph retention set %s %d",
				kind.Of, kind.Text(wanted[kind.Name]), flag.name, *flag.kept, flag.name, kind.Name, *flag.kept)
		}
	}
	return nil
}

// retentionFlag is a flag of serve for the retention of a new database; nil stands
// for one that is not given.
type retentionFlag struct {
	name string
	kept *int
}

// retentionFlags are those of the kinds that have one.
func (s *Serve) retentionFlags() map[retention.Name]retentionFlag {
	return map[retention.Name]retentionFlag{
		retention.Audit:    {"--audit-retention", s.AuditRetention},
		retention.Mails:    {"--mail-retention", s.MailRetention},
		retention.Messages: {"--webhook-retention", s.WebhookRetention},
	}
}

// firstRetention is the retention of a database that has none yet.
func (r *Retaining) firstRetention() int {
	if r.Retention == nil {
		return domain.DefaultRetention
	}
	return *r.Retention
}

// Retention groups the commands about how long data is kept.
type Retention struct {
	Status RetentionStatus `cmd:"" help:"Show how long each kind of data is kept, and what is going to change."`
	Set    RetentionSet    `cmd:"" help:"Change how long a kind of data is kept."`
}

// RetentionStatus shows the retentions.
type RetentionStatus struct {
	History bool `help:"Also show every retention that was ever set, by whom and when."`
}

// Help explains what becomes of a shorter retention.
func (RetentionStatus) Help() string {
	return `A shorter retention is announced by a server, which then has to run for a day
before anything is deleted by it. Until then simgraph retention set takes it back.`
}

// Run prints a line for each kind, and one for what waits.
func (r RetentionStatus) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "retention status")
	if err != nil {
		return err
	}
	defer done()
	ledger, err := usage.ReadLedger(ctx, pool)
	if err != nil {
		return err
	}
	all, err := store.New(pool, store.Options{}).List(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "RETENTION\tKEPT\tOF")
	_, _ = fmt.Fprintf(table, "usage\t%d months\tusage records: see simgraph ledger status\n", ledger.Retention)
	for _, kind := range all {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", kind.Name, kind.Text(kind.InForce()), kind.Of)
		if pending, waits := kind.Pending(); waits {
			_, _ = fmt.Fprintf(table, "\t%s\t%s\n", kind.Text(pending.Kept), waiting(kind, pending))
		}
		if r.History {
			for _, s := range kind.History {
				_, _ = fmt.Fprintf(table, "\t%s\t%s\n", kind.Text(s.Kept), became(s))
			}
		}
	}
	return table.Flush()
}

// waiting says when a shorter retention takes effect.
func waiting(of store.Status, s retention.Setting) string {
	if s.AnnouncedAt.IsZero() {
		return fmt.Sprintf("set %s by %s; a server has to announce it and run for %s", moment(s.SetAt), s.SetBy, of.Left)
	}
	return fmt.Sprintf("set %s by %s, announced %s; takes effect when a server has run for %s more", moment(s.SetAt), s.SetBy, moment(s.AnnouncedAt), of.Left.Round(time.Minute))
}

// became says what became of a setting.
func became(s retention.Setting) string {
	text := fmt.Sprintf("%d: set %s by %s", s.Revision, moment(s.SetAt), s.SetBy)
	if !s.AnnouncedAt.IsZero() {
		text += ", announced " + moment(s.AnnouncedAt)
	}
	if !s.EffectiveAt.IsZero() {
		text += ", in force since " + moment(s.EffectiveAt)
	}
	if !s.WithdrawnAt.IsZero() {
		text += ", withdrawn " + moment(s.WithdrawnAt)
	}
	return text
}

// RetentionSet changes a retention.
type RetentionSet struct {
	Name string `arg:"" help:"What is kept: audit, fields, mails, messages or operations."`
	Kept int    `arg:"" help:"For how many months (audit) or days (the others); 0 keeps the audit log and mails for ever."`
	Consent
}

// Help shows examples.
func (RetentionSet) Help() string {
	return `Examples:

	simgraph retention set audit 24
	simgraph retention set mails 30 --yes

The retention belongs to the database: all instances follow it. A longer one holds
at once. Of a shorter one what would be deleted now is counted, and nothing is
changed without --yes. A server announces it then, and deletes by it when it has
run for a day since; until then this command takes it back, and nothing is lost.`
}

// Run counts what a shorter retention would delete, and changes it when nothing
// would be or --yes was given.
func (r *RetentionSet) Run(ctx context.Context, env *Env) error {
	kind, err := retention.Parse(r.Name)
	if err != nil {
		return err
	}
	if err := kind.Check(r.Kept); err != nil {
		return err
	}
	pool, done, err := env.Open(ctx, "retention set")
	if err != nil {
		return err
	}
	defer done()
	retentions := store.New(pool, store.Options{})
	before, err := retentions.InForce(ctx, kind.Name)
	if err != nil {
		return err
	}
	if retention.Shorter(r.Kept, before.Kept) {
		if err := r.warn(ctx, env, usage.NewLedger(pool, usage.LedgerOptions{}), retentions, kind); err != nil {
			return err
		}
	}
	if err := retentions.Set(ctx, actor("retention set"), kind, r.Kept); err != nil {
		return err
	}
	env.printf("%s\n", r.said(kind, before.Kept))
	return nil
}

// said is what the command has done.
func (r *RetentionSet) said(kind retention.Kind, before int) string {
	if retention.Shorter(r.Kept, before) {
		return fmt.Sprintf("%s will be kept %s, now %s: a server announces it, and deletes by it when it has run for a day since. simgraph retention set %s %d takes it back until then.",
			kind.Of, kind.Text(r.Kept), kind.Text(before), kind.Name, before)
	}
	return fmt.Sprintf("%s are kept %s, before %s.", kind.Of, kind.Text(r.Kept), kind.Text(before))
}

// warn prints how much a shorter retention would delete now, and returns an error
// where that was not agreed to.
func (r *RetentionSet) warn(ctx context.Context, env *Env, ledger *usage.Ledger, retentions *store.Store, kind retention.Kind) error {
	status, err := ledger.Status(ctx)
	if err != nil {
		return err
	}
	expired, _ := retention.InForce{Kind: kind, Kept: r.Kept}.Expired(status.Trusted)
	n, err := retentions.Older(ctx, kind.Name, expired)
	if err != nil {
		return err
	}
	count := fmt.Sprint(n)
	if n > store.CountedOlder {
		count = fmt.Sprintf("more than %d", store.CountedOlder)
	}
	env.printf("By that retention these would be deleted now: %s %s.\n", count, kind.Of)
	return r.agreed("changed", "delete them")
}
