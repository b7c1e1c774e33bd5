package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
)

// flaky stands before a server and fails as networks and busy servers do: of its requests
// some wait, some are refused by 429 and 500, some answers break off, and tokens end early.
type flaky struct {
	to       string
	requests atomic.Int64
	// lists counts the pages of subscribers, of all or of a tag, that were answered whole.
	lists atomic.Int64
	// isDown has it refuse all requests.
	isDown atomic.Bool
	// hidden is the physicalId of a subscriber that lists do not have; "" for none.
	hidden atomic.Value
	// failed counts what went wrong, by its kind.
	late, refused, faults, cuts, expired atomic.Int64
}

// ServeHTTP implements http.Handler.
func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := f.requests.Add(1)
	isToken := r.URL.Path == "/oauth/token"
	switch {
	case f.isDown.Load():
		http.Error(w, "<html>down</html>", http.StatusServiceUnavailable)
		return
	case n%151 == 0:
		f.refused.Add(1)
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"error":{"message":"slow down","code":"RATE_LIMITED"}}`, http.StatusTooManyRequests)
		return
	case n%29 == 0:
		f.faults.Add(1)
		http.Error(w, "<html>bad gateway</html>", http.StatusBadGateway)
		return
	case n%97 == 0 && !isToken:
		f.expired.Add(1)
		http.Error(w, `{"error":{"message":"the token has expired","code":"INVALID_TOKEN"}}`, http.StatusUnauthorized)
		return
	case n%17 == 0:
		f.late.Add(1)
		time.Sleep(50 * time.Millisecond)
	}
	on, err := http.NewRequestWithContext(r.Context(), r.Method, f.to+r.URL.RequestURI(), r.Body)
	if err != nil {
		panic(err)
	}
	on.Header = r.Header
	hidden, _ := f.hidden.Load().(string)
	if hidden != "" {
		on.Header.Del("Accept-Encoding") // its text is read below
	}
	response, err := http.DefaultTransport.RoundTrip(on)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	if hidden != "" && r.URL.Path == "/subscribers" {
		body = without(body, hidden)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(response.StatusCode)
	if n%23 == 0 && !isToken {
		f.cuts.Add(1)
		_, _ = w.Write(body[:len(body)/2])
		panic(http.ErrAbortHandler)
	}
	if _, err := w.Write(body); err == nil && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/subscribers") && response.StatusCode == http.StatusOK {
		f.lists.Add(1)
	}
}

// without is an empty page for "*", else a page on which another subscriber stands twice in the place of one, as lists
// show that change while they are read.
func without(page []byte, physicalID string) []byte {
	var list struct {
		Content []map[string]any `json:"content"`
	}
	if err := json.Unmarshal(page, &list); err != nil {
		return page
	}
	if physicalID == "*" {
		return []byte(`{"content":[]}`)
	}
	for i, s := range list.Content {
		if s["physicalId"] == physicalID {
			list.Content[i] = list.Content[(i+1)%len(list.Content)]
		}
	}
	page, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return page
}

// moving is an account that is taken over.
type moving struct {
	*testing.T
	from     *instance
	proxy    *flaky
	address  string
	key, url string
}

// smallDemo is a demoDir whose subscribers still fill more than one page.
func smallDemo(t *testing.T) string { return demoDir(t, "--subscribers", "250", "--days", "8") }

// newMovingFrom moves the demo company of a folder, which is made where there is none. Its
// user has more permissions there.
func newMovingFrom(t *testing.T, dir string, more ...string) *moving {
	m := &moving{T: t, from: start(t, dir, nil), url: dbtest.URL(t), key: filepath.Join(t.TempDir(), "key")}
	m.proxy = &flaky{to: m.from.base}
	front := httptest.NewServer(m.proxy)
	t.Cleanup(front.Close)
	m.address = front.URL
	user := []string{"user", "create", "mover@demo.example", "--company", "demo"}
	for _, permission := range append([]string{"VIEW_SUBSCRIBER", "VIEW_STATISTICS_OVERVIEW", "VIEW_MONITORING_ALERTS", "View a User's Details"}, more...) {
		user = append(user, "--permission", permission)
	}
	if status, _, stderr := simgraph(t, dir, user...); status != 0 {
		t.Fatal(stderr)
	}
	status, key, stderr := simgraph(t, dir, "key", "create", "--user", "mover@demo.example")
	if status != 0 {
		t.Fatal(stderr)
	}
	if err := os.WriteFile(m.key, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := simgraph(t, dir, "--database-url", m.url, "company", "create", "new", "--name", "New", "--time-zone", "Europe/Berlin"); status != 0 {
		t.Fatal(stderr)
	}
	return m
}

func (m *moving) arguments(more ...string) []string {
	return append([]string{"--database-url", m.url, "move", "--from", m.address, "--key-file", m.key, "--source", "old", "--days", "4"}, more...)
}

func (m *moving) move(more ...string) (status int, stdout, stderr string) {
	return simgraph(m.T, m.from.dir, m.arguments(more...)...)
}

// interrupted runs a move that is killed once so many requests were made.
func (m *moving) interrupted(requests int64) {
	ctx, cancel := context.WithTimeout(m.Context(), time.Minute)
	defer cancel()
	until := m.proxy.requests.Load() + requests
	run := exec.CommandContext(ctx, program, m.arguments()...)
	if err := run.Start(); err != nil {
		m.Fatal(err)
	}
	for m.proxy.requests.Load() < until && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	_ = run.Process.Kill()
	_ = run.Wait()
}

// swap gives the number of a card that is terminated to another, which used something too:
// the documented API reports usage by number.
func (m *moving) swap() {
	found := m.from.ask(`{subscribers(first: 1, filter: {kind: {eq: CELLULAR}, isActive: {eq: true}}) {nodes {physicalId subscriberId}}}`, nil)
	before := at(found, "subscribers", "nodes").([]any)[0]
	m.from.ask(`mutation ($id: String!) {terminateSubscriber(input: {physicalId: $id}) {subscriber {isActive}}}`, map[string]any{"id": at(before, "physicalId")})
	m.from.ask(`mutation ($number: String!) {createSubscriber(input: {physicalId: "8944500000000000777", subscriberId: $number, operatorCode: "23415", tariffName: "IoT 50",
		contractLength: 12, connectionDate: "2026-01-01T00:00:00Z", expiryDate: "2028-01-01T00:00:00Z"}) {subscriber {physicalId}}}`, map[string]any{"number": at(before, "subscriberId")})
	hour := time.Now().UTC().Truncate(time.Hour)
	recorded := m.from.ask(`mutation ($from: DateTime!, $until: DateTime!) {recordUsage(input: {records: [
		{source: "new", recordId: "swap", physicalId: "8944500000000000777", startedAt: $from, endedAt: $until, mobileOriginated: 5, mobileTerminated: 6}]}) {results {status}}}`,
		map[string]any{"from": hour.Add(-26 * time.Hour), "until": hour.Add(-25 * time.Hour)})
	if !strings.Contains(fmt.Sprint(recorded), "ACCEPTED") {
		m.Fatal(recorded)
	}
}

// revise changes the account on the other side: usage of hours that were copied, and fields.
func (m *moving) revise() {
	found := m.from.ask(`{subscribers(first: 20, filter: {kind: {eq: CELLULAR}, isActive: {eq: true}}) {nodes {physicalId}}}`, nil)
	var records []map[string]any
	hour := time.Now().UTC().Truncate(time.Hour)
	for i, node := range at(found, "subscribers", "nodes").([]any) {
		for _, ago := range []time.Duration{3 * time.Hour, 20 * time.Hour} {
			records = append(records, map[string]any{
				"source": "late", "recordId": fmt.Sprint(i, ago), "physicalId": at(node, "physicalId"), "startedAt": hour.Add(-ago), "endedAt": hour.Add(-ago + time.Minute),
				"mobileOriginated": 1000 + i, "mobileTerminated": 7,
			})
		}
	}
	recorded := m.from.ask(`mutation ($records: [UsageRecordInput!]!) {recordUsage(input: {records: $records}) {results {status}}}`, map[string]any{"records": records})
	if strings.Count(fmt.Sprint(recorded), "ACCEPTED") != len(records) {
		m.Fatal(recorded)
	}
	one := at(at(found, "subscribers", "nodes").([]any)[0], "physicalId")
	m.from.ask(`mutation ($id: String!) {editSubscriber(input: {physicalId: $id, nickname: "renamed there"}) {subscriber {nickname}}}`, map[string]any{"id": one})
	m.from.ask(`mutation ($id: String!) {attachTag(input: {tagName: "a/b ü", physicalIds: [$id]}) {attached}}`, map[string]any{"id": one})
}

// An account of another server is taken over through a network that fails, by a command that
// is killed on the way. Then it changes there, and a second run books the differences. What
// is compared is all that the documented API reports.
func TestAnAccountIsMoved(t *testing.T) {
	t.Parallel()
	m := newMovingFrom(t, demoDir(t))
	m.swap()
	m.interrupted(40)
	m.interrupted(300)
	status, stdout, stderr := m.move()
	if status != 0 || !strings.Contains(stdout, "nothing differs: clients can be switched over") || !regexp.MustCompile(`subscribers +501 +501 +0`).MatchString(stdout) {
		t.Fatalf("%d\n%s%s", status, stdout, stderr)
	}
	p := m.proxy
	for kind, n := range map[string]int64{"late": p.late.Load(), "429": p.refused.Load(), "502": p.faults.Load(), "cut": p.cuts.Load(), "401": p.expired.Load()} {
		if n == 0 {
			t.Errorf("%s: no request", kind)
		}
	}
	pool, err := pg.Open(t.Context(), m.url, pg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	recipients := func() (n int) {
		if err := pool.GetContext(t.Context(), &n, `SELECT count(*) FROM alert_recipients`); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := recipients(); n != 0 {
		t.Errorf("%d recipients were copied without --recipients", n)
	}
	m.revise()
	if status, stdout, stderr := m.move("--verify-only"); status != 1 || !strings.Contains(stderr, "nickname: ") || !strings.Contains(stderr, "tag a/b ü: ") ||
		!strings.Contains(stderr, "usage of the hour ") || !strings.Contains(stderr, "do not switch clients over yet") {
		t.Errorf("%d\n%s%s", status, stdout, stderr)
	}
	if status, stdout, stderr := m.move("--recipients"); status != 0 || !strings.Contains(stdout, "nothing differs") || !strings.Contains(stdout, "recipients") || recipients() == 0 {
		t.Errorf("%d\n%s%s", status, stdout, stderr)
	}
	if status, stdout, stderr := m.move("--verify-only", "--recipients"); status != 0 {
		t.Errorf("%d\n%s%s", status, stdout, stderr)
	}
	if err := os.WriteFile(m.key, []byte("sgk_1_x:hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := m.move(); status != 1 || !strings.Contains(stderr, "refuses the access key") || strings.Contains(stderr, "hunter2") {
		t.Errorf("%d %s", status, stderr)
	}
}
