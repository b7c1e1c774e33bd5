package resolvers_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"simgraph/db/live"
	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/internal/fatal"
)

// watched makes an alert on the subscriber with the most usage, far below it.
func (s *stack) watched(t *testing.T) (alertID, physicalID any) {
	t.Helper()
	top := s.mustAsk(t, `{subscribers(first: 1, orderBy: [{field: DATA_USAGE, direction: DESC}]) {nodes {physicalId subscriberId}}}`)
	a := s.mustAsk(t, `mutation ($target: String!) {
  createAlert(input: {ruleType: SIM, target: $target, lowerThreshold: "1", upperThreshold: "9223372036854775807"}) {
    alert {alertId status subscriber {physicalId}}}}`, "target", top.at("subscribers", "nodes", 0, "subscriberId"))
	if got := a.at("createAlert", "alert", "status"); got != "FIRED" {
		t.Fatalf("the new alert is %v", got)
	}
	physicalID = a.at("createAlert", "alert", "subscriber", "physicalId")
	if want := top.at("subscribers", "nodes", 0, "physicalId"); physicalID != want {
		t.Fatalf("the alert watches %v, not %v", physicalID, want)
	}
	return a.at("createAlert", "alert", "alertId"), physicalID
}

func TestAnAlertLeadsToWhatItWatchesAndBack(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	alertID, physicalID := s.watched(t)
	a := s.mustAsk(t, `query ($id: String!, $alert: Int!, $big: BigInt!) {
  subscriber(by: {physicalId: $id}) {alerts {status since alert {alertId name} ... on VolumeAlertState {usage lower {status percent since} upper {status since}}}}
  alert(by: {alertId: $alert}) {id target kind group {name} company {name} ... on VolumeAlert {subjects {subscriber {physicalId} usage status}}}
  alertLog(filter: {alertId: {eq: $big}}) {nodes {
    target kind state text isNotified ... on VolumeLogEntry {limitBoundary threshold isLate} alert {alertId} subscriber {physicalId} deliveries {id recipientName state recipient {email}}}}
  explainAlert(alertId: $alert, physicalId: $id) {lower {reason entry {entryId}} upper {reason remaining text}}}`, "id", physicalID, "alert", alertID, "big", alertID)
	var mine map[string]any
	for _, state := range a.at("subscriber", "alerts").([]any) {
		if state := state.(map[string]any); state["alert"].(map[string]any)["alertId"] == alertID {
			mine = state
		}
	}
	if mine == nil || mine["lower"].(map[string]any)["status"] != "FIRED" || mine["lower"].(map[string]any)["since"] == nil ||
		mine["upper"].(map[string]any)["status"] != "ARMED" {
		t.Errorf("the subscriber's state is %v", mine)
	}
	for path, want := range map[string]any{
		a.text("alert", "subjects", 0, "subscriber", "physicalId"):       physicalID,
		a.text("alert", "subjects", 0, "usage"):                          mine["usage"],
		a.text("alertLog", "nodes", 0, "limitBoundary"):                  "LOWER",
		a.text("alertLog", "nodes", 0, "threshold"):                      "1",
		a.text("alertLog", "nodes", 0, "alert", "alertId"):               alertID,
		a.text("alertLog", "nodes", 0, "subscriber", "physicalId"):       physicalID,
		a.text("alertLog", "nodes", 0, "deliveries", 0, "recipientName"): "alerts@demo.example",
		a.text("alertLog", "nodes", 0, "deliveries", 0, "state"):         "WAITING",
		a.text("explainAlert", "lower", "reason"):                        "FIRED",
		a.text("explainAlert", "upper", "reason"):                        "BELOW_THRESHOLD",
	} {
		if path != fmt.Sprint(want) {
			t.Errorf("got %s, want %v", path, want)
		}
	}
	node := s.mustAsk(t, `query ($id: ID!) {node(id: $id) {... on Alert {alertId}}}`, "id", a.at("alert", "id"))
	if got := node.at("node", "alertId"); got != alertID {
		t.Errorf("the node is %v", got)
	}
}

// text is at as a text.
func (r *response) text(path ...any) string { return fmt.Sprint(r.at(path...)) }

func TestTheLogOutlivesTheAlert(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	alertID, _ := s.watched(t)
	removed := s.mustAsk(t, `mutation ($id: Int!) {deleteAlert(input: {alertId: $id}) {alert {alertId}}}`, "id", alertID)
	if removed.at("deleteAlert", "alert", "alertId") != alertID {
		t.Fatalf("got %v", removed.Data)
	}
	a := s.mustAsk(t, `query ($alert: BigInt!) {alertLogList(filter: "alertId eq `+fmt.Sprint(alertID)+`") {totalCount items {alertId alert {alertId}}}
  node: alerts(filter: {alertId: {eq: $alert}}) {totalCount}}`, "alert", alertID)
	if a.text("alertLogList", "totalCount") != "1" || a.at("alertLogList", "items", 0, "alert") != nil || a.text("node", "totalCount") != "0" {
		t.Errorf("got %v", a.Data)
	}
	again := s.ask(t, `mutation ($id: Int!) {deleteAlert(input: {alertId: $id}) {alert {alertId}}}`, "id", alertID)
	if again.code() != "INVALID_PROPERTY" {
		t.Errorf("got %v", again.Errors)
	}
}

func TestStatementsOfAlerts(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.watched(t)
	for query, want := range map[string]int{
		`{alerts(first: 100) {nodes {target name ... on VolumeAlert {lowerThreshold}}}}`: 1,
		// The list, subscribers, groups, and the period with what was exceeded.
		`{alerts(first: 100) {nodes {subscriber {nickname} group {name} status numberFired}}}`: 5,
		// The list; the period with all subjects; their subscribers, their groups.
		`{alerts(first: 100) {nodes {... on VolumeAlert {subjects(limit: 3) {usage subscriber {nickname} group {name}}}}}}`: 5,
		`{alertLog(first: 100) {nodes {alert {target} subscriber {nickname} deliveries {state}}}}`:                          4,
		`{subscribers(first: 100) {nodes {alerts {status alert {alertId}}}}}`:                                               5,
		`{groups {nodes {alerts {nodes {target}}}}}`:                                                                        2,
		`{recipients {nodes {email mails {state}}}}`:                                                                        2,
	} {
		s.mustTake(t, want, query)
	}
}

func TestUsersOfGroupsReachNoAlertOfTheCompany(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	whole := s.mustAsk(t, `{alerts(first: 100, filter: {ruleType: {eq: COMPANY}}) {nodes {alertId id}} recipients {nodes {id recipientId}}}`)
	company := whole.at("alerts", "nodes", 0, "alertId")
	group := s.mustAsk(t, `{groups(first: 1) {nodes {groupId}}}`).at("groups", "nodes", 0, "groupId").(float64)
	caller := *s.caller
	caller.Scope = domain.Scope{Company: caller.Scope.Company, Groups: []int64{int64(group)}}
	s.caller = &caller
	a := s.mustAsk(t, `{alerts(first: 100) {nodes {ruleType}} alertLog(first: 100) {nodes {ruleType}} nodes(ids: ["`+whole.text("alerts", "nodes", 0, "id")+`", "`+whole.text("recipients", "nodes", 0, "id")+`"]) {id}}`)
	for _, list := range []string{"alerts", "alertLog"} {
		for _, item := range a.at(list, "nodes").([]any) {
			if item.(map[string]any)["ruleType"] == "COMPANY" {
				t.Errorf("%s shows an alert of the company", list)
			}
		}
	}
	if a.at("nodes", 0) != nil || a.at("nodes", 1) != nil {
		t.Error("a node shows an alert or a recipient of the company")
	}
	for query, want := range map[string]string{
		`{alert(by: {alertId: ` + fmt.Sprint(company) + `}) {target}}`:                                                           "",
		`mutation {createAlert(input: {ruleType: COMPANY, lowerThreshold: 1, upperThreshold: 2}) {alert {id}}}`:                  "FORBIDDEN",
		`mutation {createAlert(input: {ruleType: GROUPPR, target: "99999", lowerThreshold: 1, upperThreshold: 2}) {alert {id}}}`: "INVALID_PROPERTY",
		`{recipients {nodes {email}}}`:                                         "FORBIDDEN",
		`mutation {sendTestAlert(input: {all: true}) {mails {recipientName}}}`: "FORBIDDEN",
		`mutation {restoreRecipient(input: {recipientId: 1}) {alerts}}`:        "FORBIDDEN",
		`{alerts(first: 1) {nodes {id}} previewAlert(input: {ruleType: COMPANY, lowerThreshold: 1, upperThreshold: 2}, startDate: "2026-11-01", endDate: "2026-11-20") {total}}`: "FORBIDDEN",
	} {
		if got := s.ask(t, query).code(); got != want {
			t.Errorf("%s: got %q, want %s", query, got, want)
		}
	}
}

func TestAPreviewKeepsNothing(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	before := s.mustAsk(t, `{alerts {totalCount} alertLog {totalCount}}`)
	a := s.mustAsk(t, `{previewAlert(input: {ruleType: COMPANY, lowerThreshold: 1, upperThreshold: 2}, startDate: "2026-11-01", endDate: "2026-11-20") {
  total subjects firings {boundary at usage subscriber {physicalId} group {name} period {startsAt endsAt}}}}`)
	if a.text("previewAlert", "total") == "0" || len(a.at("previewAlert", "firings").([]any)) != 100 {
		t.Errorf("got %v", a.Data)
	}
	if after := s.mustAsk(t, `{alerts {totalCount} alertLog {totalCount}}`); fmt.Sprint(after.Data) != fmt.Sprint(before.Data) {
		t.Errorf("got %v, was %v", after.Data, before.Data)
	}
}

// Alerts are sent as server-sent events, through the engine and PostgreSQL.
func TestAlertsAreToldLive(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	live := live.New(s.pool, s.url, slog.New(slog.NewTextHandler(t.Output(), nil)))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _ = live.Run(ctx) }()
	ports := s.ports
	ports.Live = live
	s.engine = engineOn(ports, transport.Config{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.engine.ServeHTTP(w, r.WithContext(domain.WithCaller(r.Context(), s.caller)))
	}))
	defer server.Close()
	defer cancel() // first, for the server waits for its streams
	events := subscribe(ctx, t, server.URL, `subscription {alertTriggered {target ... on VolumeLogEntry {limitBoundary} subscriber {physicalId alerts {status}}}}`)
	for {
		s.watched(t)
		select {
		case event := <-events:
			var got struct {
				Data struct {
					AlertTriggered struct {
						LimitBoundary string
						Subscriber    struct{ Alerts []any }
					}
				}
			}
			fatal.If(t, json.Unmarshal([]byte(event), &got))
			if entry := got.Data.AlertTriggered; entry.LimitBoundary != "LOWER" || len(entry.Subscriber.Alerts) == 0 {
				t.Fatalf("got %s", event)
			}
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// subscribe returns the data of the events of a stream.
func subscribe(ctx context.Context, t *testing.T, url, query string) <-chan string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	fatal.If(t, err)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(string(body)))
	fatal.If(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request)
	fatal.If(t, err)
	events := make(chan string, 100)
	go func() {
		defer response.Body.Close()
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				events <- data
			}
		}
	}()
	return events
}

func TestARecipientThatWasRefusedIsRestored(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id := s.mustAsk(t, `{recipients {nodes {recipientId}}}`).at("recipients", "nodes", 0, "recipientId")
	const restore = `mutation ($id: Int!) {restoreRecipient(input: {recipientId: $id}) {recipient {recipientId suppressedReason suppressedSince} mails alerts}}`
	for reason, want := range map[string]string{"refused": "", "unsubscribed": "INVALID_PARAMETER"} {
		s.pool.MustExec(`UPDATE alert_recipients SET suppressed_since = now(), suppressed_reason = $1 WHERE recipient_id = $2`, reason, id)
		a := s.ask(t, restore, "id", id)
		if a.code() != want {
			t.Errorf("restoring one that %s: got %q, want %q", reason, a.code(), want)
		}
		if want == "" && (a.at("restoreRecipient", "recipient", "recipientId") != id || a.at("restoreRecipient", "recipient", "suppressedReason") != nil) {
			t.Errorf("the answer is %v", a.Data)
		}
	}
}
