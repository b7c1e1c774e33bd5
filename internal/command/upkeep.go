package command

import (
	"context"
	"errors"
	"strconv"
	"time"

	"simgraph/domain"
)

const (
	// reconcileEvery is how soon usage that came before its subscriber is booked,
	// or moves to the group of its time, when no import does it.
	reconcileEvery = time.Minute
	// retainEvery is how often old months of the ledger are looked for, and new
	// ones prepared.
	retainEvery = 6 * time.Hour
	// noteEvery is how often the audit log is told of keys that were refused.
	noteEvery = time.Minute
	// lookEvery is how soon the log says that the database refuses writes.
	lookEvery = 5 * time.Second
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
	workerReconcile = "settle" // the name that metrics have had since the first version
	workerRetain    = "retain"
	workerRefuse    = "refusals"
	workerReplica   = "replicas"
	workerWrites    = "writes"
)

var workers = []string{workerAdmin, workerLive, workerMail, workerReconcile, workerRetain, workerRefuse, workerReplica, workerWrites}

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

// retain keeps the ledger within its months, and the coming ones ready.
func (v *service) retain(ctx context.Context) error {
	err := v.upkeep.EnsurePartitions(ctx)
	dropped, dropErr := v.upkeep.Retain(ctx)
	if dropped > 0 {
		v.log.Info("dropped old months of the usage ledger", "months", dropped)
	}
	return errors.Join(err, dropErr, v.noteDropped(ctx, dropped), v.prune(ctx), v.pruneMails(ctx))
}

// noteDropped tells the audit log that months of the ledger are gone.
func (v *service) noteDropped(ctx context.Context, months int) error {
	if months == 0 {
		return nil
	}
	return v.audit.Note(ctx, domain.Whole(domain.Installation).By(actor("serve")), domain.AuditEntry{
		Action: domain.AuditUsageDrop, SubjectType: "Usage", Changes: []domain.AuditChange{domain.Was("months", strconv.Itoa(months))},
	})
}

// prune keeps the audit log within its months, unless it is kept for ever.
func (v *service) prune(ctx context.Context) error {
	if v.auditMonths == 0 {
		return nil
	}
	pruned, err := v.audit.Prune(ctx, time.Now().AddDate(0, -v.auditMonths, 0), actor("serve"))
	if pruned > 0 {
		v.log.Info("removed old entries of the audit log", "entries", pruned)
	}
	return err
}

// pruneMails removes old mails, unless they are kept for ever.
func (v *service) pruneMails(ctx context.Context) error {
	if v.mailDays == 0 {
		return nil
	}
	pruned, err := v.outbox.Prune(ctx, time.Now().AddDate(0, 0, -v.mailDays))
	if pruned > 0 {
		v.log.Info("removed old mails", "mails", pruned)
	}
	return err
}

// noteRest tells the audit log what was refused since the last time, when the
// service ends.
func (v *service) noteRest(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer stop()
	return v.access.NoteRefusals(ctx)
}
