//go:build linux

package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// answersWithin is how soon after a fault the service must answer again.
const answersWithin = 5 * time.Second

// trial is one fault under load.
type trial struct {
	t        *testing.T
	launch   launch
	box      *mailbox
	simgraph *serving
	load     *load
	// before is what the process held before the fault.
	before level
	// again is how long after the fault the service answered, at the slowest.
	again time.Duration
}

// newTrial serves the company under load. The launch says on which database.
func newTrial(t *testing.T, l launch) *trial {
	t.Helper()
	x := &trial{t: t, launch: l, box: newMailbox(t)}
	x.launch.smtp = x.box.address
	x.simgraph = serve(t, x.launch)
	x.load = newLoad(t, x.simgraph.base)
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
	took := time.Since(since)
	x.again = max(x.again, took)
	if took > answersWithin {
		x.t.Errorf("it answered %v after the fault, not within %v", took, answersWithin)
	}
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
	x.t.Logf("| %s | %d | %d | %d | %d | %d + %d | %s | %.1f s |", fault, len(x.load.records), len(x.load.acked), found,
		fired, mails, copies, x.load.told(), x.again.Seconds())
}

// told is how requests ended that did not succeed.
func (c *caller) told() string {
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
