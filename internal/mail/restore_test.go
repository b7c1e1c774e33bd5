package mail_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/mail"
)

// gone is the answer that suppresses an address.
func gone() *smtp.SMTPError {
	return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
}

func (f *fixture) restore(email string) (*domain.Restored, error) {
	f.t.Helper()
	return f.recipients.Restore(f.t.Context(), scope, f.find(email).RecipientID)
}

// audited counts the entries of restored recipients.
func (f *fixture) audited() (n int) {
	f.t.Helper()
	fatal.If(f.t, f.pool.Get(&n, `SELECT count(*) FROM audit_log WHERE company_id = 1 AND action = 'recipient.restore'`))
	return n
}

func TestARestoredRecipientGetsWhatWasHeldBack(t *testing.T) {
	t.Parallel()
	refused := refusing{"ops@acme.example": gone()}
	server := refused.server(t)
	f := newFixture(t, server)
	f.alert()
	f.round(failed) // suppresses
	f.alert()
	f.alert()
	f.round(nothing)
	delete(refused, "ops@acme.example")
	f.round(nothing)
	restored, err := f.restore("ops@acme.example")
	fatal.If(f.t, err)
	if r := restored.Recipient; r.SuppressedSince != nil || r.SuppressedReason != nil || r.SuppressedDetail != "" || restored.Mails != 1 || restored.Alerts != 2 {
		t.Errorf("restored %+v: %d mails, %d alerts", *r, restored.Mails, restored.Alerts)
	}
	f.round(mail.Round{Sent: 2})
	f.round(nothing)
	text := ""
	for _, m := range server.mails() {
		text += m.Data
	}
	for _, alert := range []string{"alert 1 (sim", "alert 2 (sim", "alert 3 (sim"} {
		if !strings.Contains(text, alert) {
			t.Errorf("%s was not mailed", alert)
		}
	}
	again, err := f.restore("ops@acme.example")
	fatal.If(f.t, err)
	if again.Mails+again.Alerts > 0 || f.audited() != 1 {
		t.Errorf("a second time restores %d mails, %d alerts; %d entries of the audit log", again.Mails, again.Alerts, f.audited())
	}
}

func TestAMailThatWaitedWhenTheAddressWasRefusedIsSentAfterwards(t *testing.T) {
	t.Parallel()
	refused := refusing{"ops@acme.example": plain(450, "later")}
	f := newFixture(t, refused.server(t))
	f.cfg.Backoff = time.Hour
	f.alert()
	f.round(retried)
	refused["ops@acme.example"] = gone()
	f.alert()
	f.round(failed)
	if got := fmt.Sprint(f.states()); got != "[ops@acme.example alerts cancelled ops@acme.example alerts failed]" {
		t.Fatalf("the mails are %s", got)
	}
	delete(refused, "ops@acme.example")
	_, err := f.restore("ops@acme.example")
	fatal.If(f.t, err)
	f.round(mail.Round{Sent: 2})
}

func TestWhatIsOlderThanAMailMayBeIsNotSentAfterARestore(t *testing.T) {
	t.Parallel()
	refused := refusing{"ops@acme.example": gone()}
	server := refused.server(t)
	f := newFixture(t, server)
	f.alert()
	f.round(failed)
	f.alert()
	f.pass(domain.MailAge)
	f.alert()
	delete(refused, "ops@acme.example")
	restored, err := f.restore("ops@acme.example")
	fatal.If(f.t, err)
	if restored.Mails != 0 || restored.Alerts != 1 {
		t.Errorf("%d mails and %d alerts are sent", restored.Mails, restored.Alerts)
	}
	f.round(sent)
	if text := server.mails()[0].Data; !strings.Contains(text, "alert 3 (sim") || strings.Contains(text, "alert 2 (sim") {
		t.Errorf("sent was %s", text)
	}
}

func TestWhoUnsubscribedIsNotRestored(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	fatal.If(f.t, f.outbox.Unsubscribe(t.Context(), 1, f.find("ops@acme.example").RecipientID, noSecret(f)))
	f.alert()
	_, err := f.restore("ops@acme.example")
	if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindInvalid {
		t.Errorf("got %v", err)
	}
	if !f.suppressed("ops@acme.example") || f.audited() > 0 {
		t.Error("it was restored")
	}
	f.round(nothing)
}

// noSecret makes the company's secret, as the first mail does, and accepts any link.
func noSecret(f *fixture) func(string, []byte) bool {
	f.pool.MustExec(`INSERT INTO mail_keys (company_id, secret) VALUES (1, 'secret')`)
	return func(string, []byte) bool { return true }
}
