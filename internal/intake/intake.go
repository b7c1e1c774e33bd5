// Package intake takes what senders send: it reads records by the profile of their source,
// books them, and keeps those that cannot be used with their reasons.
package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"simgraph/domain"
	"simgraph/domain/source"
	"simgraph/internal/profile"
	"simgraph/internal/retry"
)

const (
	// batchSize and batchBytes bound the records of a file in a transaction.
	batchSize  = 5000
	batchBytes = 4 << 20
	// bookings bounds the batches of a file that are booked at a time: the database enters
	// the records of one while it adds up the other.
	bookings = 2
)

// Sources are what the intake keeps of sources.
type Sources interface {
	// Open returns a source by its id, with its secrets; NotFound for none.
	Open(ctx context.Context, sourceID string) (*source.Opened, error)
	// OpenNamed returns a source by its name, without its secrets.
	OpenNamed(ctx context.Context, scope domain.Scope, name string) (*source.Opened, error)
	// Keep adds rejects and what became of the other records of a body.
	Keep(ctx context.Context, of *source.Opened, counts source.Counts, rejects []source.Reject) error
	// NextRejects returns rejects that can be replayed after a digest, up to a number.
	NextRejects(ctx context.Context, of *source.Opened, after [16]byte, most int) ([]*source.Reject, error)
	// Settle notes what a replay gave: used rejects are removed, others have the reasons of now.
	Settle(ctx context.Context, scope domain.Scope, of *source.Opened, outcome source.Replayed) error
}

var _ source.Intake = (*Intake)(nil)

// Intake takes records.
type Intake struct {
	Sources Sources
	// Usage books the records, and calls placed when the next ones may begin.
	Usage interface {
		RecordInTurn(ctx context.Context, scope domain.Scope, records []domain.UsageRecord, placed func()) ([]domain.Recorded, error)
	}
	// Now is the clock of the ledger.
	Now func() time.Time

	mu sync.Mutex
	// compiled are the profiles that were used, by what they say.
	compiled map[string]*profile.Compiled
}

// maxCompiled bounds the profiles that are kept compiled.
const maxCompiled = 1000

// compile returns the profile of a source, compiled once a version.
func (i *Intake) compile(of *source.Opened) (*profile.Compiled, error) {
	key := keyOf(of)
	i.mu.Lock()
	known := i.compiled[key]
	i.mu.Unlock()
	if known != nil {
		return known, nil
	}
	c, err := profile.Compile(of.Profile)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.compiled == nil || len(i.compiled) >= maxCompiled {
		i.compiled = map[string]*profile.Compiled{}
	}
	i.compiled[key] = c
	return c, nil
}

// File is without the bounds of a request.
var File = profile.Limits{Records: math.MaxInt, Bytes: math.MaxInt64 - 1}

// batch is records on their way.
type batch struct {
	items   []profile.Item
	records []domain.UsageRecord
	// places are those of the records among the items.
	places  []int
	rejects []source.Reject
	// rejected are the places of rejects in the body, from 1.
	rejected []int
	counts   source.Counts
	bytes    int
	// booked has the error of its booking; placed is closed when the next may begin.
	booked chan error
	placed chan struct{}
}

func (b *batch) reject(of *source.Opened, item profile.Item, isRecord bool, why error) {
	b.rejects, b.rejected = append(b.rejects, of.NewReject(item.AsText(), isRecord, why)), append(b.rejected, item.Place)
}

// Options are how a body is taken; the zero value has the bounds of a request.
type Options struct {
	Limits profile.Limits
	// Rejected is called with each record that was kept as a reject, and its place in the
	// body, from 1; it may be nil.
	Rejected func(place int, reject *source.Reject)
	// Stored is called after each batch that was stored, and before the next is booked. It
	// ends the body by an error, and may be nil.
	Stored func() error
}

// TakeNamed books the records of a body of any length by the profile of a source of the
// company. It is Unavailable while that is paused.
func (i *Intake) TakeNamed(ctx context.Context, scope domain.Scope, name string, body io.Reader, options Options) (source.Counts, error) {
	of, err := i.Sources.OpenNamed(ctx, scope, name)
	if err != nil {
		return source.Counts{}, err
	}
	if of.PausedAt != nil {
		return source.Counts{}, errPaused()
	}
	options.Limits = File
	return i.Take(ctx, of, body, options)
}

// Take books the records of a body. Within the bounds of a request none is booked of a body
// that is too large. An error means that nothing is known of the records of the last batch,
// and that the body can be taken again.
func (i *Intake) Take(ctx context.Context, of *source.Opened, body io.Reader, options Options) (total source.Counts, err error) {
	c, err := i.compile(of)
	if err != nil {
		return total, err
	}
	t := &taking{Intake: i, ctx: ctx, of: of, Options: options, reading: &batch{}}
	limits := options.Limits.WithDefaults()
	err = c.Each(body, limits, func(item profile.Item) error {
		t.reading.read(c, of, item, i.Now())
		if err := t.settle(func(b *batch) bool { return len(b.booked) > 0 }); err != nil {
			return err
		}
		if len(t.reading.items) < batchSize && t.reading.bytes < batchBytes || limits.Records <= profile.MaxRecords {
			return ctx.Err()
		}
		return t.flush()
	})
	if err == nil {
		err = t.flush()
	}
	// What could not be booked comes first: of that, the body must be taken again.
	settled := t.settle(func(*batch) bool { return true })
	for _, left := range t.underWay {
		settled = cmp.Or(settled, <-left.booked)
	}
	return t.total, cmp.Or(settled, err)
}

// taking is a body on its way. As many as two batches are booked while the next is read.
type taking struct {
	*Intake
	Options
	ctx      context.Context
	of       *source.Opened
	reading  *batch
	underWay []*batch
	total    source.Counts
}

// flush begins to book what was read, once its place after the batch before is certain.
func (t *taking) flush() error {
	if n := len(t.underWay); n > 0 {
		<-t.underWay[n-1].placed
		if err := t.settle(func(*batch) bool { return len(t.underWay) == bookings }); err != nil {
			return err
		}
		if t.Stored != nil {
			if err := t.Stored(); err != nil {
				return err
			}
		}
	}
	full := t.reading
	full.booked, full.placed = make(chan error, 1), make(chan struct{})
	placed := sync.OnceFunc(func() { close(full.placed) })
	t.underWay, t.reading = append(t.underWay, full), &batch{}
	go func() {
		defer placed()
		full.booked <- t.book(t.ctx, t.of, full, placed)
	}()
	return nil
}

// settle reports what became of the batches under way, the first ones first, as long as the
// condition is true of them.
func (t *taking) settle(while func(*batch) bool) error {
	for len(t.underWay) > 0 && while(t.underWay[0]) {
		done := t.underWay[0]
		t.underWay = t.underWay[1:]
		if err := <-done.booked; err != nil {
			return err
		}
		t.total.Add(done.counts)
		for n := range done.rejects {
			if t.Rejected != nil {
				t.Rejected(done.rejected[n], &done.rejects[n])
			}
		}
		if t.Stored != nil {
			if err := t.Stored(); err != nil {
				return err
			}
		}
	}
	return nil
}

// read adds an item.
func (b *batch) read(c *profile.Compiled, of *source.Opened, item profile.Item, now time.Time) {
	b.items, b.bytes = append(b.items, item), b.bytes+item.Bytes
	if item.Err != nil {
		b.reject(of, item, false, item.Err)
		return
	}
	record, err := c.Read(item.Record, now)
	if item.Text != "" {
		b.items[len(b.items)-1].Record = nil // the text is enough for a reject
	}
	switch {
	case errors.Is(err, profile.Skipped):
		b.counts.Skipped++
	case err != nil:
		b.reject(of, item, true, err)
	default:
		record.Source = of.Name
		b.records, b.places = append(b.records, record), append(b.places, len(b.items)-1)
	}
}

// book books a batch and keeps its rejects.
func (i *Intake) book(ctx context.Context, of *source.Opened, b *batch, placed func()) error {
	if len(b.items) == 0 {
		return nil
	}
	if len(b.records) > 0 {
		results, err := i.record(ctx, domain.Whole(of.Company), b.records, placed)
		if err != nil {
			return err
		}
		for n, result := range results {
			if !add(&b.counts, result.Status) {
				b.reject(of, b.items[b.places[n]], true, result.Err)
			}
		}
	}
	b.counts.Rejected = int64(len(b.rejects))
	return i.Sources.Keep(ctx, of, b.counts, b.rejects)
}

const (
	attempts   = 5
	firstPause = 100 * time.Millisecond
)

// record tries again while the database is out of reach: to book the same twice changes
// nothing.
func (i *Intake) record(ctx context.Context, scope domain.Scope, records []domain.UsageRecord, placed func()) ([]domain.Recorded, error) {
	return retry.WhileUnavailable(ctx, attempts, firstPause, func() ([]domain.Recorded, error) {
		return i.Usage.RecordInTurn(ctx, scope, records, placed)
	})
}

// Replay implements source.Intake. It goes on where a call that failed stopped: what was
// used is removed batch by batch.
func (i *Intake) Replay(ctx context.Context, scope domain.Scope, name string) (total source.Counts, err error) {
	of, err := i.Sources.OpenNamed(ctx, scope, name)
	if err != nil {
		return total, err
	}
	c, err := i.compile(of)
	if err != nil {
		return total, err
	}
	var after [16]byte
	for {
		rejects, err := i.Sources.NextRejects(ctx, of, after, replayed)
		if err != nil || len(rejects) == 0 {
			return total, err
		}
		after = rejects[len(rejects)-1].Digest
		outcome, err := i.again(ctx, of, c, rejects)
		if err != nil {
			return total, err
		}
		if err := i.Sources.Settle(ctx, scope, of, outcome); err != nil {
			return total, err
		}
		total.Add(outcome.Counts)
	}
}

// replayed is how many rejects are read again at a time, each of up to 64 kB.
const replayed = 250

// again reads rejects by the profile, and books those that it can read.
func (i *Intake) again(ctx context.Context, of *source.Opened, c *profile.Compiled, rejects []*source.Reject) (outcome source.Replayed, err error) {
	var records []domain.UsageRecord
	var from []*source.Reject
	for _, reject := range rejects {
		record, err := profile.Parse(reject.Payload)
		usage := domain.UsageRecord{}
		if err == nil {
			usage, err = c.Read(record, i.Now())
		}
		switch {
		case errors.Is(err, profile.Skipped):
			outcome.Counts.Skipped++
			outcome.Used = append(outcome.Used, reject)
		case err != nil:
			outcome.Reject(reject, err)
		default:
			usage.Source = of.Name
			records, from = append(records, usage), append(from, reject)
		}
	}
	if len(records) == 0 {
		return outcome, nil
	}
	results, err := i.record(ctx, domain.Whole(of.Company), records, func() {})
	for n, result := range results {
		if add(&outcome.Counts, result.Status) {
			outcome.Used = append(outcome.Used, from[n])
		} else {
			outcome.Reject(from[n], result.Err)
		}
	}
	return outcome, err
}

// add counts a record that was stored; false for one that was not.
func add(counts *source.Counts, status domain.UsageStatus) bool {
	switch status {
	case domain.UsageAccepted:
		counts.Accepted++
	case domain.UsageDuplicate:
		counts.Duplicates++
	case domain.UsageQuarantined:
		counts.Waiting++
	default:
		return false
	}
	return true
}

// Preview implements source.Intake.
func (i *Intake) Preview(ctx context.Context, scope domain.Scope, by source.Profile, sample string) ([]*source.Previewed, error) {
	if scope.Restricted() {
		return nil, &domain.Error{Kind: domain.KindForbidden, Message: "profiles are for users of the whole company"}
	}
	c, err := profile.Compile(by)
	if err != nil {
		return nil, err
	}
	all := []*source.Previewed{}
	err = c.Each(strings.NewReader(sample), profile.Limits{Records: source.MaxPreviewed, Bytes: source.MaxSample}, func(item profile.Item) error {
		all = append(all, i.preview(c, item))
		return ctx.Err()
	})
	if errors.Is(err, profile.ErrTooLarge) {
		return nil, domain.Invalid("sample", "a sample has at most %d records and %d bytes", source.MaxPreviewed, source.MaxSample)
	}
	return all, err
}

func (i *Intake) preview(c *profile.Compiled, item profile.Item) *source.Previewed {
	p := &source.Previewed{Place: item.Place, Payload: item.AsText()}
	record, err := domain.UsageRecord{}, item.Err
	if err == nil {
		record, err = c.Read(item.Record, i.Now())
	}
	if errors.Is(err, profile.Skipped) {
		p.IsSkipped = true
		return p
	}
	if err == nil {
		record.Source = "preview"
		err = record.Check(i.Now(), time.Time{})
	}
	if err != nil {
		p.Error = new("the record cannot be read")
		if public, ok := domain.AsError(err); ok {
			p.Error = &public.Message
			if public.Field != "" {
				p.Field = &public.Field
			}
		}
		return p
	}
	p.Record = &source.Read{
		PhysicalID: record.PhysicalID, IMSI: record.IMSI, MSISDN: record.MSISDN, RecordID: record.RecordID, SessionID: record.SessionID,
		EndedAt: record.EndedAt, MobileOriginated: record.MobileOriginated, MobileTerminated: record.MobileTerminated, IsCumulative: record.IsCumulative(),
	}
	if !record.StartedAt.IsZero() {
		p.Record.StartedAt = &record.StartedAt
	}
	return p
}

// keyOf identifies the version of the profile.
func keyOf(of *source.Opened) string {
	if of.Profile.IsReady() {
		return of.Profile.Name
	}
	return fmt.Sprintf("%d\x00%s\x00%d\x00%s", of.Company, of.Profile.Name, of.Profile.Version, of.Profile.ChangedAt.Format(time.RFC3339Nano))
}
