// Package fleettest makes fleets for the tests of stores.
package fleettest

import (
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

// The companies of NewInventory.
const (
	Acme  = domain.CompanyID(1)
	Rival = domain.CompanyID(2)
)

// NewInventory makes two companies with the same identifiers. Acme has the
// subscribers p01 to p09: the first six in group 12, whose tariff details are
// hidden from its users, p07 and p08 in group 13, p09 in none; p02 and p03 are
// profiles on p01. Tags: "fleet" on p01 to p04, "z" on p08.
func NewInventory(t testing.TB) *sqlx.DB {
	t.Helper()
	pool := dbtest.New(t)
	pool.MustExec(`
INSERT INTO operators VALUES ('23410', 'O2 UK'), ('23415', 'Vodafone UK');
INSERT INTO company_lookup (external_id) VALUES ('acme'), ('rival');
INSERT INTO companies SELECT company_id, external_id, external_id FROM company_lookup;
INSERT INTO tariffs SELECT company_id, t.* FROM companies, (VALUES ('IoT 50', 50, 'GBP'), ('IoT 900', 900, 'GBP')) t;
INSERT INTO groups SELECT company_id, g.* FROM companies, (VALUES (12, 'Vans', true), (13, 'Boats', false)) g;
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, terminate_date, group_id, subscriber_type, is_transferring, is_online)
SELECT c.company_id, 'cellular', 'p0' || n, 's0' || n, '234150' || n, 'van ' || n, CASE WHEN n % 2 = 0 THEN '23410' ELSE '23415' END,
  CASE WHEN n % 3 = 0 THEN 'IoT 900' ELSE 'IoT 50' END, timestamptz '2024-01-01Z' + (n % 4) * interval '1 day', '2027-01-01Z', 36,
  n = 5, n <> 6, CASE WHEN n = 6 THEN timestamptz '2025-01-01Z' END, CASE WHEN n <= 6 THEN 12 WHEN n <= 8 THEN 13 END, 'physical', n = 7, n % 2 = 1
FROM companies c, generate_series(1, 9) n ORDER BY c.company_id, n;
UPDATE subscribers s SET parent_key = p.key, is_enabled_on_parent = s.physical_id = 'p02', subscriber_type = 'virtual'
FROM subscribers p WHERE p.company_id = s.company_id AND p.physical_id = 'p01' AND s.physical_id IN ('p02', 'p03');
INSERT INTO subscriber_tags SELECT company_id, key, 'fleet' FROM subscribers WHERE physical_id <= 'p04';
INSERT INTO subscriber_tags SELECT company_id, key, 'z' FROM subscribers WHERE physical_id = 'p08';
INSERT INTO user_lookup (email, company_id) VALUES ('ops@acme.example', 1), ('van@acme.example', 1), ('ops@rival.example', 2);
INSERT INTO users SELECT company_id, user_id, email, '{VIEW_SUBSCRIBER,MANAGE_ACCESS_KEYS}' FROM user_lookup;
INSERT INTO user_groups SELECT company_id, user_id, 12 FROM users WHERE email = 'van@acme.example'`)
	return pool
}

// ExecEach runs statements that blank lines separate: Citus takes definitions one
// by one.
func ExecEach(pool *sqlx.DB, statements string) {
	for statement := range strings.SplitSeq(statements, "\n\n") {
		pool.MustExec(statement)
	}
}

// The scopes of Acme: the whole company, and a user of group 12, which hides tariff details.
var (
	All      = domain.Whole(Acme)
	VansOnly = domain.Scope{Company: Acme, Groups: []int64{12}, Masked: []int64{12}}
)

// Must returns a function that ends the test with an error, and returns the value otherwise.
func Must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// WantKind ends the test when the error is not of the kind.
func WantKind(t testing.TB, err error, kind domain.ErrorKind) {
	t.Helper()
	if fault, is := domain.AsError(err); !is || fault.Kind != kind {
		t.Fatalf("got the error %v, want %s", err, kind)
	}
}

// PhysicalIDs returns the physical ids in the order of the subscribers.
func PhysicalIDs(of []*domain.Subscriber) []string {
	ids := make([]string, len(of))
	for i, s := range of {
		ids[i] = s.PhysicalID
	}
	return ids
}

// WantIDs ends the test when the subscribers are not those, in this order.
func WantIDs(t testing.TB, of []*domain.Subscriber, want ...string) {
	t.Helper()
	if got := PhysicalIDs(of); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// Listing reads the filter and order languages.
func Listing(t testing.TB, filter, order string, limit int) domain.Listing {
	t.Helper()
	return domain.Listing{
		Filter:     Must[query.Expr](t)(query.ParseFilter(filter, domain.SubscriberFields)),
		Order:      Must[[]query.Order](t)(query.ParseOrder(order, domain.SubscriberFields)),
		Page:       domain.Page{Limit: limit},
		Projection: EveryField,
	}
}

// EveryField reads subscribers without their relations.
var EveryField = domain.Projection{Fields: domain.AllFields}

// RowsOf are the rows of all tables that have the value in a column of the name, as texts:
// what is done to other things leaves them as they are.
func RowsOf(t testing.TB, pool *sqlx.DB, column, value string) (rows []string) {
	t.Helper()
	var tables []string
	fatal.If(t, pool.SelectContext(t.Context(), &tables, `
SELECT c.relname FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attname = $1
ORDER BY 1`, column))
	for _, table := range tables {
		var found []string
		fatal.If(t, pool.SelectContext(t.Context(), &found, `SELECT to_jsonb(r)::text FROM `+table+` r WHERE r.`+column+`::text = $1 ORDER BY 1`, value))
		rows = append(rows, found...)
	}
	return rows
}
