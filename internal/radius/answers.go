package radius

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// answersKept is how long an answer is kept for the same packet.
	answersKept = 30 * time.Second
	// mostAnswers bounds the answers of answersKept.
	mostAnswers = 1 << 18
)

// packetKey is the same for a packet and its retransmission.
type packetKey struct {
	from          netip.AddrPort
	identifier    byte
	authenticator [16]byte
}

func newKey(from netip.AddrPort, packet []byte) packetKey {
	return packetKey{from: from, identifier: packet[1], authenticator: [16]byte(packet[4:headerSize])}
}

// answers are those of the last packets: nil while one is worked on. They spare
// the ledger work; what is forgotten is stored again, which changes nothing.
type answers struct {
	mu           sync.Mutex
	recent, last map[packetKey][]byte
	turned       time.Time
}

// find returns the answer to a packet that came before, nil while there is none yet.
func (a *answers) find(key packetKey, now time.Time) (found bool, answer []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn(now)
	if answer, found = a.recent[key]; !found {
		answer, found = a.last[key]
	}
	return found, answer
}

// turn forgets the older half from time to time.
func (a *answers) turn(now time.Time) {
	if now.Sub(a.turned) >= answersKept || len(a.recent) >= mostAnswers {
		a.last, a.recent, a.turned = a.recent, map[packetKey][]byte{}, now
	}
}

func (a *answers) begin(key packetKey, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn(now)
	a.recent[key] = nil
}

func (a *answers) keep(key packetKey, answer []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, key)
	if a.recent != nil {
		a.recent[key] = answer
	}
}

func (a *answers) forget(key packetKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.recent, key)
	delete(a.last, key)
}
