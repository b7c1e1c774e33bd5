package radius

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

// An answer is found for at least answersKept, and is gone after twice that time.
func TestAnswersAreKeptForAWhile(t *testing.T) {
	var a answers
	at := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	key := newKey(netip.MustParseAddrPort("192.0.2.1:1813"), make([]byte, headerSize))
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

// However many answers come, and however large they are, those of the last seconds
// take a bounded share of memory, and a packet finds its own.
func TestAnswersAreBoundedInBytes(t *testing.T) {
	var a answers
	at := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	from := netip.MustParseAddrPort("192.0.2.1:1813")
	for n := range 20_000 {
		packet := make([]byte, headerSize)
		binary.BigEndian.PutUint32(packet[4:], uint32(n))
		key := newKey(from, packet)
		a.begin(key, at)
		a.keep(key, make([]byte, 4096))
		if found, answer := a.find(key, at); !found || len(answer) != 4096 {
			t.Fatalf("answer %d is not kept", n)
		}
	}
	if bytes := (len(a.recent) + len(a.last)) * (4096 + keySize); bytes > 2*mostAnswers+2*(4096+keySize) {
		t.Errorf("%d bytes are kept", bytes)
	}
}
