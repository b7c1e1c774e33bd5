package signin

import (
	"context"
	"strings"
	"time"

	"simgraph/domain"
)

// Link signs a user in once.
type Link struct {
	Email string
	// Company is the name of the user's company.
	Company   string
	ExpiresAt time.Time
}

// IssuedLink is a link with the code that it is used by.
type IssuedLink struct {
	Link
	Code domain.Secret
}

// LinkFragment begins the part of an address that holds the code of a link. Browsers do
// not send it: neither servers nor their logs get it.
const LinkFragment = "/#link="

// LinkTo is the address that signs in by a code; publicURL is where people reach the page.
func LinkTo(publicURL string, code domain.Secret) string {
	return strings.TrimRight(publicURL, "/") + LinkFragment + string(code)
}

const (
	// RequestedLifetime is how long a link can be used that was asked for.
	RequestedLifetime = 15 * time.Minute
	// MaxRequests bounds the links that are mailed to an address of a company in an hour:
	// anybody can ask for them.
	MaxRequests = 3
	// MaxRequestsOfCompany bounds the links that are mailed to the users of a company in
	// an hour, when they ask for them.
	MaxRequestsOfCompany = 500
	// MaxCompaniesOfRequest bounds the companies of which a request for a link is
	// answered, each by a mail.
	MaxCompaniesOfRequest = 10
)

// MaxLinks bounds the links of a user that have not been used; the oldest end.
const MaxLinks = 10

// Links keeps links that sign in once. Their codes are stored as hashes. The methods
// that take a code return a Refusal where it signs nobody in.
type Links interface {
	// Issue makes a link for a user of the company, or returns NotFound. A user that is
	// disabled gets none: the error is Invalid.
	Issue(ctx context.Context, scope domain.Scope, email string, lifetime time.Duration) (*IssuedLink, error)
	// FindLink returns what a link is for. That does not use it up.
	FindLink(ctx context.Context, code domain.Secret) (*Link, error)
	// Request mails a link to the user of the address, in each company that has one; it
	// ends the link of the user that was asked for before. Nobody learns whether there is
	// such a user: who is disabled, signs in at a provider, gets no mail or has asked too
	// often is left out, which is no error.
	Request(ctx context.Context, from domain.Origin, email domain.Email) error
	// ByLink begins a session and uses the link up.
	ByLink(ctx context.Context, from domain.Origin, code domain.Secret) (*Begun, error)
}
