package security

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/internal/fatal"
	"simgraph/resolvers"
)

// follow subscribes over server-sent events; what comes is written to the
// channel, event by event.
func (w *world) follow(t *testing.T, token, subscription string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	events := make(chan string, 1000)
	body, _ := json.Marshal(map[string]string{"query": "subscription {" + subscription + "}"})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/graphql", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.handler.ServeHTTP(&eventWriter{header: http.Header{}, events: events}, r)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return events
}

// listen has what happens announced to those who follow it.
func (w *world) listen(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	listening := make(chan error, 1)
	go func() { listening <- w.live.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-listening })
}

// eventWriter hands on what a stream writes.
type eventWriter struct {
	header http.Header
	events chan<- string
}

func (e *eventWriter) Header() http.Header              { return e.header }
func (e *eventWriter) WriteHeader(int)                  {}
func (e *eventWriter) Flush()                           {}
func (e *eventWriter) SetWriteDeadline(time.Time) error { return nil }
func (e *eventWriter) Write(text []byte) (int, error) {
	e.events <- string(text)
	return len(text), nil
}

// await waits for an event with the text and returns all that came until then.
func await(t *testing.T, events <-chan string, text string, again func()) string {
	t.Helper()
	var all strings.Builder
	deadline := time.After(time.Minute)
	for {
		again()
		select {
		case event := <-events:
			all.WriteString(event)
		case <-time.After(200 * time.Millisecond):
		case <-deadline:
			t.Fatalf("%q never came: %s", text, all.String())
		}
		if strings.Contains(all.String(), text) {
			return all.String()
		}
	}
}

// happen has the part use data, get a nickname, and exceed an alert.
func (w *world) happen(t *testing.T, p part, n int) {
	t.Helper()
	scope := domain.Whole(w.company(t, p.company))
	at := clock().Add(-time.Minute)
	_, err := w.usage.Record(t.Context(), scope, []domain.UsageRecord{{
		RecordID: fmt.Sprintf("%s-live-%d", p.mark, n), Source: p.source(), PhysicalID: p.physicalID(1), StartedAt: at, EndedAt: at, MobileOriginated: 1, Protocol: "TCP",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ports.Subscribers.EditNickname(t.Context(), scope, p.physicalID(1), fmt.Sprintf("%s-live-%d", p.mark, n)); err != nil {
		t.Fatal(err)
	}
	w.operate(t, p, p.operates(), bulk.Start{Change: bulk.Change{IsBarred: new(false)}, ValidateOnly: true})
	if _, err := w.ports.VolumeAlerts.Create(t.Context(), scope, domain.AlertSpec{
		RuleType: domain.RuleSIM, Target: p.subscriberID(1), LowerThreshold: int64(n), UpperThreshold: 1 << 60,
	}); err != nil {
		t.Fatal(err)
	}
}

// Whatever happens to others, a subscription sends the caller's own only.
func TestNothingOfOthersIsSentLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listen(t)
	v := walker{schema: w.schema, depth: 3, skip: companyOnly}
	for name, a := range attacks {
		for _, field := range visibleFields(w.schema.Subscription) {
			t.Run(name+" "+field.Name, func(t *testing.T) {
				events := w.follow(t, w.tokens[a.caller], field.Name+v.of(field.Type.Name(), nil))
				n := 0
				event := await(t, events, own.physicalID(1), func() {
					n++
					w.happen(t, a.hidden, n)
					w.happen(t, own, n)
				})
				got := answer{body: []byte(event)}
				if shown := got.shows(a.hidden, ""); len(shown) > 0 {
					t.Errorf("shows %q: %s", shown, event)
				}
			})
		}
	}
}

// To follow what another owns is refused like following what does not exist.
func TestForeignSubscribersCannotBeFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, a := range attacks {
		for _, field := range visibleFields(w.schema.Subscription) {
			for _, l := range w.leavesOf(t, field) {
				if l.rule != physicalID && l.rule != operationID {
					t.Errorf("%s takes %s: declare here how it is followed", field.Name, l.name())
				}
				refusal := func(p part) string {
					value := w.victim(t, p)[l.rule]
					given := asJSON(value)
					if l.isList {
						given = "[" + given + "]"
					}
					events := w.follow(t, w.tokens[a.caller], fmt.Sprintf(`%s(%s: %s) {__typename}`, field.Name, l.name(), given))
					return answer{body: []byte(await(t, events, "INVALID_PROPERTY", func() {}))}.comparable(fmt.Sprint(value))
				}
				if got, want := refusal(a.hidden), refusal(nobody); got != want {
					t.Errorf("%s %s: %s, not %s", name, field.Name, got, want)
				}
			}
		}
	}
}

// An event names a field that may not be seen with its whole path.
func TestWhatIsForbiddenWithinAnEventIsNamedFromItsRoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listen(t)
	events := w.follow(t, w.tokenWithout(t, domain.ViewStatisticsOverview), "changed: subscriberChanged { physicalId usage { totals { total } } }")
	n := 0
	event := await(t, events, "FORBIDDEN", func() { n++; w.happen(t, own, n) })
	if !strings.Contains(event, `"path":["changed","usage"`) {
		t.Error(event)
	}
}

// tokenOfTwin is that of another user with the groups and permissions of own-vans.
func (w *world) tokenOfTwin(t *testing.T) string {
	t.Helper()
	const email, vans = "own-twin@acme.example", "own-vans@acme.example"
	company, of, err := w.access.FindUser(t.Context(), vans)
	if err != nil {
		t.Fatal(err)
	}
	made := w.query(t, w.tokens["own-admin@acme.example"], makeUser, map[string]any{"input": map[string]any{
		"email": email, "permissions": of.Permissions, "scope": map[string]any{"groupIds": of.Groups},
	}})
	grant, err := w.access.Issue(t.Context(), domain.Whole(company), email, time.Hour)
	if err != nil {
		t.Fatalf("%v: %s", err, made.body)
	}
	return string(grant.Token)
}

// Callers who send the same document at the same time share what they get only where
// it is the same.
func TestFollowersOfTheSameDocumentGetTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listen(t)
	vans, admin, rival, twin := w.tokens["own-vans@acme.example"], w.tokens["own-admin@acme.example"], w.tokens["rvl-admin@rival.example"], w.tokenOfTwin(t)
	const all = "subscriberChanged {physicalId tags {name} group {name}}"
	const withOperations = "subscriberChanged {physicalId operationResults(first: 100) {nodes {operation {operationId}}}}"
	n := 0
	again := func() {
		n++
		for _, p := range []part{others, rivals, own} {
			w.happen(t, p, n)
		}
	}
	type following struct {
		what, token, query string
		want               string
		not                []string
	}
	followers := []following{
		{"admin", admin, all, own.physicalID(1), []string{rivals.physicalID(1)}},
		{"admin, again", admin, all, others.physicalID(1), []string{rivals.physicalID(1)}},
		{"vans", vans, all, own.physicalID(1), []string{rivals.physicalID(1), others.physicalID(1)}},
		{"twin", twin, all, own.physicalID(1), []string{rivals.physicalID(1), others.physicalID(1)}},
		{"rival", rival, all, rivals.physicalID(1), []string{own.physicalID(1), others.physicalID(1)}},
	}
	var started []<-chan string
	for _, f := range followers {
		started = append(started, w.follow(t, f.token, f.query))
	}
	operations, none := w.follow(t, vans, withOperations), w.follow(t, twin, withOperations)
	changed, unseen := w.follow(t, vans, "operationChanged {operationId}"), w.follow(t, twin, "operationChanged {operationId}")
	for i, f := range followers {
		event := await(t, started[i], f.want, again)
		for _, not := range f.not {
			if strings.Contains(event, not) {
				t.Errorf("%s gets %s", f.what, event)
			}
		}
	}
	await(t, operations, `"operationId":"`, again)
	await(t, changed, `"operationId":"`, again)
	if event := await(t, none, own.physicalID(1), again); strings.Contains(event, "operationId") {
		t.Errorf("an operation of another user of the group is shown: %s", event)
	}
	select {
	case event := <-unseen: // the comment that begins a stream
		if event == ":\n\n" && len(unseen) == 0 {
			break
		}
		t.Errorf("an operation of another user of the group is sent: %s", event)
	case <-time.After(time.Minute):
		t.Error("the stream did not begin")
	}
}

// What events are made from is what their followers are equal in.
func TestSharedEventsAreMadeFromWhatTheirFollowersHaveInCommon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	caller := &domain.Caller{UserID: 7, Email: "own-vans@acme.example", Company: &domain.Company{CompanyID: 3}, Permissions: domain.AllPermissions(),
		Scope: domain.Scope{Company: 3, Groups: []int64{}}, AccessKeyID: "key", Credential: "token", ExpiresAt: clock()}
	ctx := domain.WithOrigin(t.Context(), domain.Origin{Address: "192.0.2.1", RequestID: "request"})
	caller = caller.At(domain.OriginOf(ctx))
	for query, named := range map[string]bool{
		"subscriberChanged {physicalId group {name}}":                                          false,
		"usageRecorded {bytes subscriber {...on Subscriber {tags {name}}}}":                    false,
		"alertTriggered {text ... on VolumeLogEntry {group {name}}}":                           false,
		"operationChanged {__typename}":                                                        true,
		"subscriberChanged {operationResults {totalCount}}":                                    true,
		"alertTriggered {alert {company {reports {totalCount}}}}":                              true,
		"subscriberChanged {...results} } fragment results on Subscriber {alerts {__typename}": true,
	} {
		doc := gqlparser.MustLoadQueryWithRules(w.schema, "subscription {"+query+"}", rules.NewDefaultRules())
		shared, by := resolvers.ShareEvents(domain.WithCaller(ctx, caller), doc.Operations[0])
		known, err := domain.CallerOf(shared)
		if err != nil || any(known) != by {
			t.Fatalf("%s: the context knows %v, followers are equal in %v", query, known, by)
		}
		if named != (known.UserID == 7 && known.Email != "" && known.Scope.UserID() == 7) || !named && (known.UserID > 0 || known.Email != "" || known.Scope.UserID() >= 0) {
			t.Errorf("%s is made as user %d, %d, %q", query, known.UserID, known.Scope.UserID(), known.Email)
		}
		if known.Credential+known.AccessKeyID != "" || !known.ExpiresAt.IsZero() || known.Scope.Actor.Origin != (domain.Origin{}) || domain.OriginOf(shared) != (domain.Origin{}) {
			t.Errorf("%s knows the session: %+v", query, known)
		}
		if known.Scope.Groups == nil || known.Scope.Company != 3 || known.Company.CompanyID != 3 || len(known.Permissions) == 0 {
			t.Errorf("%s has other rights: %+v", query, known)
		}
	}
}

// A type whose fields differ between users with the same rights is not shared between them:
// what nobody gets of the others, who has these rights, is what a user gets.
func TestWhatIsSharedIsTheSameForAllWithTheSameRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.happen(t, own, 1)
	selected := map[string]bool{}
	v := walker{schema: w.schema, depth: 6, skip: companyOnly, only: func(typeName string) bool {
		isShared := resolvers.IsImpersonal(typeName) || w.schema.Types[typeName].IsAbstractType()
		selected[typeName] = selected[typeName] || isShared
		return isShared
	}}
	document := "{subscribers(first: 20) {nodes " + v.of("Subscriber", nil) + "} alertLog(first: 20) {nodes " + v.of("AlertLogEntry", nil) + "}}"
	for _, name := range []string{"Group", "NetworkState", "Operator", "Tag", "Tariff", "VolumeLogEntry"} {
		if !selected[name] {
			t.Errorf("nothing of %s is compared: %s", name, document)
		}
	}
	run, err := w.prepare(document)
	fatal.If(t, err)
	for email, token := range w.tokens {
		caller, err := w.access.Authenticate(t.Context(), domain.Secret(token))
		fatal.If(t, err)
		caller = caller.At(domain.Origin{})
		users, nobodys := run(domain.WithCaller(t.Context(), caller), nil), run(domain.WithCaller(t.Context(), caller.WithoutIdentity()), nil)
		if len(users.Data) < 1000 || len(users.Errors) > 0 {
			t.Errorf("%s gets %s, %v", email, users.Data, users.Errors)
		}
		if string(users.Data) != string(nobodys.Data) {
			t.Errorf("%s gets %s, and nobody with the same rights %s", email, users.Data, nobodys.Data)
		}
	}
}
