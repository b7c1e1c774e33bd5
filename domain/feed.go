package domain

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"simgraph/domain/numbering"
	"simgraph/domain/query"
)

const (
	// MinRADIUSSecret is the shortest shared secret of a client, in bytes.
	MinRADIUSSecret = 12
	// MaxRADIUSSecret is the longest shared secret of a client of RADIUS, in bytes.
	MaxRADIUSSecret = 128
	// MaxRADIUSClients bounds the clients of RADIUS of a company.
	MaxRADIUSClients = 1000
	// DefaultProtocol stands for the network protocol of usage that is reported without
	// one, as by RADIUS.
	DefaultProtocol = "IP"
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
	// CountryCode is that of the company, as of last reading; "" for none.
	CountryCode string
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
	// DialledNumber is the MSISDN of the record as it was written, in digits, where it
	// may be a national number; "" where it cannot.
	DialledNumber string
	// FixedAddresses are addresses of the subscriber where the record does not name it: it
	// is the one that has the first of them that somebody has as its fixed address.
	FixedAddresses []string
	// Restarted is set when the network element went up or down: its sessions ended.
	Restarted bool
	// Unusable is why the request cannot be booked; "" when it can. Such requests
	// are recorded and answered, since one that is not blocks its sender.
	Unusable string
	// Found quotes what could not be used; "" where nothing was there.
	Found string
}

// In returns the request as a company in a country reads it, by its code: national numbers
// are those of the country. "" is none.
func (a Accounting) In(country string) Accounting {
	if a.DialledNumber != "" && country != "" {
		a.Record.MSISDN = numbering.MSISDN(country, a.DialledNumber)
	}
	return a
}

// NoFixedAddress is why a request that names its subscriber by its address alone cannot be
// used. It does not wait for a subscriber: others may get the address before.
const NoFixedAddress = "the framed address is the fixed address of no subscriber, and no other attribute names one"

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
	// LagSeconds is how far its reports lag behind what they speak of: the least of the
	// last hour or two. nil for the source itself, and before the first report.
	LagSeconds *int64
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
	// Elements returns the sources with their network elements, by their names unless the
	// listing has another order, as do Rejects and Waiting theirs.
	Elements(ctx context.Context, scope Scope, listing Listing) (Slice[*FeedElement], error)
	// FindElements returns the elements by their IDs, as do FindRejects and FindWaiting
	// theirs.
	FindElements(ctx context.Context, scope Scope, ids []string) (map[string]*FeedElement, error)
	CountElements(ctx context.Context, scope Scope, listing Listing) (int, error)
	// OpenSessions counts the open sessions of the subscribers that the scope shows.
	OpenSessions(ctx context.Context, scope Scope, of []FeedKey) (map[FeedKey]int, error)
	// IncompleteSessions counts those that may lack bytes.
	IncompleteSessions(ctx context.Context, scope Scope, of []FeedKey) (map[FeedKey]int, error)
	// Rejects returns why requests could not be used, the newest first.
	Rejects(ctx context.Context, scope Scope, listing Listing) (Slice[*FeedReject], error)
	FindRejects(ctx context.Context, scope Scope, ids []string) (map[string]*FeedReject, error)
	CountRejects(ctx context.Context, scope Scope, listing Listing) (int, error)
	// Waiting returns usage of subscribers that are not known, by their names.
	Waiting(ctx context.Context, scope Scope, listing Listing) (Slice[*WaitingUsage], error)
	FindWaiting(ctx context.Context, scope Scope, ids []string) (map[string]*WaitingUsage, error)
	CountWaiting(ctx context.Context, scope Scope, listing Listing) (int, error)
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

// FeedRefusal is a packet that was not answered, since nothing proves who sent it. What
// it states may be made up.
type FeedRefusal struct {
	// Address sent it.
	Address netip.Addr
	// NAS is the network element that it names; "" for none.
	NAS string
	// Clients are those of the address, all with another secret; none for an address
	// that no client has.
	Clients []*RADIUSClient
}

// The reasons of refusals among those of rejects.
const (
	UnknownAddress = "no client has this address"
	WrongSecret    = "the secret is not that of the client"
)

// MaxFeedRefusals bounds the refusals of RADIUS packets that are kept of a company: the newest.
const MaxFeedRefusals = 20

// AdmittingAddress is the command that makes an address a client. The name of the
// network element is a stranger's: what a shell would read is left out.
func AdmittingAddress(address netip.Addr, nas, company string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if isPlain(r) {
			return r
		}
		return '-'
	}, nas), "-.")
	if name == "" {
		name = "gateway"
	}
	return "simgraph radius client add " + name + " --network " + address.WithZone("").String() + " --company " + quoted(company)
}

// AdmittingSecret is the command that gives a client the secret of its sender.
func AdmittingSecret(client *RADIUSClient) string {
	of := quoted(client.Name)
	company := " --company " + quoted(client.Company)
	return "simgraph radius client remove " + of + company + " && simgraph radius client add " + of +
		" --network " + client.Network.String() + company + " --secret-file SECRET"
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
}

// quoted is a word of a shell.
func quoted(word string) string {
	if word != "" && !strings.HasPrefix(word, "-") && strings.IndexFunc(word, func(r rune) bool { return !isPlain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// FeedElementFields are what elements can be filtered and ordered by.
var FeedElementFields = query.NewFields(
	query.Field{Name: "source", Type: query.Text},
	query.Field{Name: "nas", Type: query.Text},
	query.Field{Name: "completeUntil", Type: query.Time},
	query.Field{Name: "lagSeconds", Type: query.Integer},
)

// FeedRejectFields are what rejects can be filtered and ordered by.
var FeedRejectFields = query.NewFields(
	query.Field{Name: "source", Type: query.Text},
	query.Field{Name: "nas", Type: query.Text},
	query.Field{Name: "reason", Type: query.Text},
	query.Field{Name: "requests", Type: query.Integer},
	query.Field{Name: "firstAt", Type: query.Time},
	query.Field{Name: "lastAt", Type: query.Time},
)

// WaitingFields are what usage that waits can be filtered and ordered by.
var WaitingFields = query.NewFields(
	query.Field{Name: "source", Type: query.Text},
	query.Field{Name: "physicalId", Type: query.Text},
	query.Field{Name: "imsi", Type: query.Text},
	query.Field{Name: "msisdn", Type: query.Text},
	query.Field{Name: "records", Type: query.Integer},
	query.Field{Name: "bytes", Type: query.Integer},
	query.Field{Name: "firstAt", Type: query.Time},
	query.Field{Name: "lastAt", Type: query.Time},
)
