package seal_test

import (
	"bytes"
	"errors"
	"testing"

	"simgraph/internal/fatal"
	"simgraph/internal/seal"
)

func TestWhatIsSealedOpensWithItsKeyForItsPurposeAlone(t *testing.T) {
	t.Parallel()
	key, other := seal.Key(bytes.Repeat([]byte{1}, seal.KeySize)), seal.Key(bytes.Repeat([]byte{2}, seal.KeySize))
	sealed, err := key.Seal([]byte("secret"), []byte("this"))
	fatal.If(t, err)
	if bytes.Contains(sealed, []byte("secret")) {
		t.Error("it is readable")
	}
	if opened, err := key.Open(sealed, []byte("this")); err != nil || string(opened) != "secret" {
		t.Errorf("%q, %v", opened, err)
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	for name, open := range map[string]func() ([]byte, error){
		"another key":     func() ([]byte, error) { return other.Open(sealed, []byte("this")) },
		"no key":          func() ([]byte, error) { return seal.Key(nil).Open(sealed, []byte("this")) },
		"another purpose": func() ([]byte, error) { return key.Open(sealed, []byte("that")) },
		"a change":        func() ([]byte, error) { return key.Open(changed, []byte("this")) },
		"a cut":           func() ([]byte, error) { return key.Open(sealed[:5], []byte("this")) },
		"nothing":         func() ([]byte, error) { return key.Open(nil, []byte("this")) },
	} {
		if opened, err := open(); !errors.Is(err, seal.ErrKey) {
			t.Errorf("%s: %q, %v", name, opened, err)
		}
	}
	if _, err := seal.Key("short").Seal(nil, nil); err == nil {
		t.Error("a short key seals")
	}
}
