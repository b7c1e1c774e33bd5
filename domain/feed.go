package domain

import (
	"context"
	"net/netip"
	"strings"
	"time"
)

const (
	// MinRADIUSSecret is the shortest shared secret of a client, in bytes.
	MinRADIUSSecret = 12
	// MaxRADIUSSecret is the longest.
	MaxRADIUSSecret = 128
	// MaxRADIUSClients bounds the clients of a company.
	MaxRADIUSClients = 1000
	// RADIUSProtocol stands for the network protocol of usage that is reported by
	// RADIUS, which has none.
	RADIUSProtocol = "IP"
)

// RADIUSClient is a network element, or a proxy before several, that sends the
// accounting of a company's subscribers. A client of several companies is one of
// each, with the same network and secret.
type RADIUSClient struct {
	CompanyID CompanyID
	// Company is the external id of the company.
	Company string
	// Name is the source of its usage; unique in the company.
	Name string
	// Network has the addresses that the client sends from.
	Network netip.Prefix
	// Secret is what packets are authenticated with. It is never shown.
	Secret    []byte
	CreatedAt time.Time
}

// Check rejects a client without a name or with a secret that is easy to guess.
func (c *RADIUSClient) Check() error {
	if err := checkText("name", c.Name, 1, maxUsageText); err != nil {
		return err
	}
	if !c.Network.IsValid() || c.Network != c.Network.Masked() {
		return Invalid("network", "a network is written as 10.1.0.0/16, not %q", c.Network)
	}
	if n := len(c.Secret); n < MinRADIUSSecret || n > MaxRADIUSSecret {
		return Invalid("secret", "a secret has %d to %d bytes, not %d", MinRADIUSSecret, MaxRADIUSSecret, n)
	}
	return nil
}

// RADIUSClients keeps the clients of companies.
type RADIUSClients interface {
	// Create adds a client. A name that is taken is Invalid.
	Create(ctx context.Context, scope Scope, client RADIUSClient) error
	// List returns the clients of the company by name, without their secrets.
	List(ctx context.Context, scope Scope) ([]*RADIUSClient, error)
	// Remove removes a client. What it reported stays.
	Remove(ctx context.Context, scope Scope, name string) error
}

// Accounting is what an accounting request states.
type Accounting struct {
	// NAS is the network element that reports, and At when it did.
	NAS string
	At  time.Time
	// Record is a cumulative record of a session, without its Source.
	Record UsageRecord
	// Restarted is set when the network element went up or down: its sessions ended.
	Restarted bool
	// Unusable is why the request cannot be booked; "" when it can. Such requests
	// are recorded and answered, since one that is not blocks its sender.
	Unusable string
	// Found quotes what could not be used; "" where nothing was there.
	Found string
}

// AccountingResult is what became of an accounting request.
type AccountingResult string

// The results of requests that were stored.
const (
	AccountingBooked      AccountingResult = "booked"
	AccountingNothingNew  AccountingResult = "nothing_new"
	AccountingQuarantined AccountingResult = "quarantined"
	AccountingRestarted   AccountingResult = "restarted"
	AccountingUnusable    AccountingResult = "unusable"
)

// Feed stores accounting requests.
type Feed interface {
	// Clients returns the clients of all companies with their secrets; beside an
	// error as far as they are known, and none where nothing could be read.
	Clients(ctx context.Context) ([]*RADIUSClient, error)
	// Account stores what a client sent; clients are those of the companies that
	// the request may belong to. An error means that nothing is known of it.
	Account(ctx context.Context, clients []*RADIUSClient, a Accounting) (AccountingResult, error)
	// Refuse counts a packet that is not answered, and does not wait.
	Refuse(of FeedRefusal)
	// Writable returns an error while requests cannot be stored.
	Writable(ctx context.Context) error
}

// between joins names to an id; no name holds it.
const between = "\x1f"

// FeedElement is a source of usage, or a network element below it.
type FeedElement struct {
	// NAS is "" for the source itself.
	Source, NAS string
	// CompleteUntil is the newest time that its reports speak of; nil before the first.
	CompleteUntil *time.Time
	// Packets are those of the network element, by what became of them.
	Packets []FeedPackets
}

const (
	// lateness is how old a report of a network element is that is late: it has waited on
	// its way, as in the buffer of a proxy.
	lateness = 5 * time.Minute
	// CatchUpPause is after how long without late reports a source has caught up.
	CatchUpPause = 10 * time.Minute
	// LongestCatchUp is how long a network element may catch up without a pause. One
	// whose reports are late for longer has a clock that is late.
	LongestCatchUp = 24 * time.Hour
)

// IsLate reports whether a cumulative record of a network element speaks of a time well
// before its arrival. Other sources may report of hours ago.
func IsLate(r *UsageRecord, arrived time.Time) bool {
	return r.Report != nil && r.Report.NAS != "" && arrived.Sub(r.EndedAt) > lateness
}

// FeedKey identifies a FeedElement in its company.
type FeedKey struct{ Source, NAS string }

// Key returns the identity.
func (e *FeedElement) Key() FeedKey { return FeedKey{e.Source, e.NAS} }

// ID identifies the element in its company.
func (e *FeedElement) ID() string { return e.Source + between + e.NAS }

// LastPacketAt is when the last packet came; nil for none.
func (e *FeedElement) LastPacketAt() *time.Time {
	var last *time.Time
	for i := range e.Packets {
		if at := &e.Packets[i].LastAt; last == nil || at.After(*last) {
			last = at
		}
	}
	return last
}

// FeedPackets are packets that had the same result. Instances count them, and store
// what they have counted from time to time.
type FeedPackets struct {
	Result  AccountingResult
	Packets int64
	LastAt  time.Time
}

// WaitingUsage is usage that waits for its subscriber.
type WaitingUsage struct {
	Source string
	// PhysicalID, IMSI and MSISDN are how the source names the subscriber; "" for what
	// it does not use.
	PhysicalID, IMSI, MSISDN string
	Records, Bytes           int64
	// FirstAt is when the oldest record began, LastAt when the newest ended.
	FirstAt, LastAt time.Time
}

// ID identifies the usage in its company.
func (w *WaitingUsage) ID() string {
	return strings.Join([]string{w.PhysicalID, w.IMSI, w.MSISDN, w.Source}, between)
}

// FeedState shows how the sources of a company fare. Restricted scopes see no
// rejects and no usage that waits: Forbidden.
type FeedState interface {
	// Elements returns the sources with their network elements, by their names.
	Elements(ctx context.Context, scope Scope, page Page) (Slice[*FeedElement], error)
	// FindElements returns the elements by their IDs, as do FindRejects and FindWaiting
	// theirs.
	FindElements(ctx context.Context, scope Scope, ids []string) (map[string]*FeedElement, error)
	CountElements(ctx context.Context, scope Scope) (int, error)
	// OpenSessions counts the open sessions of the subscribers that the scope shows.
	OpenSessions(ctx context.Context, scope Scope, of []FeedKey) (map[FeedKey]int, error)
	// IncompleteSessions counts those that may lack bytes.
	IncompleteSessions(ctx context.Context, scope Scope, of []FeedKey) (map[FeedKey]int, error)
	// Rejects returns why requests could not be used, the newest first.
	Rejects(ctx context.Context, scope Scope, page Page) (Slice[*FeedReject], error)
	FindRejects(ctx context.Context, scope Scope, ids []string) (map[string]*FeedReject, error)
	CountRejects(ctx context.Context, scope Scope) (int, error)
	// Waiting returns usage of subscribers that are not known, by their names.
	Waiting(ctx context.Context, scope Scope, page Page) (Slice[*WaitingUsage], error)
	FindWaiting(ctx context.Context, scope Scope, ids []string) (map[string]*WaitingUsage, error)
	CountWaiting(ctx context.Context, scope Scope) (int, error)
}

// FeedReject is a reason for which requests of a network element were unusable.
type FeedReject struct {
	Source, NAS, Reason string
	Requests            int64
	FirstAt, LastAt     time.Time
	// Example is the last of them, in words.
	Example string
}

// ID identifies the reason in its company.
func (r *FeedReject) ID() string { return strings.Join([]string{r.Source, r.NAS, r.Reason}, between) }
