package domain_test

import (
	"strings"
	"testing"
	"unicode"

	"simgraph/domain"
)

func TestAnEmailIsAnAddrSpec(t *testing.T) {
	for _, good := range []string{
		"a@b.c", "ops@acme.example", "first.last+tag@mail.example.co.uk", "!#$%&'*+-/=?^_`{|}~@x.example", `"two words"@x.example`,
		`"a@b"@x.example`, "UPPER@X.EXAMPLE", strings.Repeat("a", 64) + "@x.example", "a@[192.0.2.1]",
		"a@1.example", "a@x-y.example", "a@" + strings.Repeat("b", 63) + ".example",
	} {
		if err := domain.CheckEmail("email", good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "a", "@", "a@", "@b", "a b@x.example", "a@x example", " a@b", "a@b ", "a@b\r\nBcc: c@d", "<a@b>", "A <a@b>", `"A" <a@b>`,
		"a@b (comment)", "(comment)a@b", "a@b, c@d", "a..b@c", ".a@b", "a.@b", "ü@x.example", "a@ü.example", "a\x00@b",
		strings.Repeat("a", 64) + "@" + strings.Repeat("b.", 100) + "example", "group: a@b;",
		"a@b", "a@localhost", "a@-ex.com", "a@ex-.com", "a@ex_ample.com", "a@192.0.2.1", "a@[192.0.2]", "a@" + strings.Repeat("b", 64) + ".example",
		strings.Repeat("a", 65) + "@x.example", `"` + strings.Repeat("a", 63) + `"@x.example`,
	} {
		if err := domain.CheckEmail("email", bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestAnAddressIsCheckedBeforeItIsFolded(t *testing.T) {
	t.Parallel()
	if email, err := domain.ParseEmail("email", "Ops+SIM@Acme.EXAMPLE"); err != nil || email.String() != "ops+sim@acme.example" || email.Domain() != "acme.example" {
		t.Errorf("%v, %v", email, err)
	}
	// Every character that Unicode folds to one of ASCII.
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		folds := unicode.ToLower(r) < 0x80 || unicode.ToUpper(r) < 0x80 || strings.ToLower(string(r))[0] < 0x80
		for _, text := range []string{string(r) + "@acme.example", "a@" + string(r) + ".example"} {
			if _, err := domain.ParseEmail("email", text); folds && err == nil {
				t.Errorf("%q passes", text)
			}
		}
	}
}
