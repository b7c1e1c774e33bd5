package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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
