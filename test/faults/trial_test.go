//go:build linux

package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	// answersWithin is how soon after a fault the service must answer again, on a
	// machine that has time for it.
	answersWithin = 5 * time.Second
	// baselines is how many times as long as without a fault it may take besides.
	baselines = 5
	// samples is how often something is measured for its baseline.
	samples = 5
)

// slowest returns how long something takes at most.
func slowest(what func()) (longest time.Duration) {
	for range samples {
		began := time.Now()
		what()
		longest = max(longest, time.Since(began))
	}
	return longest
}

// trial is one fault under load.
type trial struct {
	t      *testing.T
	launch launch
	// tool is the simgraph that runs commands on the database.
	tool     string
	box      *mailbox
	simgraph *serving
	load     *load
	// before is what the process held before the fault.
	before level
	// starting is how long the first start took, answering how long the service
	// took to answer before the fault, at the slowest.
	starting, answering time.Duration
	// again is how long after the fault the service answered, at the slowest.
	again time.Duration
}

// newTrial serves the company under load. The launch selects the database.
func newTrial(t *testing.T, l launch) *trial {
	t.Helper()
	x := startTrial(t, l)
	x.load = newLoad(newCaller(t, x.simgraph.base))
	return x
}

// startTrial is newTrial without a load.
func startTrial(t *testing.T, l launch) *trial {
	t.Helper()
	x := &trial{t: t, launch: l, tool: program, box: newMailbox(t)}
	x.launch.smtp = x.box.address
	began := time.Now()
	x.simgraph = serve(t, x.launch)
	x.starting = time.Since(began)
	return x
}

// onDatabase is a trial on an external database.
func onDatabase(t *testing.T) (*trial, *database) {
	t.Helper()
	d := newDatabase(t)
	return newTrial(t, launch{databaseURL: d.url(), dataDir: t.TempDir()}), d
}

// begin starts the load and lets it run until each of its parts has its way.
func (x *trial) begin() {
	x.t.Helper()
	x.load.begin(x.t)
	x.flow(1000)
	x.answering = slowest(func() {
		if !x.load.answers(x.t.Context()) {
			x.t.Fatal("it does not answer before the fault")
		}
	})
	x.before = x.simgraph.level()
}

// flow waits until so many more records are acknowledged.
func (x *trial) flow(records int) {
	x.t.Helper()
	goal := x.acknowledged() + records
	eventually(x.t, fmt.Sprintf("%d more records are acknowledged", records), func() bool { return x.acknowledged() >= goal })
}

func (x *trial) acknowledged() int {
	x.load.mu.Lock()
	defer x.load.mu.Unlock()
	return len(x.load.acked)
}

// recovers notes how long after the end of a fault the service answers again.
func (x *trial) recovers(since time.Time) {
	x.t.Helper()
	eventually(x.t, "the service answers again", func() bool { return x.load.answers(x.t.Context()) })
	x.again = max(x.again, x.inTime("it answered after the fault", since, x.answering))
}

// inTime demands that something took no longer than it may, given how long the
// same takes on this machine without a fault. It returns how long it took.
func (x *trial) inTime(what string, since time.Time, baseline time.Duration) time.Duration {
	x.t.Helper()
	took, limit := time.Since(since), answersWithin+baselines*baseline
	if took > limit {
		x.t.Errorf("%s: %v, not within %v; without a fault it takes %v", what, took, limit, baseline)
	}
	return took
}

// finish ends the load, compares what was acknowledged with what is there, and
// reports on the fault in one line.
func (x *trial) finish(fault, url string) {
	x.t.Helper()
	x.load.end()
	x.checkErrors()
	pool := open(x.t, url)
	found := x.checkLedger(pool)
	x.checkSubscribers(pool)
	fired := x.checkAlerts(pool)
	x.checkMails(pool)
	x.checkTotals(x.launch.database())
	x.checkLevel()
	x.report(fault, found, fired)
}

// report writes a line of the table in docs/reliability.md.
func (x *trial) report(fault string, found, fired int) {
	x.load.mu.Lock()
	defer x.load.mu.Unlock()
	mails, copies := x.box.mails()
	test, _, _ := strings.Cut(x.t.Name(), "/")
	x.t.Logf("| %s (`%s`) | %d | %d | %d | %d | %d + %d | %s | %.1f s |", fault, test, len(x.load.records), len(x.load.acked), found,
		fired, mails, copies, x.load.failures(), x.again.Seconds())
}

// failures lists how requests ended that did not succeed.
func (c *caller) failures() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for code, n := range c.codes {
		if code != "ok" {
			parts = append(parts, fmt.Sprintf("%d %s", n, code))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
