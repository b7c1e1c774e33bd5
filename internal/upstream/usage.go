package upstream

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"simgraph/domain"
	"simgraph/domain/upstream"
	"simgraph/internal/retry"
)

// booking bounds the records of a transaction.
const booking = 5_000

// days are a set of the days of a copy, by their place.
type days []uint64

func (d days) has(n int) bool { return d[n/64]&(1<<(n%64)) != 0 }
func (d days) add(n int)      { d[n/64] |= 1 << (n % 64) }

// bounds are the first and the last of them.
func (d days) bounds(most int) (first, last int) {
	first = -1
	for n := range most {
		if d.has(n) {
			last = n
			if first < 0 {
				first = n
			}
		}
	}
	return first, last
}

// firstDay begins the usage that is copied.
func (m *Mover) firstDay(now time.Time) time.Time {
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-m.Days)
}

// dayOf is the nth day from the first one, which is 0.
func dayOf(first time.Time, n int) span {
	return span{first.AddDate(0, 0, n), first.AddDate(0, 0, n+1)}
}

// copyUsage compares the days of each subscriber, which takes one request a day, and asks
// for the hours of those that differ. Days without a record yet are asked for together, by
// subscriber; others one by one, since what is booked must be known by the hour.
//
// Days that are stored stand in the cursor. Of a pass that was interrupted, the others are
// compared again: what was booked by then does not differ any more.
func (m *Mover) copyUsage(ctx context.Context) error {
	if m.cursor.IsDone(upstream.DaysCompared) {
		return nil
	}
	now := m.Now()
	first := m.firstDay(now)
	missing := map[string]days{}
	for n := range m.Days {
		day := dayOf(first, n)
		name := day.from.Format(time.DateOnly)
		if slices.Contains(m.cursor.Days, name) {
			m.progress(string(upstream.DaysCompared), n+1)
			continue
		}
		differing, err := m.differing(ctx, day)
		if err != nil {
			return err
		}
		revised := m.split(differing, n, missing)
		if err := m.copyRevised(ctx, day, revised); err != nil {
			return err
		}
		if len(revised) == len(differing) {
			m.cursor.Days = append(m.cursor.Days, name)
			if err := m.reach(ctx); err != nil {
				return err
			}
		}
		m.progress(string(upstream.DaysCompared), n+1)
	}
	if err := m.copyMissing(ctx, first, missing); err != nil {
		return err
	}
	if err := m.noteUsage(ctx); err != nil {
		return err
	}
	return m.finish(ctx, upstream.DaysCompared)
}

// split returns those of the subscribers that differ on the n-th day of which some usage is
// booked, and adds the day to what the others miss.
func (m *Mover) split(differing map[string]bool, n int, missing map[string]days) (revised []string) {
	for id, isBooked := range differing {
		if isBooked {
			revised = append(revised, id)
			continue
		}
		if missing[id] == nil {
			missing[id] = make(days, m.Days/64+1)
		}
		missing[id].add(n)
	}
	return revised
}

// differing returns the subscribers that are here whose usage of a part of time is another
// there, and whether some of it is booked.
func (m *Mover) differing(ctx context.Context, in span) (map[string]bool, error) {
	all, ours, err := m.compare(ctx, in)
	if err != nil {
		return nil, err
	}
	isBooked := make(map[string]bool, len(ours))
	for _, of := range ours {
		isBooked[of.PhysicalID] = true
	}
	differing := map[string]bool{}
	for _, of := range all {
		if of.There == of.Here {
			continue
		}
		for _, id := range m.cards[of.SubscriberID] {
			differing[id] = isBooked[id]
		}
	}
	return differing, nil
}

// compare returns what both sides have of a part of time, of the subscribers that are here,
// and what is booked by subscriber.
func (m *Mover) compare(ctx context.Context, in span) (all []upstream.Usage, ours []*upstream.Reported, err error) {
	theirs, err := m.From.bySubscriber(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	maps.DeleteFunc(theirs, func(subscriberID string, _ int64) bool { return m.cards[subscriberID] == nil })
	ours, err = m.Usage.ReportedBySubscriber(ctx, m.scope(), m.Source, in.from, in.until)
	return upstream.CompareUsage(theirs, ours), ours, err
}

// copyRevised books what the hours of a day have above what is booked.
func (m *Mover) copyRevised(ctx context.Context, day span, ids []string) error {
	for part := range slices.Chunk(ids, 1_000) {
		rows, err := m.Usage.ReportedHours(ctx, m.scope(), m.Source, day.from, day.until, part)
		if err != nil {
			return err
		}
		booked := make(map[string]map[int64]upstream.Booked, len(part))
		for _, row := range rows {
			if booked[row.PhysicalID] == nil {
				booked[row.PhysicalID] = map[int64]upstream.Booked{}
			}
			booked[row.PhysicalID][row.Hour] = row.Booked
		}
		err = m.fetch(ctx, slices.Values(part), func(string) span { return day }, func(id string, hour int64) (upstream.Booked, bool) { return booked[id][hour], true })
		if err != nil {
			return err
		}
	}
	return nil
}

// copyMissing books the days that have no record yet.
func (m *Mover) copyMissing(ctx context.Context, first time.Time, missing map[string]days) error {
	spanOf := func(id string) span {
		from, last := missing[id].bounds(m.Days)
		return span{first.AddDate(0, 0, from), first.AddDate(0, 0, last+1)}
	}
	return m.fetch(ctx, maps.Keys(missing), spanOf, func(id string, hour int64) (upstream.Booked, bool) {
		return upstream.Booked{}, missing[id].has(int(upstream.TimeOf(hour).Sub(first) / (24 * time.Hour)))
	})
}

// fetch asks for the hours of subscribers, some at the same time, and books what they have
// above what booked returns; false leaves an hour out.
func (m *Mover) fetch(ctx context.Context, ids iter.Seq[string], in func(string) span, booked func(id string, hour int64) (upstream.Booked, bool)) error {
	fetching, together := errgroup.WithContext(ctx)
	batches := make(chan []domain.UsageRecord)
	fetching.Go(func() error { return m.bookAll(together, batches) })
	asking, within := errgroup.WithContext(together)
	asking.SetLimit(m.AtOnce)
	for id := range ids {
		if within.Err() != nil {
			break
		}
		asking.Go(func() error {
			hours, err := m.From.hours(within, id, in(id))
			if isAbsent(err) {
				return nil // it was removed meanwhile
			}
			if err != nil {
				return err
			}
			select {
			case batches <- m.recordsOf(id, hours, booked):
				return nil
			case <-within.Done():
				return within.Err()
			}
		})
	}
	err := asking.Wait()
	close(batches)
	return errors.Join(err, fetching.Wait())
}

func (m *Mover) recordsOf(id string, hours upstream.Hours, booked func(id string, hour int64) (upstream.Booked, bool)) (records []domain.UsageRecord) {
	subject, lowered := upstream.Subject{Source: m.Source, PhysicalID: id}, 0
	for hour, theirs := range hours {
		if ours, isWanted := booked(id, hour); isWanted {
			more, isCovered := subject.Raise(hour, theirs, ours, m.Now())
			records = append(records, more...)
			if !isCovered {
				lowered++
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lowered += lowered
	return records
}

// bookAll books the records of batches until there are no more.
func (m *Mover) bookAll(ctx context.Context, batches <-chan []domain.UsageRecord) error {
	var waiting []domain.UsageRecord
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case batch, more := <-batches:
			waiting = append(waiting, batch...)
			for len(waiting) >= booking || !more && len(waiting) > 0 {
				n := min(booking, len(waiting))
				if err := m.book(ctx, waiting[:n]); err != nil {
					return err
				}
				waiting = slices.Clone(waiting[n:])
			}
			if !more {
				return nil
			}
		}
	}
}

const (
	attempts   = 6
	firstRetry = 200 * time.Millisecond
)

// book books records, in the order of time, so that alerts fire as they would have. It tries
// again while the database is out of reach: the same twice changes nothing.
func (m *Mover) book(ctx context.Context, records []domain.UsageRecord) error {
	slices.SortFunc(records, func(a, b domain.UsageRecord) int { return a.StartedAt.Compare(b.StartedAt) })
	results, err := retry.WhileUnavailable(ctx, attempts, firstRetry, func() ([]domain.Recorded, error) { return m.Usage.Record(ctx, m.scope(), records) })
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	for i, result := range results {
		switch {
		case result.Status == domain.UsageAccepted:
			m.copied++
		case result.Err != nil:
			m.refuse("usage of "+records[i].PhysicalID+" at "+records[i].StartedAt.Format(time.RFC3339), result.Err)
		}
	}
	m.progress(string(upstream.RecordsBooked), m.copied)
	return nil
}

// noteUsage records in the audit log how much usage came in.
func (m *Mover) noteUsage(ctx context.Context) error {
	if m.copied == 0 {
		return nil
	}
	return m.Audit.Note(ctx, m.scope(), domain.AuditEntry{
		Action: domain.AuditImport + "usage", SubjectType: "Company", Changes: []domain.AuditChange{domain.Became("created", strconv.Itoa(m.copied))},
	})
}
