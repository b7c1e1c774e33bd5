package radius

import (
	"net/netip"
	"testing"
	"time"
)

// An answer is found for at least answersKept, and is gone after twice that time.
func TestAnswersAreKeptForAWhile(t *testing.T) {
	var a answers
	at := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	key := packetKey{from: netip.MustParseAddrPort("192.0.2.1:1813"), identifier: 7}
	a.begin(key, at)
	a.keep(key, []byte("answer"))
	for _, after := range []time.Duration{0, answersKept - 1, answersKept, 2*answersKept - 1} {
		if found, answer := a.find(key, at.Add(after)); !found || string(answer) != "answer" {
			t.Errorf("after %v: %v, %q", after, found, answer)
		}
	}
	if found, _ := a.find(key, at.Add(2*answersKept)); found {
		t.Error("the answer is kept for ever")
	}
}
