package domain

import "time"

// Backlog is the work of all companies that waits; a time is zero when nothing
// does.
type Backlog struct {
	// Partial reports that parts of the database did not answer: what waits there is
	// not counted.
	Partial bool
	// Mails wait to be sent, Deliveries to be gathered into mails.
	Mails, Deliveries          int
	OldestMail, OldestDelivery time.Time
	// Queues are what else waits, by kind; missing where nothing does.
	Queues map[Queue]Waiting
	// Housekeeping counts the steps that are pending, by kind.
	Housekeeping map[Step]int
	// Evaluated is when the conditions of the company that is furthest behind were
	// evaluated last without a failure; zero when no company has any.
	Evaluated time.Time
	// Silences have begun and not ended; those with windows of a week count between the
	// windows too.
	Silences int
	// Watermark is the latest end of any usage record.
	Watermark time.Time
	// FirstMonth is that of the ledger; zero when no month was ever detached.
	FirstMonth time.Time
}

// Queue is a kind of work that waits.
type Queue string

// The kinds of work that wait, beside mails and deliveries.
const (
	// QueueMessages are messages to webhooks that are enabled, QueueHeld those to
	// webhooks that are disabled. Commands are in neither.
	QueueMessages Queue = "webhook_messages"
	QueueHeld     Queue = "held_webhook_messages"
	// QueueCommands are commands that the endpoint of the carrier has not taken,
	// QueueReports those that it took and whose outcome was not reported.
	QueueCommands Queue = "commands"
	QueueReports  Queue = "command_reports"
	// QueueMailedReports are reports by mail that are due and not answered.
	QueueMailedReports Queue = "reports"
	// QueueOperations are operations that are checked or run.
	QueueOperations Queue = "operations"
	// QueueQuarantine are usage records whose subscribers are not known.
	QueueQuarantine Queue = "quarantine"
	// QueueRejects are requests of network elements that could not be used, for a reason
	// that still came within a day. The oldest is when the reason came first.
	QueueRejects Queue = "rejects"
)

// Queues are all of them.
var Queues = []Queue{QueueMessages, QueueHeld, QueueCommands, QueueReports, QueueMailedReports, QueueOperations, QueueQuarantine, QueueRejects}

// Waiting is how much waits, and since when the oldest does.
type Waiting struct {
	Number int
	Oldest time.Time
}

// Step is a kind of step of housekeeping.
type Step string

// The steps of housekeeping.
const (
	// StepAnnounced are months of the ledger that will be detached, StepDetached those
	// that will be dropped.
	StepAnnounced Step = "announced_months"
	StepDetached  Step = "detached_months"
	// StepRetentions are shorter retentions that do not hold yet.
	StepRetentions Step = "retentions"
	// StepMoves are companies with usage that has to move to other groups.
	StepMoves Step = "moves"
	// StepRebuilds are companies whose rebuild was interrupted.
	StepRebuilds Step = "rebuilds"
	// StepUploads are uploads that nobody ended and that are to be removed.
	StepUploads Step = "uploads"
)

// Steps are all of them.
var Steps = []Step{StepAnnounced, StepDetached, StepRetentions, StepMoves, StepRebuilds, StepUploads}

// Add adds the work of another part of the companies.
func (b *Backlog) Add(other Backlog) {
	b.Mails += other.Mails
	b.Deliveries += other.Deliveries
	b.Silences += other.Silences
	b.OldestMail = earlier(b.OldestMail, other.OldestMail)
	b.OldestDelivery = earlier(b.OldestDelivery, other.OldestDelivery)
	b.Evaluated = earlier(b.Evaluated, other.Evaluated)
	for queue, there := range other.Queues {
		b.Wait(queue, there)
	}
	for step, n := range other.Housekeeping {
		b.Pend(step, n)
	}
	if other.Watermark.After(b.Watermark) {
		b.Watermark = other.Watermark
	}
}

// Wait adds what waits of a kind.
func (b *Backlog) Wait(queue Queue, more Waiting) {
	if b.Queues == nil {
		b.Queues = map[Queue]Waiting{}
	}
	here := b.Queues[queue]
	b.Queues[queue] = Waiting{Number: here.Number + more.Number, Oldest: earlier(here.Oldest, more.Oldest)}
}

// Pend adds steps of housekeeping.
func (b *Backlog) Pend(step Step, more int) {
	if b.Housekeeping == nil {
		b.Housekeeping = map[Step]int{}
	}
	b.Housekeeping[step] += more
}

// earlier returns the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Replica is the state of a standby of the database.
type Replica struct {
	// Place is its address, without credentials.
	Place string
	// Used reports whether reads go to it.
	Used bool
	// Lag is how far it is behind the primary, at most ten minutes.
	Lag time.Duration
}
