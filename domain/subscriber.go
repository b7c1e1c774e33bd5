package domain

import (
	"context"
	"slices"
	"time"

	"simgraph/domain/query"
)

// Kind is how a subscriber reaches the network, and so what its identifiers
// are (spec §1): ICCID and MSISDN, device EUI twice, or IMEI and subscription ID.
type Kind string

// The kinds of subscribers.
const (
	Cellular  Kind = "cellular"
	NonIP     Kind = "non-ip"
	Satellite Kind = "satellite"
)

// Kinds are all of them.
var Kinds = []Kind{Cellular, NonIP, Satellite}

// SubscriberType distinguishes a physical SIM or device from a virtual profile.
type SubscriberType string

// The types of subscribers.
const (
	Physical SubscriberType = "physical"
	Virtual  SubscriberType = "virtual"
)

// SubscriberTypes are all of them.
var SubscriberTypes = []SubscriberType{Physical, Virtual}

// Subscriber is a device or profile that is subscribed to the network (spec §2.1).
type Subscriber struct {
	// Key is the internal number; it never leaves the process.
	Key  int64
	Kind Kind
	// PhysicalID is the ICCID, device EUI or IMEI: the public identity.
	PhysicalID string
	// SubscriberID is the MSISDN, device EUI or subscription ID.
	SubscriberID string
	// DataNumber is the circuit switched data number; nil where none is used.
	DataNumber *string
	// IMSI is "" for what has none.
	IMSI string
	// FixedIPAddress is as NewFixedIPAddress returns it; nil for none.
	FixedIPAddress *string
	Nickname       string
	OperatorCode   string
	OperatorName   string
	// TariffName, LineRental (pence) and ContractLength (months) are nil when
	// the caller's group hides tariff details.
	TariffName     *string
	LineRental     *int
	ContractLength *int
	ConnectionDate time.Time
	ExpiryDate     time.Time
	// TerminateDate is nil while the contract runs.
	TerminateDate  *time.Time
	IsBarred       bool
	IsActive       bool
	IsTransferring bool
	IsOnline       bool
	SubscriberType SubscriberType
	// GroupID is nil for a subscriber in no group.
	GroupID *int64
	// EID is present for an eUICC, SMDPProvider for an eUICC or eSIM profile.
	EID          *string
	SMDPProvider *string
	// ParentKey, ParentPhysicalID and IsEnabledOnParent are present for a
	// profile that is attached to an eUICC.
	ParentKey         *int64
	ParentPhysicalID  *string
	IsEnabledOnParent *bool
	// LastSeenAt is the end of its last usage or the last report of a session; nil for
	// one that was never seen.
	LastSeenAt *time.Time
	// Relations are what was read together with the subscriber.
	Relations Relations
}

// Version changes with what can be edited.
func (s *Subscriber) Version() string {
	return VersionOf(s.Kind, s.SubscriberID, s.DataNumber, s.IMSI, s.FixedIPAddress, s.Nickname, s.OperatorCode, s.TariffName, s.ContractLength,
		s.ConnectionDate.UTC(), s.ExpiryDate.UTC(), utc(s.TerminateDate), s.IsActive, s.SubscriberType, s.EID, s.SMDPProvider, s.ParentPhysicalID, s.IsEnabledOnParent)
}

// VersionFor is the version of what the scope shows of a whole record.
func (s *Subscriber) VersionFor(scope Scope) string {
	shown := *s
	if s.GroupID != nil && slices.Contains(scope.Masked, *s.GroupID) {
		shown.TariffName, shown.ContractLength = nil, nil
	}
	return shown.Version()
}

func utc(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	return new(at.UTC())
}

// Relations are what belongs to a subscriber, where a store read it in the same
// statement.
type Relations struct {
	// Loaded are those of FieldGroup, FieldTariff, FieldTags, FieldDataUsage and
	// FieldWithoutProfiles that were read. The fields of the others are zero.
	Loaded FieldSet
	// Group is nil for a subscriber in no group.
	Group *Group
	// Tariff is nil when the caller's group hides tariff details.
	Tariff *Tariff
	// Tags are the first MaxLimit tags, ordered by name.
	Tags []TagName
	// DataUsage is the usage of the billing period in bytes.
	DataUsage int64
	// WithoutProfiles is true when no profile is attached to the subscriber.
	WithoutProfiles bool
}

// TagsOn returns the part of the tags, and false where it was not read.
func (r Relations) TagsOn(page Page) ([]TagName, bool) {
	end := page.Offset + page.Limit
	if !r.Loaded.Has(FieldTags) || len(r.Tags) == MaxLimit && end > MaxLimit {
		return nil, false
	}
	return r.Tags[min(page.Offset, len(r.Tags)):min(end, len(r.Tags))], true
}

// FleetCounts are the numbers of subscribers in each state.
type FleetCounts struct{ Total, Active, Barred, Online, Transferring int }

// Subscribers keeps the subscribers. Methods that name one return NotFound
// when the scope shows none such. Those that return some fill at least the given
// fields.
type Subscribers interface {
	Find(ctx context.Context, scope Scope, physicalID string, read Projection) (*Subscriber, error)
	// FindMany answers for a batch at once, keyed by physical id; what the
	// scope does not show is missing from the map.
	FindMany(ctx context.Context, scope Scope, physicalIDs []string, read Projection) (map[string]*Subscriber, error)
	// OfKeys is FindMany by internal keys.
	OfKeys(ctx context.Context, scope Scope, keys []int64, read Projection) (map[int64]*Subscriber, error)
	List(ctx context.Context, scope Scope, listing Listing) (Slice[*Subscriber], error)
	// Count returns how many subscribers a listing's filter leaves.
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// OfGroups lists the same part of the subscribers of each group, in one
	// statement, keyed by group id.
	OfGroups(ctx context.Context, scope Scope, groups []int64, listing Listing) (map[int64]Slice[*Subscriber], error)
	// OfTags is OfGroups for tags.
	OfTags(ctx context.Context, scope Scope, tags []TagName, listing Listing) (map[TagName]Slice[*Subscriber], error)
	// CountOfGroups counts what OfGroups lists from, keyed by group id; a group
	// without such subscribers is missing from the map.
	CountOfGroups(ctx context.Context, scope Scope, groups []int64, listing Listing) (map[int64]int, error)
	// CountOfTags is CountOfGroups for tags.
	CountOfTags(ctx context.Context, scope Scope, tags []TagName, listing Listing) (map[TagName]int, error)
	// ProfilesOf returns the profiles attached to each eUICC, ordered by
	// physical id, at most MaxLimit each, keyed by the parent's key.
	ProfilesOf(ctx context.Context, scope Scope, parents []int64, read Projection) (map[int64][]*Subscriber, error)
	// Fleet counts the subscribers in each state.
	Fleet(ctx context.Context, scope Scope) (FleetCounts, error)
	// EditNickname changes one nickname and returns the subscriber as it is then.
	EditNickname(ctx context.Context, scope Scope, physicalID, nickname string) (*Subscriber, error)
}

// SubscriberFields are what lists of subscribers can be filtered and ordered
// by (spec §4.4: "filtered by any field"), under their public names.
var SubscriberFields = query.NewFields(
	query.Field{Name: "physicalId", Type: query.Text},
	query.Field{Name: "subscriberId", Type: query.Text},
	query.Field{Name: "dataNumber", Type: query.Text},
	query.Field{Name: "imsi", Type: query.Text},
	query.Field{Name: "fixedIpAddress", Type: query.Text},
	query.Field{Name: "nickname", Type: query.Text, NFC: true},
	query.Field{Name: "operatorName", Type: query.Text},
	query.Field{Name: "operatorCode", Type: query.Text},
	query.Field{Name: "tariffName", Type: query.Text, Aliases: []string{"tariff"}},
	query.Field{Name: "lineRental", Type: query.Integer},
	query.Field{Name: "connectionDate", Type: query.Time},
	query.Field{Name: "expiryDate", Type: query.Time},
	query.Field{Name: "contractLength", Type: query.Integer},
	query.Field{Name: "isBarred", Type: query.Boolean},
	query.Field{Name: "isActive", Type: query.Boolean},
	query.Field{Name: "terminateDate", Type: query.Time, Aliases: []string{"terminationDate"}},
	query.Field{Name: "groupId", Type: query.Integer},
	query.Enumerated("subscriberType", SubscriberTypes),
	query.Enumerated("kind", Kinds),
	query.Field{Name: "networkState.isTransferring", Type: query.Boolean},
	query.Field{Name: "networkState.isOnline", Type: query.Boolean},
	query.Field{Name: "eid", Type: query.Text},
	query.Field{Name: "dataUsage", Type: query.Integer},
	query.Field{Name: "smdpProvider", Type: query.Text},
	query.Field{Name: "lastSeenAt", Type: query.Time},
	query.Field{Name: "related.parent.physicalId", Type: query.Text},
	query.Field{Name: "related.parent.isEnabledOnParent", Type: query.Boolean},
	query.Field{Name: "related.profiles.physicalId", Type: query.Set},
	query.Field{Name: "tags", Type: query.Set, NFC: true},
)
