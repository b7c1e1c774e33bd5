package radius

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// answersKept is how long an answer is kept for the same packet.
	answersKept = 30 * time.Second
	// mostAnswers bounds the answers of answersKept, in bytes: 15,000 or so.
	mostAnswers = 3 << 20
	// keySize is what an answer takes beside its own bytes.
	keySize = 192
)

// packetKey is the same for a packet and its retransmission.
type packetKey struct {
	from          [16]byte
	port          uint16
	identifier    byte
	authenticator [16]byte
}

func newKey(from netip.AddrPort, packet []byte) packetKey {
	return packetKey{from: from.Addr().As16(), port: from.Port(), identifier: packet[1], authenticator: [16]byte(packet[4:headerSize])}
}

// answers are those of the last packets: nil while one is worked on. They spare
// the ledger work; what is forgotten is stored again, which changes nothing.
type answers struct {
	mu           sync.Mutex
	recent, last map[packetKey][]byte
	turned       time.Time
	// size is about that of recent, in bytes.
	size int
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
	if now.Sub(a.turned) >= answersKept || a.size >= mostAnswers {
		a.last, a.recent, a.turned, a.size = a.recent, map[packetKey][]byte{}, now, 0
	}
}

func (a *answers) begin(key packetKey, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn(now)
	a.recent[key] = nil
	a.size += keySize
}

func (a *answers) keep(key packetKey, answer []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, key)
	if a.recent == nil {
		return
	}
	if _, begun := a.recent[key]; !begun {
		a.size += keySize
	}
	a.recent[key] = answer
	a.size += len(answer)
}

func (a *answers) forget(key packetKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.recent, key)
	delete(a.last, key)
}
