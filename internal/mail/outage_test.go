package mail_test

import (
	"io"
	"mime/quotedprintable"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"simgraph/db/backlog"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// outage is a mail server that is away for long, in one way after the other.
type outage struct {
	mu    sync.Mutex
	stage string
	hung  chan struct{}
	tries map[string]int
}

// behave is how the server answers at this stage of the outage.
func (o *outage) behave(at string, _ int) error {
	o.mu.Lock()
	stage, hung := o.stage, o.hung
	o.tries[stage]++
	o.mu.Unlock()
	switch {
	case stage == "answers 4xx" && at == "to":
		return &smtp.SMTPError{Code: 450, Message: "mailbox unavailable"}
	case stage == "hangs" && at == "from":
		<-hung
		return &smtp.SMTPError{Code: 421, Message: "closing"}
	case stage == "drops the connection in DATA" && at == "begin":
		return errDrop
	}
	return nil
}

func (o *outage) enter(stage string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stage == "hangs" {
		close(o.hung)
	}
	o.stage = stage
}

func (o *outage) tried(stage string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tries[stage]
}

// Mail waits out a server that refuses, hangs and drops connections for a day;
// then each firing arrives, once.
func TestALongOutageOfTheMailServerLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	away := &outage{stage: "answers 4xx", hung: make(chan struct{}), tries: map[string]int{}}
	server := newMailServer(t, away.behave)
	f := newFixture(t, server)
	f.recipient("noc@acme.example")
	f.cfg.Backoff = time.Minute
	f.cfg.Digest = domain.Digest{Wait: 30 * time.Second, HourlyCap: 20, MaxEntries: 100}
	there := f.cfg.SMTPURL
	backlog := backlog.New(f.pool)
	fired, most := int64(0), 0
	var oldest time.Duration
	for _, stage := range []string{"refuses connections", "answers 4xx", "hangs", "drops the connection in DATA"} {
		away.enter(stage)
		f.cfg.SMTPURL, f.cfg.Timeout = there, 10*time.Second
		if stage == "refuses connections" {
			f.cfg.SMTPURL = "smtp://127.0.0.1:1?starttls=never"
		}
		if stage == "hangs" {
			f.cfg.Timeout = 300 * time.Millisecond
		}
		for range 6 {
			f.fire(fired, 1<<40)
			fired++
			f.pass(time.Hour)
			done, err := f.worker().Round(t.Context())
			if fault, is := domain.AsError(err); err != nil && (!is || fault.Kind != domain.KindUnavailable) {
				t.Fatal(err) // of a busy machine there may be no time left to record the attempt: its lease ends
			}
			if done.Sent+done.Failed > 0 || done.Retried == 0 {
				t.Errorf("while it %s, a round did %+v", stage, done)
			}
		}
		if stage != "refuses connections" && away.tried(stage) == 0 {
			t.Errorf("nothing was tried while it %s", stage)
		}
		read, err := backlog.Read(t.Context())
		fatal.If(f.t, err)
		if read.Mails+read.Deliveries == 0 || read.Mails+read.Deliveries > int(2*fired) {
			t.Errorf("while it %s, %d mails and %d firings wait of %d", stage, read.Mails, read.Deliveries, fired)
		}
		most, oldest = max(most, read.Mails+read.Deliveries), max(oldest, f.clock().Sub(read.OldestMail))
	}
	if got := len(server.mails()); got > 0 {
		t.Fatalf("%d mails were taken during the outage", got)
	}
	away.enter("is back")
	f.cfg.Timeout = 10 * time.Second
	for n := 0; f.unsent() > 0; n++ {
		if n > 1000 {
			t.Fatalf("mail is not sent after %d rounds: %v", n, f.states())
		}
		f.pass(time.Minute)
		f.try()
	}
	came := map[string]int{}
	for _, m := range server.mails() {
		text, err := io.ReadAll(quotedprintable.NewReader(read(t, m.Data).Body))
		fatal.If(f.t, err)
		plain, _, _ := strings.Cut(string(text), "<!DOCTYPE")
		for _, alert := range listed.FindAllStringSubmatch(plain, -1) {
			came[m.To+" "+alert[1]]++
		}
	}
	doubled := 0
	for _, times := range came {
		if times > 1 {
			doubled++
		}
	}
	t.Logf("mail server away: %d firings to 2 recipients; at most %d waited, the oldest for %v; then %d arrived in %d mails, %d twice",
		fired, most, oldest.Round(time.Hour), len(came), len(server.mails()), doubled)
	if len(came) != int(2*fired) || doubled > 0 {
		t.Errorf("of %d firings %d came, %d more than once", 2*fired, len(came), doubled)
	}
}
