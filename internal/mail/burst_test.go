package mail_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"mime/quotedprintable"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

var listed = regexp.MustCompile(`alert (\d+) \(sim`)

// Whatever a mail server does and however often workers are stopped, each
// firing reaches each recipient, and always under the one Message-ID.
func TestEveryFiringArrivesUnderOneMessageID(t *testing.T) {
	t.Parallel()
	const firings = 30
	var mu sync.Mutex
	random, calm := rand.New(rand.NewPCG(1, 2)), false
	server := newMailServer(t, func(stage string, _ int) error {
		mu.Lock()
		defer mu.Unlock()
		if calm {
			return nil
		}
		switch dice := random.IntN(10); {
		case stage == "begin", stage == "taken":
			return when(dice < 3, errDrop)
		default:
			return when(dice < 2, &smtp.SMTPError{Code: 451, Message: "not now"})
		}
	})
	f := newFixture(t, server)
	f.recipient("noc@acme.example")
	f.cfg.Digest = domain.Digest{Wait: 30 * time.Second, HourlyCap: 1000, MaxEntries: 100}
	stops := []func(){f.start(), f.start(), f.start()}
	for n := range int64(firings) {
		f.fire(n, 1<<40)
		f.pass(11 * time.Second)
		time.Sleep(10 * time.Millisecond)
		if n%5 == 0 {
			stops[0]()
			stops = append(stops[1:], f.start())
		}
	}
	mu.Lock()
	calm = true
	mu.Unlock()
	f.until("every mail is sent", func() bool {
		f.pass(time.Minute)
		return f.unsent() == 0
	})
	ids := map[string]map[string]bool{}
	for _, m := range server.mails() {
		message := read(t, m.Data)
		text, err := io.ReadAll(quotedprintable.NewReader(message.Body))
		fatal.If(f.t, err)
		plain, _, _ := strings.Cut(string(text), "<!DOCTYPE")
		for _, alert := range listed.FindAllStringSubmatch(plain, -1) {
			firing := m.To + " " + alert[1]
			if ids[firing] == nil {
				ids[firing] = map[string]bool{}
			}
			ids[firing][message.Header.Get("Message-ID")] = true
		}
	}
	if len(ids) != 2*firings {
		t.Errorf("%d firings arrived, not %d", len(ids), 2*firings)
	}
	for firing, of := range ids {
		if len(of) != 1 {
			t.Errorf("%s came under %s", firing, fmt.Sprint(of))
		}
	}
}
