package mail

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// judging is an outbox that holds one recipient, and records whether it was called
// to be unsubscribed.
type judging struct {
	domain.Outbox
	content *domain.MailContent
}

func (j judging) Unsubscribe(_ context.Context, company domain.CompanyID, recipient int64, holds func(string, []byte) bool) error {
	if company != j.content.Company.CompanyID || recipient != j.content.RecipientID || !holds(j.content.Email, j.content.Secret) {
		return domain.NotFound("token", "recipient", "")
	}
	return nil
}

// noReports knows no report.
type noReports struct{}

func (noReports) Unsubscribe(_ context.Context, _ domain.CompanyID, id string, _ func(string, []byte) bool) error {
	return domain.NotFound("reportId", "report", id)
}

func FuzzUnsubscribeToken(f *testing.F) {
	content := &domain.MailContent{Company: &domain.Company{CompanyID: 1}, Secret: []byte("0123456789abcdef")}
	content.RecipientID, content.Email = 7, "Ops@acme.example"
	link, err := url.Parse(unsubscribeLink(&url.URL{Scheme: "https", Host: "sims.example"}, content))
	fatal.If(f, err)
	token := link.Query().Get("token")
	u := unsubscriber{judging{content: content}, noReports{}}
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
