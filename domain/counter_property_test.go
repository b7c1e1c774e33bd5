package domain_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/gatewaytest"
)

// gateway is one of a property test.
type gateway struct{ gatewaytest.Gateway }

func randomGateway(random *rand.Rand) gateway { return gateway{gatewaytest.Random(random)} }

// arrival is a reading with when it came.
type arrival struct {
	domain.Reading
	at time.Duration
}

// state is what is read of a report of a time, so many seconds after the begin.
func (g gateway) state(random *rand.Rand, at, elapsed time.Duration) arrival {
	a := arrival{at: at + time.Duration(random.IntN(3))*time.Second}
	if random.IntN(100) < g.Waits {
		a.at += time.Duration(random.IntN(180)) * time.Minute
	}
	if g.Shuffles {
		a.at += time.Duration(random.IntN(20)) * time.Minute
	}
	sent, own := a.at, at
	if g.DelayTime {
		sent = at
	}
	if at >= g.StepAt {
		own += g.Step
	}
	switch {
	case !g.EventTime || own > a.at+domain.ClockTolerance:
		own, a.Dating = sent, domain.DatingArrival
	case own < sent-domain.ClockTolerance:
		a.Dating = domain.DatingStated
	}
	a.AsOf = sessionBegan.Add(own)
	a.IsStart = elapsed == 0
	switch {
	case a.IsStart, g.SessionTime == "zero":
		a.BeganAt = a.AsOf
	case g.SessionTime == "always", g.SessionTime == "some" && random.IntN(2) == 0:
		a.BeganAt = a.AsOf.Add(-elapsed)
	}
	return a
}

// beside is another way of its reports, such as by a proxy, with delays of its own.
func (g gateway) beside(random *rand.Rand) gateway {
	g.DelayTime = random.IntN(2) == 0
	if g.Step.Abs() <= domain.ClockTolerance {
		g.Waits, g.Shuffles = []int{0, 0, 5, 30}[random.IntN(4)], random.IntN(2) == 0
	}
	return g
}

// session returns the readings of a session in the order of their arrival, on all ways of
// them, and how many bytes they report. isPlain is false where a generation may be hidden by
// another: neither a Start nor a session time shows where it begins.
func (g gateway) session(random *rand.Rand, beside ...gateway) (readings []arrival, bytes int64, isPlain bool) {
	began, isPlain := time.Duration(0), true
	generations := 1
	if g.Crashes {
		generations += random.IntN(3)
	}
	for range generations {
		var most, count int64
		length, hasStart := 1+random.IntN(12), false
		for i := range length {
			elapsed := time.Duration(i) * 5 * time.Minute
			if random.IntN(8) > 0 {
				hasStart = hasStart || i == 0
				for _, way := range append([]gateway{g}, beside...) {
					a := way.state(random, began+elapsed, elapsed)
					a.MobileOriginated, a.MobileTerminated = count, count/3
					for range 1 + random.IntN(2) {
						readings = append(readings, a)
						a.at += time.Duration(random.IntN(30)) * time.Second
					}
				}
				most = count + count/3
			}
			count += random.Int64N(1 << 33)
			if random.IntN(4) == 0 {
				count += 1 << 35
			}
		}
		isPlain = isPlain && (hasStart || g.SessionTime == "always")
		bytes += most
		began += time.Duration(length)*5*time.Minute + time.Duration(random.IntN(1500))*time.Second
	}
	slices.SortStableFunc(readings, func(x, y arrival) int { return int(x.at - y.at) })
	return readings, bytes, isPlain || generations == 1
}

// Whatever gateways leave out, however wrong their clocks are and however long a
// report waits, no session is booked twice. Where less is booked than was reported,
// the session is flagged.
func TestNoSessionIsBookedTwice(t *testing.T) {
	t.Parallel()
	checkBookings(t, func(*rand.Rand, gateway) []gateway { return nil })
}

// Two clients that report the same session, each with its own delays, are one.
func TestNoSessionOfTwoClientsIsBookedTwice(t *testing.T) {
	t.Parallel()
	checkBookings(t, func(random *rand.Rand, g gateway) []gateway { return []gateway{g.beside(random)} })
}

func checkBookings(t *testing.T, beside func(*rand.Rand, gateway) []gateway) {
	t.Helper()
	flagged, whole := 0, 0
	for seed := range uint64(100_000) {
		random := rand.New(rand.NewPCG(seed, 31))
		g := randomGateway(random)
		readings, want, isPlain := g.session(random, beside(random, g)...)
		var c counters
		for _, r := range readings {
			c.read(r.Reading)
		}
		got, isFlagged := c.originated+c.terminated, slices.ContainsFunc(c.generations, func(c *domain.Counter) bool { return c.Decreased })
		if isFlagged {
			flagged++
		}
		switch {
		case got == want:
			whole++
		case got > want:
			t.Errorf("seed %d: booked %d, %d were reported (%+v)", seed, got, want, g)
		case !isFlagged && isPlain:
			t.Errorf("seed %d: booked %d, %d were reported, and nothing is flagged (%+v)", seed, got, want, g)
		}
		if !g.Crashes && got != want {
			t.Errorf("seed %d: booked %d, not %d, of a gateway that never crashed (%+v)", seed, got, want, g)
		}
	}
	t.Logf("%d exact, %d flagged", whole, flagged)
}

// Of two million sessions five are booked too high: reports of a generation came before
// any showed that there is one, and were taken for another's, hours late and without a
// session time. Such a session is flagged.
func TestASessionThatIsBookedTooHighIsFlagged(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{386_520, 425_855, 1_069_865, 1_225_562, 1_736_689} {
		random := rand.New(rand.NewPCG(seed, 31))
		readings, _, _ := randomGateway(random).session(random)
		var c counters
		for _, r := range readings {
			c.read(r.Reading)
		}
		if !slices.ContainsFunc(c.generations, func(c *domain.Counter) bool { return c.Decreased }) {
			t.Errorf("seed %d: nothing is flagged", seed)
		}
	}
}
