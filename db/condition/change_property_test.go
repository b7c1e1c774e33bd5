package condition_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/condition"
)

// changeReference is a slow reference of what alerts on changes are to log: it remembers
// every session, and every value that a subscriber ever had.
type changeReference struct {
	*turns
	sessions []*reportedSession
	history  map[string][]string
}

// reportedSession is a session as its reports have it; "" is what none has had.
type reportedSession struct {
	subscriber                          int
	name                                string
	began, asOf                         time.Time
	isOpen                              bool
	imei, address, prefix, network, rat string
	bytes                               int64
}

// most is how many sessions a subscriber has: of more, the last twenty count.
const most = 18

var (
	// The first two are one device with different software, the last is one without a
	// check digit.
	imeis     = []string{"", "3512345678901201", "3512345678901299", "356000000000011", "356000000000022", "3570000000000301", "3580000000000401", "3590000000000501", "36000000000006"}
	addresses = []string{"", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"}
	prefixes  = []string{"", "", "", "2001:db8:1::/64", "2001:db8:2::/64"}
	networks  = []string{"", "23415", "23410", "20801", "20810", "26201", "20404", "20601", "21201", "00101"}
	rats      = []string{"", "EUTRAN", "UTRAN", "GERAN", "NR", "EUTRAN-NB-IoT", "WLAN"}
	countries = map[string]string{"234": "United Kingdom", "208": "France", "262": "Germany", "204": "Netherlands", "206": "Belgium", "212": "Monaco"}
)

// values are those of the traits that the session has.
func (s *reportedSession) values() map[condition.Trait]string {
	values := map[condition.Trait]string{condition.Network: s.network, condition.Protocol: s.rat, condition.Address: s.address}
	if s.imei != "" {
		values[condition.IMEI] = s.imei[:14]
	}
	if s.address == "" {
		values[condition.Address] = s.prefix
	}
	if s.network != "" {
		values[condition.Country] = countries[s.network[:3]]
	}
	return values
}

// report books a report of the session: of now, or of a time that is not its newest.
func (r *changeReference) report(s *reportedSession, event domain.SessionEvent, at time.Time) {
	r.Helper()
	newest := at.After(s.asOf) || event == domain.SessionStarted
	keep := func(field *string, value string) string {
		if value != "" && (newest || *field == "") {
			*field = value
		}
		return value
	}
	// Most reports have what the one before had.
	reported := func(field *string, of []string) string {
		if !r.one(5) && event != domain.SessionStarted {
			return *field
		}
		return keep(field, pick(r.turns, of...))
	}
	if !r.one(4) {
		s.bytes += 100
	}
	r.fixture.record(s.subscriber, "gw", func(u *domain.UsageRecord) {
		u.RecordID, u.SessionID, u.StartedAt, u.EndedAt, u.MobileOriginated, u.MobileTerminated = "", s.name, s.began, at, s.bytes, 0
		u.Report = &domain.SessionReport{
			NAS: "gw", Event: event, IMEI: reported(&s.imei, imeis), VisitedNetwork: reported(&s.network, networks), RATType: reported(&s.rat, rats),
		}
		if address := reported(&s.address, addresses); address != "" {
			u.IPAddress = netip.MustParseAddr(address)
		}
		if prefix := reported(&s.prefix, prefixes); prefix != "" {
			u.Report.IPv6Prefix = netip.MustParsePrefix(prefix)
		}
	})
	if newest {
		s.asOf = at
	}
	s.isOpen = s.isOpen && event != domain.SessionStopped
}

func (r *changeReference) sessionsOf(n int) (of []*reportedSession) {
	for _, s := range r.sessions {
		if s.subscriber == n {
			of = append(of, s)
		}
	}
	return of
}

// traffic begins a session of the subscriber, or reports one that is open, or ends it.
func (r *changeReference) traffic(n int) {
	r.Helper()
	r.now = r.now.Add(time.Duration(1+r.random.IntN(5_000_000)) * time.Microsecond)
	all := r.sessionsOf(n)
	open := slices.DeleteFunc(slices.Clone(all), func(s *reportedSession) bool { return !s.isOpen })
	if len(all) < most && (len(open) == 0 || len(open) < 3 && r.one(5)) {
		r.sequence++
		s := &reportedSession{subscriber: n, name: fmt.Sprintf("session %d", r.sequence), began: r.now, isOpen: true}
		r.sessions = append(r.sessions, s)
		r.report(s, domain.SessionStarted, r.now)
		return
	}
	if len(open) == 0 {
		return
	}
	s := pick(r.turns, open...)
	switch past := s.asOf.Sub(s.began); {
	case r.one(4):
		r.report(s, domain.SessionStopped, r.now)
	case r.one(6) && past > time.Minute:
		r.report(s, domain.SessionUpdated, s.began.Add(past/2))
	default:
		r.report(s, domain.SessionUpdated, r.now)
	}
}

// minute fires for each value in the newest report of a subscriber that is none of the
// last four, as long as the session is open or began within the hour.
func (r *changeReference) minute(at time.Time) {
	for n := 1; n <= 8; n++ {
		sessions := r.sessionsOf(n)
		if len(sessions) == 0 {
			continue
		}
		newest := slices.MaxFunc(sessions, func(x, y *reportedSession) int { return x.asOf.Compare(y.asOf) })
		if !newest.isOpen && !newest.began.After(at.Add(-time.Hour)) {
			continue
		}
		for trait, value := range newest.values() {
			if value == "" {
				continue
			}
			of := fmt.Sprint(n, trait)
			history := r.history[of]
			r.history[of] = append(history, value)
			if len(history) > 0 && !slices.Contains(lastDistinct(history, 4), value) {
				r.changed(n, newest.asOf, trait, history[len(history)-1], value)
			}
		}
	}
}

// lastDistinct returns the last values that are different, at most so many.
func lastDistinct(history []string, most int) (last []string) {
	for _, value := range slices.Backward(history) {
		if len(last) < most && !slices.Contains(last, value) {
			last = append(last, value)
		}
	}
	return last
}

func (r *changeReference) changed(n int, since time.Time, trait condition.Trait, before, after string) {
	for _, w := range r.alerts {
		isSubject := w.ruleType == domain.RuleCompany || w.ruleType == domain.RuleSIM && w.subscriber == n ||
			w.ruleType == domain.RuleGroupMember && w.group == r.groups[n]
		if isSubject && slices.Contains(w.Traits, trait) && !since.Before(w.armed) {
			key := int64(n)
			r.fire(w, condition.Entry{SubscriberKey: &key, Since: since, Trait: trait, Before: before, After: after})
		}
	}
}

func (r *changeReference) change() condition.Condition {
	traits := slices.Clone(condition.Traits)
	r.random.Shuffle(len(traits), func(i, j int) { traits[i], traits[j] = traits[j], traits[i] })
	return condition.Condition{Kind: condition.Change, Traits: traits[:1+r.random.IntN(len(traits))]}
}

// Whatever sessions report when, and whatever clock the instances have: the log is that of
// a slow reference.
func TestChangesAgreeWithASlowReference(t *testing.T) {
	t.Parallel()
	forSeeds(t, 13, func(m *turns) {
		r := &changeReference{turns: m, history: map[string][]string{}}
		rules := []domain.RuleType{domain.RuleSIM, domain.RuleCompany, domain.RuleGroupMember}
		for _, rule := range rules {
			r.watch(rule, r.change())
		}
		for range 90 {
			r.wait()
			for range r.random.IntN(5) {
				r.traffic(1 + r.random.IntN(8))
			}
			switch at := r.random.IntN(len(r.alerts)); r.random.IntN(12) {
			case 0, 1:
				r.edit(r.alerts[at], r.change())
			case 2:
				r.remove(at)
			case 3:
				r.watch(pick(r.turns, rules...), r.change())
			case 4, 5:
				r.move(1 + r.random.IntN(8))
			}
			r.turn(r.minute)
		}
	})
}
