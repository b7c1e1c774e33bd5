package mail_test

import (
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/mail"
)

// refusing is a mail server that refuses some addresses.
type refusing map[string]*smtp.SMTPError

func (r refusing) server(t *testing.T) *mailServer {
	s := newMailServer(t, nil)
	s.refuse = func(to string) error {
		if refusal := r[to]; refusal != nil {
			return refusal
		}
		return nil
	}
	return s
}

func plain(code int, text string) *smtp.SMTPError {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: text}
}

// find returns the recipient as it stands now.
func (f *fixture) find(email string) *domain.Recipient {
	f.t.Helper()
	all, err := f.recipients.List(f.t.Context(), scope, domain.Listing{Page: domain.Page{Limit: 100}})
	fatal.If(f.t, err)
	for _, r := range all.Items {
		if r.Email == email {
			return r
		}
	}
	f.t.Fatalf("no recipient %s", email)
	return nil
}

func (f *fixture) suppressed(email string) bool {
	f.t.Helper()
	return f.find(email).SuppressedSince != nil
}

// alert fires an alert and waits until its mail is due.
func (f *fixture) alert() {
	f.t.Helper()
	f.fired++
	f.fire(f.fired, 1<<40)
	f.pass(31 * time.Second)
}

func TestTheEnhancedStatusCodeDecidesWhetherTheAddressIsRefused(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]mail.Round{
		"550 5.1.1 no such user":                       failed,
		"550 5.1.2 no such system":                     failed,
		"553 5.1.3 bad syntax":                         failed,
		"551 5.1.6 the mailbox has moved":              failed,
		"556 5.1.10 the domain accepts no mail":        failed,
		"550 5.2.1 the mailbox is disabled":            failed,
		"550 5.1.0 address rejected":                   retried,
		"550 5.1.7 <alerts@sim.example>: rejected":     retried,
		"550 5.1.8 <alerts@sim.example>: no domain":    retried,
		"552 5.2.2 the mailbox is full":                retried,
		"552 5.2.3 the mail is too large":              retried,
		"554 5.3.0 the system is out of order":         retried,
		"554 5.3.2 not accepting mail":                 retried,
		"554 5.4.0 routing":                            retried,
		"503 5.5.1 bad sequence":                       retried,
		"554 5.6.0 the content is bad":                 retried,
		"554 5.7.1 client host [192.0.2.1] blocked":    retried,
		"550 5.7.26 not authenticated":                 retried,
		"550 4.2.1 the class of the code is temporary": retried,
		"550 no such user":                             retried,
		"554 client host [5.1.1.9] blocked":            retried,
		"550 5.1.1x is a part of the text":             retried,
		"552 the mailbox is full":                      retried,
		"530 log in first":                             retried,
	} {
		for _, stage := range []string{"to", "data"} {
			t.Run(stage+" "+reply, func(t *testing.T) {
				t.Parallel()
				code, text := int(reply[0]-'0')*100+int(reply[1]-'0')*10+int(reply[2]-'0'), reply[4:]
				f := newFixture(t, newMailServer(t, func(at string, _ int) error { return when(at == stage, plain(code, text)) }))
				f.alert()
				f.round(want)
				if got := f.suppressed("ops@acme.example"); got != (want == failed) {
					t.Errorf("the address is suppressed: %t", got)
				}
				if !strings.Contains(f.lastError(), text) {
					t.Errorf("the reason is kept as %q", f.lastError())
				}
			})
		}
	}
}

// Postfix refuses clients at RCPT: such a day must not empty the list of recipients.
func TestAServerThatRefusesUsSuppressesNobodyAndLosesNothing(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]*smtp.SMTPError{
		"with an enhanced code": {Code: 554, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "client host blocked"},
		"without one":           plain(554, "client host blocked"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blocked := refusing{"ops@acme.example": refusal, "noc@acme.example": refusal}
			f := newFixture(t, blocked.server(t))
			f.cfg.Backoff = time.Minute
			f.recipient("noc@acme.example")
			for range 24 {
				f.alert()
				if done := f.try(); done.Sent+done.Failed > 0 || done.Retried == 0 {
					t.Fatalf("a round did %+v", done)
				}
				f.pass(time.Hour)
			}
			delete(blocked, "ops@acme.example")
			delete(blocked, "noc@acme.example")
			for n := 0; f.unsent() > 0 && n < 200; n++ {
				f.pass(10 * time.Minute)
				f.try()
			}
			if f.unsent() > 0 || f.suppressed("ops@acme.example") || f.suppressed("noc@acme.example") {
				t.Errorf("afterwards %d deliveries are left: %v", f.unsent(), f.states())
			}
		})
	}
}

// newRefused is a fixture in which the address ops is refused, and that of noc takes
// a mail that was made a second later.
func newRefused(t *testing.T, refusal *smtp.SMTPError) *fixture {
	t.Helper()
	f := newFixture(t, refusing{"ops@acme.example": refusal}.server(t))
	f.cfg.Backoff = time.Minute
	noc := f.recipient("noc@acme.example")
	f.alert()
	f.round(mail.Round{Sent: 1, Retried: 1})
	f.pass(time.Second)
	_, err := f.recipients.SendTest(t.Context(), scope, &noc.RecipientID)
	fatal.If(f.t, err)
	f.round(sent)
	return f
}

func TestAnAddressThatIsRefusedForAnHourWhileOthersAreTakenIsSuppressed(t *testing.T) {
	t.Parallel()
	f := newRefused(t, plain(550, "no such user"))
	f.pass(59 * time.Minute)
	f.round(retried)
	f.pass(4 * time.Minute)
	f.round(failed)
	if !f.suppressed("ops@acme.example") || f.suppressed("noc@acme.example") {
		t.Errorf("suppressed: ops %t, noc %t", f.suppressed("ops@acme.example"), f.suppressed("noc@acme.example"))
	}
}

// A mailbox that is full, a mail that is too large and what is about us never count
// against the address, whatever else the server takes.
func TestWhatIsNotAboutTheAddressNeverSuppressesIt(t *testing.T) {
	t.Parallel()
	for _, refusal := range []*smtp.SMTPError{
		plain(552, "the mailbox is full"), plain(503, "bad sequence"),
		{Code: 552, EnhancedCode: smtp.EnhancedCode{5, 2, 2}, Message: "the mailbox is full"},
		{Code: 552, EnhancedCode: smtp.EnhancedCode{5, 2, 3}, Message: "the mail is too large"},
		{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 8}, Message: "no domain of the sender"},
		{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "blocked"},
	} {
		t.Run(refusal.Error(), func(t *testing.T) {
			t.Parallel()
			f := newRefused(t, refusal)
			f.pass(2 * time.Hour)
			f.round(retried)
			if f.suppressed("ops@acme.example") {
				t.Error("the address is suppressed")
			}
		})
	}
}

// The server may have begun to refuse us between two mails of one moment.
func TestAMailThatWasMadeBeforeARefusalIsNoEvidenceAboutTheAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, refusing{"ops@acme.example": plain(550, "no such user")}.server(t))
	f.recipient("noc@acme.example")
	f.alert()
	f.round(mail.Round{Sent: 1, Retried: 1})
	f.pass(2 * time.Hour)
	f.round(retried)
}

func TestAMailOfAnotherCompanyIsNoEvidenceAboutAnAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, refusing{"ops@acme.example": plain(550, "no such user")}.server(t))
	f.alert()
	f.round(retried)
	f.pool.MustExec(`INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('zenith', 2);
INSERT INTO companies VALUES (2, 'zenith', 'Zenith', 1, 'UTC')`)
	_, err := f.recipients.Create(t.Context(), domain.Whole(2), "ops@zenith.example", domain.Choice{})
	fatal.If(f.t, err)
	f.pass(time.Minute)
	_, err = f.recipients.SendTest(t.Context(), domain.Whole(2), nil)
	fatal.If(f.t, err)
	f.round(mail.Round{Sent: 1, Retried: 1})
	f.pass(2 * time.Hour)
	f.round(retried)
}

func TestTheOnlyRecipientIsNotSuppressedByRefusalsWithoutACode(t *testing.T) {
	t.Parallel()
	f := newFixture(t, refusing{"ops@acme.example": plain(550, "no such user")}.server(t))
	for range 12 {
		f.alert()
		f.try()
		f.pass(2 * time.Hour)
	}
	f.pass(domain.MailAge)
	for f.try() != nothing {
		continue // until each is given up
	}
	if f.suppressed("ops@acme.example") {
		t.Error("the address is suppressed")
	}
	for _, state := range f.states() {
		if state != "ops@acme.example alerts failed" {
			t.Errorf("a mail is left: %s", state)
		}
	}
}

func TestTheRefusalOfAnOldAddressLeavesTheNewOneAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, refusing{"ops@acme.example": {Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}}.server(t))
	f.alert()
	fatal.If(f.t, f.outbox.Gather(t.Context(), 1, domain.Digest{Wait: time.Second, HourlyCap: 9, MaxEntries: 9}))
	_, err := f.recipients.Edit(t.Context(), scope, f.find("ops@acme.example").RecipientID, domain.RecipientEdit{Email: new("new@acme.example")})
	fatal.If(f.t, err)
	f.round(failed)
	if f.suppressed("new@acme.example") {
		t.Fatal("the new address is suppressed")
	}
	f.alert()
	f.round(sent)
}

func TestTheWaitForAnotherAttemptDoublesUpToAnHour(t *testing.T) {
	t.Parallel()
	f := newFixture(t, refusing{"ops@acme.example": plain(450, "later")}.server(t))
	f.cfg.Backoff, f.cfg.GiveUp = time.Minute, 1000*time.Hour
	f.alert()
	for attempt := range 40 {
		f.round(retried)
		var due time.Time
		fatal.If(f.t, f.pool.Get(&due, `SELECT due_at FROM mails`))
		pause := min(time.Minute<<min(attempt, 10), time.Hour)
		if wait := due.Sub(f.clock()); wait < pause/2-time.Millisecond || wait > pause+pause/2 {
			t.Fatalf("after attempt %d the mail waits %v, not %v give or take half", attempt+1, wait, pause)
		}
		f.pass(due.Sub(f.clock()) - time.Millisecond)
		f.round(nothing)
		f.pass(time.Millisecond)
	}
}
