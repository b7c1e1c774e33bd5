package domain

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

// Restricted reports whether only some groups are visible.
func (s Scope) Restricted() bool { return s.Groups != nil }
