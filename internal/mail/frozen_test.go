package mail_test

import (
	"context"
	"testing"
	"time"

	"simgraph/domain"
)

// late hands mails over when their lease has ended, as a process that was frozen
// finds them.
type late struct {
	domain.Outbox
	by time.Duration
}

func (l late) Claim(ctx context.Context, company domain.CompanyID, digest domain.Digest, limit int, lease time.Duration) ([]*domain.MailContent, error) {
	mails, err := l.Outbox.Claim(ctx, company, digest, limit, lease)
	time.Sleep(l.by)
	return mails, err
}

func TestAMailWhoseLeaseIsOverIsLeftToTheNext(t *testing.T) {
	t.Parallel()
	const timeout = 500 * time.Millisecond
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	f.fire(100, 2000)
	f.pass(time.Minute)
	f.cfg.Timeout = timeout
	f.cfg.Outbox = late{f.outbox, 2 * timeout}
	f.round(retried)
	if got := len(server.mails()); got != 0 {
		t.Fatalf("%d mails were sent after their lease", got)
	}
	f.cfg.Outbox, f.cfg.Timeout = f.outbox, 10*time.Second
	f.pass(time.Minute)
	f.round(sent)
}
