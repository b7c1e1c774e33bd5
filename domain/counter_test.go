package domain_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"simgraph/domain"
)

var sessionBegan = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func reading(began, asOf int, originated, terminated int64) domain.Reading {
	return domain.Reading{
		BeganAt: sessionBegan.Add(time.Duration(began) * time.Second), AsOf: sessionBegan.Add(time.Duration(asOf) * time.Second),
		IsStart: began == asOf, MobileOriginated: originated, MobileTerminated: terminated,
	}
}

// counters books readings as a store does, and adds up the differences.
type counters struct {
	generations            []*domain.Counter
	originated, terminated int64
}

func (c *counters) read(r domain.Reading) (domain.Difference, bool) {
	at := domain.GenerationOf(c.generations, r)
	if at < 0 {
		at = len(c.generations)
		c.generations = append(c.generations, domain.NewCounter(r))
	}
	d, raised := c.generations[at].Raise(r)
	c.originated += d.MobileOriginated
	c.terminated += d.MobileTerminated
	return d, raised
}

func TestReadingsOfASession(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		readings                            []domain.Reading
		originated, terminated, generations int64
		decreased                           bool
	}{
		"are cumulative":                          {[]domain.Reading{reading(0, 0, 0, 0), reading(0, 300, 10, 5), reading(0, 600, 30, 6)}, 30, 6, 1, false},
		"may come twice":                          {[]domain.Reading{reading(0, 300, 10, 5), reading(0, 300, 10, 5)}, 10, 5, 1, false},
		"may come late":                           {[]domain.Reading{reading(0, 600, 30, 6), reading(0, 0, 0, 0), reading(0, 300, 10, 5)}, 30, 6, 1, false},
		"may differ by seconds in their begin":    {[]domain.Reading{reading(0, 0, 0, 0), reading(1, 300, 10, 5), reading(-2, 598, 20, 9)}, 20, 9, 1, false},
		"count anew after a crash":                {[]domain.Reading{reading(0, 600, 30, 6), reading(900, 1200, 7, 2)}, 37, 8, 2, false},
		"of a crash may come before the others":   {[]domain.Reading{reading(900, 1200, 70, 20), reading(0, 600, 30, 6)}, 100, 26, 2, false},
		"count anew after a quick restart":        {[]domain.Reading{reading(0, 600, 30, 6), reading(610, 610, 0, 0), reading(610, 900, 4, 4)}, 34, 10, 2, false},
		"that wrapped are flagged, not guessed":   {[]domain.Reading{reading(0, 600, 4_000_000_000, 6), reading(0, 900, 100, 7)}, 4_000_000_000, 7, 1, true},
		"of a late start are no new generation":   {[]domain.Reading{reading(0, 600, 30, 6), reading(0, 0, 0, 0), reading(0, 900, 40, 6)}, 40, 6, 1, false},
		"rise in one direction without the other": {[]domain.Reading{reading(0, 600, 30, 6), reading(0, 900, 30, 9)}, 30, 9, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c counters
			for _, r := range test.readings {
				c.read(r)
			}
			if c.originated != test.originated || c.terminated != test.terminated || int64(len(c.generations)) != test.generations {
				t.Errorf("booked %d and %d bytes in %d generations, not %d and %d in %d",
					c.originated, c.terminated, len(c.generations), test.originated, test.terminated, test.generations)
			}
			if c.generations[0].Decreased != test.decreased {
				t.Errorf("decreased is %t", !test.decreased)
			}
		})
	}
}

func TestTheFirstReadingOpensTheSessionWithoutBytes(t *testing.T) {
	t.Parallel()
	var c counters
	if d, raised := c.read(reading(0, 0, 0, 0)); !raised || d.Sequence != 0 || !d.From.Equal(sessionBegan) {
		t.Errorf("gives %+v, %t", d, raised)
	}
	if _, raised := c.read(reading(0, 0, 0, 0)); raised {
		t.Error("a resend opens it again")
	}
	if d, _ := c.read(reading(0, 300, 10, 5)); d.Sequence != 1 || !d.From.Equal(sessionBegan) || d.To.Sub(d.From) != 300*time.Second {
		t.Errorf("the next gives %+v", d)
	}
}

// Whatever is lost, late or repeated, what is booked are the highest readings of
// each generation that arrived.
func TestDifferencesAddUpToTheHighestReadings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2_000) {
		random := rand.New(rand.NewPCG(seed, 18))
		var arrived []domain.Reading
		var wantOriginated, wantTerminated int64
		began := 0
		for range 1 + random.IntN(4) {
			readings := randomGeneration(random, began)
			began += 300*len(readings) + 100 + random.IntN(1000)
			var originated, terminated int64
			for _, r := range readings {
				if random.IntN(10) == 0 {
					continue
				}
				for range 1 + random.IntN(3) {
					arrived = append(arrived, r)
				}
				originated, terminated = max(originated, r.MobileOriginated), max(terminated, r.MobileTerminated)
			}
			wantOriginated, wantTerminated = wantOriginated+originated, wantTerminated+terminated
		}
		random.Shuffle(len(arrived), func(i, j int) { arrived[i], arrived[j] = arrived[j], arrived[i] })
		var c counters
		for _, r := range arrived {
			c.read(r)
		}
		if c.originated != wantOriginated || c.terminated != wantTerminated {
			t.Fatalf("seed %d: booked %d and %d, the highest are %d and %d", seed, c.originated, c.terminated, wantOriginated, wantTerminated)
		}
	}
}

// randomGeneration returns readings every 300 s, the first of which opens the session.
func randomGeneration(random *rand.Rand, began int) []domain.Reading {
	var readings []domain.Reading
	var originated, terminated int64
	for i := range 1 + random.IntN(20) {
		readings = append(readings, reading(began, began+300*i, originated, terminated))
		originated += random.Int64N(1 << 33)
		terminated += random.Int64N(1 << 33)
	}
	return readings
}
