package scaleout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
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
	// done counts the operations by name, succeeded those of either side that were not answered with
	// errors.
	done      map[string]int
	succeeded [2]map[string]int
	// why is an answer by which an operation was refused, by name.
	why map[string]string
}

// twin is one of them, with what its answers have named.
type twin struct {
	*service
	company domain.CompanyID
	radius  string
	// kept are the values of answers that later operations use.
	kept map[string][]string
	// conditions take the turns of the company beside the service's own. turn is when the next is
	// due, which was set at putOffAt.
	conditions     *condition.Store
	turn, putOffAt time.Time
}

const sharedSecret = "twins-shared-secret"

// newTwins makes the company at the same time on both, in whole hours.
func newTwins(t *testing.T) *twins {
	dbtest.WithoutCitus(t, "it compares with a plain database")
	w := &twins{T: t, derived: newDerived(), names: [2]map[string]string{{}, {}}, done: map[string]int{}, succeeded: [2]map[string]int{{}, {}}, why: map[string]string{}}
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
	fatal.If(t, (&command.Demo{Company: elsewhere, Subscribers: 10, Days: 1, Seed: 2, Until: until}).Run(t.Context(), env))
	fatal.If(t, (&command.RADIUSClientAdd{Name: "pgw", Network: "127.0.0.1/32", Company: "demo", SecretFile: secret, Sealing: key}).Run(t.Context(), env))
	listen := freeAddress(t)
	s := serve(t, url, "--database-url", url, "--radius-addr", listen, "--webhook-allow-private", "--secrets-key-file", key.SecretsKeyFile, "--max-cost", "1000000")
	return &twin{service: s, company: s.companyOf("demo"), radius: listen, kept: map[string][]string{}, conditions: condition.New(s.direct, time.Now)}
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
	// isBag compares lists in any order.
	isBag bool
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
	for i, body := range bodies {
		if refusal.MatchString(body) {
			w.why[o.name] = body
		} else {
			w.succeeded[i][o.name]++
		}
	}
	at := w.compare(answers)
	for ; at != "" && time.Now().Before(until); at = w.compare(answers) {
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

// refusal is what answers of errors have.
var refusal = regexp.MustCompile(`"errors":\[|"error":`)

// ask sends the operation to both, and keeps what later ones use.
func (w *twins) ask(o operation) (answers [2]any, bodies [2]string) {
	w.Helper()
	for i, side := range w.sides {
		got, _ := side.send(o.of(side))
		bodies[i] = string(got.body)
		if err := json.Unmarshal(got.body, &answers[i]); err != nil {
			answers[i] = bodies[i]
		}
		if o.isBag {
			sortLists(answers[i])
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

// sortLists puts the lists of an answer in the order of their texts.
func sortLists(in any) {
	switch in := in.(type) {
	case map[string]any:
		for _, value := range in {
			sortLists(value)
		}
	case []any:
		slices.SortFunc(in, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
}

// compare is differ that keeps what either side names for answers that are the same: while
// there is work in the background, those of a list may stand for others.
func (w *twins) compare(answers [2]any) (at string) {
	before := [2]map[string]string{maps.Clone(w.names[0]), maps.Clone(w.names[1])}
	if at = w.differ("", answers[0], answers[1]); at != "" {
		w.names = before
	}
	return at
}

// differ returns where two answers are not the same, or "".
func (w *twins) differ(key string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		other, same := b.(map[string]any)
		if !same || len(a) != len(other) {
			return key
		}
		for name, value := range a {
			if name == version && !alike(a, other) && w.isNamed(value, other[name]) {
				continue
			}
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
	return random.MatchString(key) && w.isNamed(left, right)
}

// isNamed reports whether what one side names so the other has always named so.
func (w *twins) isNamed(a, b any) bool {
	left, text := a.(string)
	right, both := b.(string)
	if !text || !both {
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

// version is a digest of what can be edited: the same of both sides where that is, and a
// name of either where they have moments of their own.
const version = "version"

// alike reports whether two things are equal to the moment, but for their versions.
func alike(a, b map[string]any) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	delete(a, version)
	delete(b, version)
	return reflect.DeepEqual(a, b)
}

// read compares what both sides have of everything.
func (w *twins) read() {
	w.Helper()
	for _, query := range append(w.lists(), twinReads...) {
		w.expect(operation{name: "read", of: func(*twin) request { return document(query, nil) }}, time.Now().Add(settling))
	}
	for _, query := range bags {
		w.expect(operation{name: "read", of: func(*twin) request { return document(query, nil) }, isBag: true}, time.Now().Add(settling))
	}
	for _, path := range []string{"/subscribers?limit=50", "/tags", "/subscriber-groups", "/alerts", "/alerts/recipients", "/alerts/logs"} {
		w.expect(operation{name: "read " + path, of: func(*twin) request { return request{method: http.MethodGet, path: path} }}, time.Now().Add(settling))
	}
}

// settling is how long work in the background may take to have the same end on both.
const settling = 10 * time.Second

// underWay are what the services work on by themselves: operations, and messages to endpoints that
// are called. One that is sent again later than in a minute, or whose endpoint is disabled or
// paused, waits for others.
var underWay = []string{
	`SELECT count(*) FROM operations WHERE company_id = $1 AND ended_at IS NULL`,
	`SELECT count(*) FROM webhook_messages m JOIN webhooks w ON w.company_id = m.company_id AND w.webhook_id = m.webhook_id
WHERE m.company_id = $1 AND m.state = 'queued' AND (m.due_at < now() + interval '1 minute' OR m.claimed_until > now())
  AND w.disabled_at IS NULL AND (w.paused_until IS NULL OR w.paused_until < now() + interval '1 minute')`,
}

// settle waits until neither side has an operation or a message to work on.
func (w *twins) settle() {
	w.Helper()
	eventually(w.T, "the work in the background is done", func() bool {
		for _, side := range w.sides {
			for _, sql := range underWay {
				var n int
				fatal.If(w, side.direct.GetContext(w.Context(), &n, sql, side.company))
				if n > 0 {
					return false
				}
			}
		}
		return true
	})
}

const (
	// areEvaluated is whether the turn of conditions was put off by the test, and no change of a
	// condition has it due since; or was taken since, and has ended.
	areEvaluated = `SELECT COALESCE(bool_and(due_at = $1 OR due_at > now() AND evaluated_at > $2), false) FROM condition_turns`
	nextTurn     = `UPDATE condition_turns SET due_at = $1`
	// turnAway is how long a turn is put off, below what counts as a clock that was set back.
	turnAway = 9 * time.Minute
)

// evaluate evaluates the conditions that were changed, and puts the next turn off: so either side
// evaluates them between the same operations, and what they come to is the same.
func (w *twins) evaluate() {
	w.Helper()
	for _, side := range w.sides {
		eventually(w.T, "conditions are evaluated", func() bool {
			var are bool
			err := errors.Join(side.conditions.Round(w.Context()), side.direct.GetContext(w.Context(), &are, areEvaluated, side.turn, side.putOffAt))
			fatal.If(w, err)
			return are
		})
		side.putOffAt = time.Now()
		side.turn = side.putOffAt.Add(turnAway).Truncate(time.Microsecond)
		side.next(side.turn)
	}
}

// rest waits until what operations led to has ended, and then what the conditions that fired led to.
func (w *twins) rest() {
	w.Helper()
	w.settle()
	w.evaluate()
	w.settle()
}

// next sets when conditions are evaluated.
func (o *twin) next(at any) {
	o.t.Helper()
	_, err := o.direct.ExecContext(o.t.Context(), nextTurn, at)
	fatal.If(o.t, err)
}

// evaluateAll evaluates all conditions once more.
func (w *twins) evaluateAll() {
	w.Helper()
	for _, side := range w.sides {
		side.next("-infinity")
	}
	w.evaluate()
}

// account sends a report of a gateway to both by RADIUS, and waits for the answer.
func (w *twins) account(report radius.Report) {
	w.Helper()
	for i, side := range w.sides {
		ctx, cancel := context.WithTimeout(w.Context(), patience)
		if _, err := codec.Exchange(ctx, report.Packet([]byte(sharedSecret)), side.radius); err != nil {
			w.Fatalf("RADIUS: %v", err)
		}
		cancel()
		w.succeeded[i]["RADIUS"]++
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
			w.selection("Subscriber", working, 1), w.selection("Operator", working, 1), w.selection("Tariff", working, 1)), nil)
	}})
	if why, is := w.why["fleet"]; is {
		t.Fatal(why)
	}
	for kind := range conditions {
		w.do(createCondition(random, kind))
	}
	for n := range 700 {
		// What a worker does takes its turn among the entries of the audit log, and what is sent
		// can be cancelled no more.
		w.rest()
		if n%7 == 0 {
			w.account(report(random, w.sides[0].kept["subscriberId"], n))
		} else {
			w.do(w.operation(random, n))
		}
		if n%50 == 49 {
			w.rest()
			w.evaluateAll()
			w.settle()
			w.read()
		}
	}
	for _, prepare := range prepared {
		w.rest()
		prepare(w)
	}
	w.insist(random, 700)
	w.rest()
	w.evaluateAll()
	w.settle()
	w.read()
	t.Logf("done: %v; succeeded: %v", w.done, w.succeeded)
	for name, n := range w.done {
		if n > 19 && w.succeeded[0][name] == 0 {
			t.Errorf("%s was refused %d times, and compares nothing: %s", name, n, w.why[name])
		}
	}
	for _, fault := range w.missed() {
		t.Error(fault)
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
