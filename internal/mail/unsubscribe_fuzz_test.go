package mail

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"simgraph/domain"
)

// judging is an outbox that holds one recipient, and tells whether it is asked
// to be unsubscribed.
type judging struct {
	domain.Outbox
	letter *domain.Letter
}

func (j judging) Unsubscribe(_ context.Context, company domain.CompanyID, recipient int64, holds func(string, []byte) bool) error {
	if company != j.letter.Company.CompanyID || recipient != j.letter.RecipientID || !holds(j.letter.Email, j.letter.Secret) {
		return domain.NotFound("token", "recipient", "")
	}
	return nil
}

func FuzzUnsubscribeToken(f *testing.F) {
	letter := &domain.Letter{Company: &domain.Company{CompanyID: 1}, Secret: []byte("0123456789abcdef")}
	letter.RecipientID, letter.Email = 7, "Ops@acme.example"
	link, err := url.Parse(unsubscribeLink(&url.URL{Scheme: "https", Host: "sims.example"}, letter))
	if err != nil {
		f.Fatal(err)
	}
	token := link.Query().Get("token")
	u := unsubscriber{judging{letter: letter}}
	if err := u.verify(f.Context(), token); err != nil {
		f.Fatalf("the link itself: %v", err)
	}
	for _, text := range []string{token, token + ".", token[:len(token)-1], strings.Replace(token, "1.7.", "1.8.", 1), "1.7.", "..", "", "-1.7.AA", "1.7.*", token[:20] + "\r\n" + token[20:], "99999999999999999999.7.AA"} {
		f.Add(text)
	}
	_, signature, _ := strings.Cut(strings.TrimPrefix(token, "1."), ".")
	f.Fuzz(func(t *testing.T, text string) {
		// Base64 is read without its line breaks, as some mail programs put them in.
		unbroken := strings.NewReplacer("\r", "", "\n", "").Replace(text)
		if u.verify(t.Context(), text) == nil && !strings.HasSuffix(unbroken, "."+signature) {
			t.Errorf("%q unsubscribes", text)
		}
	})
}
