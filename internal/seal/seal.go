// Package seal keeps secrets readable for this service alone, by AES-256-GCM. What is
// sealed for one purpose cannot be opened for another.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
)

// KeySize is the size of a key, in bytes.
const KeySize = 32

// Key seals and opens. All instances on a database need the same.
type Key []byte

// ErrKey is the error of what was sealed by another key, for another purpose, or never.
var ErrKey = errors.New("it was sealed with another key: see --secrets-key-file")

// Read reads the key of a file that has it in base64.
func Read(path string) (Key, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != KeySize {
		return nil, fmt.Errorf("%s does not hold a key of %d bytes in base64", path, KeySize)
	}
	return key, nil
}

// Seal returns nonce and ciphertext.
func (k Key) Seal(secret, purpose []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return aead.Seal(nonce, nonce, secret, purpose), nil
}

// Open returns what was sealed for the purpose, or ErrKey.
func (k Key) Open(sealed, purpose []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil || len(sealed) < aead.NonceSize() {
		return nil, ErrKey
	}
	secret, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], purpose)
	if err != nil {
		return nil, ErrKey
	}
	return secret, nil
}

func (k Key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
