package radius

import (
	"bytes"
	"testing"
	"time"

	"layeh.com/radius"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// Whatever comes over UDP, it is read without a fault, and nothing that was not made with the
// secret is taken for a request.
func FuzzPackets(f *testing.F) {
	secret := []byte("a secret of a test")
	report := Report{Event: domain.SessionStarted, NAS: "pgw", SessionID: "s", IMSI: "234150000000001"}
	packet, err := report.Packet(secret).Encode()
	fatal.If(f, err)
	status := radius.New(radius.CodeStatusServer, secret)
	asked, err := status.Encode()
	fatal.If(f, err)
	for _, datagram := range [][]byte{
		packet, asked, append(packet[:len(packet):len(packet)], "padding"...), packet[:len(packet)-1], packet[:headerSize], packet[:headerSize-1], nil,
		append([]byte{4, 0, 0, 26}, append(make([]byte, 16), 80, 18, 1, 2, 3, 4)...),
		append([]byte{4, 0, 0, 22}, append(make([]byte, 16), 1, 0)...),
		append([]byte{4, 0, 255, 255}, make([]byte, 5_000)...),
	} {
		f.Add(datagram)
	}
	f.Fuzz(func(t *testing.T, datagram []byte) {
		given := bytes.Clone(datagram)
		packet, err := trim(datagram)
		if err != nil {
			return
		}
		if name := claimedNAS(packet); len(name) > len(packet) {
			t.Errorf("the name %q is longer than the packet", name)
		}
		r, err := authenticate(packet, secret)
		if !bytes.Equal(given, datagram) {
			t.Error("reading changes the packet")
		}
		if err != nil {
			return
		}
		if packet[0] == byte(radius.CodeAccountingRequest) && !radius.IsAuthenticRequest(packet, secret) || packet[0] == byte(radius.CodeStatusServer) && !r.signed {
			t.Error("a forged packet is taken for a request")
		}
		clear(datagram) // the buffer of the socket is used again
		_ = r.read(time.Now())
		if answer, err := r.answer(); err != nil || len(answer) < headerSize || answer[1] != r.Identifier {
			t.Errorf("answered with %v, %v", answer, err)
		}
	})
}
