// Package mail sends the mail that alerts cause: it takes it from the outbox,
// writes it, hands it to a mail server and records what became of it.
package mail

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	gomail "github.com/wneessen/go-mail"

	"simgraph/domain"
	"simgraph/internal/pace"
)

// Config are the settings of a Worker. Durations and numbers that are zero get the
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
	// Tried, unless nil, is called with the result of every attempt.
	Tried func(Result)
	// Digest defines how mails are gathered: 30 s, 20 an hour, 50 entries.
	Digest domain.Digest
	// Now returns the time: time.Now.
	Now func() time.Time
	// Every is the time between two looks into the outbox: 1 s.
	Every time.Duration
	// After begins a pause between two looks: time.After.
	After func(time.Duration) <-chan time.Time
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

// sender hands a message over; the error reports whether that failed for good.
type sender interface {
	send(ctx context.Context, message *gomail.Msg, mail *domain.Mail) error
	String() string
}

// New checks the settings. It does not connect to the mail server.
func New(cfg Config) (*Worker, error) {
	defaults(&cfg)
	from, err := parseSender(cfg.From)
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
	orDefault(&cfg.GiveUp, domain.MailAge)
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Tried == nil {
		cfg.Tried = func(Result) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.After == nil {
		cfg.After = time.After
	}
}

func orDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// Destination returns where mails go, without credentials.
func (w *Worker) Destination() string { return w.sender.String() }

// Run sends mails until ctx ends; what is being sent then is finished. Failures
// are logged, and tried again.
func (w *Worker) Run(ctx context.Context) error {
	round := func(ctx context.Context) (bool, error) {
		done, err := w.Round(ctx)
		return done.More, err
	}
	return pace.Rounds(ctx, w.Log, "mail: the outbox could not be worked on", round, func() <-chan time.Time { return w.After(w.Every) })
}
