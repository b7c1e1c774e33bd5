package signin

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/signin"
)

// refusals counts sign-ins that were refused until they are noted, so that strangers
// make a log longer by one entry for each way and minute at most.
type refusals struct {
	mu      sync.Mutex
	counted map[refusedWay]*refused
}

// refusedWay is what one entry of the audit log is about. Ways and companies are those
// of the mapping, so there are few.
type refusedWay struct {
	company domain.CompanyID
	way     string
}

type refused struct {
	since               time.Time
	last                domain.Origin
	reasons             map[signin.RefusalReason]int
	addresses, subjects []string
}

// Refused implements signin.Logins.
func (s *Store) Refused(from domain.Origin, attempt signin.Attempt) {
	r := &s.refusals
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counted == nil {
		r.counted = map[refusedWay]*refused{}
	}
	way := refusedWay{attempt.Company, attempt.Way}
	of := r.counted[way]
	if of == nil {
		of = &refused{since: s.Now(), reasons: map[signin.RefusalReason]int{}}
		r.counted[way] = of
	}
	of.last = from
	of.reasons[attempt.Why]++
	of.addresses, of.subjects = noted(of.addresses, from.Address), noted(of.subjects, attempt.Subject)
}

// noted adds a text to those that an entry lists.
func noted(texts []string, text string) []string {
	if text == "" || slices.Contains(texts, text) || len(texts) >= domain.MaxAuditNames {
		return texts
	}
	return append(texts, text)
}

// NoteRefusals implements signin.Logins. What could not be noted is noted next time.
func (s *Store) NoteRefusals(ctx context.Context) error {
	s.refusals.mu.Lock()
	taken := s.refusals.counted
	s.refusals.counted = nil
	s.refusals.mu.Unlock()
	order := func(a, b refusedWay) int {
		return cmp.Or(cmp.Compare(a.company, b.company), strings.Compare(a.way, b.way))
	}
	var failures []error
	for _, way := range slices.SortedFunc(maps.Keys(taken), order) {
		failures = append(failures, pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
			return audit.Record(ctx, tx, domain.Whole(way.company), taken[way].entry(way))
		}))
		if failures[len(failures)-1] != nil {
			s.refusals.putBack(way, taken[way])
		}
	}
	return errors.Join(failures...)
}

func (r *refusals) putBack(way refusedWay, of *refused) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counted == nil {
		r.counted = map[refusedWay]*refused{}
	}
	if now := r.counted[way]; now != nil {
		for why, n := range now.reasons {
			of.reasons[why] += n
		}
	}
	r.counted[way] = of
}

func (r *refused) entry(way refusedWay) domain.AuditEntry {
	attempts := 0
	changes := []domain.AuditChange{domain.Became("since", r.since.UTC().Format(time.RFC3339))}
	for _, why := range signin.RefusalReasons {
		if n := r.reasons[why]; n > 0 {
			attempts += n
			changes = append(changes, domain.Became(string(why), pg.FormatInt(int64(n))))
		}
	}
	changes = append(changes, domain.Became("attempts", pg.FormatInt(int64(attempts))), domain.Became("addresses", strings.Join(r.addresses, " ")))
	if len(r.subjects) > 0 {
		changes = append(changes, domain.Became("subjects", strings.Join(r.subjects, " ")))
	}
	return domain.AuditEntry{
		Action: domain.AuditSignInRefuse, SubjectType: "SignIn", SubjectID: way.way, Changes: changes, Actor: domain.Actor{Origin: r.last},
	}
}
