package mail_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"simgraph/db"
	"simgraph/db/dashboard"
	"simgraph/db/dbtest"
	mails "simgraph/db/mail"
	"simgraph/db/question"
	reports "simgraph/db/report"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/report"
	"simgraph/internal/fatal"
	"simgraph/internal/mail"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// fixture is a company with a recipient and a subscriber, and the settings of its workers.
type fixture struct {
	t          *testing.T
	pool       *sqlx.DB
	outbox     *mails.Outbox
	reports    *reports.Store
	recipients *mails.Recipients
	log        *volume.Log
	cfg        mail.Config

	fired int64

	mu  sync.Mutex
	now time.Time
}

var scope = domain.Whole(1)

// newFixture sends to the server, or to files when there is none.
func newFixture(t *testing.T, server *mailServer) *fixture {
	t.Helper()
	pool := dbtest.New(t)
	f := &fixture{t: t, pool: pool, now: time.Now().UTC(), log: volume.NewLog(pool)}
	f.outbox, f.recipients = mails.NewOutbox(pool, f.clock), mails.NewRecipients(pool, f.clock)
	f.reports = reports.New(pool, report.Finder{Questions: question.New(pool, f.clock), Dashboards: dashboard.New(pool, dashboard.Options{Now: f.clock})}, f.clock)
	f.cfg = mail.Config{
		Outbox: f.outbox, From: "Alerts <alerts@sim.example>", PublicURL: "https://sim.example", Dir: filepath.Join(t.TempDir(), "mail"),
		Now: f.clock, Every: 5 * time.Millisecond, Timeout: 10 * time.Second, Backoff: 10 * time.Millisecond,
		Digest: domain.Digest{Wait: 30 * time.Second},
		Log:    slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if server != nil {
		f.cfg.SMTPURL = "smtp://" + server.address + "?starttls=never"
	}
	pool.MustExec(`INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 1);
INSERT INTO companies VALUES (1, 'acme', 'Acme', 1, 'UTC')`)
	pool.MustExec(`INSERT INTO operators VALUES ('23415', 'Vodafone UK')`)
	pool.MustExec(`INSERT INTO tariffs VALUES (1, 'IoT 50', 150, 'GBP')`)
	pool.MustExec(`
INSERT INTO subscribers (company_id, key, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
VALUES (1, 1, 'cellular', 'p1', 's1', '', 'van 1', '23415', 'IoT 50', '2024-01-01Z', '2027-01-01Z', 36, false, true, 'physical', false, false)`)
	f.use()
	f.recipient("ops@acme.example")
	return f
}

func (f *fixture) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// pass moves the clock, by which another billing period may have begun.
func (f *fixture) pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
	f.use()
}

// use gives the subscriber usage in the billing period.
func (f *fixture) use() {
	f.pool.MustExec(`INSERT INTO subscriber_periods VALUES (1, date_trunc('month', $1::timestamptz, 'UTC'), 1, 600, 400, $1) ON CONFLICT DO NOTHING`, f.now)
}

func (f *fixture) recipient(email string) *domain.Recipient {
	f.t.Helper()
	r, err := f.recipients.Create(f.t.Context(), scope, email, domain.Choice{})
	fatal.If(f.t, err)
	return r
}

// fire makes an alert below the usage of the subscriber, 1,000 bytes.
func (f *fixture) fire(lower, upper int64) {
	f.t.Helper()
	_, err := volume.NewAlerts(f.pool, f.clock).Create(f.t.Context(), scope,
		domain.AlertSpec{RuleType: domain.RuleSIM, Target: "s1", LowerThreshold: lower, UpperThreshold: upper})
	fatal.If(f.t, err)
}

// start runs a worker until the test, or stop, ends it.
func (f *fixture) start() (stop func()) {
	f.t.Helper()
	w := f.worker()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := w.Run(ctx); err != nil {
			f.t.Error(err)
		}
	}()
	stop = func() { cancel(); <-done }
	f.t.Cleanup(stop)
	return stop
}

// round lets a worker make one round, and compares what it did.
func (f *fixture) round(want mail.Round) {
	f.t.Helper()
	if done := f.try(); done != want {
		f.t.Fatalf("the round did %+v, want %+v; mails: %v, the last error: %s", done, want, f.states(), f.lastError())
	}
}

// try lets a worker make one round, and returns what it did.
func (f *fixture) try() mail.Round {
	f.t.Helper()
	done, err := f.worker().Round(f.t.Context())
	fatal.If(f.t, err)
	return done
}

func (f *fixture) worker() *mail.Worker {
	f.t.Helper()
	w, err := mail.New(f.cfg)
	fatal.If(f.t, err)
	return w
}

// sendWithin makes a round a minute until one sends a mail.
func (f *fixture) sendWithin(minutes int) {
	f.t.Helper()
	for range minutes {
		if f.pass(time.Minute); f.try().Sent > 0 {
			return
		}
	}
	f.t.Fatalf("nothing was sent; mails: %v, the last error: %s", f.states(), f.lastError())
}

var (
	nothing = mail.Round{}
	sent    = mail.Round{Sent: 1}
	retried = mail.Round{Retried: 1}
	failed  = mail.Round{Failed: 1}
)

// until waits for what workers that run by themselves bring about.
func (f *fixture) until(what string, is func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("it did not happen that %s; mails: %v", what, f.states())
		}
	}
}

// states lists the mails as the graph shows them.
func (f *fixture) states() []string {
	f.t.Helper()
	var states []string
	fatal.If(f.t, f.pool.Select(&states, `SELECT email || ' ' || kind || ' ' || state FROM mails ORDER BY created_at, mail_id`))
	return states
}

func (f *fixture) untilStates(want ...string) {
	f.t.Helper()
	f.until(fmt.Sprint(want), func() bool { return fmt.Sprint(f.states()) == fmt.Sprint(want) })
}

func TestFiringsOfAMomentAreOneMail(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	f.fire(100, 200)
	f.round(nothing)
	f.pass(20 * time.Second)
	f.fire(300, 2000)
	f.pass(9 * time.Second)
	f.round(nothing)
	f.pass(time.Second)
	f.round(sent)
	mails := server.mails()
	if len(mails) != 1 || mails[0].To != "ops@acme.example" || mails[0].From != "alerts@sim.example" {
		t.Fatalf("got %v", mails)
	}
	message := read(t, mails[0].Data)
	for header, want := range map[string]string{
		"Subject": "3 alerts of Acme", "To": "<ops@acme.example>", "Auto-Submitted": "auto-generated",
		"List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
	} {
		if got := message.Header.Get(header); got != want {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
	}
	for _, want := range []string{"multipart/alternative", "van 1 (s1) exceeded the upper threshold", "usage 1.00 kB (1000 bytes), threshold 200 bytes (200 bytes)"} {
		if !strings.Contains(mails[0].Data, want) {
			t.Errorf("the mail lacks %q:\n%s", want, mails[0].Data)
		}
	}
}

func read(t *testing.T, data string) *netmail.Message {
	t.Helper()
	message, err := netmail.ReadMessage(strings.NewReader(data))
	fatal.If(t, err)
	return message
}

func TestFailuresThatPassAreRetriedUnderTheSameMessageID(t *testing.T) {
	t.Parallel()
	failures := map[string]func(stage string, attempt int) error{
		"refused at connecting": func(stage string, attempt int) error {
			return when(stage == "connect" && attempt < 3, &smtp.SMTPError{Code: 421, Message: "busy"})
		},
		"the sender is not trusted": func(stage string, attempt int) error {
			return when(stage == "from" && attempt < 3, &smtp.SMTPError{Code: 553, Message: "who are you"})
		},
		"greylisted": func(stage string, attempt int) error {
			return when(stage == "to" && attempt < 3, &smtp.SMTPError{Code: 451, Message: "later"})
		},
		"dropped in mid-message": func(stage string, attempt int) error {
			return when(stage == "begin" && attempt < 3, errDrop)
		},
		"slow": func(stage string, attempt int) error {
			if stage == "to" && attempt < 2 {
				<-t.Context().Done()
			}
			return nil
		},
	}
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newMailServer(t, fail)
			f := newFixture(t, server)
			f.fire(100, 2000)
			f.pass(31 * time.Second)
			if name == "slow" {
				f.cfg.Timeout = time.Second
			}
			f.round(retried)
			f.cfg.Timeout = 10 * time.Second
			if f.lastError() == "" {
				t.Error("the failure is not noted")
			}
			f.sendWithin(10)
			mails := server.mails()
			if len(mails) != 1 {
				t.Fatalf("got %d mails", len(mails))
			}
			if id := read(t, mails[0].Data).Header.Get("Message-ID"); id != "<"+f.mailID()+"@sim.example>" {
				t.Errorf("got Message-ID %s", id)
			}
		})
	}
}

func when(fails bool, err error) error {
	if fails {
		return err
	}
	return nil
}

func (f *fixture) lastError() (text string) {
	_ = f.pool.Get(&text, `SELECT last_error FROM mails LIMIT 1`) // there may be none yet
	return text
}

// unsent is how many deliveries have no mail that was sent.
func (f *fixture) unsent() (n int) {
	f.t.Helper()
	fatal.If(f.t, f.pool.Get(&n, `SELECT count(*) FROM alert_deliveries d LEFT JOIN mails m USING (company_id, mail_id) WHERE m.state IS DISTINCT FROM 'sent'`))
	return n
}

func (f *fixture) mailID() (id string) {
	f.t.Helper()
	fatal.If(f.t, f.pool.Get(&id, `SELECT mail_id FROM mails`))
	return id
}

func TestADropAfterTheServerTookItSendsItAgainWithTheSameID(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, func(stage string, attempt int) error { return when(stage == "taken" && attempt == 1, errDrop) })
	f := newFixture(t, server)
	f.fire(100, 2000)
	f.pass(31 * time.Second)
	f.round(retried)
	f.sendWithin(10)
	mails := server.mails()
	if len(mails) != 2 {
		t.Fatalf("got %d mails", len(mails))
	}
	if a, b := read(t, mails[0].Data).Header.Get("Message-ID"), read(t, mails[1].Data).Header.Get("Message-ID"); a != b {
		t.Fatalf("got %s and %s", a, b)
	}
}

func TestAnAddressThatIsRefusedForGoodIsSuppressed(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, func(stage string, _ int) error {
		return when(stage == "to", &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"})
	})
	f := newFixture(t, server)
	f.fire(100, 2000)
	f.pass(31 * time.Second)
	f.round(failed)
	f.fire(200, 2000)
	f.pass(31 * time.Second)
	f.round(nothing)
	r, err := f.recipients.List(t.Context(), scope, domain.Listing{Page: domain.Page{Limit: 1}})
	fatal.If(f.t, err)
	first := r.Items[0]
	if first.SuppressedSince == nil || *first.SuppressedReason != domain.Refused || !strings.Contains(first.SuppressedDetail, "no such user") {
		t.Fatalf("got %+v", first)
	}
	if got := f.deliveries(); fmt.Sprint(got) != "[failed suppressed]" {
		t.Fatalf("got %v", got)
	}
	_, err = f.recipients.SendTest(t.Context(), scope, &first.RecipientID)
	if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindInvalid {
		t.Fatalf("got %v", err)
	}
}

func TestTheLogNamesNoRecipient(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]smtp.SMTPError{
		"given up":          {Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}},
		"to be tried again": {Code: 451},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newMailServer(t, func(stage string, _ int) error {
				refusal.Message = "no room for <Ops@acme.example>"
				return when(stage == "to", &refusal)
			})
			f := newFixture(t, server)
			var log bytes.Buffer
			f.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
			f.fire(100, 2000)
			f.pass(31 * time.Second)
			f.try()
			if logged := log.String(); !strings.Contains(logged, name) || !strings.Contains(logged, "no room for") || strings.Contains(strings.ToLower(logged), "ops@acme.example") {
				t.Errorf("the log: %s", logged)
			}
		})
	}
}

func TestALongRefusalInAnyLanguageIsKept(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"runes of two bytes":   "x" + strings.Repeat("Я", 400),
		"runes of three bytes": strings.Repeat("信", 400),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newMailServer(t, func(stage string, _ int) error {
				return when(stage == "to", &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: text})
			})
			f := newFixture(t, server)
			f.fire(100, 2000)
			f.pass(31 * time.Second)
			f.round(failed)
			r, err := f.recipients.List(t.Context(), scope, domain.Listing{Page: domain.Page{Limit: 1}})
			fatal.If(f.t, err)
			if detail := r.Items[0].SuppressedDetail; !strings.Contains(detail, text[:120]) {
				t.Errorf("it is kept as %q", detail)
			}
		})
	}
}

// deliveries are the states of all deliveries, sorted.
func (f *fixture) deliveries() []string {
	f.t.Helper()
	entries, err := f.log.List(f.t.Context(), scope, domain.Listing{Page: domain.Page{Limit: 100}})
	fatal.If(f.t, err)
	var states []string
	for i := len(entries.Items) - 1; i >= 0; i-- {
		notified, _ := entries.Items[i].Notified()
		of, err := f.log.Deliveries(f.t.Context(), scope, []domain.Notified{notified})
		fatal.If(f.t, err)
		for _, d := range of[notified] {
			states = append(states, string(d.State))
		}
	}
	return states
}

func TestMoreThanTheHourlyCapIsOneOverflowDigest(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	f.cfg.Digest.HourlyCap, f.cfg.Digest.MaxEntries = 2, 3
	for i := range int64(7) {
		f.fire(100+i, 2000)
		f.pass(31 * time.Second)
		if i < 2 {
			f.round(sent)
		} else {
			f.round(nothing)
		}
	}
	f.pass(time.Hour)
	f.round(sent)
	last := server.mails()[2].Data
	if !strings.Contains(last, "5 alerts of Acme") || !strings.Contains(last, "2 more are not listed here") {
		t.Fatalf("got\n%s", last)
	}
}

func TestNothingIsLostWhenAWorkerDies(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	f.fire(100, 2000)
	f.pass(31 * time.Second)
	digest := domain.Digest{Wait: 30 * time.Second, HourlyCap: 9, MaxEntries: 9}
	fatal.If(f.t, f.outbox.Gather(t.Context(), 1, digest))
	// A worker takes the mail and ends without a word.
	taken, err := f.outbox.Claim(t.Context(), 1, digest, 9, time.Minute)
	fatal.If(f.t, err)
	if len(taken) != 1 {
		t.Fatalf("got %d mails", len(taken))
	}
	f.pass(59 * time.Second)
	f.round(nothing)
	f.pass(time.Second)
	f.round(sent)
}

func TestWorkersShareTheOutbox(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	for i := range 40 {
		f.recipient(fmt.Sprintf("r%d@acme.example", i))
	}
	f.fire(100, 2000)
	f.pass(31 * time.Second)
	var workers errgroup.Group
	for range 4 {
		w := f.worker()
		workers.Go(func() error { return work(t.Context(), w) })
	}
	fatal.If(f.t, workers.Wait())
	fatal.If(f.t, work(t.Context(), f.worker())) // what a worker left since another had it locked
	seen := map[string]int{}
	for _, m := range server.mails() {
		seen[m.To]++
	}
	for to, times := range seen {
		if times > 1 {
			t.Errorf("%s got it %d times", to, times)
		}
	}
	if len(seen) != 41 {
		t.Errorf("%d recipients got it, not 41", len(seen))
	}
}

// work makes rounds until one finds nothing to do.
func work(ctx context.Context, w *mail.Worker) (err error) {
	for done := (mail.Round{More: true}); err == nil && done != nothing; {
		done, err = w.Round(ctx)
	}
	return err
}

func TestMailsOfACompanyAreSentThoughThoseOfAnotherFail(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	f.fire(100, 2000)
	f.pass(31 * time.Second)
	f.pool.MustExec(`ALTER TABLE mails ADD CHECK (company_id <> 1)`)
	f.pool.MustExec(`INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('zenith', 2);
INSERT INTO companies VALUES (2, 'zenith', 'Zenith', 1, 'UTC')`)
	zenith := domain.Whole(2)
	_, err := f.recipients.Create(t.Context(), zenith, "ops@zenith.example", domain.Choice{})
	fatal.If(f.t, err)
	_, err = f.recipients.SendTest(t.Context(), zenith, nil)
	fatal.If(f.t, err)
	done, err := f.worker().Round(t.Context())
	if done != sent || err == nil || !strings.Contains(err.Error(), "company 1:") {
		t.Errorf("the round did %+v: %v", done, err)
	}
	f.untilStates("ops@zenith.example test sent")
}

func TestNamesCannotInjectHeadersOrMarkup(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	const nasty = "x\r\nBcc: victim@example.com\r\n\r\n<script>alert(1)</script>\u202e\u2028"
	f.pool.MustExec(`UPDATE subscribers SET nickname = $1, subscriber_id = $2`, nasty, "s1\nX-Evil: 1")
	f.pool.MustExec(`UPDATE companies SET name = $1`, nasty)
	_, err := volume.NewAlerts(f.pool, f.clock).Create(t.Context(), scope, domain.AlertSpec{RuleType: domain.RuleCompany, LowerThreshold: 10, UpperThreshold: 5000})
	fatal.If(f.t, err)
	f.pass(31 * time.Second)
	f.round(sent)
	_, err = f.recipients.SendTest(t.Context(), scope, nil)
	fatal.If(f.t, err)
	f.round(sent)
	for _, m := range server.mails() {
		message := read(t, m.Data)
		for _, header := range []string{"Bcc", "X-Evil"} {
			if message.Header.Get(header) != "" {
				t.Errorf("%s was injected", header)
			}
		}
		body, err := io.ReadAll(message.Body)
		fatal.If(f.t, err)
		if html := part(string(body)); strings.Contains(html, "<script>") {
			t.Errorf("markup was injected:\n%s", html)
		}
		if strings.Contains(string(body), "\r\nBcc:") {
			t.Errorf("a line was injected:\n%s", body)
		}
	}
}

// part is the HTML of a message with the line breaks of quoted-printable undone.
func part(body string) string {
	_, html, _ := strings.Cut(body, "text/html")
	return strings.ReplaceAll(strings.ReplaceAll(html, "=\r\n", ""), "=3D", "=")
}

func TestAMailIsGivenUpAfterThreeDays(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, func(stage string, _ int) error {
		return when(stage == "to", &smtp.SMTPError{Code: 450, Message: "later"})
	})
	f := newFixture(t, server)
	f.fire(100, 2000)
	f.pass(31 * time.Second)
	f.round(retried)
	f.pass(71 * time.Hour)
	f.round(retried)
	f.pass(2 * time.Hour)
	f.round(failed)
	r, err := f.recipients.List(t.Context(), scope, domain.Listing{Page: domain.Page{Limit: 1}})
	fatal.If(f.t, err)
	if r.Items[0].SuppressedSince != nil {
		t.Error("a failure that passes suppressed the address")
	}
}

func TestTestMailsAreFew(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for range 5 {
		_, err := f.recipients.SendTest(t.Context(), scope, nil)
		fatal.If(f.t, err)
	}
	_, err := f.recipients.SendTest(t.Context(), scope, nil)
	if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindRateLimited {
		t.Fatalf("got %v", err)
	}
}

func TestWithoutAServerMailsBecomeFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.fire(100, 2000)
	f.pass(31 * time.Second)
	f.round(sent)
	text, err := os.ReadFile(filepath.Join(f.cfg.Dir, f.mailID()+".eml"))
	fatal.If(f.t, err)
	if !strings.Contains(string(text), "van 1 (s1)") {
		t.Fatalf("got %s", text)
	}
	left, err := filepath.Glob(filepath.Join(f.cfg.Dir, "*"))
	fatal.If(f.t, err)
	if len(left) != 1 {
		t.Fatalf("got %v", left)
	}
}

// link finds the unsubscribe link in a mail.
var link = regexp.MustCompile(`List-Unsubscribe: <(https://sim\.example[^>]+)>`)

func TestBadSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for _, cfg := range []mail.Config{
		{From: "nobody"},
		{From: "a@b.example", SMTPURL: "http://mx.example"},
		{From: "a@b.example", SMTPURL: "smtp://:25"},
		{From: "a@b.example", SMTPURL: "smtp://mx.example?starttls=perhaps"},
		{From: "a@b.example", SMTPURL: "smtp://mx.example:99999"},
		{From: "a@b.example", PublicURL: "sim.example"},
		{From: "a@b.example", Timeout: 61 * time.Minute},
	} {
		if _, err := mail.New(cfg); err == nil {
			t.Errorf("%+v was taken", cfg)
		}
	}
	_, err := mail.New(mail.Config{From: "a@b.example", SMTPURL: "smtp://user:hunter2@mx.example:port"})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}
