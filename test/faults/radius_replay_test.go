//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	codec "layeh.com/radius"

	store "simgraph/db/condition"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/internal/fatal"
	"simgraph/internal/radius"
)

const (
	// reportsEvery is how often gateways report a session, stopsAt when simgraph stops,
	// backAt when it is back, endsAt when the replay has to be over, and confirmedIn how
	// long after that all silences must be named.
	reportsEvery = 5 * time.Minute
	confirmedIn  = 30 * time.Minute
	stopsAt      = 30 * time.Minute
	backAt       = 89 * time.Minute
	endsAt       = 3 * time.Hour
	// proxySecret is that of testdata/freeradius.conf.
	proxySecret = "nas-secret"
)

// impatient makes a simgraph look for conditions that are due, and note that it listens and
// which packets came, many times a second: its clock runs through minutes as fast. A step of
// that is no pause.
const impatient = "FAULTS_INTERVALS=evaluateEvery=100ms tallyEvery=100ms sweepEvery=100ms listeningPause=6m"

// replayed is a fleet behind three gateways, which report through a proxy.
type replayed struct {
	*simulated
	pool  *sqlx.DB
	proxy *relay
}

func (r *replayed) gateway(device int) string { return []string{"a", "b", "c"}[device%3] }

// isSilent reports whether a device of a gateway that lives ceases to be reported when
// simgraph stops.
func (r *replayed) isSilent(device int) bool { return r.gateway(device) != "c" && device%5 == 0 }

// report has the gateways report their sessions through the proxy, as of a time: c has
// died when simgraph stopped.
func (r *replayed) report(at time.Duration) {
	r.Helper()
	var sending sync.WaitGroup
	for device := range fleet {
		if at > stopsAt && (r.isSilent(device) || r.gateway(device) == "c") {
			continue
		}
		report := radius.Report{
			Event: domain.SessionUpdated, NAS: r.gateway(device), SessionID: fmt.Sprint("s", device), IMSI: fmt.Sprintf("2341500000%05d", device),
			BeganAt: r.first, At: r.first.Add(at), MobileOriginated: int64(at / time.Second), MobileTerminated: 7,
		}
		if at == 0 {
			report.Event = domain.SessionStarted
		}
		sending.Go(func() {
			ctx, cancel := context.WithTimeout(r.Context(), patience)
			defer cancel()
			// A repetition before the proxy's response_window ends begins that anew.
			client := codec.Client{Retry: 10 * time.Second}
			if _, err := client.Exchange(ctx, report.Packet([]byte(proxySecret)), fmt.Sprintf("127.0.0.1:%d", r.proxy.port)); err != nil {
				r.Errorf("the proxy does not answer: %v", err)
			}
		})
	}
	sending.Wait()
}

// evaluated waits until simgraph has noted that it listens, and to gateways that report, at a
// time, as the step after would be a pause otherwise, and conditions were evaluated.
func (r *replayed) evaluated(at time.Duration) {
	r.Helper()
	eventually(r.T, "conditions are evaluated", func() bool {
		var is bool
		err := r.pool.Get(&is, `
SELECT coalesce((SELECT bool_and(due_at > $1) FROM condition_turns), false) AND coalesce((SELECT bool_and(seen_at >= $1) FROM feed_listening WHERE nas <> 'c'), true)`, r.first.Add(at))
		return err == nil && is
	})
}

// fired are what conditions have logged.
func (r *replayed) fired() (fired []string) {
	r.Helper()
	err := r.pool.Select(&fired, `
SELECT l.kind || ' ' || CASE WHEN l.subscriber_key IS NULL THEN l.source || '/' || l.nas ELSE s.imsi END
FROM condition_log l LEFT JOIN subscribers s ON s.company_id = l.company_id AND s.key = l.subscriber_key
WHERE l.state = 'fired'`)
	fatal.If(r, err)
	slices.Sort(fired)
	return fired
}

// A proxy keeps on disk what three gateways report while simgraph is away for an hour, in
// which one of them dies and some devices of the others fall silent. When it is back the
// proxy replays that beside what comes then: the gateway is named once, and of the devices
// those alone that are silent.
func TestAReplayAlarmsNobodyElse(t *testing.T) {
	needPrograms(t, "freeradius")
	d, port := newDatabase(t), freePort(t)
	first := time.Now().Add(-8 * time.Hour).Truncate(time.Second)
	r := &replayed{simulated: newSimulated(t, d.url(), port, first, impatient), pool: d.open(), proxy: startFreeRADIUS(t, port)}
	alerts := store.New(r.pool, func() time.Time { return first })
	var company domain.CompanyID
	fatal.If(t, r.pool.Get(&company, `SELECT company_id FROM companies`))
	if _, err := alerts.Create(t.Context(), domain.Whole(company), condition.Spec{
		RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Silent, Bound: 1},
	}); err != nil {
		t.Fatal(err)
	}
	at := time.Duration(0)
	for ; at <= stopsAt; at += reportsEvery {
		r.reach(at)
		r.report(at)
		r.evaluated(at)
	}
	r.serving.kill()
	for ; at < backAt; at += reportsEvery {
		r.report(at)
	}
	r.reach(backAt)
	r.serving = serve(t, r.launch)
	// The proxy looks every few seconds whether simgraph is back: no time of its clock.
	eventually(t, "the replay has begun", func() bool {
		var has bool
		err := r.pool.Get(&has, `SELECT EXISTS (SELECT FROM sessions WHERE as_of > $1)`, first.Add(stopsAt))
		return err == nil && has
	})
	var want []string
	for device := range fleet {
		if r.isSilent(device) {
			want = append(want, fmt.Sprintf("silent 2341500000%05d", device))
		}
	}
	want = append(want, "source pgw/c")
	for ; at <= endsAt; at += reportsEvery {
		r.reach(at)
		r.report(at)
		r.evaluated(at)
		for _, fired := range r.fired() {
			if !slices.Contains(want, fired) {
				t.Fatalf("after %v: %s", at, fired)
			}
		}
	}
	r.replays(at - reportsEvery)
	fired := r.fired()
	for end := at + confirmedIn; at < end && !slices.Equal(fired, want); at += reportsEvery {
		r.reach(at)
		r.report(at)
		r.replays(at)
		r.evaluated(at)
		fired = r.fired()
	}
	if !slices.Equal(fired, want) {
		t.Errorf("fired have\n%s\nwant\n%s", strings.Join(fired, "\n"), strings.Join(want, "\n"))
	}
}

// replays waits until the proxy has nothing left, and the reports of a time are booked. It
// keeps what it has by the clock of the machine, and that would be late in each step.
func (r *replayed) replays(until time.Duration) {
	r.Helper()
	eventually(r.T, "all reports are booked", func() bool {
		var waiting int
		err := r.pool.Get(&waiting, `SELECT count(*) FROM sessions WHERE mobile_originated <> CASE WHEN as_of <= $1 THEN $2 ELSE $3 END::bigint`,
			r.first.Add(stopsAt), int64(stopsAt/time.Second), int64(until/time.Second))
		return err == nil && waiting == 0 && !r.proxy.keeps()
	})
}
