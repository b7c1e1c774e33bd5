package domain

import (
	"fmt"
	"slices"
	"time"
)

const (
	// DefaultRetention is how many months of usage records the ledger keeps
	// unless it is set.
	DefaultRetention = 13
	// MinRetention covers the billing periods that late usage may still reach.
	MinRetention = 3
	// MaxRetention is how many months a usage ledger can be kept for.
	MaxRetention = 1200
	// MonthLayout is how months are written.
	MonthLayout = "2006-01"

	// clockAllowance is how far past the newest usage record a clock is believed.
	clockAllowance = 24 * time.Hour
)

// MonthOf returns the first instant of the UTC month of t.
func MonthOf(t time.Time) time.Time {
	year, month, _ := t.UTC().Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// CheckRetention rejects a number of months that a ledger cannot keep.
func CheckRetention(months int) error {
	if months < MinRetention || months > MaxRetention {
		return Invalid("retention", "the retention must be %d to %d months, not %d", MinRetention, MaxRetention, months)
	}
	return nil
}

// Ledger is the state of the usage ledger of all companies.
type Ledger struct {
	// FirstMonth begins the usage that no month was taken away from. It moves
	// forward when a month is detached, and back only when that month is
	// restored. LedgerEpoch as long as no month was ever detached.
	FirstMonth time.Time
	// Retention is how many months before the present one are kept.
	Retention int
	// Oldest is the first month that is stored; zero when none is.
	Oldest time.Time
}

// LedgerEpoch is the first month of a ledger that has lost none.
var LedgerEpoch = time.Unix(0, 0).UTC()

// Begins returns where records are accepted from on, by a clock: within the
// retention, or later than the oldest month that is stored, but never before the
// first month. A clock that is ahead therefore rejects nothing that is stored.
func (l Ledger) Begins(clock time.Time) time.Time {
	begins := KeptFrom(clock, l.Retention)
	if !l.Oldest.IsZero() && l.Oldest.Before(begins) {
		begins = l.Oldest
	}
	return Later(begins, l.FirstMonth)
}

// Start returns from when on totals can be derived from records. Totals of usage
// before are never derived again.
func (l Ledger) Start() time.Time { return Later(l.FirstMonth, l.Oldest) }

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// MissingMonths returns the months of a span that are not stored, in order of time.
func MissingMonths(stored []time.Time, first, last time.Time) []time.Time {
	var missing []time.Time
	for month := MonthOf(first); !month.After(last); month = month.AddDate(0, 1, 0) {
		if !slices.ContainsFunc(stored, month.Equal) {
			missing = append(missing, month)
		}
	}
	return missing
}

// InOrder returns times once each, in their order.
func InOrder(times []time.Time) []time.Time {
	return slices.CompactFunc(slices.SortedFunc(slices.Values(times), time.Time.Compare), time.Time.Equal)
}

// KeptFrom returns the first of the months that a retention covers.
func KeptFrom(clock time.Time, retention int) time.Time {
	return MonthOf(clock).AddDate(0, -retention, 0)
}

// TrustedClock is a clock, but at most a day past the newest usage record: what
// deletes by age follows it, so that a clock that is ahead deletes nothing. The
// zero time stands for no record: then there is only the clock.
func TrustedClock(clock, newest time.Time) time.Time {
	if latest := newest.Add(clockAllowance); !newest.IsZero() && latest.Before(clock) {
		return latest
	}
	return clock
}

// LedgerMonth is a month of the ledger on its way out. Times are by the clock of
// the database, zero for what has not happened.
type LedgerMonth struct {
	Month time.Time
	// AnnouncedAt is when a run announced that the month will be detached.
	AnnouncedAt time.Time
	// DetachedAt is when the month left the ledger. Its records are kept aside.
	DetachedAt time.Time
	// DueAt is when a run announced that these records will be deleted.
	DueAt time.Time
	// DroppedAt is when deleting them began, after which nothing brings them back.
	DroppedAt time.Time
}

// Stored reports whether the records of the month are in the ledger.
func (m LedgerMonth) Stored() bool { return m.DetachedAt.IsZero() }

// ParseMonth reads a month such as 2026-04.
func ParseMonth(text string) (time.Time, error) {
	month, err := time.Parse(MonthLayout, text)
	if err != nil {
		return month, Invalid("month", "a month is written as 2026-04, not %q", text)
	}
	return month, nil
}

// LatestDetached returns the latest month that has to be restored for the ledger
// to begin with another: it has no gaps.
func LatestDetached(months []LedgerMonth, from time.Time) (time.Time, error) {
	name := from.Format(MonthLayout)
	at := slices.IndexFunc(months, func(m LedgerMonth) bool { return m.Month.Equal(from) })
	if at < 0 || months[at].Stored() {
		return time.Time{}, Invalid("month", "%s is not detached: simgraph ledger status lists the months that are", name)
	}
	latest := from
	for _, m := range months[at:] {
		if !m.DroppedAt.IsZero() {
			return time.Time{}, Invalid("month", "%s was dropped: nothing from %s on back can be restored", m.Month.Format(MonthLayout), m.Month.Format(MonthLayout))
		}
		if !m.Stored() {
			latest = m.Month
		}
	}
	return latest, nil
}

// LedgerRules are the intervals of what runs by itself.
type LedgerRules struct {
	// Quiet is how long after the start of a process nothing is detached or
	// dropped.
	Quiet time.Duration
	// Notice is the least time between an announcement and what it announces.
	Notice time.Duration
	// Pace is the least time between two months that are detached, and between
	// two that are dropped.
	Pace time.Duration
	// DropDelay is how long a detached month is kept.
	DropDelay time.Duration
}

// DefaultLedgerRules are the intervals of serve.
var DefaultLedgerRules = LedgerRules{Quiet: time.Hour, Notice: 24 * time.Hour, Pace: 24 * time.Hour, DropDelay: 7 * 24 * time.Hour}

// LedgerAction is what happens to a month of the ledger.
type LedgerAction string

// The actions, in the order in which they happen to a month.
const (
	// LedgerAnnounce announces that a month will be detached.
	LedgerAnnounce LedgerAction = "announce"
	// LedgerWithdraw takes an announcement back: the retention covers the month.
	LedgerWithdraw LedgerAction = "withdraw"
	// LedgerDetach takes a month out of the ledger and keeps it aside.
	LedgerDetach LedgerAction = "detach"
	// LedgerDue announces that a detached month will be dropped.
	LedgerDue LedgerAction = "due"
	// LedgerDrop deletes a detached month.
	LedgerDrop LedgerAction = "drop"
)

// LedgerStep is one action on one month.
type LedgerStep struct {
	Action LedgerAction
	Month  time.Time
	// Held means that the action did not happen, since other work held the ledger.
	Held bool
}

// String is for logs.
func (s LedgerStep) String() string {
	return fmt.Sprintf("%s %s", s.Action, s.Month.Format(MonthLayout))
}

// LedgerPlan decides on the next step.
type LedgerPlan struct {
	// Months are all that are stored or were detached, in order of time.
	Months []LedgerMonth
	// KeptFrom is the first month that the retention covers.
	KeptFrom time.Time
	// Clock is what waits are measured by, as the times of the months are. No clock that
	// is set forward or back changes it.
	Clock time.Time
	// Uptime is how long this process runs.
	Uptime time.Duration
	Rules  LedgerRules
}

// Next returns the step that is due now; false when none is.
func (p LedgerPlan) Next() (LedgerStep, bool) {
	for _, decide := range []func(LedgerMonth) LedgerAction{p.announcement, p.removal} {
		for _, month := range p.Months {
			if action := decide(month); action != "" {
				return LedgerStep{Action: action, Month: month.Month}, true
			}
		}
	}
	return LedgerStep{}, false
}

// old reports whether the retention does not cover the month.
func (p LedgerPlan) old(m LedgerMonth) bool { return m.Month.Before(p.KeptFrom) }

// announcement is what can be taken back.
func (p LedgerPlan) announcement(m LedgerMonth) LedgerAction {
	switch {
	case !m.DroppedAt.IsZero():
		return ""
	case m.Stored() && p.old(m) && m.AnnouncedAt.IsZero():
		return LedgerAnnounce
	case m.Stored() && !p.old(m) && !m.AnnouncedAt.IsZero(), !m.Stored() && !p.old(m) && !m.DueAt.IsZero():
		return LedgerWithdraw
	case !m.Stored() && p.old(m) && m.DueAt.IsZero() && p.passed(m.DetachedAt, p.Rules.DropDelay-p.Rules.Notice):
		return LedgerDue
	}
	return ""
}

// removal takes months in their order: the ledger has no gaps.
func (p LedgerPlan) removal(m LedgerMonth) LedgerAction {
	switch {
	case p.Uptime < p.Rules.Quiet || !p.old(m) || !m.DroppedAt.IsZero():
		return ""
	case m.Stored() && p.first(m, LedgerMonth.Stored) && p.noticed(m.AnnouncedAt) && p.passed(p.last(detachedAt), p.Rules.Pace):
		return LedgerDetach
	case !m.Stored() && p.first(m, LedgerMonth.aside) && p.noticed(m.DueAt) &&
		p.passed(m.DetachedAt, p.Rules.DropDelay) && p.passed(p.last(droppedAt), p.Rules.Pace):
		return LedgerDrop
	}
	return ""
}

// aside reports whether the month was detached and can be restored.
func (m LedgerMonth) aside() bool { return !m.Stored() && m.DroppedAt.IsZero() }

// first reports whether no month of a kind is before m.
func (p LedgerPlan) first(m LedgerMonth, kind func(LedgerMonth) bool) bool {
	for _, other := range p.Months {
		if kind(other) {
			return other.Month.Equal(m.Month)
		}
	}
	return false
}

// noticed reports whether an announcement was made long enough ago.
func (p LedgerPlan) noticed(at time.Time) bool { return !at.IsZero() && p.passed(at, p.Rules.Notice) }

// passed reports whether a time after something is over.
func (p LedgerPlan) passed(since time.Time, d time.Duration) bool {
	return !p.Clock.Before(since.Add(d))
}

func detachedAt(m LedgerMonth) time.Time { return m.DetachedAt }
func droppedAt(m LedgerMonth) time.Time  { return m.DroppedAt }

func (p LedgerPlan) last(at func(LedgerMonth) time.Time) time.Time {
	var last time.Time
	for _, m := range p.Months {
		last = Later(last, at(m))
	}
	return last
}
