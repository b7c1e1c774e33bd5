// Package mail sends the mail that alerts cause: it takes it from the outbox,
// writes it, hands it to a mail server and records what became of it.
package mail

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	netmail "net/mail"
	"net/url"
	"regexp"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/sync/errgroup"

	"simgraph/domain"
)

// Config says how a Worker sends. Durations and numbers that are zero get the
// defaults that stand beside them.
type Config struct {
	Outbox domain.Outbox
	// SMTPURL names the mail server: smtp://user:password@host:587 or smtps://…,
	// see Server. "" writes mails to files in Dir instead.
	SMTPURL string
	// Dir takes a file for each mail when there is no mail server.
	Dir string
	// From is the sender, such as "Acme alerts <alerts@acme.example>".
	From string
	// PublicURL is where people reach this service, such as
	// https://sim.example.com; "" leaves unsubscribe links out.
	PublicURL string
	Log       *slog.Logger
	// Tried, unless nil, is told the result of every attempt.
	Tried func(Result)
	// Digest says how mails are gathered: 30 s, 20 an hour, 50 entries.
	Digest domain.Digest
	// Now tells the time: time.Now.
	Now func() time.Time
	// Every is the time between two looks into the outbox: 1 s.
	Every time.Duration
	// Timeout bounds one attempt: 30 s. It is at most half an hour.
	Timeout time.Duration
	// Backoff is the time to the second attempt, doubled for each further one
	// up to an hour, give or take half: 1 min.
	Backoff time.Duration
	// GiveUp is how long after a mail was made no more attempts are: 72 h.
	GiveUp time.Duration
}

// Result is what became of an attempt to send a mail.
type Result string

// The results.
const (
	Sent    Result = "sent"
	Retried Result = "retried"
	Failed  Result = "failed"
)

// Results are all of them.
var Results = []string{string(Sent), string(Retried), string(Failed)}

const (
	// atOnce is how many mails a worker sends at a time.
	atOnce     = 4
	maxBackoff = time.Hour
	// maxTimeout keeps a mail that is being sent from being due so late that the
	// outbox blames a clock for it, and hands it out again.
	maxTimeout = 30 * time.Minute
	maxReason  = 500
)

// Worker sends mails. Any number of workers, in any number of processes, may
// share an outbox.
type Worker struct {
	Config
	writer writer
	sender sender
}

// sender hands a message over; the error says whether that failed for good.
type sender interface {
	send(ctx context.Context, message *gomail.Msg, mail *domain.Mail) error
	String() string
}

// New checks the settings. It does not connect to the mail server.
func New(cfg Config) (*Worker, error) {
	defaults(&cfg)
	from, err := netmail.ParseAddress(cfg.From)
	if err != nil {
		return nil, fmt.Errorf("the sender of mail %q: %w", cfg.From, err)
	}
	if cfg.Timeout > maxTimeout {
		return nil, fmt.Errorf("an attempt to send a mail may take %v at most, not %v", maxTimeout, cfg.Timeout)
	}
	w := &Worker{Config: cfg, writer: writer{from: from}}
	if cfg.PublicURL != "" {
		base, err := url.Parse(cfg.PublicURL)
		if err != nil || base.Host == "" {
			return nil, fmt.Errorf("the public URL %q has no host", cfg.PublicURL)
		}
		w.writer.base = base
	}
	if cfg.SMTPURL == "" {
		w.sender = files{cfg.Dir}
		return w, nil
	}
	w.sender, err = newServer(cfg.SMTPURL, cfg.Timeout)
	return w, err
}

func defaults(cfg *Config) {
	orDefault(&cfg.Digest.Wait, 30*time.Second)
	orDefault(&cfg.Digest.HourlyCap, 20)
	orDefault(&cfg.Digest.MaxEntries, 50)
	orDefault(&cfg.Every, time.Second)
	orDefault(&cfg.Timeout, 30*time.Second)
	orDefault(&cfg.Backoff, time.Minute)
	orDefault(&cfg.GiveUp, 72*time.Hour)
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Tried == nil {
		cfg.Tried = func(Result) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
}

func orDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// Destination says where mails go, without credentials.
func (w *Worker) Destination() string { return w.sender.String() }

// Run sends mails until ctx ends; what is being sent then is finished. Failures
// are logged, and tried again.
func (w *Worker) Run(ctx context.Context) error {
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	for {
		more, err := w.round(ctx)
		if err != nil && ctx.Err() == nil {
			w.Log.Error("mail: the outbox could not be worked on", "error", err)
		}
		if more && ctx.Err() == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// round looks at each company once, and tells whether there may be more to do.
func (w *Worker) round(ctx context.Context) (more bool, err error) {
	companies, err := w.Outbox.Pending(ctx, w.Digest)
	if err != nil {
		return false, err
	}
	err = domain.TryCompanies(ctx, companies, func(company domain.CompanyID) error {
		n, err := w.work(ctx, company)
		more = more || n == atOnce
		return err
	})
	return more, err
}

// work sends a handful of mails of a company, and returns how many.
func (w *Worker) work(ctx context.Context, company domain.CompanyID) (int, error) {
	if err := w.Outbox.Gather(ctx, company, w.Digest); err != nil {
		return 0, err
	}
	contents, err := w.Outbox.Claim(ctx, company, w.Digest, atOnce, 2*w.Timeout)
	if err != nil {
		return 0, err
	}
	var sending errgroup.Group
	for _, content := range contents {
		sending.Go(func() error {
			// To stop in mid-message would leave open whether it was taken.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Timeout+w.Timeout/2)
			defer cancel()
			return w.deliver(ctx, content)
		})
	}
	return len(contents), sending.Wait()
}

// deliver makes one attempt and records what became of it.
func (w *Worker) deliver(ctx context.Context, content *domain.MailContent) error {
	message, err := w.writer.write(content)
	if err == nil {
		attempt, cancel := context.WithTimeout(ctx, w.Timeout)
		err = w.sender.send(attempt, message, &content.Mail)
		cancel()
	}
	company, mail := content.Company.CompanyID, &content.Mail
	switch outcome := judge(err); {
	case err == nil:
		w.Tried(Sent)
		return w.insist(ctx, func() error { return w.Outbox.Sent(ctx, company, mail) })
	case outcome == permanent, outcome == refused:
		w.Tried(Failed)
		w.Log.Warn("mail: given up", "mail", mail.MailID, "error", impersonal(err, mail))
		return w.Outbox.Fail(ctx, company, mail, reason(err), outcome == refused)
	case w.Now().Sub(mail.CreatedAt) > w.GiveUp:
		w.Tried(Failed)
		w.Log.Warn("mail: given up after many attempts", "mail", mail.MailID, "attempts", mail.Attempts, "error", impersonal(err, mail))
		return w.Outbox.Fail(ctx, company, mail, reason(err), false)
	}
	w.Tried(Retried)
	w.Log.Info("mail: to be tried again", "mail", mail.MailID, "attempts", mail.Attempts, "error", impersonal(err, mail))
	return w.Outbox.Retry(ctx, company, mail, reason(err), w.Now().Add(w.pause(mail.Attempts)))
}

// noteEvery is the time between two attempts to record that a mail was taken.
const noteEvery = 200 * time.Millisecond

// insist records that a mail was taken, while the lease on it lasts: were the
// database away just now, the mail would be sent once more.
func (w *Worker) insist(ctx context.Context, note func() error) error {
	for {
		err := note()
		if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindUnavailable {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(noteEvery):
		}
	}
}

// pause is how long to wait after that many attempts. Jitter keeps mails that
// failed together from coming back together.
func (w *Worker) pause(attempts int) time.Duration {
	pause := maxBackoff
	if doublings := max(attempts-1, 0); doublings < 20 {
		pause = min(w.Backoff<<doublings, maxBackoff)
	}
	return pause/2 + rand.N(pause)
}

// reason is what recipients' owners are shown of an error.
func reason(err error) string { return shortened(err.Error()) }

// impersonal is reason for the log, which names nobody.
func impersonal(err error, mail *domain.Mail) string {
	address := regexp.MustCompile(`(?i)` + regexp.QuoteMeta(mail.Email))
	return shortened(address.ReplaceAllLiteralString(err.Error(), "the recipient"))
}

func shortened(text string) string {
	text = clean(text)
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") // no part of a rune
	}
	return text
}
