package radius

import (
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // RADIUS authenticates packets by MD5
	"crypto/subtle"
	"encoding/binary"
	"errors"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"
)

const (
	headerSize    = 20
	attributeHead = 2
)

var (
	errMalformed = errors.New("the packet is malformed")
	errCode      = errors.New("only accounting is served here")
	errForged    = errors.New("the authenticator is wrong")
)

// request is an authentic packet.
type request struct {
	*radius.Packet
	// signed is set when the packet has a Message-Authenticator, as its answer has then.
	signed bool
	// broken is set when attributes could be read up to some point only.
	broken bool
	// states are its Proxy-States as they came, for its answer.
	states []byte
}

// trim returns the packet without padding, or an error when it is none that is
// served here.
func trim(datagram []byte) ([]byte, error) {
	if len(datagram) < headerSize {
		return nil, errMalformed
	}
	size := int(binary.BigEndian.Uint16(datagram[2:4]))
	if size < headerSize || size > len(datagram) || size > radius.MaxPacketLength {
		return nil, errMalformed
	}
	switch radius.Code(datagram[0]) {
	case radius.CodeAccountingRequest, radius.CodeStatusServer:
		return datagram[:size], nil
	}
	return nil, errCode
}

// authenticate returns the packet when it was made with the secret. Nothing is kept
// of what it is read from.
func authenticate(packet, secret []byte) (*request, error) {
	code, end := radius.Code(packet[0]), headerSize+wholeAttributes(packet[headerSize:])
	if code == radius.CodeAccountingRequest && !radius.IsAuthenticRequest(packet, secret) {
		return nil, errForged
	}
	at := messageAuthenticator(packet[:end])
	if at > 0 && !signedBy(packet, at, secret) || at == 0 && code == radius.CodeStatusServer {
		return nil, errForged
	}
	read, states := selected(packet[headerSize:end])
	attributes, err := radius.ParseAttributes(read)
	if err != nil {
		return nil, errMalformed
	}
	r := &request{
		Packet: &radius.Packet{Code: code, Identifier: packet[1], Secret: secret, Attributes: attributes},
		signed: at > 0, broken: end < len(packet), states: states,
	}
	copy(r.Authenticator[:], packet[4:headerSize])
	return r, nil
}

// mostVendor bounds the attributes of 3GPP that are read: there are some 30.
const mostVendor = 64

// selected copies the attributes that are read, and the Proxy-States: the first of a
// type, and those of 3GPP. A packet may have 2,000, each of which would take 70 bytes.
func selected(attributes []byte) (read, states []byte) {
	var seen [256]bool
	vendor := 0
	for b := attributes; len(b) > 0; b = b[b[1]:] {
		a := b[:b[1]]
		switch of := radius.Type(a[0]); {
		case of == rfc2865.ProxyState_Type:
			states = append(states, a...)
		case of == rfc2865.VendorSpecific_Type && isThreeGPP(a) && vendor < mostVendor:
			vendor++
			read = append(read, a...)
		case of != rfc2865.VendorSpecific_Type && !seen[a[0]]:
			seen[a[0]] = true
			read = append(read, a...)
		}
	}
	return read, states
}

func isThreeGPP(a []byte) bool {
	const head = attributeHead + 4
	return len(a) > head && binary.BigEndian.Uint32(a[attributeHead:head]) == vendor3GPP
}

// claimedNAS is the NAS-Identifier of a packet that may be forged.
func claimedNAS(packet []byte) string {
	for b := packet[headerSize:][:wholeAttributes(packet[headerSize:])]; len(b) > 0; b = b[b[1]:] {
		if radius.Type(b[0]) == rfc2865.NASIdentifier_Type {
			return text(string(b[attributeHead:b[1]]))
		}
	}
	return ""
}

// wholeAttributes returns the size of the attributes that are well-formed.
func wholeAttributes(b []byte) int {
	n := 0
	for n+attributeHead <= len(b) {
		size := int(b[n+1])
		if size < attributeHead || n+size > len(b) {
			break
		}
		n += size
	}
	return n
}

// messageAuthenticator returns where the value of the attribute begins; 0 for none.
func messageAuthenticator(packet []byte) int {
	for n := headerSize; n+attributeHead <= len(packet); n += int(packet[n+1]) {
		if radius.Type(packet[n]) == rfc2869.MessageAuthenticator_Type && packet[n+1] == attributeHead+md5.Size {
			return n + attributeHead
		}
	}
	return 0
}

// signedBy checks the Message-Authenticator (RFC 2869 §5.14). That of an
// Accounting-Request is computed with an authenticator of zeros.
func signedBy(packet []byte, at int, secret []byte) bool {
	unsigned := append([]byte(nil), packet...)
	clear(unsigned[at : at+md5.Size])
	if radius.Code(packet[0]) == radius.CodeAccountingRequest {
		clear(unsigned[4:headerSize])
	}
	return hmac.Equal(sign(unsigned, secret), packet[at:at+md5.Size])
}

func sign(packet, secret []byte) []byte {
	mac := hmac.New(md5.New, secret)
	_, _ = mac.Write(packet)
	return mac.Sum(nil)
}

// answer returns the Accounting-Response, with every Proxy-State of the request.
func (r *request) answer() ([]byte, error) {
	size := headerSize + len(r.states)
	if r.signed {
		size += attributeHead + md5.Size
	}
	if size > radius.MaxPacketLength {
		return nil, errMalformed
	}
	b := append(make([]byte, 0, size), byte(radius.CodeAccountingResponse), r.Identifier)
	b = binary.BigEndian.AppendUint16(b, uint16(size)) //nolint:gosec // at most radius.MaxPacketLength
	b = append(b, r.Authenticator[:]...)
	if r.signed {
		b = append(b, byte(rfc2869.MessageAuthenticator_Type), attributeHead+md5.Size)
		b = append(b, make([]byte, md5.Size)...)
	}
	b = append(b, r.states...)
	if r.signed {
		copy(b[headerSize+attributeHead:], sign(b, r.Secret))
	}
	sum := md5.New() //nolint:gosec // RADIUS authenticates packets by MD5
	_, _ = sum.Write(b)
	_, _ = sum.Write(r.Secret)
	copy(b[4:headerSize], sum.Sum(nil))
	return b, nil
}

// sameSecret compares in constant time.
func sameSecret(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
