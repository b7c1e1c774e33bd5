// Package webhook sends the messages of webhooks: it takes them from the outbox, calls
// the endpoints and records what they answered.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"
	"unicode"

	"simgraph/domain/webhook"
)

const (
	// maxAnswer is what is kept of an answer, in bytes.
	maxAnswer = 1 << 10
	// maxReason is what is kept of an error, in bytes.
	maxReason = 500
	// maxHeaders bounds the headers of an answer.
	maxHeaders = 16 << 10
)

// errForbidden reports an address that no request may go to.
var errForbidden = errors.New("the address is not of the public internet")

// Sender calls endpoints.
type Sender struct {
	client *http.Client
	now    func() time.Time
}

// NewSender returns a sender that gives an endpoint that time to answer. It knows no
// proxy and follows no redirect. now is the clock.
func NewSender(rules webhook.Rules, timeout time.Duration, now func() time.Time) *Sender {
	return &Sender{now: now, client: &http.Client{
		Timeout: timeout, Transport: NewTransport(rules, timeout),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// NewTransport returns one that connects to what the rules allow alone, without a proxy.
func NewTransport(rules webhook.Rules, timeout time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: timeout, Control: refuse(rules)}
	return &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: timeout, ResponseHeaderTimeout: timeout,
		MaxIdleConnsPerHost: webhook.AtOnce, MaxIdleConns: 256, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: maxHeaders,
	}
}

// refuse returns the check of a socket before it connects: names are resolved by then,
// so that no second look-up can lead elsewhere.
func refuse(rules webhook.Rules) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if rules.Forbids(to.Addr()) {
			return fmt.Errorf("%s: %w", to.Addr(), errForbidden)
		}
		return nil
	}
}

// Send makes an attempt and returns the answer.
func (s *Sender) Send(ctx context.Context, of *webhook.Attempt) webhook.Answer {
	request, err := s.request(ctx, of)
	if err != nil {
		return webhook.Answer{Error: Reason(err)}
	}
	response, err := s.client.Do(request)
	if err != nil {
		return webhook.Answer{Error: Reason(err)}
	}
	defer func() { _ = response.Body.Close() }()
	// The status has come: what is wrong with the body changes nothing.
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	answer := webhook.Answer{Status: response.StatusCode, Body: clean(string(body)), RetryAfter: response.Header.Get("Retry-After")}
	if answer.Status < 200 || answer.Status >= 300 {
		answer.Error = fmt.Sprintf("the answer was %d, not 2xx", answer.Status)
	}
	return answer
}

func (s *Sender) request(ctx context.Context, of *webhook.Attempt) (*http.Request, error) {
	content, err := webhook.ContentOf(of.Format, of.Event)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, of.URL, strings.NewReader(string(content.Body)))
	if err != nil {
		return nil, err
	}
	// A request that may have arrived is for the schedule to repeat, not for the transport.
	request.GetBody = nil
	request.Header.Set("Content-Type", content.Type)
	request.Header.Set("User-Agent", "simgraph")
	webhook.Sign(request.Header, of.DeliveryID, s.now(), content.Body, of.Secrets...)
	return request, nil
}

// Reason is an error as the owners of endpoints are shown it: without the URL, and
// without addresses of the service's own network.
func Reason(err error) string {
	var called interface{ Timeout() bool }
	text := withoutAddresses(err)
	if errors.As(err, &called) && called.Timeout() {
		text = "no answer in time: " + text
	}
	if len(text) > maxReason {
		text = text[:maxReason]
	}
	return clean(text)
}

func withoutAddresses(err error) string {
	var lookup *net.DNSError
	var of *net.OpError
	switch {
	case errors.Is(err, errForbidden):
		return errForbidden.Error()
	case errors.As(err, &lookup):
		return "the name could not be looked up"
	case errors.As(err, &of):
		return of.Op + ": " + of.Err.Error()
	}
	text := err.Error()
	if at := strings.Index(text, `": `); at >= 0 {
		text = text[at+3:]
	}
	return text
}

// clean makes a text of others fit for the database and for lists.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
