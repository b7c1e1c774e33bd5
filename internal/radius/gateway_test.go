package radius

import (
	"testing"
	"time"

	"simgraph/domain"
)

// A device begins sessions at hours that have odds, ends them, and reports each minute.
func TestADeviceOfAGatewayFollowsItsDay(t *testing.T) {
	hours := make([]int, 24)
	hours[9], hours[10] = 3, 1
	began := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	g := &Gateway{NAS: "pgw", Seed: 7, Devices: []Device{{
		IMSI: "234150000000001", Networks: []string{"23415", "26201"}, RATType: 8, Hours: hours, Lasts: 4 * time.Minute, Up: 100, Down: 10,
	}}}
	c := g.connections(began)[0]
	var open *Report
	started, stopped, networks := 0, 0, map[string]bool{}
	for now := began; now.Before(began.Add(20 * 24 * time.Hour)); now = now.Add(10 * time.Second) {
		if now.Before(c.due) {
			continue
		}
		report := c.next(g.NAS, began, now)
		if report == nil {
			continue
		}
		switch report.Event {
		case domain.SessionStarted:
			started++
			networks[report.Network] = true
			if open != nil || hours[now.Hour()] == 0 || report.RATType != 8 {
				t.Fatalf("%v: %+v after %+v", now, report, open)
			}
		case domain.SessionUpdated, domain.SessionStopped:
			if open == nil || open.SessionID != report.SessionID || report.At.Sub(open.At) > 2*gatewayInterval || report.MobileOriginated < open.MobileOriginated {
				t.Fatalf("%v: %+v after %+v", now, report, open)
			}
		}
		open = report
		if report.Event == domain.SessionStopped {
			open = nil
			stopped++
			if lasted := report.At.Sub(report.BeganAt); lasted < 2*time.Minute || lasted > 9*time.Minute {
				t.Errorf("a session took %v", lasted)
			}
		}
	}
	if started < 20 || stopped != started || len(networks) != 2 {
		t.Errorf("%d sessions began and %d ended, in %v", started, stopped, networks)
	}
}

func TestAGatewayFailsInEachHour(t *testing.T) {
	g, hour := &Gateway{Fails: 12 * time.Minute}, time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)
	for minute, want := range map[int]bool{0: false, 29: false, 30: true, 41: true, 42: false, 59: false} {
		if got := g.isDown(hour.Add(time.Duration(minute) * time.Minute)); got != want {
			t.Errorf("minute %d: %t", minute, got)
		}
	}
	if (&Gateway{}).isDown(hour.Add(30 * time.Minute)) {
		t.Error("a gateway that never fails is down")
	}
}
