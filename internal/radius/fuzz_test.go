package radius

import (
	"crypto/md5" //nolint:gosec // RADIUS authenticates packets by MD5
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// Whatever attributes an authentic packet has, it is read and answered.
func FuzzAuthenticPackets(f *testing.F) {
	secret := []byte("a secret of a test")
	report := Report{Event: domain.SessionStopped, NAS: "pgw", SessionID: "s", IMSI: "234150000000001", MSISDN: "+447700900001", IMEI: "35345607", Network: "23415", RATType: 6}
	for _, event := range []domain.SessionEvent{domain.SessionStarted, domain.SessionUpdated, domain.SessionStopped} {
		report.Event = event
		packet, err := report.Packet(secret).Encode()
		fatal.If(f, err)
		f.Add(packet[headerSize:])
	}
	f.Add([]byte{26, 9, 0, 0, 40, 175, 1, 200, 7})
	f.Add([]byte{97, 2, 8, 3, 1, 40, 6, 0, 0, 0, 3})
	for _, names := range [][]string{{"", "23415", "234150000000001", ""}, {"", "", "8944500102030405067F", ""}, {"", "26201", "x", "1234150000000001@y"}} {
		packet, err := named(names[0], names[1], names[2], names[3]).Encode()
		fatal.If(f, err)
		f.Add(packet[headerSize:])
	}
	f.Fuzz(func(t *testing.T, attributes []byte) {
		packet := append(make([]byte, headerSize), attributes...)
		packet[0], packet[1] = 4, 7
		if len(packet) > 4096 {
			return
		}
		binary.BigEndian.PutUint16(packet[2:4], uint16(len(packet))) //nolint:gosec // at most 4,096
		sum := md5.Sum(append(packet[:len(packet):len(packet)], secret...))
		copy(packet[4:headerSize], sum[:])
		trimmed, err := trim(packet)
		fatal.If(t, err)
		r, err := authenticate(trimmed, secret)
		if err != nil {
			return // a Message-Authenticator that is wrong
		}
		a := r.read(time.Now())
		if a.Unusable == "" && !a.Restarted && (a.Record.SessionID == "" || a.Record.Subscriber() == "msisdn ") {
			t.Errorf("usable: %+v", a)
		}
		if len(a.Found) > 2000 || strings.ContainsFunc(a.Found, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("found %q", a.Found)
		}
		a.Record.Source, a.Record.EndedAt = "fuzz", time.Now()
		a.Record.StartedAt = time.Time{}
		if err := a.Record.Check(time.Now(), time.Unix(0, 0)); a.Unusable == "" && !a.Restarted && err != nil &&
			a.Record.MobileOriginated <= domain.MaxCounter && a.Record.MobileTerminated <= domain.MaxCounter {
			t.Errorf("a usable request breaks a rule: %v", err)
		}
		if answer, err := r.answer(); err != nil || len(answer) < headerSize {
			t.Errorf("no answer: %v", err)
		}
	})
}
