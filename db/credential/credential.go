// Package credential makes and reads the credentials that simgraph hands out:
// keys, tokens, sessions, links. They are stored as hashes only.
package credential

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"simgraph/domain"
)

// Credentials read PREFIX_COMPANY_RANDOM: the number of the company in base 36,
// so that authentication reads one tenant, then random bytes in base64url.
const (
	Key     = "sgk"
	Token   = "sgt"
	Session = "sgs"
	Link    = "sgl"
)

const (
	// KeyIDBytes are the random bytes of the id of an access key.
	KeyIDBytes = 12
	// SecretBytes are 256 bits: not to be guessed, so a fast hash is enough.
	SecretBytes = 32
)

// New returns a credential of the company.
func New(prefix string, company domain.CompanyID, bytes int) string {
	return prefix + "_" + strconv.FormatInt(int64(company), 36) + "_" + randomText(bytes)
}

// NewSecret returns a secret of no company.
func NewSecret() domain.Secret { return domain.Secret(randomText(SecretBytes)) }

func randomText(bytes int) string {
	random := make([]byte, bytes)
	_, _ = rand.Read(random) // never fails
	return base64.RawURLEncoding.EncodeToString(random)
}

// CompanyOf reads the company out of a credential; false when it is none.
func CompanyOf(prefix, credential string) (domain.CompanyID, bool) {
	rest, ok := strings.CutPrefix(credential, prefix+"_")
	if !ok || len(rest) > 100 {
		return 0, false
	}
	company, random, ok := strings.Cut(rest, "_")
	n, err := strconv.ParseInt(company, 36, 64)
	return domain.CompanyID(n), ok && err == nil && n > 0 && random != "" && !strings.ContainsRune(random, 0)
}

// Hash is what is stored of a secret.
func Hash(secret domain.Secret) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// FormatHash names a credential in logs and limits without giving it away.
func FormatHash(hash []byte) string { return hex.EncodeToString(hash[:8]) }
