package issuer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// object are the members of a JSON object by their exact names. One that has a name
// twice, at any depth, cannot be read: parsers differ in which of them counts.
type object map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (o *object) UnmarshalJSON(text []byte) error {
	if err := checkNames(json.NewDecoder(bytes.NewReader(text))); err != nil {
		return err
	}
	return json.Unmarshal(text, (*map[string]any)(o))
}

// checkNames reads a value, and refuses an object with the same name twice.
func checkNames(from *json.Decoder) error {
	token, err := from.Token()
	opened, nests := token.(json.Delim)
	if err != nil || !nests {
		return err
	}
	known := map[json.Token]bool{}
	for from.More() {
		if opened == '{' {
			name, err := from.Token()
			if err != nil {
				return err
			}
			if known[name] {
				return fmt.Errorf("the name %.40q stands there twice", name)
			}
			known[name] = true
		}
		if err := checkNames(from); err != nil {
			return err
		}
	}
	_, err = from.Token()
	return err
}

// payload are the claims that Check reads.
type payload struct {
	issuer, subject, party, id, nonce, accessTokenHash string
	audience                                           []string
	expiresAt, notBefore, issuedAt                     *float64
}

// read returns the claims of an object. The packages of JSON and OpenID Connect would
// also take Sub for sub.
func (o object) read() (*payload, error) {
	p := &payload{}
	for name, to := range map[string]*string{
		"iss": &p.issuer, "sub": &p.subject, "azp": &p.party, "jti": &p.id, "nonce": &p.nonce, "at_hash": &p.accessTokenHash,
	} {
		text, is := o[name].(string)
		if !is && o[name] != nil {
			return nil, fmt.Errorf("%s is no text", name)
		}
		*to = text
	}
	for name, to := range map[string]**float64{"exp": &p.expiresAt, "nbf": &p.notBefore, "iat": &p.issuedAt} {
		seconds, is := o[name].(float64)
		if !is && o[name] != nil {
			return nil, fmt.Errorf("%s is no number", name)
		}
		if is {
			*to = &seconds
		}
	}
	var err error
	p.audience, err = o.audience()
	return p, err
}

// audience reads aud, which is one text or a list of texts.
func (o object) audience() ([]string, error) {
	switch aud := o["aud"].(type) {
	case nil:
		return nil, nil
	case string:
		return []string{aud}, nil
	case []any:
		all := make([]string, 0, len(aud))
		for _, one := range aud {
			if text, is := one.(string); is {
				all = append(all, text)
			}
		}
		if len(all) == len(aud) {
			return all, nil
		}
	}
	return nil, errors.New("aud is neither a text nor texts")
}
