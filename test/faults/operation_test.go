package faults_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/internal/fatal"
)

// operated is how many subscribers an operation changes, in chunks of 1,000.
const operated = 20_000

// addOperated adds subscribers for operations.
const addOperated = `
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date, expiry_date,
  contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT c.company_id, 'cellular', 'operated-' || n, 's' || n, '', '', '23415', 'IoT', '2025-01-01Z', '2037-01-01Z', 12, false, true, 'physical', false, false
FROM companies c, generate_series(1, $1) AS n`

// operateOnNicknames adds a letter to their nicknames.
var operateOnNicknames = fmt.Sprintf(`mutation { startSubscriberChange(input: {where: {physicalId: {like: "operated-"}}, change: {nicknamePattern: "{nickname}x"},
  errorPolicy: REJECT_FAILED_ROWS, expect: %d}) { operation { operationId } } }`, operated)

// operating are two instances on a company with subscribers to operate on.
type operating struct {
	*testing.T
	pool      *sqlx.DB
	launches  []launch
	instances []*serving
	kills     int
}

func newOperating(t *testing.T) *operating {
	t.Helper()
	d := newDatabase(t)
	o := &operating{T: t, pool: d.open()}
	for range 2 {
		l := launch{databaseURL: d.url(), dataDir: t.TempDir(), addr: freeAddress(t)}
		o.launches, o.instances = append(o.launches, l), append(o.instances, serve(t, l))
	}
	o.pool.MustExec(addOperated, operated)
	return o
}

func (o *operating) count(query string, args ...any) (n int) {
	o.Helper()
	fatal.If(o, o.pool.GetContext(o.Context(), &n, query, args...))
	return n
}

// killing kills an instance each time that the operation has gone on, and starts it again.
func (o *operating) killing(id string, times int) {
	o.Helper()
	worked := func() int { return o.count(`SELECT done FROM operations WHERE operation_id = $1`, id) }
	for range times {
		before := worked()
		eventually(o.T, "the operation goes on", func() bool { return worked() > before || worked() >= operated })
		i := o.kills % 2
		o.instances[i].kill()
		o.instances[i] = serve(o.T, o.launches[i])
		o.kills++
	}
	eventually(o.T, "the operation ends", func() bool {
		return o.count(`SELECT count(*) FROM operations WHERE operation_id = $1 AND state = 'DONE'`, id) == 1
	})
}

func (o *operating) simgraph(args ...string) string {
	o.Helper()
	return run(o.T, append(args, o.launches[0].database()...)...)
}

// Whenever processes that run an operation are killed, it goes on with the next chunk,
// and each subscriber is changed once: its nickname grows by one letter.
func TestProcessesThatRunAnOperationAreKilled(t *testing.T) {
	t.Parallel()
	o := newOperating(t)
	c := newCaller(t, o.instances[0].base)
	o.killing(startOperated(t, c), 4)
	for what, n := range map[string]int{
		"operations":  operated * o.count(`SELECT count(*) FROM operations WHERE changed = done`),
		"subscribers": o.count(`SELECT count(*) FROM subscribers WHERE nickname = 'x'`),
		"results":     o.count(`SELECT count(*) FROM operation_rows WHERE outcome = 'CHANGED' AND changes::text LIKE '%"After":"x"%'`),
		"noted":       o.count(`SELECT sum((c.value ->> 'After')::integer) FROM audit_log a, json_array_elements(a.changes) AS c(value) WHERE a.action = 'operation.run' AND c.value ->> 'Field' = 'changed'`),
	} {
		if n != operated {
			t.Errorf("%d %s have changed once, want %d", n, what, operated)
		}
	}
}

// A file with bad lines changes the others while processes are killed. Undone, again with
// kills, the export is the one from before, byte for byte, but for those that were edited
// in between, which the operation lists.
func TestAnUndoneFileLeavesTheExportAsItWas(t *testing.T) {
	t.Parallel()
	const bad = 37
	o := newOperating(t)
	before := o.simgraph("export", "--company", "acme")
	var file strings.Builder
	file.WriteString("physicalId,nickname,addTags,isBarred\n")
	for n := 1; n <= operated; n++ {
		id := fmt.Sprintf("operated-%d", n)
		if n <= bad {
			id = "nobody-" + id
		}
		fmt.Fprintf(&file, "%s,van %d,moved|%d,true\n", id, n, n%7)
	}
	c := newCaller(t, o.instances[0].base)
	values := url.Values{"errorPolicy": {"REJECT_FAILED_ROWS"}, "expect": {fmt.Sprint(operated)}}
	response, body, err := c.send(t.Context(), http.MethodPost, "/operations?"+values.Encode(), "text/csv", []byte(file.String()))
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v: %s", response, err, body)
	}
	var started struct{ OperationID string }
	fatal.If(t, json.Unmarshal(body, &started))
	o.killing(started.OperationID, 2)
	if n := o.count(`SELECT changed FROM operations WHERE operation_id = $1`, started.OperationID); n != operated-bad {
		t.Fatalf("%d subscribers were changed", n)
	}
	edited := []string{"operated-100", "operated-10000", "operated-20000"}
	for _, id := range edited {
		if c.graph(t.Context(), fmt.Sprintf(`mutation { editSubscriber(input: {physicalId: %q, nickname: "mine"}) { subscriber { id } } }`, id), nil, new(any)) != done {
			t.Fatal(c.wrong)
		}
	}
	var undone struct {
		Undo struct{ Operation struct{ OperationID string } } `json:"undoOperation"`
	}
	if c.graph(t.Context(), fmt.Sprintf(`mutation { undoOperation(input: {operationId: %q}) { operation { operationId } } }`, started.OperationID), nil, &undone) != done {
		t.Fatal(c.wrong)
	}
	o.killing(undone.Undo.Operation.OperationID, 2)
	var listed struct {
		Operation struct {
			Results struct {
				Nodes []struct{ PhysicalID, Message string }
			}
		}
	}
	query := fmt.Sprintf(`{ operation(by: {operationId: %q}) { results(first: 100, filter: {outcome: {eq: SKIPPED}}) { nodes { physicalId message } } } }`, undone.Undo.Operation.OperationID)
	if c.graph(t.Context(), query, nil, &listed) != done {
		t.Fatal(c.wrong)
	}
	var skipped []string
	for _, row := range listed.Operation.Results.Nodes {
		skipped = append(skipped, row.PhysicalID)
	}
	slices.Sort(skipped)
	if !slices.Equal(skipped, edited) {
		t.Errorf("listed are %q, edited were %q", skipped, edited)
	}
	kept := func(export string) string {
		lines := slices.Collect(strings.Lines(export))
		return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
			return slices.ContainsFunc(edited, func(id string) bool { return strings.Contains(line, fmt.Sprintf("%q", id)) })
		}), "")
	}
	if after := o.simgraph("export", "--company", "acme"); kept(after) != kept(before) {
		t.Errorf("the export of %d bytes became one of %d bytes", len(before), len(after))
	}
	o.simgraph("audit", "verify")
}
