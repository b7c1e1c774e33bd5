package scaleout

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/db/companies"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// prepared do the mutations that random inputs do not reach: each makes the state that its
// mutation needs, and then sends it once.
var prepared = []func(*twins){(*twins).cancelsOperation, (*twins).cancelsCommand, (*twins).confirmsRemovals}

// cancelsOperation cancels an operation that waits, since others have the lock of the company.
func (w *twins) cancelsOperation() {
	w.Helper()
	release := w.lockCompanies()
	w.succeed(changing(rand.New(rand.NewPCG(1, 0)), map[string]any{"nicknamePattern": "never {physicalId}"}))
	w.succeed(mutation("cancelOperation", "CancelOperationInput", `operation { operationId state done changed }`, func(side *twin) map[string]any {
		return map[string]any{"operationId": side.last("operationId")}
	}))
	release()
}

// lockCompanies takes the lock of the company on both sides, as an import does.
func (w *twins) lockCompanies() (release func()) {
	w.Helper()
	var held []*sqlx.Tx
	for _, side := range w.sides {
		tx, err := side.direct.BeginTxx(w.Context(), nil)
		fatal.If(w, err)
		held = append(held, tx)
		_, err = companies.Lock(w.Context(), tx, side.company)
		fatal.If(w, err)
	}
	return func() {
		for _, tx := range held {
			fatal.If(w, tx.Rollback())
		}
	}
}

// cancelsCommand cancels a command that waits for an older one of its subscriber, which the
// provider puts off for an hour. The older one is retried and reported.
func (w *twins) cancelsCommand() {
	w.Helper()
	away := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("Retry-After", "3600")
		answer.WriteHeader(http.StatusServiceUnavailable)
	}))
	w.Cleanup(away.Close)
	physicalID := map[string]any{"physicalId": "with-commands"}
	w.succeed(mutation("createSubscriber", "CreateSubscriberInput", `subscriber { physicalId }`, fixed(map[string]any{
		"physicalId": "with-commands", "subscriberId": "447700899999", "operatorCode": "23415", "tariffName": "IoT 50", "contractLength": 12,
		"connectionDate": "2026-01-01T00:00:00Z", "expiryDate": "2028-01-01T00:00:00Z",
	})))
	w.succeed(mutation("setCommandProvider", "SetCommandProviderInput", `provider { url disabledAt }`, fixed(map[string]any{"url": away.URL})))
	w.succeed(mutation("barSubscriber", "BarSubscriberInput", `isInventoryOnly subscriber { isBarred }`, fixed(physicalID)))
	const newest = `query Newest($of: String!) { subscriber(by: {physicalId: $of}) { commands(first: 1) { nodes { waitingId: commandId kind state attempts lastStatus } } } }`
	read := operation{name: "command", keep: []string{"waitingId"}, of: func(*twin) request { return document(newest, map[string]any{"of": "with-commands"}) }}
	w.await(read, `"lastStatus":503`)
	w.succeed(mutation("retryCommand", "RetryCommandInput", `command { kind state attempts }`, func(side *twin) map[string]any {
		return map[string]any{"commandId": side.last("waitingId")}
	}))
	w.succeed(mutation("terminateSubscriber", "TerminateSubscriberInput", `isInventoryOnly subscriber { isActive }`, fixed(physicalID)))
	w.succeed(read)
	w.succeed(mutation("cancelCommand", "CancelCommandInput", `command { kind state reason attempts }`, func(side *twin) map[string]any {
		return map[string]any{"commandId": side.last("waitingId")}
	}))
	w.succeed(mutation("reportCommand", "ReportCommandInput", `command { kind state }`, func(side *twin) map[string]any {
		return map[string]any{"commandId": side.pick("waitingId", 0), "state": "DONE"}
	}))
	w.succeed(mutation("deleteCommandProvider", "DeleteCommandProviderInput", `provider { url }`, fixed(map[string]any{"url": away.URL})))
}

// elsewhere is a second company on both sides: that of the plain side is an account to copy.
const elsewhere = "elsewhere"

// confirmsRemovals copies an account of which nothing is seen any more, and confirms that its
// subscribers are made inactive.
func (w *twins) confirmsRemovals() {
	w.Helper()
	there := *w.sides[0].service
	there.token = there.tokenOf("admin@" + elsewhere + ".example")
	all, none := there.keyOf("admin@"+elsewhere+".example"), there.keyOf(there.userOfNothing())
	w.succeed(mutation("createUpstream", "CreateUpstreamInput", `upstream { copiedId: upstreamId name }`, fixed(map[string]any{
		"name": elsewhere, "baseUrl": there.base, "key": all, "sourceName": elsewhere, "days": 1,
	}), "copiedId"))
	upstream := func(side *twin, fields map[string]any) map[string]any {
		fields["upstreamId"] = side.number("copiedId", 0)
		return fields
	}
	const state = `query State($id: Int!) { upstream(by: {upstreamId: $id}) { state lastError refusals counts { subscribers missing } removals { waiting: subscribers confirmedAt } } }`
	read := operation{name: "upstream", keep: []string{"waiting"}, of: func(side *twin) request {
		return document(state, map[string]any{"id": side.number("copiedId", 0)})
	}}
	w.await(read, `"READY".*"subscribers":"10"`)
	w.succeed(mutation("editUpstream", "EditUpstreamInput", `upstream { name }`, func(side *twin) map[string]any { return upstream(side, map[string]any{"key": none}) }))
	for _, state := range []string{`"READY".*"missing":"[1-9]`, `"HELD".*"waiting":"[1-9]`} {
		w.succeed(mutation("syncUpstream", "SyncUpstreamInput", `upstream { name }`, func(side *twin) map[string]any { return upstream(side, map[string]any{"sweep": true}) }))
		w.await(read, state)
	}
	w.succeed(mutation("confirmUpstreamRemovals", "ConfirmUpstreamRemovalsInput", `upstream { name removals { subscribers reason } }`, func(side *twin) map[string]any {
		return upstream(side, map[string]any{"subscribers": side.last("waiting")})
	}))
	w.await(read, `"READY".*"removals":null`)
}

// succeed is do for what neither side may refuse.
func (w *twins) succeed(o operation) {
	w.Helper()
	before := [2]int{w.succeeded[0][o.name], w.succeeded[1][o.name]}
	w.do(o)
	for i, n := range before {
		if w.succeeded[i][o.name] == n {
			w.Fatalf("%s is refused: %s", o.name, w.why[o.name])
		}
	}
}

// await sends a read to both until both answers match, and then compares them.
func (w *twins) await(o operation, pattern string) {
	w.Helper()
	wanted := regexp.MustCompile(pattern)
	var bodies [2]string
	defer func() {
		if w.Failed() {
			w.Logf("plain answered %s\nCitus %s", bodies[0], bodies[1])
		}
	}()
	eventually(w.T, o.name+" is "+pattern, func() bool {
		_, bodies = w.ask(o)
		return wanted.MatchString(bodies[0]) && wanted.MatchString(bodies[1])
	})
	w.succeed(o)
}

// copying are the permissions by which an account is copied.
const copying = `[VIEW_SUBSCRIBER, VIEW_STATISTICS_OVERVIEW, VIEW_MONITORING_ALERTS, VIEW_A_USERS_DETAILS]`

// userOfNothing makes a user who is attached to a group without subscribers.
func (s *service) userOfNothing() (email string) {
	s.t.Helper()
	var made struct {
		Data struct {
			CreateGroup struct{ Group struct{ GroupID json.Number } }
		}
	}
	group := s.must(document(`mutation { createGroup(input: {name: "Nobody"}) { group { groupId } } }`, nil))
	fatal.If(s.t, json.Unmarshal(group.body, &made))
	email = "nobody@" + elsewhere + ".example"
	s.must(document(`mutation User($of: UserScopeInput!, $email: String!) { createUser(input: {email: $email, scope: $of,
  permissions: `+copying+`}) { user { email } } }`,
		map[string]any{"email": email, "of": map[string]any{"groupIds": []json.Number{made.Data.CreateGroup.Group.GroupID}}}))
	return email
}

// keyOf makes an access key of a user, as upstreams take it.
func (s *service) keyOf(email string) string {
	s.t.Helper()
	var made struct {
		Data struct {
			CreateAccessKey struct {
				Secret    string
				AccessKey struct{ AccessKeyID string }
			}
		}
	}
	key := s.must(document(`mutation Key($email: String!) { createAccessKey(input: {userEmail: $email, scope: {permissions: `+copying+`}}) { secret accessKey { accessKeyId } } }`, map[string]any{"email": email}))
	fatal.If(s.t, json.Unmarshal(key.body, &made))
	return made.Data.CreateAccessKey.AccessKey.AccessKeyID + ":" + made.Data.CreateAccessKey.Secret
}

// rounds is how often all operations are sent again at most.
const rounds = 6

// insist sends all operations again, mutations in the order that makes things before it changes
// them, until each mutation has succeeded on both sides.
func (w *twins) insist(random *rand.Rand, n int) {
	w.Helper()
	again := func(o operation) {
		n++
		if len(w.unproven()) > 0 {
			w.rest()
			w.do(o)
		}
	}
	for round := range rounds {
		for _, of := range twinOperations {
			again(of(random, n))
		}
		for _, mutation := range w.mutations() {
			again(w.of(random, mutation, round%2*len(w.mutations()), n))
		}
	}
}

// unproven are the mutations of the schema that have not succeeded on both sides.
func (w *twins) unproven() (left ast.FieldList) {
	for _, field := range w.schema.Mutation.Fields {
		if !strings.HasPrefix(field.Name, "__") && (w.succeeded[0][field.Name] == 0 || w.succeeded[1][field.Name] == 0) {
			left = append(left, field)
		}
	}
	return left
}

// missed names the mutations that have never succeeded on a side, and why they were refused.
func (w *twins) missed() (faults []string) {
	for _, field := range w.unproven() {
		for i, side := range [...]string{"a plain database", "Citus"} {
			if w.succeeded[i][field.Name] == 0 {
				faults = append(faults, fmt.Sprintf("%s never succeeded on %s: %s", field.Name, side, w.why[field.Name]))
			}
		}
	}
	return faults
}

// A mutation that succeeded on neither side, or on one alone, is named.
func TestAMutationThatNeverSucceedsIsNamed(t *testing.T) {
	t.Parallel()
	w := &twins{T: t, derived: newDerived(), succeeded: [2]map[string]int{{}, {}}, why: map[string]string{"createTariff": "refused"}}
	for _, field := range w.mutations() {
		for i := range w.succeeded {
			w.succeeded[i][field.Name] = 1
		}
	}
	if faults := w.missed(); len(faults) > 0 {
		t.Error(faults)
	}
	delete(w.succeeded[1], "createTariff")
	if faults := w.missed(); len(faults) != 1 || faults[0] != "createTariff never succeeded on Citus: refused" {
		t.Error(faults)
	}
	delete(w.succeeded[0], "createTariff")
	if faults := w.missed(); len(faults) != 2 {
		t.Error(faults)
	}
}

// last returns the value that was kept last.
func (o *twin) last(name string) string { return o.pick(name, len(o.kept[name])-1) }

// companyOf is the number of a company.
func (s *service) companyOf(name string) (company domain.CompanyID) {
	s.t.Helper()
	fatal.If(s.t, s.direct.GetContext(s.t.Context(), &company, `SELECT company_id FROM company_lookup WHERE external_id = $1`, name))
	return company
}
