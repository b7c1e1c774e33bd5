package scaleout

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	sides       [2]*twin
	names       [2]map[string]string
	differences int
	// done counts the operations by name, refused those that were answered with errors.
	done, refused map[string]int
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
	w := &twins{T: t, names: [2]map[string]string{{}, {}}, done: map[string]int{}, refused: map[string]int{}}
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
	var answers [2]any
	var bodies [2]string
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
	w.done[o.name]++
	if strings.Contains(bodies[0], `"errors":[`) || strings.Contains(bodies[0], `"error":`) {
		w.refused[o.name]++
	}
	if at := w.differ("", answers[0], answers[1]); at != "" {
		w.differences++
		w.Errorf("%s differs at %s:\nplain %.400s\nCitus %.400s", o.name, at, bodies[0], bodies[1])
	}
	if w.differences > 5 {
		w.FailNow()
	}
}

// keep adds the values of a field, wherever it stands in the answer.
func (o *twin) keep(name string, in any) {
	switch in := in.(type) {
	case map[string]any:
		for key, value := range in {
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
var random = regexp.MustCompile(`(?i)^(id|.*[a-z]id|path|.*secret|cursor|.*cursor|digest|writePosition|prefix|access_token|rotatedFrom)$`)

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
	for _, query := range twinReads {
		w.do(operation{name: "read", of: func(*twin) request { return document(query, nil) }})
	}
	for _, path := range []string{"/subscribers?limit=50", "/tags", "/subscriber-groups", "/alerts", "/alerts/recipients", "/alerts/logs"} {
		w.do(operation{name: "read " + path, of: func(*twin) request { return request{method: http.MethodGet, path: path} }})
	}
}

// settle waits until neither side has an operation, an account or a message to work on.
func (w *twins) settle() {
	w.Helper()
	for _, side := range w.sides {
		eventually(w.T, "the work in the background is done", func() bool {
			got := side.must(document(`{ operations(first: 100) { nodes { state } } webhookDeliveries(first: 100) { nodes { state } } }`, nil))
			return !strings.Contains(string(got.body), `"CHECKING"`) && !strings.Contains(string(got.body), `"RUNNING"`) && !strings.Contains(string(got.body), `"QUEUED"`)
		})
	}
}

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
	w.do(operation{name: "fleet", keep: []string{"physicalId", "subscriberId", "groupId"}, of: func(*twin) request {
		return document(`{ subscribers(first: 100) { nodes { physicalId subscriberId } } groups(first: 20) { nodes { groupId } } }`, nil)
	}})
	for kind := range conditions {
		w.do(createCondition(random, kind))
	}
	for n := range 500 {
		if n%7 == 0 {
			w.account(report(random, w.sides[0].kept["subscriberId"], n))
		} else {
			o := twinOperations[random.IntN(len(twinOperations))](random, n)
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
	t.Logf("done: %v; refused: %v", w.done, w.refused)
	for name, n := range w.refused {
		if n == w.done[name] && n > 5 {
			t.Errorf("%s was always refused: it compares nothing", name)
		}
	}
}

// report is one of a session of a subscriber by a gateway.
func report(random *rand.Rand, fleet []string, n int) radius.Report {
	began := time.Now().Add(-time.Hour).Truncate(time.Second)
	return radius.Report{
		Event: domain.SessionUpdated, NAS: "pgw-1", SessionID: fmt.Sprint("session-", random.IntN(20)), MSISDN: fleet[random.IntN(len(fleet))],
		BeganAt: began, At: began.Add(time.Duration(n) * time.Second), MobileOriginated: int64(n) * 1000, MobileTerminated: int64(n),
	}
}
