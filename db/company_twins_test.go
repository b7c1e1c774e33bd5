package db_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/access"
	"simgraph/db/companies"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/db/source"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/internal/bundle"
	"simgraph/internal/fatal"
	"simgraph/internal/profile"
	"simgraph/internal/stores"
)

// Another company with the same physicalIds, groups, tags, tariffs, alerts,
// recipients and records changes no answer, and no statement reads its rows.
func TestACompanyWithTheSameIdentifiersChangesNoAnswer(t *testing.T) {
	t.Parallel()
	w := newTwins(t)
	w.load("acme", 1)
	w.company = fleettest.Must[*domain.Company](t)(companies.New(w.pool).FindExternal(t.Context(), "acme"))
	whole := domain.Whole(w.company.CompanyID)
	some := domain.Scope{Company: w.company.CompanyID, Groups: []int64{12}, Masked: []int64{12}}
	if _, _, err := access.New(w.pool).CreateKey(t.Context(), whole, domain.KeySpec{Email: "ops@acme.example", Lifetime: time.Hour}); err != nil {
		t.Fatal(err)
	}
	before := map[string]string{}
	for name, read := range w.reads() {
		before[name], before[name+" of a group"] = w.answer(read, whole), w.answer(read, some)
	}
	w.load("rival", 1000)
	for name, read := range w.reads() {
		for _, c := range []struct {
			name  string
			scope domain.Scope
		}{{name, whole}, {name + " of a group", some}} {
			if after := w.answer(read, c.scope); after != before[c.name] {
				t.Errorf("%s\nbefore %s\nafter  %s", c.name, before[c.name], after)
			}
		}
		if len(strings.Trim(before[name], "[]{}0nul")) == 0 || strings.HasPrefix(before[name], "refused") {
			t.Errorf("%s answers nothing: %s", name, before[name])
		}
	}
	if !dbtest.OnCitus() { // the plans are those of PostgreSQL
		w.mustReadOneCompany()
	}
}

// twins is a database for companies that are alike.
type twins struct {
	*testing.T
	pool    *sqlx.DB
	company *domain.Company

	mu         sync.Mutex
	statements map[string]bool
}

func newTwins(t *testing.T) *twins {
	w := &twins{T: t, statements: map[string]bool{}}
	pool, err := pg.Open(t.Context(), dbtest.URL(t), pg.Options{Observe: func(_ context.Context, query string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.statements[query] = true
	}})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	w.pool = pool
	return w
}

func twinClock() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func (w *twins) usage() *usage.Store {
	return usage.New(w.pool, volume.NewEvaluator(twinClock), usage.Options{Now: twinClock})
}

// load imports a company; all its usage is multiplied by factor.
func (w *twins) load(company string, factor int) {
	w.Helper()
	line := func(format string, args ...any) string {
		return strings.ReplaceAll(fmt.Sprintf(format, args...), "COMPANY", company) + "\n"
	}
	var b strings.Builder
	b.WriteString(line(`{"type":"company","id":"COMPANY","name":"COMPANY","billingDay":1,"timeZone":"UTC"}`))
	b.WriteString(line(`{"type":"operator","code":"23415","name":"Vodafone UK"}`))
	b.WriteString(line(`{"type":"tariff","company":"COMPANY","name":"IoT 50","lineRental":%d,"currency":"GBP"}`, 100+factor))
	for _, group := range []int{12, 13} {
		b.WriteString(line(`{"type":"group","company":"COMPANY","id":%d,"name":"COMPANY %d","hideTariffDetails":%t}`, group, group, group == 12))
	}
	b.WriteString(line(`{"type":"user","company":"COMPANY","email":"ops@COMPANY.example","permissions":["View Subscriber"],"groups":[12]}`))
	for n := range 6 {
		parent := "null"
		if n == 1 || n == 2 {
			parent = fmt.Sprintf(`{"physicalId":"p0","isEnabledOnParent":%t}`, n == 1)
		}
		b.WriteString(line(`{"type":"subscriber","company":"COMPANY","kind":"cellular","physicalId":"p%d","subscriberId":"s%d","dataNumber":null,"imsi":"2341",`+
			`"nickname":"COMPANY","operatorCode":"23415","tariffName":"IoT 50","connectionDate":"2024-01-01T00:00:00Z","expiryDate":"2027-01-01T00:00:00Z",`+
			`"contractLength":36,"isBarred":false,"isActive":true,"terminateDate":null,"groupId":%d,"subscriberType":"physical",`+
			`"networkState":{"isTransferring":false,"isOnline":true},"eid":null,"smdpProvider":null,"parent":%s}`, n, n, 12+n%2, parent))
		b.WriteString(line(`{"type":"tag","company":"COMPANY","physicalId":"p%d","tagName":"fleet"}`, n))
	}
	for _, of := range []string{`"sim","target":"s0"`, `"grouppr","target":"12"`, `"groupfptp","target":"12"`, `"company","target":""`} {
		b.WriteString(line(`{"type":"alert","company":"COMPANY","ruleType":%s,"lowerThreshold":20,"upperThreshold":60}`, of))
	}
	b.WriteString(line(`{"type":"recipient","company":"COMPANY","email":"alerts@example.org"}`))
	b.WriteString(line(`{"type":"source-profile","company":"COMPANY","name":"carrier","format":"CSV","description":"COMPANY",` +
		`"fields":[{"field":"IMSI","expression":"r.imsi"},{"field":"ENDED_AT","expression":"r.at"},{"field":"VOLUME","expression":"r.bytes"}]}`))
	b.WriteString(line(`{"type":"question","company":"COMPANY","id":"01900000-0000-7000-8000-000000000001","name":"COMPANY","version":1,"measure":"TOTAL","interval":"DAY","chart":"LINE","span":"LAST_MONTH"}`))
	b.WriteString(line(`{"type":"dashboard","company":"COMPANY","id":"01900000-0000-7000-8000-000000000002","name":"COMPANY","span":"THIS_MONTH","tiles":[` +
		`{"id":1,"column":0,"row":0,"width":6,"height":4,"questionId":"01900000-0000-7000-8000-000000000001"}]}`))
	b.WriteString(line(`{"type":"report","company":"COMPANY","id":"01900000-0000-7000-8000-000000000003","dashboardId":"01900000-0000-7000-8000-000000000002","frequency":"DAILY","hour":7,"recipients":["ops@COMPANY.example"]}`))
	b.WriteString(line(`{"type":"note","company":"COMPANY","id":"01900000-0000-7000-8000-000000000004","text":"COMPANY","startsAt":"2026-11-02T12:00:00Z"}`))
	for n := range 24 {
		b.WriteString(line(`{"type":"usage","company":"COMPANY","source":"pgw","recordId":"r-%d","physicalId":"p%d","sessionId":"x%d","sequence":0,`+
			`"startedAt":"2026-11-%02dT%02d:05:00Z","endedAt":"2026-11-%02dT%02d:20:00Z","mobileOriginated":%d,"mobileTerminated":%d,"protocol":"TCP","ipAddress":"10.0.0.%d"}`,
			n, n%6, n, 10+n%5, n%20, 10+n%5, n%20, factor*(1+n), factor*2, n%3))
	}
	for n := range 6 {
		b.WriteString(line(`{"type":"usage","counters":"CUMULATIVE","company":"COMPANY","source":"pgw","physicalId":"p%d","sessionId":"counted",`+
			`"startedAt":"2026-11-10T00:00:00Z","endedAt":"2026-11-10T01:00:00Z","mobileOriginated":%d,"mobileTerminated":0,"protocol":"TCP"}`, n, factor*n))
	}
	stores := stores.Bundles(w.pool, twinClock)
	stores.Usage, stores.Profiles = w.usage(), source.New(w.pool, source.Options{Check: profile.Check, Now: twinClock})
	counts, err := stores.Import(w.Context(), bundle.NewReader(strings.NewReader(b.String())), bundle.Options{
		BadLine: func(bad *bundle.LineError) { w.Error(bad) },
	})
	if err != nil {
		w.Fatal(err, counts)
	}
}

type read func(ctx context.Context, scope domain.Scope) (any, error)

// answer is what a store says, as text.
func (w *twins) answer(do read, scope domain.Scope) string {
	w.Helper()
	value, err := do(w.Context(), scope)
	if err != nil {
		if _, public := domain.AsError(err); public {
			return "refused: " + err.Error()
		}
		w.Fatal(err)
	}
	text, err := json.Marshal(value)
	fatal.If(w, err)
	return string(text)
}

// mustReadOneCompany demands company_id = $1 of every statement that was run,
// those that are put together as well, and the rules of distribution.
func (w *twins) mustReadOneCompany() {
	w.Helper()
	planner, others := newPlanner(w.T), map[string]bool{}
	for name, sql := range constantStatements(w.T) {
		if _, listed := ofAllCompanies[name]; listed {
			others[sql] = true
		}
	}
	read := 0
	for sql := range maps.Keys(w.statements) {
		if !beginsStatement.MatchString(sql) || others[sql] {
			continue
		}
		read++
		if unbound := planner.unbound(sql); len(unbound) > 0 {
			w.Errorf("%v are read without company_id = $1 by %s", unbound, sql)
		}
		for _, violation := range distributionViolations(sql, planner.owned) {
			w.Errorf("%s: %s", violation, sql)
		}
	}
	if read < 80 {
		w.Errorf("only %d statements were run", read)
	}
}
