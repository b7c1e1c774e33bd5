package condition_test

import (
	"fmt"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/condition"
)

// stormReference is a slow reference of what alerts on sessions are to log: it remembers
// every record, and counts all sessions again each minute.
type stormReference struct {
	*turns
	sessions []*openedSession
	moves    map[int][]move
	fired    map[string]bool
}

// openedSession is a session with what its records show of its begin.
type openedSession struct {
	subscriber      int
	name            string
	zeroth, first   time.Time
	hasZeroth, seen bool
}

type move struct {
	since time.Time
	group int64
}

// began is the begin of the record 0, or else of the earliest record.
func (s *openedSession) began() time.Time {
	if s.hasZeroth {
		return s.zeroth
	}
	return s.first
}

func (r *stormReference) groupAt(n int, at time.Time) (group int64) {
	for _, m := range r.moves[n] {
		if !m.since.After(at) {
			group = m.group
		}
	}
	return group
}

// record books a record of the session that started then.
func (r *stormReference) record(s *openedSession, sequence int, start time.Time) {
	r.Helper()
	r.fixture.record(s.subscriber, "gw", func(u *domain.UsageRecord) {
		u.SessionID, u.Sequence, u.StartedAt, u.EndedAt = s.name, sequence, start, start.Add(time.Second)
	})
	if sequence == 0 {
		s.zeroth, s.hasZeroth = start, true
	}
	if !s.seen || start.Before(s.first) {
		s.first, s.seen = start, true
	}
}

// counts reports whether an alert counts the session for its subscriber or group.
func (r *stormReference) counts(w *watched, s *openedSession) bool {
	switch w.ruleType {
	case domain.RuleSIM:
		return w.subscriber == s.subscriber
	case domain.RuleCompany:
		return true
	case domain.RuleGroup:
		return r.groupAt(s.subscriber, s.began()) == w.group
	case domain.RuleGroupMember:
		return r.groups[s.subscriber] == w.group
	}
	return false
}

// minute fires for each hour of today and yesterday with too many sessions that had not
// ended when the alert was armed, once.
func (r *stormReference) minute(at time.Time) {
	type place struct {
		subject int64
		hour    time.Time
	}
	for _, w := range r.alerts {
		counts := map[place]int64{}
		for _, s := range r.sessions {
			if !r.counts(w, s) {
				continue
			}
			subject := int64(s.subscriber)
			if w.ruleType == domain.RuleGroup {
				subject = w.group
			}
			counts[place{subject, s.began().Truncate(time.Hour)}]++
		}
		for p, sessions := range counts {
			day := p.hour.Format(time.DateOnly)
			isRecent := day == at.Format(time.DateOnly) || day == at.Add(-24*time.Hour).Format(time.DateOnly)
			episode := fmt.Sprint(w.id, w.revision, p)
			if sessions <= w.Bound || !isRecent || !p.hour.Add(time.Hour).After(w.armed) || r.fired[episode] {
				continue
			}
			r.fired[episode] = true
			e := condition.Entry{Since: p.hour, Value: sessions}
			if w.ruleType == domain.RuleGroup {
				e.GroupID = &p.subject
			} else {
				e.SubscriberKey = &p.subject
			}
			r.fire(w, e)
		}
	}
}

// begin books sessions of a subscriber, some of them late, early, without their first
// record, or with one that comes later.
func (r *stormReference) begin() {
	r.Helper()
	n := 1 + r.random.IntN(8)
	for range 1 + r.random.IntN(5) {
		r.sequence++
		s := &openedSession{subscriber: n, name: fmt.Sprintf("session %d", r.sequence)}
		r.sessions = append(r.sessions, s)
		start := r.now.Add(time.Duration(r.random.IntN(29*60)-20*60) * time.Second)
		if r.one(8) {
			start = start.Add(-time.Duration(r.random.IntN(30)) * time.Hour)
		}
		r.record(s, r.random.IntN(4)/3, start)
		if s.hasZeroth && !r.one(4) {
			continue
		}
		r.record(s, pick(r.turns, 2, 3), start.Add(-time.Duration(r.random.IntN(70))*time.Minute))
		if !s.hasZeroth && r.one(2) {
			r.record(s, 0, start.Add(-time.Duration(r.random.IntN(70))*time.Minute))
		}
	}
}

func (r *stormReference) storm(of domain.RuleType) condition.Condition {
	most := 4
	if of == domain.RuleGroup {
		most = 9
	}
	return condition.Condition{Kind: condition.Storm, Bound: int64(1 + r.random.IntN(most))}
}

// Whichever sessions begin when, in whatever order their records come, and whatever clock
// the instances have: the log is that of a slow reference.
func TestStormsAgreeWithASlowReference(t *testing.T) {
	t.Parallel()
	forSeeds(t, 11, func(m *turns) {
		r := &stormReference{turns: m, moves: map[int][]move{}, fired: map[string]bool{}}
		for n := 1; n <= 8; n++ {
			r.moves[n] = []move{{time.Time{}, r.groups[n]}}
		}
		r.now = monday.Add(6 * time.Hour)
		rules := []domain.RuleType{domain.RuleGroup, domain.RuleSIM, domain.RuleCompany, domain.RuleGroup, domain.RuleGroupMember}
		for _, rule := range rules {
			r.watch(rule, r.storm(rule))
		}
		for range 80 {
			r.wait()
			for range r.random.IntN(3) {
				r.begin()
			}
			switch at := r.random.IntN(len(r.alerts)); r.random.IntN(12) {
			case 0, 1:
				r.edit(r.alerts[at], r.storm(r.alerts[at].ruleType))
			case 2:
				r.remove(at)
			case 3:
				rule := pick(r.turns, rules...)
				r.watch(rule, r.storm(rule))
			case 4, 5:
				n := 1 + r.random.IntN(8)
				r.move(n)
				r.moves[n] = append(r.moves[n], move{r.now, r.groups[n]})
			}
			r.turn(r.minute)
		}
	})
}
