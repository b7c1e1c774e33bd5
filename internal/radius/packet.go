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

// authenticate returns the packet when it was made with the secret.
func authenticate(packet, secret []byte) (*request, error) {
	whole := wholeAttributes(packet[headerSize:])
	attributes, err := radius.ParseAttributes(packet[headerSize : headerSize+whole])
	if err != nil {
		return nil, errMalformed
	}
	r := &request{
		Packet: &radius.Packet{Code: radius.Code(packet[0]), Identifier: packet[1], Secret: secret, Attributes: attributes},
		broken: headerSize+whole < len(packet),
	}
	copy(r.Authenticator[:], packet[4:headerSize])
	if r.Code == radius.CodeAccountingRequest && !radius.IsAuthenticRequest(packet, secret) {
		return nil, errForged
	}
	at := messageAuthenticator(packet[:headerSize+whole])
	r.signed = at > 0
	if r.signed && !signedBy(packet, at, secret) || !r.signed && r.Code == radius.CodeStatusServer {
		return nil, errForged
	}
	return r, nil
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
	response := r.Response(radius.CodeAccountingResponse)
	if r.signed {
		response.Add(rfc2869.MessageAuthenticator_Type, make(radius.Attribute, md5.Size))
	}
	for _, a := range r.Attributes {
		if a.Type == rfc2865.ProxyState_Type {
			response.Add(a.Type, a.Attribute)
		}
	}
	if r.signed {
		unsigned, err := response.MarshalBinary()
		if err != nil {
			return nil, err
		}
		response.Set(rfc2869.MessageAuthenticator_Type, sign(unsigned, r.Secret))
	}
	return response.Encode()
}

// sameSecret compares in constant time.
func sameSecret(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
