package bulk_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db"
	"simgraph/db/access"
	store "simgraph/db/bulk"
	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/internal/fatal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

const (
	vans, boats, hidden = 12, 13, 14
	boss, clerk         = "boss@acme.example", "clerk@acme.example"
)

func clock() time.Time { return time.Date(2026, time.November, 10, 12, 0, 0, 0, time.UTC) }

// fleet is a company with subscribers p0001 to p0040: the first half in vans, p0039 in
// boats and p0040 in hidden, which hides tariff details.
type fleet struct {
	*testing.T
	url   string
	pool  *sqlx.DB
	store *store.Store
	boss  *domain.Caller
	now   time.Time
	// breaks is how often work may still be broken off.
	breaks atomic.Int64
}

// mostRows is how many subscribers an operation has here.
const (
	size     = 40
	mostRows = 3_000
)

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{T: t, now: clock(), url: dbtest.URL(t)}
	f.store = f.another()
	pool := f.pool
	pool.MustExec(`
INSERT INTO operators VALUES ('23415', 'Vodafone UK');
INSERT INTO company_lookup (external_id) VALUES ('acme'), ('rival');
INSERT INTO companies SELECT company_id, external_id, external_id FROM company_lookup;
INSERT INTO user_lookup (email, company_id) VALUES ('boss@acme.example', 1), ('clerk@acme.example', 1), ('boss@rival.example', 2);
INSERT INTO users SELECT company_id, user_id, email, '{MANAGE_INVENTORY,UPDATE_THE_DETAILS_OF_A_SUBSCRIBER,VIEW_SUBSCRIBER}' FROM user_lookup;
INSERT INTO tariffs VALUES (1, 'IoT', 50, 'GBP'), (1, 'Max', 90, 'GBP');
INSERT INTO groups VALUES (1, 12, 'vans', false), (1, 13, 'boats', false), (1, 14, 'hidden', true);
INSERT INTO user_groups SELECT 1, user_id, 12 FROM users WHERE email = 'clerk@acme.example'`)
	f.add(size)
	pool.MustExec(`
UPDATE subscribers SET group_id = CASE physical_id WHEN 'p0039' THEN 13 WHEN 'p0040' THEN 14 ELSE CASE WHEN physical_id <= 'p0020' THEN 12 END END;
INSERT INTO group_memberships SELECT 1, key, '2026-01-01Z', group_id FROM subscribers WHERE group_id IS NOT NULL`)
	f.boss = f.caller(boss)
	return f
}

// add makes subscribers up in no group.
func (f *fleet) add(n int) {
	f.pool.MustExec(`
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date, expiry_date,
  contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT 1, 'cellular', 'p' || to_char(n, 'FM0009'), 's' || n, '', '', '23415', 'IoT', '2025-01-01Z', '2028-01-01Z', 12, false, true, 'physical', false, false
FROM generate_series(1, $1) AS n`, n)
}

// another is a store as another instance has it, with small chunks. The first one has
// the pool of the fleet.
func (f *fleet) another() *store.Store {
	pool, err := pg.Open(f.Context(), f.url, pg.Options{MaxConns: 4})
	f.try(err)
	f.Cleanup(func() { _ = pool.Close() })
	if f.pool == nil {
		f.pool = pool
	}
	return store.New(pool, store.Options{Now: func() time.Time { return f.now }, Backoff: time.Millisecond, Chunk: 7, Rows: mostRows})
}

func (f *fleet) caller(email string) *domain.Caller {
	f.Helper()
	user, err := access.CompanyUser(f.Context(), f.pool, domain.Whole(1), email)
	f.try(err)
	scope := domain.Scope{Company: 1, Groups: user.Groups}
	if len(user.Groups) == 0 {
		scope.Groups = nil
	}
	return (&domain.Caller{UserID: user.UserID, Email: email, Permissions: user.Permissions, Scope: scope}).At(domain.Origin{Door: "graphql"})
}

func (f *fleet) try(err error) {
	f.Helper()
	fatal.If(f, err)
}

// begin begins a transaction that is rolled back at the end of the test at the latest.
func (f *fleet) begin() *sqlx.Tx {
	f.Helper()
	tx, err := f.pool.Beginx()
	f.try(err)
	f.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

func (f *fleet) int(sql string, args ...any) (n int) {
	f.Helper()
	f.try(f.pool.Get(&n, sql, args...))
	return n
}

func (f *fleet) ids(from, to int) (ids []string) {
	for n := from; n <= to; n++ {
		ids = append(ids, fmt.Sprintf("p%04d", n))
	}
	return ids
}

func (f *fleet) start(by *domain.Caller, start bulk.Start) *bulk.Operation {
	f.Helper()
	if start.ErrorPolicy == "" {
		start.ErrorPolicy = bulk.RejectFailedRows
	}
	started, err := f.store.Start(f.Context(), by, start)
	f.try(err)
	return started
}

// run works until nothing is left, and returns the operation.
func (f *fleet) run(id string) *bulk.Operation {
	f.Helper()
	for {
		more, err := f.store.Round(f.Context())
		f.try(err)
		if !more {
			return f.find(id)
		}
	}
}

func (f *fleet) find(id string) *bulk.Operation {
	f.Helper()
	found, err := f.store.Find(f.Context(), domain.Whole(1), id)
	f.try(err)
	return found
}

// results are those of the operation with the outcome; "" for all. What failed or was skipped
// lists no changes.
func (f *fleet) results(id string, outcome bulk.Outcome) []*bulk.Result {
	f.Helper()
	slices, err := f.store.ResultsOf(f.Context(), domain.Whole(1), []string{id}, domain.Listing{Page: domain.Page{Limit: 100}})
	f.try(err)
	var found []*bulk.Result
	for _, r := range slices[id].Items {
		if len(r.Changes) > 0 && (r.Outcome == bulk.Failed || r.Outcome == bulk.Skipped) {
			f.Errorf("%s is %s, and lists %v", r.PhysicalID, r.Outcome, r.Changes)
		}
		if outcome == "" || r.Outcome == outcome {
			found = append(found, r)
		}
	}
	return found
}

// changesOf lists the operations that changed a subscriber, two to a page, and compares
// their count.
func (f *fleet) changesOf(scope domain.Scope, physicalID string) (ids []string) {
	f.Helper()
	key := int64(f.int(`SELECT key FROM subscribers WHERE physical_id = $1`, physicalID))
	for page := (domain.Page{Limit: 2}); ; {
		found, err := f.store.ChangesOf(f.Context(), scope, []int64{key}, domain.Listing{Page: page})
		f.try(err)
		slice := found[key]
		for _, r := range slice.Items {
			ids = append(ids, r.OperationID)
		}
		if !slice.HasNext {
			break
		}
		page.Cursor = slice.Cursor(len(slice.Items) - 1)
	}
	counts, err := f.store.CountChangesOf(f.Context(), scope, []int64{key}, domain.Listing{})
	f.try(err)
	if counts[key] != len(ids) {
		f.Errorf("%d are counted of %d", counts[key], len(ids))
	}
	return ids
}

// rows is every subscriber with its tags, as a text.
func (f *fleet) rows() (all map[string]string) {
	f.Helper()
	type row struct{ ID, Text string }
	rows, err := pg.SelectAll[row](f.Context(), f.pool, `
SELECT s.physical_id AS id, concat_ws('|', s.nickname, COALESCE(s.group_id::text, '-'), s.is_barred, s.is_active, s.tariff_name, COALESCE(s.terminate_date::text, '-'),
  ARRAY(SELECT t.tag_name FROM subscriber_tags t WHERE t.company_id = 1 AND t.subscriber_key = s.key ORDER BY 1)::text) AS text
FROM subscribers s WHERE s.company_id = 1`)
	f.try(err)
	all = map[string]string{}
	for _, r := range rows {
		all[r.ID] = r.Text
	}
	return all
}

func (f *fleet) wants(err error, kind domain.ErrorKind, what string) {
	f.Helper()
	fault, is := domain.AsError(err)
	if got := kind == "" && err == nil || is && fault.Kind == kind; !got {
		f.Errorf("%s: got the error %v, want %q", what, err, kind)
	}
}

func (f *fleet) wantCounts(o *bulk.Operation, state bulk.State, done, changed, failed, skipped int) {
	f.Helper()
	if o.State != state || o.Done != done || o.Changed != changed || o.Failed != failed || o.Skipped != skipped {
		f.Errorf("got %+v, want %s with %d done, %d changed, %d failed, %d skipped", o, state, done, changed, failed, skipped)
	}
}

func tag(names ...domain.TagName) bulk.Change { return bulk.Change{AddTags: names} }

func moveTo(group int64) bulk.Change { return bulk.Change{Move: &bulk.Move{GroupID: &group}} }

func (f *fleet) setPermissions(email string, permissions ...string) {
	f.pool.MustExec(`UPDATE users SET permissions = $2 WHERE email = $1`, email, pq.StringArray(permissions))
}
