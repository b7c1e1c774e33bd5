package credential

import (
	"strings"
	"testing"
)

func FuzzCredential(f *testing.F) {
	for _, text := range []string{
		New(Key, 1, KeyIDBytes), New(Token, 1<<62, SecretBytes), "sgt_0_x", "sgt_-1_x", "sgt_zzzzzzzzzzzzzzzz_x",
		"sgt__x", "sgt_1_", "sgt_1", "sgt_1_\x00", "sgt_+1_x", "", strings.Repeat("sgt_", 50),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, prefix := range []string{Key, Token, Session, Link} {
			company, ok := CompanyOf(prefix, text)
			if ok && (company <= 0 || !strings.HasPrefix(text, prefix+"_") || strings.ContainsRune(text, 0)) {
				t.Errorf("%q names the company %d", text, company)
			}
		}
	})
}
