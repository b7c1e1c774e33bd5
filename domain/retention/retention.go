// Package retention holds the rules of how long data is kept that is deleted when
// it is old: a longer retention holds at once, a shorter one is announced first.
package retention

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"simgraph/domain"
)

// Name is that of a kind of data.
type Name string

// The kinds of data that are deleted by their age. Usage records are not among
// them: they leave month by month, by domain.LedgerPlan.
const (
	Audit      Name = "audit"
	Fields     Name = "fields"
	Mails      Name = "mails"
	Messages   Name = "messages"
	Operations Name = "operations"
)

// Unit is what a retention is counted in.
type Unit string

// The units.
const (
	Days   Unit = "days"
	Months Unit = "months"
)

// Kind is what can be said of how long a kind of data is kept.
type Kind struct {
	Name Name
	// Of names the data, in the plural.
	Of   string
	Unit Unit
	// Default is the retention of a database that nobody has set another for; 0
	// stands for ever.
	Default int
	// Least and Most bound the retention. A Least of 0 stands for ever.
	Least, Most int
}

// Kinds are all kinds, by name.
var Kinds = []Kind{
	{Name: Audit, Of: "entries of the audit log", Unit: Months, Default: 0, Least: 0, Most: 1200},
	{Name: Fields, Of: "counts of the fields that clients use", Unit: Days, Default: 90, Least: 7, Most: 3650},
	{Name: Mails, Of: "mails that were sent or given up", Unit: Days, Default: 90, Least: 0, Most: 36500},
	{Name: Messages, Of: "messages to webhooks, and commands to carriers", Unit: Days, Default: 30, Least: 5, Most: 3650},
	{Name: Operations, Of: "operations that ended, with their results", Unit: Days, Default: 30, Least: 7, Most: 3650},
}

// Of returns the kind of a name that is one of the constants.
func Of(name Name) Kind {
	return Kinds[slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })]
}

// Parse returns the kind of a name, or an Invalid error that lists the names.
func Parse(name string) (Kind, error) {
	var names []string
	for _, kind := range Kinds {
		if string(kind.Name) == name {
			return kind, nil
		}
		names = append(names, string(kind.Name))
	}
	return Kind{}, domain.Invalid("name", "there is no retention %q, only %s; that of usage records is set by simgraph ledger retention", name, strings.Join(names, ", "))
}

// Check rejects a number that the kind cannot be kept for.
func (k Kind) Check(kept int) error {
	if kept < k.Least || kept > k.Most {
		forEver := ""
		if k.Least == 0 {
			forEver = ", where 0 stands for ever"
		}
		return domain.Invalid("kept", "%s are kept for %d to %d %s%s, not %d", k.Of, k.Least, k.Most, k.Unit, forEver, kept)
	}
	return nil
}

// Text is a retention as people write it.
func (k Kind) Text(kept int) string {
	switch kept {
	case 0:
		return "for ever"
	case 1:
		return "1 " + strings.TrimSuffix(string(k.Unit), "s")
	}
	return fmt.Sprintf("%d %s", kept, k.Unit)
}

// Shorter reports whether a retention deletes what another one keeps.
func Shorter(kept, than int) bool { return kept != 0 && (than == 0 || kept < than) }

// Setting is a retention that was set once. Times are by the clock of the
// database, for people; zero is for what has not happened.
type Setting struct {
	Name Name
	// Revision counts the settings of a name from 1.
	Revision int
	// Kept is in the unit of the kind; 0 stands for ever.
	Kept  int
	SetAt time.Time
	// SetBy is the account that set it.
	SetBy string
	// AnnouncedAt is when a server announced a shorter retention.
	AnnouncedAt time.Time
	// EffectiveAt is since when data was deleted by it.
	EffectiveAt time.Time
	// WithdrawnAt is when another was set before it took effect.
	WithdrawnAt time.Time
	// Waited is what servers were seen to run when it was announced: what the wait
	// is measured by.
	Waited time.Time
}

// pending reports whether the setting has neither taken effect nor been withdrawn.
func (s Setting) pending() bool { return s.EffectiveAt.IsZero() && s.WithdrawnAt.IsZero() }

// History is every setting of a kind, the oldest first.
type History []Setting

// InForce returns what data is deleted by now: all is kept for ever until a
// setting has taken effect.
func (h History) InForce() int {
	for _, s := range slices.Backward(h) {
		if !s.EffectiveAt.IsZero() {
			return s.Kept
		}
	}
	return 0
}

// Pending returns the shorter retention that waits; false for none.
func (h History) Pending() (Setting, bool) {
	if len(h) == 0 || !h[len(h)-1].pending() {
		return Setting{}, false
	}
	return h[len(h)-1], true
}

// Wanted returns the retention that was set last, whether it is in force or waits,
// and false where none was ever set.
func (h History) Wanted() (int, bool) {
	if s, waits := h.Pending(); waits {
		return s.Kept, true
	}
	return h.InForce(), len(h) > 0
}

// Change is what setting a retention does.
type Change struct {
	// Withdraw reports that the one which waits is withdrawn.
	Withdraw bool
	// Add reports that a setting is added, AtOnce that it takes effect without a wait.
	Add, AtOnce bool
}

// Set returns what setting the retention does. One that deletes nothing more than
// is deleted now takes effect at once, a shorter one has to be announced.
func (h History) Set(kept int) Change {
	wanted, set := h.Wanted()
	if set && wanted == kept {
		return Change{}
	}
	_, waits := h.Pending()
	return Change{Withdraw: waits, Add: !set || kept != h.InForce(), AtOnce: !Shorter(kept, h.InForce())}
}

// Action is what a server does about a shorter retention that waits.
type Action string

// The actions, in their order.
const (
	// Announce begins the wait.
	Announce Action = "announce"
	// TakeEffect ends it.
	TakeEffect Action = "effect"
)

// Next returns what is due for the setting that waits, "" for nothing. The clock
// is how long servers were seen to run, which no clock that is set changes.
func (h History) Next(clock time.Time, notice time.Duration) Action {
	s, waits := h.Pending()
	switch {
	case !waits:
		return ""
	case s.AnnouncedAt.IsZero():
		return Announce
	case !clock.Before(s.Waited.Add(notice)):
		return TakeEffect
	}
	return ""
}

// InForce is the retention by which data of a kind is deleted. Only the store of
// retentions returns one.
type InForce struct {
	Kind
	Kept int
}

// Expired is the moment before which data of a kind may be deleted. What deletes by
// age takes it, so that nothing does by a retention that was not announced.
type Expired struct {
	name   Name
	before time.Time
}

// Expired returns it for a clock, and false where data is kept for ever.
func (f InForce) Expired(clock time.Time) (Expired, bool) {
	switch {
	case f.Kept == 0:
		return Expired{}, false
	case f.Unit == Months:
		return Expired{f.Name, clock.AddDate(0, -f.Kept, 0)}, true
	}
	return Expired{f.Name, clock.AddDate(0, 0, -f.Kept)}, true
}

// Before returns the moment for data of that kind; for another kind it is the zero
// time, before which there is nothing.
func (e Expired) Before(name Name) time.Time {
	if e.name != name {
		return time.Time{}
	}
	return e.before
}
