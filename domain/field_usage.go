package domain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"simgraph/domain/query"
)

// UsedFields are the coordinates of the schema that the text of an operation uses.
type UsedFields struct {
	// Operation is the name of the operation, else the SHA-256 of its document.
	Operation string
	// Coordinates are in order, each once, such as Query.subscribers,
	// Query.subscribers(filter:), SubscriberFilter.nickname or AlertRuleType.SIM. Types that
	// the text names are among them.
	Coordinates []string
}

// SetID is a hash of coordinates that are in order.
func SetID(coordinates []string) string {
	sum := sha256.Sum256([]byte(strings.Join(coordinates, " ")))
	return hex.EncodeToString(sum[:16])
}

// MaxClientText bounds the name and the version of a client, and the name of an operation,
// as they are counted, in characters.
const MaxClientText = 100

// OtherClients is the client that is counted for when a company has too many in a day.
const OtherClients = "others"

// unnamedClient has neither a name nor an access key.
const unnamedClient = "unnamed"

// ClientOf returns what an operation of the caller is counted for: what the client calls
// itself, else its access key. What the server sends to itself for a path, a tool or
// numbers of the fleet has the name of the endpoint.
func ClientOf(caller *Caller, door, name, version string) (string, string) {
	if endpoint, _, _ := strings.Cut(door, " "); endpoint != "graphql" && endpoint != "" {
		return "simgraph " + endpoint, "" // the version is that of the server
	}
	if name = CountedText(name); name != "" {
		return name, CountedText(version)
	}
	if caller.AccessKeyID != "" {
		return "key " + caller.AccessKeyID, ""
	}
	return unnamedClient, ""
}

// CountedText is a text of a client as it is counted: what can be printed, cut to
// MaxClientText.
func CountedText(text string) string {
	plain := len(text) <= MaxClientText
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= ' ' && text[i] < utf8.RuneSelf-1
	}
	if plain {
		return strings.TrimSpace(text)
	}
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), utf8.UTFMax*MaxClientText)], "")))
	return strings.TrimSpace(string(runes[:min(len(runes), MaxClientText)]))
}

// FieldUse is how often operations of a client used a coordinate of the schema.
type FieldUse struct {
	Coordinate, Client, Version, Operation string
	// Uses are operations that ran: one counts once, however often it names the coordinate.
	Uses int64
	// FirstDay and LastDay are the beginnings of days (UTC).
	FirstDay, LastDay time.Time
}

// FieldUsage is how often operations of a client used a coordinate of the schema in a day.
type FieldUsage struct {
	// Day is its beginning (UTC).
	Day                time.Time
	Coordinate, Client string
	Uses               int64
}

// ID identifies the count in its company.
func (u *FieldUsage) ID() string {
	return strings.Join([]string{u.Day.Format(time.DateOnly), u.Coordinate, u.Client}, between)
}

// FieldUsageTotal sums counts of a coordinate up.
type FieldUsageTotal struct {
	Coordinate string
	Uses       int64
	// Clients is how many have used it.
	Clients           int
	FirstDay, LastDay time.Time
}

// FieldUsageFields are what counts can be filtered and ordered by.
var FieldUsageFields = query.NewFields(
	query.Field{Name: "day", Type: query.Time},
	query.Field{Name: "coordinate", Type: query.Text},
	query.Field{Name: "client", Type: query.Text},
	query.Field{Name: "uses", Type: query.Integer},
)

// FieldUsages lists what clients use of the schema. Restricted scopes are Forbidden.
type FieldUsages interface {
	// List lists counts, the latest day first unless the listing has another order.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[*FieldUsage], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// FindMany returns counts by FieldUsage.ID; one that is not there is missing.
	FindMany(ctx context.Context, scope Scope, ids []string) (map[string]*FieldUsage, error)
	// Totals sums the counts up that fit, nil for all, by coordinate: the most used first, at
	// most so many.
	Totals(ctx context.Context, scope Scope, filter query.Expr, most int) ([]*FieldUsageTotal, error)
}
