package mail

import (
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"simgraph/domain"
)

// Round is what a worker did in one look at the outbox: its attempts by result.
type Round struct {
	Sent, Retried, Failed int
	// More reports whether there may be more to do at once.
	More bool
}

func (r *Round) add(results []Result) {
	for _, result := range results {
		switch result {
		case Sent:
			r.Sent++
		case Retried:
			r.Retried++
		case Failed:
			r.Failed++
		}
	}
	r.More = r.More || len(results) == atOnce
}

// Round looks at each company once: it gathers what has waited long enough, makes
// one attempt at up to atOnce mails of the company, and returns when their results
// are recorded.
func (w *Worker) Round(ctx context.Context) (done Round, err error) {
	companies, unread := w.Outbox.Pending(ctx, w.Digest)
	err = domain.TryCompanies(ctx, companies, func(company domain.CompanyID) error {
		results, err := w.work(ctx, company)
		done.add(results)
		return err
	})
	return done, errors.Join(unread, err)
}

// work makes an attempt at a handful of mails of a company, and returns the results.
func (w *Worker) work(ctx context.Context, company domain.CompanyID) ([]Result, error) {
	if err := w.Outbox.Gather(ctx, company, w.Digest); err != nil {
		return nil, err
	}
	// Counted from before the lease: a process that was frozen in between finds it over,
	// when others may have sent the mails.
	until := time.Now().Add(w.Timeout + w.Timeout/2)
	contents, err := w.Outbox.Claim(ctx, company, w.Digest, atOnce, 2*w.Timeout)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(contents))
	var sending errgroup.Group
	for i, content := range contents {
		sending.Go(func() (err error) {
			// To stop in mid-message would leave open whether it was taken.
			ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
			defer cancel()
			if ctx.Err() != nil {
				results[i] = Retried
				return nil
			}
			results[i], err = w.deliver(ctx, content)
			w.Tried(results[i])
			return err
		})
	}
	return results, sending.Wait()
}

// deliver makes one attempt and records the result.
func (w *Worker) deliver(ctx context.Context, content *domain.MailContent) (Result, error) {
	err := w.attempt(ctx, content)
	company, mail := content.Company.CompanyID, &content.Mail
	if err == nil {
		return Sent, w.insist(ctx, func() error { return w.Outbox.Sent(ctx, company, mail) })
	}
	outcome, unnoted := w.judge(ctx, company, mail, err)
	switch {
	case unnoted != nil: // the lease ends, and another attempt is made
		return Retried, unnoted
	case outcome == permanent, outcome == badAddress:
		w.Log.Warn("mail: given up", "mail", mail.MailID, "error", impersonal(err, mail))
		return Failed, w.Outbox.Fail(ctx, company, mail, reason(err), outcome == badAddress)
	case w.Now().Sub(mail.CreatedAt) > w.GiveUp:
		w.Log.Warn("mail: given up after many attempts", "mail", mail.MailID, "attempts", mail.Attempts, "error", impersonal(err, mail))
		return Failed, w.Outbox.Fail(ctx, company, mail, reason(err), false)
	}
	w.Log.Info("mail: to be tried again", "mail", mail.MailID, "attempts", mail.Attempts, "error", impersonal(err, mail))
	return Retried, w.Outbox.Retry(ctx, company, mail, reason(err), w.Now().Add(w.pause(mail.Attempts)))
}

// attempt writes the mail and hands it over.
func (w *Worker) attempt(ctx context.Context, content *domain.MailContent) error {
	message, err := w.writer.write(content)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	return w.sender.send(ctx, message, &content.Mail)
}

// judge is the outcome of an error. A refusal without a clear reason is decided by
// what else the server takes.
func (w *Worker) judge(ctx context.Context, company domain.CompanyID, mail *domain.Mail, err error) (outcome, error) {
	if outcome := judge(err); outcome != unexplained {
		return outcome, nil
	}
	ofAddress, err := w.Outbox.Refused(ctx, company, mail)
	if ofAddress {
		return badAddress, err
	}
	return temporary, err
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
