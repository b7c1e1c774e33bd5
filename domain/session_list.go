package domain

import (
	"context"
	_ "embed" // of countries.txt
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"simgraph/domain/query"
)

// ID identifies the session within the company.
func (s *Session) ID() string {
	return hex.EncodeToString(s.Identity[:]) + "-" + strconv.Itoa(s.Generation)
}

// ParseSessionID returns the two parts of an ID; false for a text that is none.
func ParseSessionID(id string) (identity SessionIdentity, generation int, ok bool) {
	text, number, _ := strings.Cut(id, "-")
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(identity) {
		return identity, 0, false
	}
	n, err := strconv.ParseInt(number, 10, 32)
	return SessionIdentity(raw), int(n), err == nil && n >= 0
}

// Country is a country or territory of the world.
type Country struct {
	// Code is that of ISO 3166-1, such as GB, and XK for Kosovo.
	Code, Name string
}

// countryLines are the mobile country codes that ITU-T E.212 assigns to countries.
//
//go:embed countries.txt
var countryLines string

// countries are by their mobile country codes.
var countries = sync.OnceValue(func() map[string]*Country {
	known := map[string]*Country{}
	for line := range strings.Lines(countryLines) {
		mcc, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		code, name, _ := strings.Cut(rest, " ")
		known[mcc] = &Country{code, name}
	}
	return known
})

// countriesByCode are the same by their codes.
var countriesByCode = sync.OnceValue(func() map[string]*Country {
	known := map[string]*Country{}
	for _, country := range countries() {
		known[country.Code] = country
	}
	return known
})

// mccSize is the size of a mobile country code.
const mccSize = 3

// CountryOf returns the country of a network, by the mobile country code that it
// begins with; nil where that is no country's.
func CountryOf(network string) *Country {
	if len(network) < mccSize {
		return nil
	}
	return countries()[network[:mccSize]]
}

// MobileCountries returns the mobile country codes with the code and the name of the country of
// each, in the order of the former.
func MobileCountries() (mccs, codes, names []string) {
	for _, mcc := range slices.Sorted(maps.Keys(countries())) {
		country := countries()[mcc]
		mccs, codes, names = append(mccs, mcc), append(codes, country.Code), append(names, country.Name)
	}
	return mccs, codes, names
}

// SessionFields are what lists of sessions can be filtered and ordered by.
var SessionFields = query.NewFields(
	query.Field{Name: "isOpen", Type: query.Boolean, Doc: "Open, or ended."},
	query.Field{Name: "isTransferring", Type: query.Boolean},
	query.Field{Name: "isIncomplete", Type: query.Boolean},
	query.Field{Name: "physicalId", Type: query.Text, Doc: "The physicalId of the subscriber; null while that is not known."},
	query.Field{Name: "source", Type: query.Text},
	query.Field{Name: "nas", Type: query.Text},
	query.Field{Name: "sessionId", Type: query.Text},
	query.Field{Name: "beganAt", Type: query.Time},
	query.Field{Name: "reportedAt", Type: query.Time},
	query.Field{Name: "endedAt", Type: query.Time},
	query.Field{Name: "cause", Type: query.Text},
	query.Field{Name: "apn", Type: query.Text},
	query.Field{Name: "ratType", Type: query.Text},
	query.Field{Name: "imei", Type: query.Text},
	query.Field{Name: "visitedNetwork", Type: query.Text, Doc: "MCC and MNC of the visited network: ge 234 and lt 235 is all of an MCC."},
	query.Field{Name: "cell", Type: query.Text, Doc: "The cell, by its code: ge \"ECGI 23415 4660\" and lt \"ECGI 23415 4661\" is a tracking area."},
	query.Field{Name: "total", Type: query.Integer},
)

// SessionOrder is the order of sessions when none is requested: newest first.
func SessionOrder() []query.Order {
	began, _ := SessionFields.Find("beganAt")
	return []query.Order{{Field: began, Desc: true}}
}

// Sessions reads the sessions that were reported by counters. A restricted scope
// shows those of the subscribers that it shows.
type Sessions interface {
	// List returns sessions, by SessionOrder unless the listing has another order.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[*Session], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// FindMany returns the sessions by their IDs, without those that the scope does
	// not show and what is no ID.
	FindMany(ctx context.Context, scope Scope, ids []string) (map[string]*Session, error)
	// OfSubscribers returns what List does of each subscriber, by its key.
	OfSubscribers(ctx context.Context, scope Scope, subscribers []int64, listing Listing) (map[int64]Slice[*Session], error)
	// CountOfSubscribers counts the sessions of each subscriber, by its key; one without
	// sessions is missing from the map.
	CountOfSubscribers(ctx context.Context, scope Scope, subscribers []int64, listing Listing) (map[int64]int, error)
	// LastSeen returns when a session of each subscriber was reported last, by its key;
	// one of which none was is missing from the map.
	LastSeen(ctx context.Context, scope Scope, subscribers []int64) (map[int64]time.Time, error)
}

// SessionImport is a session as a bundle holds it.
type SessionImport struct {
	Session
	// Subscriber is the physicalId of its subscriber; "" as long as that is not known.
	Subscriber string
	// Names are those beside its identity that reports know it by.
	Names []SessionIdentity
}

// maxSessionNames bounds the names of a session of a bundle.
const maxSessionNames = 256

// Identify returns the identity of the session, which follows from its names.
func (s *SessionImport) Identify() SessionIdentity {
	r := UsageRecord{PhysicalID: s.PhysicalID, IMSI: s.IMSI, MSISDN: s.MSISDN}
	return IdentifySession(s.Source, r.Subscriber(), s.SessionID)
}

// maxGeneration is more than network elements lose their counters.
const maxGeneration = 1_000_000

// Check refuses an impossible session.
func (s *SessionImport) Check() error {
	named := UsageRecord{
		Source: s.Source, PhysicalID: s.PhysicalID, IMSI: s.IMSI, MSISDN: s.MSISDN, SessionID: s.SessionID, Protocol: DefaultProtocol,
		MobileOriginated: s.MobileOriginated, MobileTerminated: s.MobileTerminated, Report: &SessionReport{},
	}
	if err := named.checkTexts(); err != nil {
		return err
	}
	if err := named.checkNumbers(); err != nil {
		return err
	}
	for _, text := range []struct{ name, of string }{
		{"nas", s.NAS}, {"imsi", s.IMSI}, {"msisdn", s.MSISDN}, {"cause", s.Cause}, {"apn", s.APN}, {"imei", s.IMEI}, {"ratType", s.RATType},
		{"visitedNetwork", s.VisitedNetwork}, {"chargingId", s.ChargingID},
	} {
		if err := checkText(text.name, text.of, 0, maxUsageText); err != nil {
			return err
		}
	}
	for _, source := range s.OtherSources {
		if err := checkText("otherSources", source, 1, maxUsageText); err != nil {
			return err
		}
	}
	if s.Cell != "" {
		if _, err := ParseRadioCell(s.Cell); err != nil {
			return err
		}
	}
	return s.checkCourse()
}

func (s *SessionImport) checkCourse() error {
	const most = 1<<31 - 1
	switch {
	case s.SessionID == "":
		return Invalid("sessionId", "a session needs a sessionId")
	case s.Generation < 0 || s.Generation > maxGeneration:
		return Invalid("generation", "generation must be 0 to %d, not %d", maxGeneration, s.Generation)
	case s.AsOf.Before(s.BeganAt):
		return Invalid("asOf", "asOf is before beganAt")
	case s.Reports < 1:
		return Invalid("reports", "a session has at least one report, not %d", s.Reports)
	case s.Counter.Booked < 0 || s.Counter.Booked > most:
		return Invalid("records", "records must be 0 to %d, not %d", most, s.Counter.Booked)
	case s.IntervalSeconds < 0 || s.IntervalSeconds > most:
		return Invalid("intervalSeconds", "intervalSeconds must be 0 to %d, not %d", most, s.IntervalSeconds)
	case len(s.OtherSources) > maxOtherSources:
		return Invalid("otherSources", "otherSources has at most %d sources, not %d", maxOtherSources, len(s.OtherSources))
	case len(s.Names) > maxSessionNames:
		return Invalid("names", "names has at most %d names, not %d", maxSessionNames, len(s.Names))
	case s.SessionTime < 0:
		return Invalid("sessionSeconds", "sessionSeconds must be 0 or more, not %d", s.SessionTime/time.Second)
	case s.Counter.Dating < DatingConfirmed || s.Counter.Dating > DatingArrival:
		return Invalid("dating", "dating must be %d to %d, not %d", DatingConfirmed, DatingArrival, s.Counter.Dating)
	case s.EndedAt != nil && s.EndedAt.Before(s.BeganAt):
		return Invalid("endedAt", "endedAt is before beganAt")
	}
	if s.Subscriber == "" {
		return nil
	}
	return CheckPhysicalID(s.Subscriber)
}
