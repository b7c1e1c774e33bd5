// Package gatewaytest has the gateways of tests: what they leave out of their reports, how
// wrong their clocks are, and what becomes of the reports on their way.
package gatewaytest

import (
	"math/rand/v2"
	"time"

	"simgraph/domain"
)

// Gateway is how a network element states what it counted, and what becomes of that on
// its way.
type Gateway struct {
	// SessionTime is whether Acct-Session-Time is there: always, never, as 0 ("zero"), or
	// in some reports.
	SessionTime string
	// EventTime is whether Event-Timestamp is there, DelayTime whether Acct-Delay-Time is.
	EventTime, DelayTime bool
	// StepAt is when the clock is set by Step.
	StepAt, Step time.Duration
	// Waits is the share of reports that wait for hours, in percent; Shuffles is set where
	// their order is not kept.
	Waits    int
	Shuffles bool
	// Crashes is set where counters begin anew under the id of the session.
	Crashes bool
}

// Random returns one of those whose reports say enough to book their sessions.
func Random(random *rand.Rand) Gateway {
	g := Gateway{
		SessionTime: []string{"always", "always", "never", "zero", "some"}[random.IntN(5)],
		EventTime:   random.IntN(3) > 0, DelayTime: random.IntN(2) == 0,
		Waits: []int{0, 0, 5, 30}[random.IntN(4)], Shuffles: random.IntN(2) == 0, Crashes: random.IntN(2) == 0,
	}
	if random.IntN(2) == 0 && !g.Crashes {
		g.Step = []time.Duration{-8 * time.Minute, 8 * time.Minute, -3 * time.Hour, 3 * time.Hour, -30 * time.Second}[random.IntN(5)]
		g.StepAt = time.Duration(random.IntN(40)) * time.Minute
		if g.Step.Abs() > domain.ClockTolerance {
			g.Waits, g.Shuffles = 0, false // by hours, of reports that come late by hours, cannot be decided
		}
	}
	return g
}
