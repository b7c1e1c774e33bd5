package command

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"simgraph/domain"
	rules "simgraph/domain/bulk"
	"simgraph/domain/condition"
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
	// tallyEvery is how often the counts of packets are stored.
	tallyEvery = 5 * time.Second
	// evaluateEvery is how often companies are looked for whose conditions are due.
	evaluateEvery = 5 * time.Second
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
	workerWebhook   = "webhook"
	workerReconcile = "settle" // the name that metrics have had since the first version
	workerRetain    = "retain"
	workerRefuse    = "refusals"
	workerRenew     = "logins"
	workerProviders = "providers"
	workerReplica   = "replicas"
	workerWrites    = "writes"
	workerRADIUS    = "radius"
	workerSessions  = "sessions"
	workerTally     = "feed"
	workerDemo      = "demo"
	workerBulk      = "operations"
	workerCondition = "conditions"
)

var workers = []string{workerAdmin, workerLive, workerMail, workerWebhook, workerReconcile, workerRetain, workerRefuse, workerRenew, workerProviders, workerReplica, workerWrites, workerRADIUS, workerSessions, workerTally, workerDemo, workerBulk, workerCondition}

// keepRunning runs a worker until ctx ends, again when it fails: a database that
// is away for a while must not end the service.
func (v *service) keepRunning(ctx context.Context, name string, run func(context.Context) error) {
	for ctx.Err() == nil {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			v.telemetry.Metrics.WorkerFailed(name)
			v.log.Error("a worker failed and is started again", "worker", name, "error", err)
			wait(ctx, restartAfter)
		}
	}
}

// every runs work at once and then in intervals, until ctx ends.
func every(interval time.Duration, work func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for ctx.Err() == nil {
			if err := work(ctx); err != nil {
				return err
			}
			wait(ctx, interval)
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
	return errors.Join(err, ledgerErr, v.settle(ctx))
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

// settle removes old entries of the audit log, mails, messages of webhooks and operations, by a clock that usage
// confirms, and adds up the months that are over; never soon after the start, when
// instances of the version before may still book usage and not know those months.
func (v *service) settle(ctx context.Context) error {
	now, settled, err := v.ledger.TrustedClock(ctx)
	if err != nil || !settled {
		return err
	}
	return errors.Join(v.prune(ctx, now), v.pruneMails(ctx, now), v.pruneMessages(ctx, now), v.pruneOperations(ctx, now),
		v.upkeep.PruneWatermarks(ctx, now.Add(-condition.SourceSilence-condition.Abandoned)), v.upkeep.SumMonths(ctx))
}

// prune keeps the audit log within its months, unless it is kept for ever.
func (v *service) prune(ctx context.Context, now time.Time) error {
	if v.auditMonths == 0 {
		return nil
	}
	pruned, err := v.audit.Prune(ctx, now.AddDate(0, -v.auditMonths, 0), actor("serve"))
	if pruned > 0 {
		v.log.Info("removed old entries of the audit log", "entries", pruned)
	}
	return err
}

// pruneMails removes old mails, unless they are kept for ever.
func (v *service) pruneMails(ctx context.Context, now time.Time) error {
	if v.mailDays == 0 {
		return nil
	}
	pruned, err := v.outbox.Prune(ctx, now.AddDate(0, 0, -v.mailDays))
	if pruned > 0 {
		v.log.Info("removed old mails", "mails", pruned)
	}
	return err
}

// pruneMessages removes old commands, and then old messages of webhooks, of which those
// of the commands are some.
func (v *service) pruneMessages(ctx context.Context, now time.Time) error {
	commands, lost := v.commands.Prune(ctx, now.AddDate(0, 0, -v.messageDays))
	if commands > 0 {
		v.log.Info("removed old commands", "commands", commands)
	}
	if lost != nil {
		return lost
	}
	pruned, err := v.webhooks.Prune(ctx, now.AddDate(0, 0, -v.messageDays))
	if pruned > 0 {
		v.log.Info("removed old messages of webhooks", "messages", pruned)
	}
	return err
}

// pruneOperations removes old operations with their results.
func (v *service) pruneOperations(ctx context.Context, now time.Time) error {
	pruned, err := v.oldOperations.Prune(ctx, now.Add(-rules.Kept))
	if pruned > 0 {
		v.log.Info("removed old operations", "operations", pruned)
	}
	return err
}

// noteRest stores what was refused since the last time, and which sessions were
// used, when the service ends.
func (v *service) noteRest(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer stop()
	return errors.Join(v.noteRefusals(ctx), v.sessions.Renew(ctx))
}

// noteRefusals writes to the audit log who was refused.
func (v *service) noteRefusals(ctx context.Context) error {
	return errors.Join(v.access.NoteRefusals(ctx), v.sessions.NoteRefusals(ctx))
}
