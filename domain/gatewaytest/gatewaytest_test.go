package gatewaytest_test

import (
	"math/rand/v2"
	"testing"

	"simgraph/domain"
	"simgraph/domain/gatewaytest"
)

// Reports of a gateway whose clock is wrong by hours come in order and at once: otherwise nobody could book their sessions.
// Each kind of gateway is among a thousand.
func TestGatewaysSayEnoughToBookTheirSessions(t *testing.T) {
	t.Parallel()
	random, seen := rand.New(rand.NewPCG(1, 2)), map[string]int{}
	for range 1000 {
		g := gatewaytest.Random(random)
		isWrong := g.Step.Abs() > domain.ClockTolerance
		switch {
		case isWrong && (g.Waits > 0 || g.Shuffles), g.Crashes && g.Step != 0, g.Waits < 0 || g.Waits > 30:
			t.Fatalf("got %+v", g)
		}
		seen[g.SessionTime]++
		for kind, is := range map[string]bool{
			"wrong by hours": isWrong, "wrong by minutes": g.Step != 0 && !isWrong, "waits": g.Waits > 0, "shuffles": g.Shuffles, "crashes": g.Crashes,
			"event time": g.EventTime, "delay time": g.DelayTime, "no event time": !g.EventTime, "no delay time": !g.DelayTime,
		} {
			if is {
				seen[kind]++
			}
		}
	}
	if len(seen) != 13 {
		t.Errorf("among a thousand there are only %v", seen)
	}
}
