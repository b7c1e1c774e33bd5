package domain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// CompanyID is the internal number of a company, the tenant. Every row belongs
// to one.
type CompanyID int64

// Installation stands for no company: its audit log records what concerns none
// or all of them, to the operator alone.
const Installation CompanyID = 0

// Scope is what a caller may see: one company and, for users attached to
// groups, only the subscribers that are in those groups now.
type Scope struct {
	Company CompanyID
	// Groups are the visible groups; nil means the whole company.
	Groups []int64
	// Masked are those of Groups that hide tariff details: tariffName,
	// lineRental and contractLength of their subscribers are null.
	Masked []int64
	// Billing are the company's billing periods, nil where they were not loaded.
	Billing *Billing
	// Actor is who acts, for the audit log; nil is the program itself.
	Actor *Actor
	// Reason is why the actor changes something, for the audit log: see NewReason.
	Reason string
	// ExpectedVersion is what an edit was made from; nil edits any version.
	ExpectedVersion *string
	// Upstream is the upstream whose pass stores what the other server says; 0 for none. That
	// is not sent back, does not undo edits that wait to be sent, and brings no alert again
	// that was deleted here.
	Upstream int64
}

// Whole returns the scope of everything in a company.
func Whole(company CompanyID) Scope { return Scope{Company: company} }

// By returns the scope for what the actor does.
func (s Scope) By(actor *Actor) Scope {
	s.Actor = actor
	return s
}

// CheckVersion refuses an edit that was made from another version than that of what the caller
// has locked.
func (s Scope) CheckVersion(version string) error {
	if s.ExpectedVersion == nil || *s.ExpectedVersion == version {
		return nil
	}
	return &Error{Kind: KindStale, Field: "expectedVersion", Message: fmt.Sprintf("it was changed since it was read: its version is %s now", version)}
}

// VersionOf is the version of what has these values, of which each is written as JSON. A list
// that is nil is empty.
func VersionOf(values ...any) string {
	sum := sha256.New()
	to := json.NewEncoder(sum)
	for _, value := range values {
		if of := reflect.ValueOf(value); of.Kind() == reflect.Slice && of.Len() == 0 {
			value = []int{}
		}
		if err := to.Encode(value); err != nil {
			panic(err) // a type that JSON does not have
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// UserID is the user who acts; 0 for the program itself and for commands.
func (s Scope) UserID() int64 {
	if s.Actor == nil {
		return 0
	}
	return s.Actor.UserID
}

// Restricted reports whether only some groups are visible.
func (s Scope) Restricted() bool { return s.Groups != nil }

// Origin is where a request comes from.
type Origin struct {
	// Door is the endpoint, or the command: graphql, rest, oauth, usage, page,
	// import. It has the public name of the field in the graph.
	Door string
	// Address is the client's network address, or the host of a command.
	Address   string
	RequestID string
}

// Actor is who acts, and from where, as the audit log keeps it. It travels with
// the Scope.
type Actor struct {
	// UserID is 0 for the operator's commands.
	UserID int64
	// Name is the e-mail address of the user at the time, or the account that
	// ran a command.
	Name string
	// AccessKeyID is "" for tokens that were made without a key.
	AccessKeyID string
	Origin
}

// agentDoor begins the Door of an agent, which is followed by what it calls itself.
const agentDoor = "mcp ("

// AgentDoor is the Door of an agent that calls itself so.
func AgentDoor(name string) string { return agentDoor + name + ")" }

// IsAgent reports whether an agent asks by a tool.
func (o Origin) IsAgent() bool { return strings.HasPrefix(o.Door, agentDoor) }

type originKey struct{}

// WithOrigin puts into the context of a request where it comes from.
func WithOrigin(ctx context.Context, origin Origin) context.Context {
	return context.WithValue(ctx, originKey{}, origin)
}

// OriginOf returns where the request comes from; zero when it is not known.
func OriginOf(ctx context.Context) Origin {
	origin, _ := ctx.Value(originKey{}).(Origin)
	return origin
}

// At returns the caller as it makes a request from there.
func (c *Caller) At(origin Origin) *Caller {
	acting := *c
	acting.Scope.Actor = &Actor{UserID: c.UserID, Name: c.Email, AccessKeyID: c.AccessKeyID, Origin: origin}
	return &acting
}
