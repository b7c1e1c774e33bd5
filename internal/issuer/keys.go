package issuer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// keysFor is how long keys are believed: one that the issuer withdraws is
	// refused after that.
	keysFor = 10 * time.Minute
	// maxKeys bounds the keys of an issuer.
	maxKeys = 100
)

// algorithms are those that tokens may be signed by. None of them is symmetric: a
// public key is no secret.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.PS256, jose.EdDSA}

// keySet are the public keys of an issuer.
type keySet struct{ keys []jose.JSONWebKey }

// find returns the key that signed a token. One that names no key is checked by the
// only key that there is.
func (s *keySet) find(header jose.Header) (*jose.JSONWebKey, bool) {
	var found *jose.JSONWebKey
	for n := range s.keys {
		key := &s.keys[n]
		if header.KeyID != "" && key.KeyID != header.KeyID || key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		if found != nil {
			return nil, false
		}
		found = key
	}
	return found, found != nil
}

// VerifySignature implements oidc.KeySet.
func (s *keySet) VerifySignature(_ context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSigned(token, algorithms)
	if err != nil || len(signed.Signatures) != 1 {
		return nil, errors.New("it is not signed once")
	}
	key, known := s.find(signed.Signatures[0].Header)
	if !known {
		return nil, errors.New("it is signed by a key that the issuer does not have")
	}
	return signed.Verify(key)
}

// readKeys reads the keys that the metadata leads to.
func (i *Issuer) readKeys(ctx context.Context) (*keySet, error) {
	metadata, err := i.Metadata(ctx)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, metadata.KeysURL, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := i.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it has been read
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", metadata.KeysURL, answer.Status)
	}
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
		return nil, fmt.Errorf("the keys of %s: %w", metadata.KeysURL, err)
	}
	return newKeySet(document.Keys), nil
}

// newKeySet leaves out what is no public key for signatures, or of a kind that is not
// known here (RFC 7517 §5).
func newKeySet(texts []json.RawMessage) *keySet {
	set := &keySet{}
	for _, text := range texts {
		var key jose.JSONWebKey
		if err := json.Unmarshal(text, &key); err != nil || !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
			continue
		}
		if len(set.keys) < maxKeys {
			set.keys = append(set.keys, key)
		}
	}
	return set
}
