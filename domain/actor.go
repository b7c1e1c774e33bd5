package domain

import "context"

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
