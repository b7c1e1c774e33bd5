package issuer

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

const (
	// leeway is by how much clocks may differ.
	leeway = time.Minute
	// maxToken bounds a token, in bytes.
	maxToken = 64 << 10
	// maxSubject is the longest subject (OpenID Connect Core §2), in bytes.
	maxSubject = 255
)

// Expected is what a token must say.
type Expected struct {
	// Audiences are those of which the token must name one.
	Audiences []string
	// Client is whom an ID token is issued to; "" where another token is checked.
	Client string
	// Nonce is that of the request; "" where there was none.
	Nonce string
}

// Claims are what an issuer has signed.
type Claims struct {
	// Issuer and Subject name who it is about. Subject is never empty.
	Issuer, Subject string
	Audience        []string
	// ID is the jti; "" for none.
	ID string
	// ExpiresAt is never zero, IssuedAt is where the token does not say it.
	ExpiresAt, IssuedAt time.Time
	// Values are all claims by name, as JSON has them.
	Values map[string]any
}

// Check returns the claims of a token that this issuer has signed, and for whom that
// is expected. The error is InvalidToken for any other, and Unavailable where the keys
// cannot be read.
func (i *Issuer) Check(ctx context.Context, token string, expected Expected) (*Claims, error) {
	claims, _, err := i.check(ctx, token, expected)
	return claims, err
}

func (i *Issuer) check(ctx context.Context, token string, expected Expected) (*Claims, *oidc.IDToken, error) {
	signed, err := parse(token)
	if err != nil {
		return nil, nil, err
	}
	header := signed.Signatures[0].Header
	if err := checkType(header); err != nil {
		return nil, nil, err
	}
	verified, err := i.verify(ctx, token, header)
	if err != nil {
		return nil, nil, err
	}
	claims, err := i.claims(verified, expected)
	return claims, verified, err
}

// verify checks the signature and the issuer. Where they are wrong, keys are read again,
// at most once a minute: an issuer may have replaced a key under the same id.
func (i *Issuer) verify(ctx context.Context, token string, header jose.Header) (*oidc.IDToken, error) {
	keys, err := i.keys.get(ctx, func(keys *keySet) bool {
		_, known := keys.find(header)
		return known
	})
	if err != nil {
		return nil, i.silent(err)
	}
	verified, err := oidc.NewVerifier(i.url, keys, verification()).Verify(ctx, token)
	if err != nil {
		if newer, unread := i.keys.get(ctx, func(known *keySet) bool { return known != keys }); unread == nil && newer != keys {
			verified, err = oidc.NewVerifier(i.url, newer, verification()).Verify(ctx, token)
		}
	}
	if err != nil {
		return nil, refused("the signature or the issuer of the token is wrong: %s", err)
	}
	return verified, nil
}

// verification has the library check the signature and the issuer. Times and audiences
// are checked by payload.check, with a leeway that the library has not.
func verification() *oidc.Config {
	config := &oidc.Config{SkipClientIDCheck: true, SkipExpiryCheck: true}
	for _, algorithm := range algorithms {
		config.SupportedSigningAlgs = append(config.SupportedSigningAlgs, string(algorithm))
	}
	return config
}

// parse reads a token that is signed once, by an algorithm of the list. Nothing of it is
// checked yet.
func parse(token string) (*jose.JSONWebSignature, error) {
	if len(token) > maxToken || strings.Count(token, ".") != 2 || !isCanonical(token) {
		return nil, refused("it is not a signed token")
	}
	signed, err := jose.ParseSigned(token, algorithms)
	if err != nil || len(signed.Signatures) != 1 {
		return nil, refused("the token is not signed by one of the algorithms RS256, ES256, PS256 and EdDSA")
	}
	return signed, nil
}

// isCanonical reports whether no other text is the same token: the library leaves out
// whitespace, and the bits of base64url that no byte needs.
func isCanonical(token string) bool {
	for part := range strings.SplitSeq(token, ".") {
		if _, err := base64.RawURLEncoding.Strict().DecodeString(part); err != nil || strings.ContainsAny(part, "\r\n") {
			return false
		}
	}
	return true
}

// checkType refuses tokens of other kinds by the same issuer and keys, such as the access
// tokens of RFC 9068 and the logout tokens of OpenID Connect.
func checkType(header jose.Header) error {
	if kind, given := header.ExtraHeaders[jose.HeaderType]; given && kind != "JWT" {
		return refused("the token is of the type %.40q, and not JWT", fmt.Sprint(kind))
	}
	return nil
}

func (i *Issuer) claims(verified *oidc.IDToken, expected Expected) (*Claims, error) {
	var values object
	if err := verified.Claims(&values); err != nil {
		return nil, refused("the claims of the token cannot be read")
	}
	said, err := values.read()
	if err != nil {
		return nil, refused("the claims of the token cannot be read: %s", err)
	}
	if said.issuer != verified.Issuer || said.accessTokenHash != verified.AccessTokenHash {
		return nil, refused("the token names its issuer, or its access token, in two ways")
	}
	if err := said.check(i.now(), expected); err != nil {
		return nil, err
	}
	claims := &Claims{
		Issuer: i.url, Subject: said.subject, Audience: said.audience, ID: said.id, ExpiresAt: moment(said.expiresAt), Values: values,
	}
	if said.issuedAt != nil {
		claims.IssuedAt = moment(said.issuedAt)
	}
	return claims, nil
}

func (p *payload) check(now time.Time, expected Expected) error {
	switch {
	case p.subject == "" || len(p.subject) > maxSubject:
		return refused("the token names no subject, or one of more than %d bytes", maxSubject)
	case p.expiresAt == nil || !now.Before(moment(p.expiresAt).Add(leeway)):
		return refused("the token has expired")
	case p.notBefore != nil && now.Add(leeway).Before(moment(p.notBefore)):
		return refused("the token is not valid yet")
	case p.issuedAt != nil && now.Add(leeway).Before(moment(p.issuedAt)):
		return refused("the token was issued in the future")
	case !slices.ContainsFunc(expected.Audiences, func(one string) bool { return slices.Contains(p.audience, one) }):
		return refused("the token is for another audience")
	case expected.Client != "" && p.party != expected.Client && (p.party != "" || len(p.audience) > 1):
		return refused("the token was issued to another client")
	case expected.Nonce != "" && subtle.ConstantTimeCompare([]byte(p.nonce), []byte(expected.Nonce)) != 1:
		return refused("the token is not of this sign-in")
	}
	return nil
}

// latest is where times of tokens end: years of four digits.
const latest = 253402300799

// moment is a time of a token, in seconds since 1970.
func moment(seconds *float64) time.Time { return time.Unix(int64(max(0, min(*seconds, latest))), 0) }

// ClaimedBy reads which issuer a token claims, before anything of it is checked; "" for
// what is no token.
func ClaimedBy(token string) string {
	signed, err := parse(token)
	if err != nil {
		return ""
	}
	var claimed object
	if json.Unmarshal(signed.UnsafePayloadWithoutVerification(), &claimed) != nil {
		return ""
	}
	issuer, _ := claimed["iss"].(string)
	return issuer
}
