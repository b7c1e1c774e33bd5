package mail

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"simgraph/domain"
)

// server sends by SMTP.
type server struct {
	client *gomail.Client
	where  string
}

// tlsPolicies are the values of ?starttls= of an smtp:// URL.
var tlsPolicies = map[string]gomail.TLSPolicy{
	"":              gomail.TLSMandatory,
	"always":        gomail.TLSMandatory,
	"opportunistic": gomail.TLSOpportunistic,
	"never":         gomail.NoTLS,
}

// newServer reads the address of a mail server:
//
//	smtp://user:password@host:587    STARTTLS, which the server must offer
//	…?starttls=opportunistic         STARTTLS where the server offers it
//	…?starttls=never                 none, for a relay on the same machine
//	smtps://user:password@host:465   TLS from the first byte
//
// Its errors do not contain the password.
func newServer(address string, timeout time.Duration) (*server, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address of the mail server is no URL")
	}
	options, err := clientOptions(u)
	if err != nil {
		return nil, err
	}
	// go-mail would check the connection before and reset it after each mail:
	// it sends one and leaves.
	options = append(options, gomail.WithTimeout(timeout), gomail.WithoutNoop(), gomail.WithoutRset())
	client, err := gomail.NewClient(u.Hostname(), options...)
	if err != nil {
		return nil, fmt.Errorf("the address of the mail server: %w", err)
	}
	return &server{client, u.Scheme + "://" + u.Host}, nil
}

func clientOptions(u *url.URL) ([]gomail.Option, error) {
	var options []gomail.Option
	policy, known := tlsPolicies[u.Query().Get("starttls")]
	switch {
	case u.Hostname() == "":
		return nil, errors.New("the address of the mail server has no host: smtp://host:587 is expected")
	case u.Scheme == "smtps":
		options = append(options, gomail.WithSSL(), gomail.WithPort(gomail.DefaultPortSSL))
	case u.Scheme != "smtp":
		return nil, fmt.Errorf("the address of the mail server begins with %s://, not smtp:// or smtps://", u.Scheme)
	case !known:
		return nil, errors.New("starttls of the mail server must be always, opportunistic or never")
	default:
		options = append(options, gomail.WithTLSPolicy(policy), gomail.WithPort(gomail.DefaultPortTLS))
	}
	if u.Port() != "" {
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			return nil, errors.New("the port of the mail server is no number")
		}
		options = append(options, gomail.WithPort(port))
	}
	if name := u.User.Username(); name != "" {
		password, _ := u.User.Password()
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(name), gomail.WithPassword(password))
	}
	return options, nil
}

func (s *server) String() string { return s.where }

func (s *server) send(ctx context.Context, message *gomail.Msg, _ *domain.Mail) error {
	err := s.client.DialAndSendWithContext(ctx, message)
	if message.IsDelivered() {
		return nil // whatever went wrong after the server took it
	}
	return err
}
