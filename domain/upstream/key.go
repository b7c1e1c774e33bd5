package upstream

import (
	"encoding/json"
	"strings"
	"unicode"

	"simgraph/domain"
)

// MaxKey bounds the text of a key, in bytes.
const MaxKey = 4096

// Key is an access key of the other server.
type Key struct {
	ID     string
	Secret domain.Secret
}

// ParseKey reads a key as "ID:SECRET", or as "simgraph key create" prints it.
func ParseKey(text string) (Key, error) {
	if len(text) > MaxKey {
		return Key{}, domain.Invalid("key", "a key has at most %d bytes", MaxKey)
	}
	printed := struct {
		AccessKeyID string        `json:"accessKeyId"`
		Secret      domain.Secret `json:"secret"`
	}{}
	if err := json.Unmarshal([]byte(text), &printed); err == nil && printed.AccessKeyID != "" && printed.Secret != "" {
		return Key{printed.AccessKeyID, printed.Secret}, nil
	}
	text = strings.TrimSpace(text)
	id, secret, found := strings.Cut(text, ":")
	if !found || id == "" || secret == "" || strings.ContainsFunc(text, unicode.IsSpace) {
		return Key{}, domain.Invalid("key", "an access key is written as ID:SECRET")
	}
	return Key{id, domain.Secret(secret)}, nil
}

// Text is the key as ParseKey reads it.
func (k Key) Text() string { return k.ID + ":" + string(k.Secret) }
