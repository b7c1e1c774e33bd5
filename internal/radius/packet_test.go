package radius_test

import (
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // RADIUS authenticates packets by MD5
	"testing"

	codec "layeh.com/radius"
	"layeh.com/radius/rfc2869"

	"simgraph/internal/fatal"
)

// resign writes the request authenticator of the packet.
func resign(packet []byte) {
	clear(packet[4:20])
	sum := md5.Sum(append(packet[:len(packet):len(packet)], secret...)) //nolint:gosec // see above
	copy(packet[4:20], sum[:])
}

// signed returns the packet with its Message-Authenticator.
func signed(t *testing.T, p *codec.Packet) []byte {
	t.Helper()
	p.Set(rfc2869.MessageAuthenticator_Type, make(codec.Attribute, 16))
	unsigned, err := p.MarshalBinary()
	fatal.If(t, err)
	mac := hmac.New(md5.New, secret)
	_, _ = mac.Write(unsigned)
	p.Set(rfc2869.MessageAuthenticator_Type, mac.Sum(nil))
	return encoded(t, p)
}
