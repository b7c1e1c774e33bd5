package condition_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/internal/fatal"
)

// changeReference is a slow reference of what alerts on changes are to log: it remembers
// all that was ever stated of a subscriber.
type changeReference struct {
	*turns
	sessions []*reportedSession
	// stated is what no turn has seen yet, and history what turns have.
	stated  []statement
	history map[string][]string
	// fired is what is logged once.
	fired map[string]bool
}

// reportedSession is a session as its reports have it; "" is what none has had.
type reportedSession struct {
	subscriber                               int
	name                                     string
	began, asOf                              time.Time
	isOpen                                   bool
	apn, imei, address, prefix, network, rat string
	bytes                                    int64
}

// statement is that a subscriber has a value, of a bearer where that is an address.
type statement struct {
	subscriber int
	at         time.Time
	trait      condition.Trait
	bearer     string
	value      string
}

var (
	// The first two are one device with different software, the last is one without a
	// check digit.
	imeis     = []string{"", "3512345678901201", "3512345678901299", "356000000000011", "356000000000022", "3570000000000301", "3580000000000401", "3590000000000501", "36000000000006"}
	addresses = []string{"", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"}
	apns      = []string{"", "internet", "internet", "Internet", "mms", "a", "b", "c"}
	prefixes  = []string{"", "", "", "2001:db8:1::/64", "2001:db8:2::/64"}
	networks  = []string{"", "23415", "23410", "20801", "20810", "26201", "20404", "20601", "21201", "00101"}
	rats      = []string{"", "EUTRAN", "UTRAN", "GERAN", "NR", "EUTRAN-NB-IoT", "WLAN"}
	countries = map[string]string{"234": "United Kingdom", "208": "France", "262": "Germany", "204": "Netherlands", "206": "Belgium", "212": "Monaco"}
)

// of returns the statements of values of the session, "" for none.
func (s *reportedSession) of(at time.Time, apn, imei, address, network, rat string) (all []statement) {
	add := func(trait condition.Trait, bearer, value string) {
		if value != "" {
			all = append(all, statement{s.subscriber, at, trait, bearer, value})
		}
	}
	add(condition.IMEI, "", imei[:min(len(imei), 14)])
	if address != "" {
		add(condition.Address, fmt.Sprintf("%s %t", strings.ToLower(apn), strings.Contains(address, ":")), address)
	}
	add(condition.Network, "", network)
	if network != "" {
		add(condition.Country, "", countries[network[:3]])
	}
	add(condition.Protocol, "", rat)
	return all
}

// shown is the address that counts.
func (s *reportedSession) shown() string {
	if s.address != "" {
		return s.address
	}
	return s.prefix
}

// unless is a value, but "" where it is the other.
func unless(value, other string) string {
	if value == other {
		return ""
	}
	return value
}

// report books a report of the session: of now, or of a time that is not its newest.
func (r *changeReference) report(s *reportedSession, event domain.SessionEvent, at time.Time) {
	r.Helper()
	isNewest := at.After(s.asOf) || event == domain.SessionStarted
	// Most reports have what the one before had, or nothing.
	reported := func(has string, of []string) string {
		switch {
		case event == domain.SessionStarted || r.one(5):
			return pick(r.turns, of...)
		case r.one(5):
			return ""
		}
		return has
	}
	if !r.one(4) {
		s.bytes += 100
	}
	apn, imei, network, rat := reported(s.apn, apns), reported(s.imei, imeis), reported(s.network, networks), reported(s.rat, rats)
	address, prefix := reported(s.address, addresses), reported(s.prefix, prefixes)
	r.fixture.record(s.subscriber, "gw", func(u *domain.UsageRecord) {
		u.RecordID, u.SessionID, u.StartedAt, u.EndedAt, u.MobileOriginated, u.MobileTerminated = "", s.name, s.began, at, s.bytes, 0
		u.Report = &domain.SessionReport{NAS: "gw", Event: event, APN: apn, IMEI: imei, VisitedNetwork: network, RATType: rat}
		if address != "" {
			u.IPAddress = netip.MustParseAddr(address)
		}
		if prefix != "" {
			u.Report.IPv6Prefix = netip.MustParsePrefix(prefix)
		}
	})
	r.note(s, at, isNewest, apn, imei, address, prefix, network, rat)
	s.isOpen = s.isOpen && event != domain.SessionStopped
}

// note adds what the report states that the session does not have. Where that is late, the
// session goes on with what it has.
func (r *changeReference) note(s *reportedSession, at time.Time, isNewest bool, apn, imei, address, prefix, network, rat string) {
	before := *s
	shown, of := address, apn
	if shown == "" && s.address == "" {
		shown = prefix
	}
	if of == "" {
		of = s.apn
	}
	if of == s.apn {
		shown = unless(shown, s.shown())
	}
	news := s.of(at, of, unless(imei, s.imei), shown, unless(network, s.network), unless(rat, s.rat))
	for field, value := range map[*string]string{&s.apn: apn, &s.imei: imei, &s.address: address, &s.prefix: prefix, &s.network: network, &s.rat: rat} {
		if value != "" && (isNewest || *field == "") {
			*field = value
		}
	}
	if isNewest {
		s.asOf = at
	}
	r.stated = append(r.stated, news...)
	for _, stated := range news {
		for _, has := range before.of(before.asOf, before.apn, before.imei, before.shown(), before.network, before.rat) {
			// The network that follows has a country, whether or not the late one had.
			if !isNewest && (has.trait == stated.trait || has.trait == condition.Country && stated.trait == condition.Network) {
				r.stated = append(r.stated, has)
			}
		}
	}
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
	if len(open) == 0 || len(open) < 3 && r.one(5) {
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
		r.report(s, domain.SessionUpdated, s.began.Add(past/2).Truncate(time.Microsecond))
	default:
		r.report(s, domain.SessionUpdated, r.now)
	}
}

// minute fires for each value that is none of the last four, of eight bearers.
func (r *changeReference) minute(time.Time) {
	for _, s := range r.stated {
		of := fmt.Sprint(s.subscriber, s.trait, s.bearer)
		if s.trait == condition.Address {
			bearers := fmt.Sprint(s.subscriber, " bearers")
			if !slices.Contains(lastDistinct(r.history[bearers], 8), of) {
				delete(r.history, of)
			}
			r.history[bearers] = append(r.history[bearers], of)
		}
		history := r.history[of]
		r.history[of] = append(history, s.value)
		if len(history) > 0 && !slices.Contains(lastDistinct(history, 4), s.value) {
			r.changed(s.subscriber, s.at, s.trait, history[len(history)-1], s.value)
		}
	}
	r.stated = nil
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
		once := fmt.Sprint(w.id, w.revision, n, trait, since, after)
		if isSubject && slices.Contains(w.Traits, trait) && !since.Before(w.armed) && !r.fired[once] {
			r.fired[once] = true
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
// a slow reference, and a preview finds what an alert has logged that was there all the time.
func TestChangesAgreeWithASlowReference(t *testing.T) {
	t.Parallel()
	forSeeds(t, 13, func(m *turns) {
		r := &changeReference{turns: m, history: map[string][]string{}, fired: map[string]bool{}}
		rules := []domain.RuleType{domain.RuleSIM, domain.RuleCompany, domain.RuleGroupMember}
		r.watch(domain.RuleCompany, condition.Condition{Kind: condition.Change, Traits: condition.Traits})
		for _, rule := range rules {
			r.watch(rule, r.change())
		}
		for range 90 {
			r.wait()
			for range r.random.IntN(5) {
				r.traffic(1 + r.random.IntN(8))
			}
			switch at := 1 + r.random.IntN(max(1, len(r.alerts)-1)); r.random.IntN(12) {
			case 0, 1:
				if at < len(r.alerts) {
					r.edit(r.alerts[at], r.change())
				}
			case 2:
				if at < len(r.alerts) {
					r.remove(at)
				}
			case 3:
				r.watch(pick(r.turns, rules...), r.change())
			case 4, 5:
				r.move(1 + r.random.IntN(8))
			}
			r.turn(r.minute)
		}
		r.skew, r.due = 0, time.Time{}
		r.pool.MustExec(`UPDATE condition_turns SET due_at = '-infinity'`)
		r.round()
		r.minute(r.now)
		r.compare()
		r.previews()
	})
}

// previews compares what the first alert has logged with its preview.
func (r *changeReference) previews() {
	r.Helper()
	r.now = r.now.Add(time.Minute)
	all := r.entries()
	for _, trait := range condition.Traits {
		var logged, found []string
		for _, e := range all {
			if e.AlertID == r.alerts[0].id && e.Trait == trait {
				logged = append(logged, fmt.Sprintf("%s: p%d %s", e.Since.UTC().Format(time.RFC3339Nano), *e.SubscriberKey, e.Describe()))
			}
		}
		preview, err := r.conditions.Preview(r.Context(), scope, condition.Spec{
			RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Change, Traits: []condition.Trait{trait}},
		}, 20)
		fatal.If(r, err)
		for _, of := range preview.Firings {
			found = append(found, fmt.Sprintf("%s: p%d %s", of.At.Format(time.RFC3339Nano), *of.SubscriberKey, of.Text))
		}
		if preview.Total != len(logged) || preview.Total <= 100 && !sameTexts(found, logged) {
			r.Errorf("of %s the preview finds\n%s\nand logged was\n%s", trait, strings.Join(found, "\n"), strings.Join(logged, "\n"))
		}
	}
}
