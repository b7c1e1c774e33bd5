package replica

import (
	"testing"
	"time"
)

// looked is a primary that was at these LSNs, one a second.
func looked(at time.Time, lsns ...LSN) *primary {
	p := new(primary)
	for i, lsn := range lsns {
		p.begin(at.Add(time.Duration(i) * time.Second))(lsn)
	}
	return p
}

func TestLagIsSinceTheFirstThingThatIsMissing(t *testing.T) {
	t.Parallel()
	began := time.Now()
	p := looked(began, 10, 10, 20, 30)
	for replayed, want := range map[LSN]time.Duration{30: 0, 31: 0, 29: time.Second, 20: time.Second, 15: 2 * time.Second, 9: 4 * time.Second} {
		if lag := p.lag(replayed, began.Add(4*time.Second)); lag != want {
			t.Errorf("at %v the lag is %v, not %v", replayed, lag, want)
		}
	}
}

func TestOldLSNsOfThePrimaryAreForgotten(t *testing.T) {
	t.Parallel()
	began := time.Now()
	p := new(primary)
	for second := range 3_600 {
		p.begin(began.Add(time.Duration(second) * time.Second))(LSN(second))
	}
	if kept := len(p.looks); kept > int(remembered/time.Second)+1 {
		t.Errorf("%d LSNs are kept", kept)
	}
}

func TestAWriterNeedsItsLastWrite(t *testing.T) {
	t.Parallel()
	w, p := newWriters(time.Hour, time.Now), looked(time.Now(), 5)
	ann, bob := writer{1, 1}, writer{1, 2}
	w.recordWrite(ann, 20)
	w.recordWrite(ann, 10)
	for who, want := range map[writer]LSN{ann: 20, bob: 5} {
		if after, known := w.after(who, p); after != want || !known {
			t.Errorf("%v needs %v, %t", who, after, known)
		}
	}
}

// What a caller was sent is at most where the primary is found next, and stays
// there: under steady writes, no standby would ever be where it is now.
func TestAnObservedWriteNeedsTheNextLook(t *testing.T) {
	t.Parallel()
	w, p := newWriters(time.Hour, time.Now), looked(time.Now(), 5)
	ann := writer{1, 1}
	unfinished := p.begin(time.Now())
	w.recordObserved(ann, p.begun())
	unfinished(6)
	if after, known := w.after(ann, p); known {
		t.Errorf("%v is taken from a look that was under way", after)
	}
	for _, lsn := range []LSN{7, 8} {
		p.begin(time.Now())(lsn)
		if after, known := w.after(ann, p); after != 7 || !known {
			t.Errorf("needs %v, %t", after, known)
		}
	}
}

func TestNobodyReadsFromAStandbyBeforeThePrimaryWasLookedAt(t *testing.T) {
	t.Parallel()
	if _, known := newWriters(time.Hour, time.Now).after(writer{}, new(primary)); known {
		t.Error("the LSN of the start is known")
	}
}

func TestTheMemoryForWritersIsBoundedAndLosesNothing(t *testing.T) {
	t.Parallel()
	w, p := newWriters(time.Hour, time.Now), looked(time.Now(), 5)
	const writes = mostWriters + 100
	for user := range writes {
		w.recordWrite(writer{1, int64(user)}, LSN(1_000+user))
	}
	if kept := len(w.known); kept > mostWriters {
		t.Errorf("%d writers are kept", kept)
	}
	for user := range writes {
		if after, known := w.after(writer{1, int64(user)}, p); !known || after < LSN(1_000+user) {
			t.Fatalf("user %d needs %v only", user, after)
		}
	}
}

// Nobody writes while the primary is lost: what a standby lacks is as old as it was, and
// what callers wrote is not forgotten before a standby can have it.
func TestTimeStandsStillWhileThePrimaryIsLost(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-time.Hour)
	p := looked(began, 10, 20)
	p.lose()
	if lag := p.lag(15, p.clock()); lag != 0 {
		t.Errorf("a standby that lacks what the last look found lags by %v", lag)
	}
	if lag := p.lag(5, p.clock()); lag != time.Second {
		t.Errorf("a standby that lacks what the look before found lags by %v", lag)
	}
	w := newWriters(time.Second, p.clock)
	w.everyone = mark{}
	w.recordWrite(writer{1, 1}, 30)
	if after, known := w.after(writer{1, 1}, p); after != 30 || !known || len(w.known) != 1 {
		t.Errorf("needs %v, %t", after, known)
	}
	p.begin(time.Now())(40)
	if lag := p.lag(5, p.clock()); p.isLost() || lag < time.Hour-time.Minute {
		t.Errorf("after it is back: lost %t, lag %v", p.isLost(), lag)
	}
}

func TestOldWritesAreForgotten(t *testing.T) {
	t.Parallel()
	w, p := newWriters(-time.Second, time.Now), looked(time.Now(), 5)
	w.recordWrite(writer{1, 1}, 20)
	_, _ = w.after(writer{1, 1}, p)
	if len(w.known) != 0 {
		t.Error("a write that every standby in use has is kept")
	}
}
