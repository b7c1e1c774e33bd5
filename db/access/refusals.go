package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/credential"
	"simgraph/db/pg"
	"simgraph/domain"
)

// mostClaimed bounds how many companies are distinguished that refused keys only
// claim to belong to.
const mostClaimed = 1000

// refusals counts the uses of access keys that were refused, until they are
// noted. It is memory and no statement: refusing costs the same whether the key
// exists or not, and strangers neither hold the lock of a company's log nor
// make it longer than by one entry for each key and note.
type refusals struct {
	mu      sync.Mutex
	counted map[refusedKey]*refused
	claimed int
}

// refusedKey names a key that exists. Without an id it stands for all that do
// not, or that nobody looked for; then the company is only claimed, or 0.
type refusedKey struct {
	company domain.CompanyID
	id      string
}

// refused is what one entry of the audit log will hold.
type refused struct {
	last      domain.Origin
	since     time.Time
	reasons   map[domain.Refusal]int
	addresses []string
	// elsewhere counts attempts from addresses that are not listed.
	elsewhere int
}

func (r *refusals) note(key refusedKey, from domain.Origin, why domain.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.counter(key)
	of.last = from
	of.reasons[why]++
	of.from(from.Address, 1)
}

func (r *refusals) counter(key refusedKey) *refused {
	if key.id == "" && r.counted[key] == nil && r.claimed >= mostClaimed {
		key.company = domain.Installation
	}
	if of := r.counted[key]; of != nil {
		return of
	}
	if r.counted == nil {
		r.counted = map[refusedKey]*refused{}
	}
	if key.id == "" {
		r.claimed++
	}
	of := &refused{since: time.Now(), reasons: map[domain.Refusal]int{}}
	r.counted[key] = of
	return of
}

func (r *refused) from(address string, attempts int) {
	switch {
	case slices.Contains(r.addresses, address):
	case len(r.addresses) < domain.MaxAuditNames:
		r.addresses = append(r.addresses, address)
	default:
		r.elsewhere += attempts
	}
}

// add puts what other counted before into r.
func (r *refused) add(other *refused) {
	if r.last == (domain.Origin{}) {
		r.last = other.last
	}
	if other.since.Before(r.since) {
		r.since = other.since
	}
	for why, n := range other.reasons {
		r.reasons[why] += n
	}
	for _, address := range other.addresses {
		r.from(address, 1)
	}
	r.elsewhere += other.elsewhere
}

// take returns what was counted, and forgets it.
func (r *refusals) take() map[refusedKey]*refused {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.counted
	r.counted, r.claimed = nil, 0
	return taken
}

// putBack counts what could not be noted with what came since.
func (r *refusals) putBack(taken map[refusedKey]*refused) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, of := range taken {
		r.counter(key).add(of)
	}
}

func (r *refused) entry(key refusedKey) domain.AuditEntry {
	attempts := 0
	changes := []domain.AuditChange{domain.Became("since", r.since.UTC().Format(time.RFC3339))}
	for _, why := range domain.Refusals {
		if n := r.reasons[why]; n > 0 {
			attempts += n
			changes = append(changes, domain.Became(string(why), pg.FormatInt(int64(n))))
		}
	}
	addresses := strings.Join(r.addresses, " ")
	if r.elsewhere > 0 {
		addresses += fmt.Sprintf(" and %d attempts from others", r.elsewhere)
	}
	changes = append(changes, domain.Became("attempts", pg.FormatInt(int64(attempts))), domain.AuditChange{Field: "addresses", After: &addresses})
	return domain.AuditEntry{
		Action: domain.AuditKeyRefuse, SubjectType: "AccessKey", SubjectID: key.id, Changes: changes, Actor: domain.Actor{Origin: r.last},
	}
}

// Throttled implements domain.Access.
func (a *Store) Throttled(from domain.Origin, accessKeyID string) {
	company, _ := credential.CompanyOf(credential.Key, accessKeyID)
	a.refused.note(refusedKey{company: company}, from, domain.RefusedThrottled)
}

// NoteRefusals implements domain.Access.
func (a *Store) NoteRefusals(ctx context.Context) error {
	taken := a.refused.take()
	if err := a.assign(ctx, taken); err != nil {
		a.refused.putBack(taken)
		return err
	}
	byCompany := func(a, b refusedKey) int {
		return cmp.Or(cmp.Compare(a.company, b.company), strings.Compare(a.id, b.id))
	}
	var failures []error
	for _, key := range slices.SortedFunc(maps.Keys(taken), byCompany) {
		err := pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error {
			return audit.Record(ctx, tx, domain.Whole(key.company), taken[key].entry(key))
		})
		if err == nil {
			delete(taken, key)
		}
		failures = append(failures, err)
	}
	a.refused.putBack(taken)
	return errors.Join(failures...)
}

const knownCompanies = `SELECT company_id FROM company_lookup WHERE company_id = ANY($1)`

// assign gives what claims a company that there is not to the installation.
func (a *Store) assign(ctx context.Context, taken map[refusedKey]*refused) error {
	var claimed pq.Int64Array
	for key := range taken {
		if key.id == "" && key.company != domain.Installation {
			claimed = append(claimed, int64(key.company))
		}
	}
	if len(claimed) == 0 {
		return nil
	}
	var known []domain.CompanyID
	if err := a.pool.SelectContext(ctx, &known, knownCompanies, claimed); err != nil {
		return pg.Translate(err)
	}
	for _, company := range claimed {
		key := refusedKey{company: domain.CompanyID(company)}
		if slices.Contains(known, key.company) {
			continue
		}
		if nobody := taken[refusedKey{}]; nobody != nil {
			nobody.add(taken[key])
		} else {
			taken[refusedKey{}] = taken[key]
		}
		delete(taken, key)
	}
	return nil
}
