package scaleout

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	codec "layeh.com/radius"

	"simgraph/db/condition"
	"simgraph/db/dbtest"
	"simgraph/domain"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
	"simgraph/internal/radius"
)

// twins are the service on a plain database and on Citus, with the same company. What one
// names otherwise, as a random id, it has to name the same way for ever.
type twins struct {
	*testing.T
	derived
	sides       [2]*twin
	names       [2]map[string]string
	differences int
	// turns are those that mutations of the schema had.
	turns int
	// done counts the operations by name, refused those that were answered with errors.
	done, refused map[string]int
	// why is an answer by which an operation was refused, by name.
	why map[string]string
}

// twin is one of them, with what its answers have named.
type twin struct {
	*service
	radius string
	// kept are the values of answers that later operations use.
	kept map[string][]string
}

const sharedSecret = "twins-shared-secret"

// newTwins makes the company at the same time on both, in whole hours.
func newTwins(t *testing.T) *twins {
	dbtest.WithoutCitus(t, "it compares with a plain database")
	w := &twins{T: t, derived: newDerived(), names: [2]map[string]string{{}, {}}, done: map[string]int{}, refused: map[string]int{}, why: map[string]string{}}
	until := time.Now().UTC().Truncate(time.Hour).Format(time.RFC3339)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	nodes := dbtest.NewCluster(t, 2, nil)
	for i, url := range []string{dbtest.URL(t), nodes.URL} {
		w.sides[i] = newTwin(t, url, until)
		w.sides[i].kept["receiver"] = []string{receiver.URL}
	}
	return w
}

func newTwin(t *testing.T, url, until string) *twin {
	t.Helper()
	dir := t.TempDir()
	key := command.Sealing{SecretsKeyFile: filepath.Join(dir, "secrets.key")}
	secret := filepath.Join(dir, "shared")
	fatal.If(t, os.WriteFile(secret, []byte(sharedSecret), 0o600))
	env := environment(t, url, io.Discard)
	fatal.If(t, (&command.Demo{Company: "demo", Subscribers: 30, Days: 2, Seed: 1, Until: until}).Run(t.Context(), env))
	fatal.If(t, (&command.RADIUSClientAdd{Name: "pgw", Network: "127.0.0.1/32", Company: "demo", SecretFile: secret, Sealing: key}).Run(t.Context(), env))
	listen := freeAddress(t)
	s := serve(t, url, "--database-url", url, "--radius-addr", listen, "--webhook-allow-private", "--secrets-key-file", key.SecretsKeyFile, "--max-cost", "1000000")
	return &twin{service: s, radius: listen, kept: map[string][]string{}}
}

// freeAddress is one that nobody listens on just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	fatal.If(t, err)
	defer conn.Close()
	return conn.LocalAddr().String()
}

// operation is a request for either side; name is what it counts as, and keep names the
// fields of its answer that later operations use.
type operation struct {
	name string
	of   func(*twin) request
	keep []string
}

// mutation is an operation of the graph with an input, which may be made by the side.
func mutation(name, kind, answer string, input func(*twin) map[string]any, keep ...string) operation {
	text := fmt.Sprintf(`mutation M($input: %s!) { %s(input: $input) { %s } }`, kind, name, answer)
	return operation{name: name, keep: keep, of: func(side *twin) request { return document(text, map[string]any{"input": input(side)}) }}
}

// do sends the operation to both, and compares the answers.
func (w *twins) do(o operation) {
	w.Helper()
	w.expect(o, time.Now())
}

// expect is do again and again until the answers are the same, or it is too late.
func (w *twins) expect(o operation, until time.Time) {
	w.Helper()
	answers, bodies := w.ask(o)
	w.done[o.name]++
	if strings.Contains(bodies[0], `"errors":[`) || strings.Contains(bodies[0], `"error":`) {
		w.refused[o.name]++
		w.why[o.name] = bodies[0]
	}
	at := w.differ("", answers[0], answers[1])
	for ; at != "" && time.Now().Before(until); at = w.differ("", answers[0], answers[1]) {
		time.Sleep(100 * time.Millisecond)
		answers, bodies = w.ask(o)
	}
	if at == "" {
		return
	}
	w.differences++
	w.Errorf("%s differs at %s:\nplain %.1000s\nCitus %.1000s", o.name, at, bodies[0], bodies[1])
	if w.differences > 5 {
		w.FailNow()
	}
}

// ask sends the operation to both, and keeps what later ones use.
func (w *twins) ask(o operation) (answers [2]any, bodies [2]string) {
	w.Helper()
	for i, side := range w.sides {
		got, _ := side.send(o.of(side))
		bodies[i] = string(got.body)
		if err := json.Unmarshal(got.body, &answers[i]); err != nil {
			answers[i] = bodies[i]
		}
		for _, name := range o.keep {
			side.keep(name, answers[i])
		}
		if set, _, is := strings.Cut(got.header.Get("Set-Cookie"), ";"); is && slices.Contains(o.keep, cookie) {
			side.kept[cookie] = append(side.kept[cookie], set)
		}
	}
	return answers, bodies
}

// keep adds the values of a field, wherever it stands in the answer.
func (o *twin) keep(name string, in any) {
	switch in := in.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(in)) {
			value := in[key]
			if text := fmt.Sprint(value); key == name && value != nil && !slices.Contains(o.kept[name], text) {
				o.kept[name] = append(o.kept[name], text)
			}
			o.keep(name, value)
		}
	case []any:
		for _, value := range in {
			o.keep(name, value)
		}
	}
}

// pick returns a value that was kept, the same of both sides for a number; "" for none.
func (o *twin) pick(name string, n int) string {
	if len(o.kept[name]) == 0 {
		return ""
	}
	return o.kept[name][n%len(o.kept[name])]
}

// number is pick for numbers.
func (o *twin) number(name string, n int) json.Number {
	return json.Number(max(o.pick(name, n), "0"))
}

// cookie is what the header of an answer is kept by.
const cookie = "cookie"

// random are the fields whose values either side makes up.
var random = regexp.MustCompile(`(?i)^(id|.*[a-z]id|path|.*secret|cursor|.*cursor|digest|writePosition|prefix|access_token|rotatedFrom|undoOf|sequence|linkCode)$`)

// differ returns where two answers are not the same, or "".
func (w *twins) differ(key string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		other, same := b.(map[string]any)
		if !same || len(a) != len(other) {
			return key
		}
		for name, value := range a {
			if at := w.differ(name, value, other[name]); at != "" {
				return key + "." + at
			}
		}
		return ""
	case []any:
		other, same := b.([]any)
		if !same || len(a) != len(other) {
			return key + "[]"
		}
		for i := range a {
			if at := w.differ(key, a[i], other[i]); at != "" {
				return fmt.Sprintf("[%d].%s", i, at)
			}
		}
		return ""
	}
	if w.same(key, a, b) {
		return ""
	}
	return fmt.Sprintf("%s (%v, %v)", key, a, b)
}

// same compares values: times that are moments apart, and names of either side, are.
func (w *twins) same(key string, a, b any) bool {
	left, text := a.(string)
	right, both := b.(string)
	if !text || !both || left == right {
		return a == b
	}
	if one, err := time.Parse(time.RFC3339, left); err == nil {
		other, err := time.Parse(time.RFC3339, right)
		return err == nil && one.Sub(other).Abs() < 10*time.Minute
	}
	if key == "message" { // it names identifiers and how far a command has come; its code and field are compared
		return true
	}
	if !random.MatchString(key) {
		return false
	}
	if known, is := w.names[0][left]; is {
		return known == right
	}
	if _, taken := w.names[1][right]; taken {
		return false
	}
	w.names[0][left], w.names[1][right] = right, left
	return true
}

// read compares what both sides have of everything.
func (w *twins) read() {
	w.Helper()
	for _, query := range append(w.lists(), twinReads...) {
		w.expect(operation{name: "read", of: func(*twin) request { return document(query, nil) }}, time.Now().Add(settling))
	}
	for _, path := range []string{"/subscribers?limit=50", "/tags", "/subscriber-groups", "/alerts", "/alerts/recipients", "/alerts/logs"} {
		w.expect(operation{name: "read " + path, of: func(*twin) request { return request{method: http.MethodGet, path: path} }}, time.Now().Add(settling))
	}
}

// settling is how long work in the background may take to have the same end on both.
const settling = 10 * time.Second

// settle waits until neither side has an operation or a message to work on, or what is left waits
// for others, such as for a provider that never answers.
func (w *twins) settle() {
	w.Helper()
	var before [2]string
	same := 0
	eventually(w.T, "the work in the background is done", func() bool {
		var now [2]string
		for i, side := range w.sides {
			now[i] = string(side.must(document(`{ operations(first: 100) { nodes { state } } webhookDeliveries(first: 100) { nodes { state } } }`, nil)).body)
		}
		if now != before {
			before, same = now, 0
		}
		same++
		return same > 100 || !active.MatchString(now[0]) && !active.MatchString(now[1])
	})
}

var active = regexp.MustCompile(`"(CHECKING|RUNNING|QUEUED)"`)

// fire waits until conditions have fired on both. How often they did is not compared: either
// evaluates them by its own clock, before or after an edit.
func (w *twins) fire() {
	w.Helper()
	for _, side := range w.sides {
		eventually(w.T, "conditions have fired", func() bool {
			return !strings.Contains(string(side.must(document(`{ alertLog(first: 0, filter: { kind: { ne: VOLUME } }) { totalCount } }`, nil)).body), `"totalCount":0`)
		})
	}
}

// account sends a report of a gateway to both by RADIUS, and waits for the answer.
func (w *twins) account(report radius.Report) {
	w.Helper()
	for _, side := range w.sides {
		ctx, cancel := context.WithTimeout(w.Context(), patience)
		if _, err := codec.Exchange(ctx, report.Packet([]byte(sharedSecret)), side.radius); err != nil {
			w.Fatalf("RADIUS: %v", err)
		}
		cancel()
	}
	w.done["RADIUS"]++
}

// The same random operations of every kind have the same answers, and leave the same.
func TestCitusAnswersAsAPlainDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("it is a test of statements: the race detector finds nothing in it")
	}
	t.Parallel()
	w := newTwins(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w.do(operation{name: "fleet", keep: append([]string{"physicalId", "subscriberId", "groupId"}, w.identifiers()...), of: func(*twin) request {
		return document(fmt.Sprintf(`{ subscribers(first: 100) { nodes %s } groups(first: 20) { nodes { groupId } } operators { nodes %s } tariffs { nodes %s } sourceProfiles { made_profileName: name } }`,
			w.selection("Subscriber", 1), w.selection("Operator", 1), w.selection("Tariff", 1)), nil)
	}})
	if why, is := w.why["fleet"]; is {
		t.Fatal(why)
	}
	for kind := range conditions {
		w.do(createCondition(random, kind))
	}
	for n := range 700 {
		if n%7 == 0 {
			w.account(report(random, w.sides[0].kept["subscriberId"], n))
		} else {
			o := w.operation(random, n)
			w.do(o)
			// What a worker does takes its turn among the entries of the audit log.
			if slices.Contains(o.keep, "operationId") {
				w.settle()
			}
		}
		if n%50 == 49 {
			w.settle()
			w.read()
		}
	}
	w.fire()
	w.read()
	for _, query := range lastReads {
		w.expect(operation{name: "read at last", of: func(*twin) request { return document(query, nil) }}, time.Now().Add(3*condition.Every))
	}
	t.Logf("done: %v; refused: %v", w.done, w.refused)
	for name, n := range w.refused {
		if n < w.done[name] {
			continue
		}
		t.Logf("%s was always refused: %s", name, w.why[name])
		if n > 19 {
			t.Errorf("%s was refused %d times, and compares nothing", name, n)
		}
	}
	for _, mutation := range w.mutations() {
		if w.done[mutation.Name] == 0 {
			t.Errorf("%s was not tried", mutation.Name)
		}
	}
}

// operation is one of twinOperations, or a mutation: each in the order of the schema at first,
// which makes before it edits, then any.
func (w *twins) operation(random *rand.Rand, n int) operation {
	if n%2 > 0 {
		return twinOperations[random.IntN(len(twinOperations))](random, n)
	}
	mutations := w.mutations()
	at := w.turns
	if w.turns++; at >= len(mutations) {
		at = random.IntN(len(mutations))
	}
	return w.of(random, mutations[at], w.turns, n)
}

// report is one of a session of a subscriber by a gateway.
func report(random *rand.Rand, fleet []string, n int) radius.Report {
	began := time.Now().Add(-time.Hour).Truncate(time.Second)
	return radius.Report{
		Event: domain.SessionUpdated, NAS: "pgw-1", SessionID: fmt.Sprint("session-", random.IntN(20)), MSISDN: fleet[random.IntN(len(fleet))],
		BeganAt: began, At: began.Add(time.Duration(n) * time.Second), MobileOriginated: int64(n) * 1000, MobileTerminated: int64(n),
	}
}
