package command

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/domain/retention"
)

const (
	// reconcileEvery is how soon usage that came before its subscriber is booked,
	// or moves to the group of its time, when no import does it.
	reconcileEvery = time.Minute
	// retainEvery is how often old months of the ledger are looked for, and new
	// ones prepared.
	retainEvery = time.Hour
	// noteEvery is how often refused keys are written to the audit log.
	noteEvery = time.Minute
	// renewEvery is how often the use of sessions of the page is stored.
	renewEvery = 10 * time.Second
	// askEvery is how often sessions are looked for whose provider is asked again.
	askEvery = time.Second
	// lookEvery is how soon the log says that the database refuses writes.
	lookEvery = 5 * time.Second
	// sweepEvery is the interval in which sessions are ended that are silent.
	sweepEvery = 20 * time.Second
	// tallyEvery is how often the counts of packets, and of the fields that clients use, are stored.
	tallyEvery = 5 * time.Second
	// evaluateEvery is how often companies are looked for whose conditions are due.
	evaluateEvery = 5 * time.Second
	// filesEvery is how often files are looked for, where they need not settle for longer.
	filesEvery = time.Second
	// noteTime is how long the last time may take.
	noteTime = 5 * time.Second
	// restartAfter is the pause before a worker that failed is started again.
	restartAfter = 2 * time.Second
)

// The workers beside the server.
const (
	workerAdmin     = "admin"
	workerLive      = "live"
	workerMail      = "mail"
	workerReports   = "reports"
	workerWebhook   = "webhook"
	workerReconcile = "settle" // the name that metrics have had since the first version
	workerRetain    = "retain"
	workerRefuse    = "refusals"
	workerRenew     = "logins"
	workerProviders = "providers"
	workerLinks     = "links"
	workerReplica   = "replicas"
	workerWrites    = "writes"
	workerRADIUS    = "radius"
	workerSessions  = "sessions"
	workerTally     = "feed"
	workerDemo      = "demo"
	workerBulk      = "operations"
	workerCondition = "conditions"
	workerFiles     = "files"
	workerUpstream  = "upstreams"
	workerDocuments = "documents"
	workerFields    = "fields"
	workerSQLRoles  = "sql_roles"
)

var workers = []string{workerAdmin, workerLive, workerMail, workerReports, workerWebhook, workerReconcile, workerRetain, workerRefuse, workerRenew, workerProviders, workerLinks, workerReplica, workerWrites, workerRADIUS, workerSessions, workerTally, workerDemo, workerBulk, workerCondition, workerFiles, workerUpstream, workerDocuments, workerFields, workerSQLRoles}

// keepRunning runs a worker until ctx ends, again when it fails: a database that
// is away for a while must not end the service.
func (v *service) keepRunning(ctx context.Context, name string, run func(context.Context) error) {
	for ctx.Err() == nil {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			v.telemetry.Metrics.WorkerFailed(name)
			v.failures.note(ctx, v.log, name, err)
			wait(ctx, restartAfter)
		}
	}
}

// failuresEvery is how often failures of workers are logged.
const failuresEvery = time.Minute

// failures are those of workers that the log does not have yet. A database, or a node of
// Citus, that is down fails all of them every two seconds.
type failures struct {
	mu sync.Mutex
	// waiting reports that what comes now is logged later, together.
	waiting bool
	counts  map[string]int
	last    error
}

// note logs the first failure at once, and what comes after it in a line a minute.
func (f *failures) note(ctx context.Context, log *slog.Logger, worker string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting {
		f.counts[worker]++
		f.last = err
		return
	}
	log.Error("a worker failed and is started again", "worker", worker, "error", err)
	f.waiting, f.counts = true, map[string]int{}
	go f.follow(ctx, log)
}

// follow logs what has failed each minute, until a minute passes without.
func (f *failures) follow(ctx context.Context, log *slog.Logger) {
	for ctx.Err() == nil {
		wait(ctx, failuresEvery)
		if !f.report(log) {
			return
		}
	}
}

// report returns false when nothing has failed since the last line.
func (f *failures) report(log *slog.Logger) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = len(f.counts) > 0
	if !f.waiting {
		return false
	}
	var attrs []any
	for _, worker := range slices.Sorted(maps.Keys(f.counts)) {
		attrs = append(attrs, slog.Int(worker, f.counts[worker]))
	}
	log.Error("workers failed and are started again", slog.Group("times", attrs...), "error", f.last)
	f.counts = map[string]int{}
	return true
}

// every runs work at once and then in intervals, until ctx ends.
func every(interval time.Duration, work func(context.Context) error) func(context.Context) error {
	return repeated(interval, work, time.After)
}

// paced is every with longer intervals while nobody uses the service.
func (v *service) paced(interval time.Duration, work func(context.Context) error) func(context.Context) error {
	return repeated(interval, work, v.pace.After)
}

func repeated(interval time.Duration, work func(context.Context) error, after func(time.Duration) <-chan time.Time) func(context.Context) error {
	return func(ctx context.Context) error {
		for ctx.Err() == nil {
			if err := work(ctx); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
			case <-after(interval):
			}
		}
		return nil
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// retain keeps the ledger, the audit log and the mails within what is kept, and
// the coming months of the ledger ready; see settle for the months that are over.
func (v *service) retain(ctx context.Context) error {
	err := errors.Join(v.inspect(ctx), v.upkeep.EnsurePartitions(ctx))
	steps, ledgerErr := v.ledger.Upkeep(ctx, actor("serve"))
	for _, step := range steps {
		v.logStep(step)
	}
	if ledgerErr == nil {
		v.telemetry.Metrics.LedgerKept()
	}
	// A wrong clock does no harm to the sums of months: what is booked later corrects them.
	return errors.Join(err, ledgerErr, v.retention(ctx), v.settle(ctx), v.upkeep.SumMonths(ctx))
}

// inspect finds and logs what was done to the ledger by something else than simgraph of
// this version.
func (v *service) inspect(ctx context.Context) error {
	found, err := v.ledger.Inspect(ctx, actor("serve"))
	for _, month := range found.Lost {
		warnOfLost(v.log, month)
	}
	if found.Registered > 0 {
		v.log.Warn("put identities of stored usage records back, which were removed by something else than simgraph of this version", "records", found.Registered)
	}
	return err
}

// warnOfLost logs a month that was taken away by something else than simgraph.
func warnOfLost(log *slog.Logger, month time.Time) {
	log.Warn("a month of the usage ledger is missing that was not detached by simgraph; its totals stay, and it takes no records",
		"month", month.Format(domain.MonthLayout))
}

// logStep writes what happened to a month of the ledger.
func (v *service) logStep(step domain.LedgerStep) {
	month := step.Month.Format(domain.MonthLayout)
	switch {
	case step.Held:
		v.log.Warn("a month of the usage ledger could not be detached since other work holds the ledger; it is tried again", "month", month)
	case step.Action == domain.LedgerAnnounce:
		v.log.Warn("a month of the usage ledger is older than the retention and will be detached in a day at the earliest", "month", month)
	case step.Action == domain.LedgerWithdraw:
		v.log.Info("a month of the usage ledger is kept after all", "month", month)
	case step.Action == domain.LedgerDetach:
		v.log.Warn("detached a month of the usage ledger; simgraph ledger restore-month brings it back", "month", month)
	case step.Action == domain.LedgerDue:
		v.log.Warn("a detached month of the usage ledger will be dropped in a day at the earliest", "month", month)
	case step.Action == domain.LedgerDrop:
		v.log.Warn("dropped a month of the usage ledger", "month", month)
	}
}

// retention announces the shorter retentions that were set, and logs which took effect.
func (v *service) retention(ctx context.Context) error {
	steps, err := v.retentions.Upkeep(ctx, actor("serve"))
	for _, step := range steps {
		text := "a shorter retention was set, by which data will be deleted in a day at the earliest; simgraph retention set takes it back"
		if step.Action == retention.TakeEffect {
			text = "a shorter retention takes effect, by which data is deleted from now on"
		}
		v.log.Warn(text, "retention", step.Name, "of", step.Of, "before", step.Text(step.Before), "after", step.Text(step.Kept))
	}
	return err
}

// settle removes what has expired by the retentions in force and a clock that usage
// confirms, and adds up the months that are over; never soon after the start, when
// instances of the version before may still book usage and not know those months.
func (v *service) settle(ctx context.Context) error {
	now, settled, err := v.ledger.TrustedClock(ctx)
	if err != nil || !settled {
		return err
	}
	var failures []error
	for _, kind := range retention.Kinds {
		failures = append(failures, v.prune(ctx, kind.Name, now))
	}
	return errors.Join(append(failures, v.oldOperations.PruneUploads(ctx),
		v.upkeep.PruneWatermarks(ctx, now.Add(-condition.SourceSilence-condition.Abandoned)))...)
}

// prune removes what has expired of a kind.
func (v *service) prune(ctx context.Context, name retention.Name, now time.Time) error {
	kept, err := v.retentions.InForce(ctx, name)
	if err != nil {
		return err
	}
	expired, expires := kept.Expired(now)
	if !expires {
		return nil
	}
	pruned, err := v.pruners()[name](ctx, expired)
	if pruned > 0 {
		v.log.Info("removed what is older than the retention", "retention", name, "of", kept.Of, "kept", kept.Text(kept.Kept), "removed", pruned)
	}
	return err
}

// pruners remove what has expired of each kind.
func (v *service) pruners() map[retention.Name]func(context.Context, retention.Expired) (int, error) {
	return map[retention.Name]func(context.Context, retention.Expired) (int, error){
		retention.Audit: func(ctx context.Context, expired retention.Expired) (int, error) {
			return v.audit.Prune(ctx, expired, actor("serve"))
		},
		retention.Fields:     v.fields.Prune,
		retention.Mails:      v.outbox.Prune,
		retention.Messages:   v.pruneMessages,
		retention.Operations: v.oldOperations.Prune,
	}
}

// pruneMessages removes old commands, and then old messages of webhooks, of which those
// of the commands are some.
func (v *service) pruneMessages(ctx context.Context, expired retention.Expired) (int, error) {
	commands, err := v.commands.Prune(ctx, expired)
	if err != nil {
		return commands, err
	}
	messages, err := v.webhooks.Prune(ctx, expired)
	return commands + messages, err
}

// noteRest stores what was refused since the last time, which sessions were used, and
// what operations used of the schema, when the service ends.
func (v *service) noteRest(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer stop()
	if err := v.fields.Flush(ctx); err != nil {
		v.log.Warn("what operations used of the schema last is not stored", "error", err)
	}
	return errors.Join(v.noteRefusals(ctx), v.sessions.Renew(ctx))
}

// noteRefusals writes to the audit log who was refused.
func (v *service) noteRefusals(ctx context.Context) error {
	return errors.Join(v.access.NoteRefusals(ctx), v.sessions.NoteRefusals(ctx))
}
