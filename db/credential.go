package db

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
	keyPrefix   = "sgk"
	tokenPrefix = "sgt"
	keyIDBytes  = 12
	// secretBytes are 256 bits: not to be guessed, so a fast hash is enough.
	secretBytes = 32
)

func newCredential(prefix string, company domain.CompanyID, bytes int) string {
	return prefix + "_" + strconv.FormatInt(int64(company), 36) + "_" + randomText(bytes)
}

func newSecret() domain.Secret { return domain.Secret(randomText(secretBytes)) }

func randomText(bytes int) string {
	random := make([]byte, bytes)
	_, _ = rand.Read(random) // never fails
	return base64.RawURLEncoding.EncodeToString(random)
}

// companyOf reads the company out of a credential; false when it is none.
func companyOf(prefix, credential string) (domain.CompanyID, bool) {
	rest, ok := strings.CutPrefix(credential, prefix+"_")
	if !ok || len(rest) > 100 {
		return 0, false
	}
	company, random, ok := strings.Cut(rest, "_")
	n, err := strconv.ParseInt(company, 36, 64)
	return domain.CompanyID(n), ok && err == nil && n > 0 && random != "" && !strings.ContainsRune(random, 0)
}

func hash(secret domain.Secret) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// formatHash names a credential in logs and limits without giving it away.
func formatHash(hash []byte) string { return hex.EncodeToString(hash[:8]) }
