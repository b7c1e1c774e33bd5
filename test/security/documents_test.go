package security

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"simgraph/domain"
	trusted "simgraph/domain/document"
)

// limited is a server on the world, and the token of a key that is limited to trusted
// documents.
type limited struct {
	*testing.T
	*world
	url, token, key string
}

func newLimited(t *testing.T) *limited {
	w := newWorld(t)
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	scope := domain.Whole(w.company(t, own.company))
	key, secret, err := w.access.CreateKey(t.Context(), scope, domain.KeySpec{Email: "own-admin@acme.example", Lifetime: time.Hour, DocumentsOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	grant, err := w.access.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &limited{t, w, server.URL + "/graphql", string(grant.Token), key.AccessKeyID}
}

// trust adds a document of a company, and returns its id.
func (l *limited) trust(company, text string) string {
	l.Helper()
	id := domain.Installation
	if company != "" {
		id = l.company(l.T, company)
	}
	made, _, err := l.documents.Create(l.Context(), domain.Whole(id), text)
	if err != nil {
		l.Fatal(err)
	}
	return made.DocumentID
}

// ask sends a request with the token, and returns the body.
func (l *limited) ask(method, query, body, accept string) string {
	l.Helper()
	r, err := http.NewRequestWithContext(l.Context(), method, l.url+query, strings.NewReader(body))
	if err != nil {
		l.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + l.token, "Content-Type": "application/json", "Accept": accept} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		l.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		l.Fatal(err)
	}
	return string(text)
}

// overSocket subscribes by a WebSocket, and returns the first message or why it was closed.
func (l *limited) overSocket(payload string) string {
	l.Helper()
	conn, _, err := websocket.Dial(l.Context(), l.url, &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		l.Fatal(err)
	}
	defer conn.CloseNow()
	last := ""
	for _, message := range []string{`{"type":"connection_init","payload":{"authorization":"Bearer ` + l.token + `"}}`, `{"type":"subscribe","id":"1","payload":` + payload + `}`} {
		if err := conn.Write(l.Context(), websocket.MessageText, []byte(message)); err != nil {
			l.Fatal(err)
		}
		_, got, err := conn.Read(l.Context())
		if err != nil {
			return err.Error()
		}
		last = string(got)
	}
	return last
}

// everyWay sends a payload over all transports.
func (l *limited) everyWay(payload string, see func(way, answer string)) {
	l.Helper()
	see("POST", l.ask(http.MethodPost, "", payload, "application/json"))
	see("events", l.ask(http.MethodPost, "", payload, "text/event-stream"))
	see("WebSocket", l.overSocket(payload))
	var members map[string]any
	if err := json.Unmarshal([]byte(payload), &members); err != nil {
		return // an array cannot stand in a URL
	}
	values := url.Values{}
	for name, value := range members {
		text, is := value.(string)
		if !is {
			raw, _ := json.Marshal(value)
			text = string(raw)
		}
		values.Set(name, text)
	}
	see("GET", l.ask(http.MethodGet, "?"+values.Encode(), "", "application/json"))
}

func TestNothingButTrustedDocumentsRunsThroughALimitedKey(t *testing.T) {
	t.Parallel()
	l := newLimited(t)
	own, shared := l.trust(own.company, "query Own { company { name } viewer { email } }"), l.trust("", "query Shared { company { name } }")
	for _, id := range []string{own, "sha256:" + own, shared} {
		l.everyWay(`{"documentId":"`+id+`"}`, func(way, answer string) {
			if !strings.Contains(answer, `"company":{"name":`) {
				t.Errorf("%s by %s: %s", id, way, answer)
			}
		})
	}
	l.everyWay(`{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"`+own+`"}}}`, func(way, answer string) {
		if !strings.Contains(answer, `"company":{"name":`) {
			t.Errorf("Apollo's extension by %s: %s", way, answer)
		}
	})
	const free = "query Free { company { name } }"
	foreign := l.trust(rivals.company, "query Foreign { company { name } }")
	for what, payload := range map[string]string{
		"a free query":                        `{"query":"` + free + `"}`,
		"the text of a trusted document":      `{"query":"query Own { company { name } viewer { email } }"}`,
		"introspection":                       `{"query":"{ __schema { types { name } } }"}`,
		"aliases":                             `{"query":"{ a: company { name } b: company { name } }"}`,
		"a registration":                      `{"query":"` + free + `","extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + trusted.IDOf(free) + `"}}}`,
		"what was registered":                 `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + trusted.IDOf(free) + `"}}}`,
		"the document of another company":     `{"documentId":"` + foreign + `"}`,
		"that by Apollo's extension":          `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + foreign + `"}}}`,
		"a text behind an id":                 `{"documentId":"` + own + `","query":"` + free + `"}`,
		"a text in another place":             `{"documentId":"` + own + `x","extensions":{"query":"` + free + `"}}`,
		"another operation of the document":   `{"documentId":"` + own + `","operationName":"Free"}`,
		"an array":                            `[{"documentId":"` + own + `"},{"query":"` + free + `"}]`,
		"an array of ids alone":               `[{"documentId":"` + own + `"}]`,
		"an id that is a pattern":             `{"documentId":"%"}`,
		"a variable that no document has":     `{"query":"` + free + `","documentId":null}`,
		"a subscription in a text":            `{"query":"subscription { usageRecorded { physicalId } }"}`,
		"a mutation in a text":                `{"query":"mutation { revokeAccessKey(input: {accessKeyId: \"x\"}) { accessKey { accessKeyId } } }"}`,
		"a name in capitals":                  `{"documentid":"` + own + `","QUERY":"` + free + `"}`,
		"a text twice":                        `{"query":"","query":"` + free + `"}`,
		"an extension that is something else": `{"extensions":{"persistedQuery":"` + own + `"}}`,
	} {
		l.everyWay(payload, func(way, answer string) {
			if strings.Contains(answer, `"data":{`) || strings.Contains(answer, `"name":`) || strings.Contains(answer, `"next"`) {
				t.Errorf("%s by %s: %s", what, way, answer)
			}
		})
	}
}

// A limited caller gives nobody more than it has.
func TestALimitedKeyMakesLimitedKeysOnly(t *testing.T) {
	t.Parallel()
	l := newLimited(t)
	free, _, err := l.access.CreateKey(t.Context(), domain.Whole(l.company(t, own.company)), domain.KeySpec{Email: "own-admin@acme.example", Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	create := l.trust(own.company, `mutation Make($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { accessKey { isDocumentsOnly } } }`)
	edit := l.trust(own.company, `mutation Edit($input: EditAccessKeyInput!) { editAccessKey(input: $input) { accessKey { isDocumentsOnly } } }`)
	rotate := l.trust(own.company, `mutation Rotate($input: RotateAccessKeyInput!) { rotateAccessKey(input: $input) { accessKey { isDocumentsOnly } } }`)
	run := func(id, input string) string {
		return l.ask(http.MethodPost, "", `{"documentId":"`+id+`","variables":{"input":{`+input+`}}}`, "application/json")
	}
	if got := run(create, `"userEmail":"own-admin@acme.example","scope":{"all":true}`); !strings.Contains(got, `"isDocumentsOnly":true`) {
		t.Error(got)
	}
	invite := l.trust(own.company, `mutation Invite($input: InviteUserInput!) { inviteUser(input: $input) { linkCode } }`)
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for _, got := range []string{run(invite, `"userEmail":"own-admin@acme.example"`), run(edit, `"accessKeyId":"`+l.key+`","isDocumentsOnly":false`), run(rotate, `"accessKeyId":"`+free.AccessKeyID+`","oldEndsAt":"`+later+`"`)} {
		if !strings.Contains(got, `"FORBIDDEN"`) {
			t.Error(got)
		}
	}
	if got := run(rotate, `"accessKeyId":"`+l.key+`","oldEndsAt":"`+later+`"`); !strings.Contains(got, `"isDocumentsOnly":true`) {
		t.Error(got)
	}
}

// The limit of a key holds for its tokens in seconds, also on streams that are open.
func TestAKeyIsLimitedAndFreedWhileItsTokensLive(t *testing.T) {
	t.Parallel()
	l := newLimited(t)
	scope := domain.Whole(l.company(t, own.company))
	const query = `{"query":"{ company { name } }"}`
	for _, limit := range []bool{false, true} {
		if _, err := l.access.EditKey(t.Context(), scope, l.key, domain.KeyEdit{DocumentsOnly: &limit}); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(200 * time.Millisecond) {
			if refused := strings.Contains(l.ask(http.MethodPost, "", query, "application/json"), "DOCUMENT_REQUIRED"); refused == limit {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the limit does not become %v", limit)
			}
		}
	}
}

// A session that begins by a limited key, or by a token of one, is limited as well.
func TestASessionOfALimitedKeyIsLimited(t *testing.T) {
	t.Parallel()
	l := newLimited(t)
	own := l.trust(own.company, "query Own { viewer { email } }")
	begun := httptest.NewRecorder()
	l.handler.ServeHTTP(begun, fromPage(http.MethodPost, "/session", `{"token":"`+l.token+`"}`))
	if begun.Code != http.StatusOK || len(begun.Result().Cookies()) != 1 {
		t.Fatalf("%d %s", begun.Code, begun.Body)
	}
	for payload, want := range map[string]string{
		`{"documentId":"` + own + `"}`:     `"email":"own-admin@acme.example"`,
		`{"query":"{ company { name } }"}`: "DOCUMENT_REQUIRED",
		`{"query":"mutation { createAccessKey(input: {userEmail: \"own-admin@acme.example\", scope: {all: true}}) { secret } }"}`: "DOCUMENT_REQUIRED",
	} {
		r := fromPage(http.MethodPost, "/graphql", payload)
		r.AddCookie(begun.Result().Cookies()[0])
		answer := httptest.NewRecorder()
		if l.handler.ServeHTTP(answer, r); !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s: %s", payload, answer.Body)
		}
	}
}

// Who may make keys, and less than a key may do without its limit, does not lift that.
func TestTheLimitOfAKeyIsLiftedByThoseWhoMayDoWhatItMay(t *testing.T) {
	t.Parallel()
	l := newLimited(t)
	lift := func(token string) string {
		return string(l.query(t, token, `mutation { editAccessKey(input: {accessKeyId: "`+l.key+`", isDocumentsOnly: false}) { accessKey { isDocumentsOnly } } }`, nil).body)
	}
	keeper := l.tokenOf(t, []domain.Permission{domain.ManageAccessKeys})
	if got := lift(keeper); !strings.Contains(got, `"FORBIDDEN"`) {
		t.Error(got)
	}
	if got := lift(l.tokens["own-admin@acme.example"]); !strings.Contains(got, `"isDocumentsOnly":false`) {
		t.Error(got)
	}
}
