package condition_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/alert"
	store "simgraph/db/condition"
	"simgraph/db/dbtest"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/internal/fatal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

var (
	scope  = domain.Whole(1)
	monday = time.Date(2026, time.November, 9, 12, 0, 0, 0, time.UTC)
)

// fixture is a company with the subscribers p1 to p4 in vans and p5 to p8 in boats, all
// connected long ago, and a clock.
type fixture struct {
	*testing.T
	pool       *sqlx.DB
	usage      *usage.Store
	conditions *store.Store
	now        time.Time
	sequence   int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, pool: dbtest.New(t), now: monday}
	f.pool.MustExec(`
INSERT INTO operators VALUES ('23415', 'Vodafone UK');
INSERT INTO companies VALUES (1, 'acme', 'Acme', 1, 'UTC'), (2, 'rival', 'Rival', 1, 'UTC');
INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 1), ('rival', 2);
INSERT INTO tariffs VALUES (1, 'IoT', 50, 'GBP');
INSERT INTO groups VALUES (1, 12, 'vans', false), (1, 13, 'boats', false);
INSERT INTO subscribers (company_id, key, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date, expiry_date,
  contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online, group_id)
SELECT 1, n, 'cellular', 'p' || n, 's' || n, '', '', '23415', 'IoT', '2026-01-01Z', '2028-01-01Z', 12, false, true, 'physical', false, false, CASE WHEN n < 5 THEN 12 ELSE 13 END
FROM generate_series(1, 8) AS n;
INSERT INTO group_memberships (company_id, subscriber_key, since, group_id)
SELECT 1, key, connection_date, group_id FROM subscribers`)
	clock := func() time.Time { return f.now }
	f.usage = usage.New(f.pool, volume.NewEvaluator(clock), usage.Options{Now: clock})
	f.conditions = store.New(f.pool, clock)
	return f
}

// pass lets time pass, and evaluates.
func (f *fixture) pass(d time.Duration) {
	f.Helper()
	f.now = f.now.Add(d)
	f.round()
}

func (f *fixture) round() {
	f.Helper()
	fatal.If(f, f.conditions.Round(f.Context()))
}

// record books a minute of usage of the subscriber that ends now.
func (f *fixture) record(subscriber int, source string, change ...func(*domain.UsageRecord)) {
	f.Helper()
	f.sequence++
	r := domain.UsageRecord{
		PhysicalID: fmt.Sprintf("p%d", subscriber), StartedAt: f.now.Add(-time.Minute), EndedAt: f.now, MobileOriginated: 100, MobileTerminated: 50,
		Sequence: 1, Protocol: "LTE", SessionID: fmt.Sprintf("s%d", f.sequence), Source: source, RecordID: fmt.Sprintf("r%d", f.sequence),
	}
	for _, do := range change {
		do(&r)
	}
	results, err := f.usage.Record(f.Context(), scope, []domain.UsageRecord{r})
	fatal.If(f, err)
	if status := results[0].Status; status != domain.UsageAccepted && status != domain.UsageDuplicate {
		f.Fatalf("%+v: %+v", r, results[0])
	}
}

func (f *fixture) create(of domain.RuleType, target string, c condition.Condition) *condition.Alert {
	f.Helper()
	created, err := f.conditions.Create(f.Context(), scope, condition.Spec{RuleType: of, Target: target, Condition: c})
	fatal.If(f, err)
	return created
}

func silentFor(hours int64) condition.Condition {
	return condition.Condition{Kind: condition.Silent, Bound: hours}
}

func toBe(c condition.Condition) condition.Edit { return condition.Edit{Condition: &c} }

// entries are those of alerts on conditions, the newest first.
func (f *fixture) entries() (found []*condition.Entry) {
	f.Helper()
	slice, err := alert.NewLog(f.pool).List(f.Context(), scope, domain.Listing{Page: domain.Page{Limit: 100_000}})
	fatal.If(f, err)
	for _, of := range slice.Items {
		if entry, is := of.(*condition.Entry); is {
			found = append(found, entry)
		}
	}
	return found
}

// log returns the entries in words, the oldest first.
func (f *fixture) log() []string {
	f.Helper()
	words := []string{}
	for _, e := range slices.Backward(f.entries()) {
		who := strings.TrimSuffix(e.Source+"/"+e.NAS, "/")
		if e.SubscriberKey != nil {
			who = fmt.Sprintf("p%d", *e.SubscriberKey)
		} else if e.GroupID != nil {
			who = fmt.Sprintf("group %d", *e.GroupID)
		}
		words = append(words, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", e.State, e.Kind, who, e.Since.UTC().Format("2 15:04"), e.After)))
	}
	return words
}

func (f *fixture) logs(want ...string) {
	f.Helper()
	got := f.log()
	slices.Sort(got)
	slices.Sort(want)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		f.Errorf("the log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// reporting makes a record one of a session that the network reports.
func reporting(imei, address, network string) func(*domain.UsageRecord) {
	return func(r *domain.UsageRecord) {
		r.RecordID = ""
		if address != "" {
			r.IPAddress = netip.MustParseAddr(address)
		}
		r.Report = &domain.SessionReport{NAS: "gw", IMEI: imei, VisitedNetwork: network, RATType: "EUTRAN"}
	}
}
