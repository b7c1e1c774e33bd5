package scaleout

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/internal/fatal"
	"simgraph/internal/replica"
)

// replicated is the service with a hot standby.
type replicated struct {
	*service
	pair    *dbtest.Pair
	standby *sqlx.DB
	// physicalID is a subscriber, whose nickname is what the tests write.
	physicalID string
}

func serveReplicated(t *testing.T, flags ...string) *replicated {
	t.Helper()
	pair := dbtest.NewPair(t)
	r := &replicated{pair: pair, standby: open(t, pair.Standby, pg.Options{})}
	r.service = serve(t, pair.Primary, append([]string{"--database-url", pair.Primary, "--database-replica-url", pair.Standby}, flags...)...)
	fatal.If(t, r.direct.GetContext(t.Context(), &r.physicalID, "SELECT min(physical_id) FROM subscribers"))
	r.awaitUse(true)
	return r
}

// awaitUse waits until the standby takes queries, or does no more.
func (r *replicated) awaitUse(used bool) {
	r.t.Helper()
	want := map[bool]float64{true: 1}[used]
	eventually(r.t, fmt.Sprintf("the standby is used: %t", used), func() bool { return r.metric("simgraph_replica_used") == want })
}

func (r *replicated) awaitReplayed(nickname string) {
	r.t.Helper()
	eventually(r.t, "the standby has "+nickname, func() bool {
		var found string
		err := r.standby.GetContext(r.t.Context(), &found, "SELECT nickname FROM subscribers WHERE physical_id = $1", r.physicalID)
		return err == nil && found == nickname
	})
}

func (r *replicated) pause() {
	r.standby.MustExecContext(r.t.Context(), "SELECT pg_wal_replay_pause()")
}
func (r *replicated) resume() {
	r.standby.MustExecContext(r.t.Context(), "SELECT pg_wal_replay_resume()")
}

func (r *replicated) reads(server replica.Server) float64 {
	return r.metric(fmt.Sprintf("simgraph_reads_total{server=%q}", server))
}

const (
	readNickname  = `query Read($id: String!) { subscriber(by: {physicalId: $id}) { nickname } }`
	writeNickname = `mutation Write($id: String!, $to: String!) { editSubscriber(input: {physicalId: $id, nickname: $to}) { subscriber { nickname } } }`
)

func (r *replicated) read() request {
	return document(readNickname, map[string]any{"id": r.physicalID})
}

func (r *replicated) write(nickname string) request {
	return document(writeNickname, map[string]any{"id": r.physicalID, "to": nickname})
}

func (r *replicated) restRead() request {
	return request{method: http.MethodGet, path: "/subscribers/" + r.physicalID}
}

func (a answer) shows(nickname string) bool {
	return strings.Contains(string(a.body), `"`+nickname+`"`)
}

// expect sends a read and checks where its answer has to come from, by what is
// written there.
func (r *replicated) expect(read request, nickname string) {
	r.t.Helper()
	if got := r.must(read); !got.shows(nickname) {
		r.t.Errorf("%s %s: not %q: %s", read.method, read.path, nickname, got.body)
	}
}

func TestQueriesAreAnsweredByTheStandby(t *testing.T) {
	t.Parallel()
	r := serveReplicated(t)
	r.must(r.write("before"))
	r.awaitReplayed("before")
	r.pause()
	defer r.resume()
	r.direct.MustExecContext(t.Context(), "UPDATE subscribers SET nickname = 'behind the back' WHERE physical_id = $1", r.physicalID)
	analyst := r.tokenOf("analyst@demo.example")
	r.expect(r.read().by(analyst), "before")
	r.expect(r.restRead().by(analyst), "before")
	r.resume()
	eventually(t, "the standby has replayed", func() bool { return r.must(r.read().by(analyst)).shows("behind the back") })
}

func TestCallersReadWhatTheyWrote(t *testing.T) {
	t.Parallel()
	r := serveReplicated(t)
	analyst := r.tokenOf("analyst@demo.example")
	r.must(r.write("old"))
	r.awaitReplayed("old")
	r.pause()
	defer r.resume()
	wrote := r.must(r.write("new"))
	position := wrote.header.Get(replica.Header)
	if position == "" || !strings.Contains(string(wrote.body), `"writePosition":"`+position+`"`) {
		t.Errorf("the answer has no position: %v %s", wrote.header, wrote.body)
	}
	r.expect(r.read(), "new")
	r.expect(r.restRead(), "new")
	r.expect(r.read().by(analyst), "old")
	r.expect(r.read().by(analyst).with(replica.Header, position), "new")
	r.expect(r.restRead().by(analyst).with(replica.Header, position), "new")
	r.expect(r.read().by(analyst).with(replica.Header, "nonsense"), "new")

	patch := r.must(request{method: http.MethodPatch, path: "/subscribers/" + r.physicalID, body: map[string]any{"nickname": "newer"}})
	r.expect(r.restRead(), "newer")
	r.expect(r.restRead().by(analyst).with(replica.Header, patch.header.Get(replica.Header)), "newer")
	r.expect(r.restRead().by(analyst), "old")
	before := r.reads(replica.OnStandby)
	r.resume()
	eventually(t, "the standby answers who wrote", func() bool {
		r.expect(r.read(), "newer")
		return r.reads(replica.OnStandby) > before
	})
}

// Under a delay of every write, a client that writes and reads at once never gets what was
// before, also while others read from the standby.
func TestNoReadIsStaleUnderADelay(t *testing.T) {
	t.Parallel()
	r := serveReplicated(t)
	r.standby.MustExecContext(t.Context(), "ALTER SYSTEM SET recovery_min_apply_delay = '150ms'")
	r.standby.MustExecContext(t.Context(), "SELECT pg_reload_conf()")
	analyst := r.tokenOf("analyst@demo.example")
	stale := 0
	for i := range 50 {
		name := fmt.Sprintf("name %d", i)
		position := r.must(r.write(name)).header.Get(replica.Header)
		r.expect(r.read(), name)
		r.expect(r.restRead(), name)
		if !r.must(r.read().by(analyst)).shows(name) {
			stale++
		}
		r.expect(r.read().by(analyst).with(replica.Header, position), name)
	}
	if stale == 0 || r.reads(replica.OnStandby) == 0 {
		t.Errorf("%d reads without position were stale, %v ran on the standby: the delay did not show", stale, r.reads(replica.OnStandby))
	}
	t.Logf("%d of 50 reads of another user without position were late, none of the writer's or with position", stale)
}

func TestUsageIsReadByItsRecorderAtOnce(t *testing.T) {
	t.Parallel()
	r := serveReplicated(t)
	r.pause()
	defer r.resume()
	const bytes = 123_456_789_000
	r.must(request{method: http.MethodPost, path: "/usage/records", body: record(r.physicalID, "r-1", bytes)})
	if used := r.dataUsage(r.physicalID); used < bytes {
		t.Errorf("the recorder sees %d bytes", used)
	}
}

// load sends without pause, from several clients, until it is stopped; it returns
// how many answers came and the errors.
func (r *replicated) load() (stop func() (answered int64, failures []error)) {
	ctx, cancel := context.WithCancel(r.t.Context())
	var (
		clients sync.WaitGroup
		count   atomic.Int64
		mu      sync.Mutex
		failed  []error
	)
	for range 4 {
		clients.Go(func() {
			for ctx.Err() == nil {
				for _, one := range []request{r.read(), r.restRead(), {method: http.MethodGet, path: "/subscribers?limit=100"}} {
					if _, err := r.send(one); err != nil {
						mu.Lock()
						failed = append(failed, err)
						mu.Unlock()
					}
					count.Add(1)
				}
			}
		})
	}
	return func() (int64, []error) {
		cancel()
		clients.Wait()
		return count.Load(), failed
	}
}

// expectNoFailure ends the load.
func (r *replicated) expectNoFailure(stop func() (int64, []error)) {
	r.t.Helper()
	answered, failures := stop()
	for i, err := range failures[:min(len(failures), 5)] {
		r.t.Errorf("failure %d of %d: %v", i+1, len(failures), err)
	}
	r.t.Logf("%d requests were answered; %v ran on the standby, %v on the primary, %v on both",
		answered, r.reads(replica.OnStandby), r.reads(replica.OnPrimary), r.reads(replica.Retried))
}

// more waits until some more requests were served from there.
func (r *replicated) more(server replica.Server) {
	r.t.Helper()
	before := r.reads(server)
	eventually(r.t, "more reads: "+string(server), func() bool { return r.reads(server) > before+20 })
}

func TestNoRequestFailsWhenTheStandbyIsKilled(t *testing.T) {
	t.Parallel()
	r := serveReplicated(t)
	stop := r.load()
	for range 3 {
		r.more(replica.OnStandby)
		r.pair.KillStandby()
		r.more(replica.OnPrimary)
		r.awaitUse(false)
		r.must(request{method: http.MethodGet, path: "/readyz"})
		r.pair.StartStandby()
		r.awaitUse(true)
	}
	r.more(replica.OnStandby)
	r.expectNoFailure(stop)
}

func TestNoRequestFailsWhenTheStandbyHangs(t *testing.T) {
	t.Parallel()
	r := serveReplicated(t)
	stop := r.load()
	r.more(replica.OnStandby)
	thaw := r.pair.FreezeStandby()
	t.Cleanup(thaw)
	r.awaitUse(false)
	r.more(replica.OnPrimary)
	r.must(request{method: http.MethodGet, path: "/readyz"})
	thaw()
	r.awaitUse(true)
	r.more(replica.OnStandby)
	r.expectNoFailure(stop)
}

// What the primary vacuums or locks cancels reads on the standby, at once when
// it may not wait for them.
func TestNoRequestFailsByAConflictWithRecovery(t *testing.T) {
	t.Parallel()
	r := serveReplicated(t)
	r.standby.MustExecContext(t.Context(), "ALTER SYSTEM SET max_standby_streaming_delay = 0")
	r.standby.MustExecContext(t.Context(), "SELECT pg_reload_conf()")
	stop := r.load()
	eventually(t, "a read was cancelled", func() bool {
		r.direct.MustExecContext(t.Context(), "BEGIN; LOCK TABLE subscribers IN ACCESS EXCLUSIVE MODE; COMMIT")
		return r.reads(replica.Retried) > 0
	})
	r.expectNoFailure(stop)
}

func TestAStandbyThatLagsIsLeftOut(t *testing.T) {
	t.Parallel()
	r := serveReplicated(t, "--replica-max-lag", "1s")
	analyst := r.tokenOf("analyst@demo.example")
	r.pause()
	r.direct.MustExecContext(t.Context(), "UPDATE subscribers SET nickname = 'while it lags' WHERE physical_id = $1", r.physicalID)
	r.awaitUse(false)
	r.expect(r.read().by(analyst), "while it lags")
	if lag := r.metric("simgraph_replica_lag_seconds"); lag <= 1 {
		t.Errorf("the lag is reported as %v s", lag)
	}
	r.must(request{method: http.MethodGet, path: "/readyz"})
	r.resume()
	r.awaitUse(true)
}

// Whatever a query does, a standby can do it: none of them writes or locks.
func TestEveryQueryRunsOnTheStandby(t *testing.T) {
	t.Parallel()
	r := serveReplicated(t)
	queries := []request{
		{method: http.MethodGet, path: "/subscribers"}, {method: http.MethodGet, path: "/tags"}, {method: http.MethodGet, path: "/subscriber-groups"},
		{method: http.MethodGet, path: "/alerts"}, {method: http.MethodGet, path: "/alerts/recipients"}, {method: http.MethodGet, path: "/alerts/logs"},
		document(everyQuery, map[string]any{"id": r.physicalID}),
	}
	for _, query := range queries {
		// On a busy machine the standby may be left out for a while.
		before := r.reads(replica.OnStandby)
		eventually(t, query.method+" "+query.path+" ran on the standby", func() bool {
			r.must(query)
			return r.reads(replica.OnStandby) > before
		})
	}
	if n := r.reads(replica.Retried); n != 0 {
		t.Errorf("%v queries failed on the standby", n)
	}
}

// The fields of an answer fit each other, so all of them come from the standby:
// what is below root fields, too.
func TestNoFieldOfAQueryIsReadOnThePrimary(t *testing.T) {
	t.Parallel()
	r := serveReplicated(t, "--replica-max-lag", "10m")
	every := document(everyQuery, map[string]any{"id": r.physicalID})
	r.must(every)
	r.pause()
	defer r.resume()
	eventually(t, "nothing more is replayed", func() (paused bool) {
		err := r.standby.GetContext(t.Context(), &paused, "SELECT pg_get_wal_replay_pause_state() = 'paused'")
		return err == nil && paused
	})
	r.hideTables()
	before := r.reads(replica.OnStandby)
	r.must(every)
	if r.reads(replica.OnStandby) == before {
		t.Error("the query was not sent to the standby")
	}
}

// hideTables takes from the primary all tables but those of tokens.
func (r *replicated) hideTables() {
	r.t.Helper()
	var tables []string
	err := r.direct.SelectContext(r.t.Context(), &tables, `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
AND relkind IN ('r', 'p') AND NOT relispartition
AND relname NOT IN ('access_tokens', 'access_keys', 'users', 'user_groups', 'groups', 'companies', 'goose_db_version')`)
	if err != nil || len(tables) == 0 {
		r.t.Fatal(tables, err)
	}
	for _, table := range tables {
		r.direct.MustExecContext(r.t.Context(), fmt.Sprintf("ALTER TABLE %s RENAME TO hidden_%[1]s", table))
	}
}

// everyQuery has most root fields, and what is below them.
const everyQuery = `query Every($id: String!) {
  viewer { email company { name fleet { total } } }
  subscriber(by: {physicalId: $id}) { nickname dataUsage group { name } tags { name } usage { totals { mobileOriginated } } }
  subscribers(first: 5, filter: {}) { nodes { physicalId operator { name } } totalCount }
  groups(first: 5) { nodes { name numberOfUsers usage { totals { mobileOriginated } } subscribers(first: 2) { nodes { physicalId } } } }
  tags(first: 5) { nodes { name usage { totals { mobileOriginated } } subscribers(first: 2) { nodes { physicalId } } } }
  operators(first: 5) { nodes { name } }
  tariffs(first: 5) { nodes { name } }
  users(first: 5) { nodes { email } }
  accessKeys(first: 5) { nodes { accessKeyId } }
  alerts(first: 5) { nodes { alertId name status ruleType ... on VolumeAlert { lowerThreshold } } }
  alertLog(first: 5) { nodes { entryId } }
  recipients(first: 5) { nodes { email } }
  auditLog(first: 5) { nodes { action } }
  previewAlert(input: {ruleType: COMPANY, lowerThreshold: 1, upperThreshold: 2}, startDate: "2026-01-01", endDate: "2026-03-01") { total }
  company { usage { totals { mobileOriginated } } usageSources { nodes { source } } }
}`
