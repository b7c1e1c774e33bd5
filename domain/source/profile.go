// Package source has the rules of sources: profiles, which say how the records of a sender
// are read, the addresses that senders post to, and what becomes of records that cannot be
// used.
package source

import (
	"slices"
	"time"

	"simgraph/domain"
)

// Format is how a sender writes records.
type Format string

// The formats.
const (
	// JSON is one document; Profile.Records leads to its array of records.
	JSON Format = "JSON"
	// NDJSON has a record a line.
	NDJSON Format = "NDJSON"
	// CSV has a header that names the columns, and a record a line.
	CSV Format = "CSV"
	// CloudEvents is an event, or a batch of them, in structured JSON.
	CloudEvents Format = "CLOUDEVENTS"
)

// Counters is what the bytes of a record count.
type Counters string

// The counters.
const (
	// Delta counts since the record before.
	Delta Counters = "DELTA"
	// Cumulative counts since the session began.
	Cumulative Counters = "CUMULATIVE"
	// DayTotal counts since the day began, in the time zone of the profile.
	DayTotal Counters = "DAY_TOTAL"
)

// Unit is what one of a volume is.
type Unit string

// The units.
const (
	Bytes         Unit = "BYTES"
	KiloBytes     Unit = "KB"
	KibiBytes     Unit = "KIB"
	MegaBytes     Unit = "MB"
	MebiBytes     Unit = "MIB"
	megabyte           = 1_000_000
	mebibyte           = 1 << 20
	kilobyte           = 1000
	kibibyte           = 1 << 10
	maxExpression      = 1000
	maxFormats         = 8
	maxFields          = 40
)

// Of returns how many bytes one of the unit has.
func (u Unit) Of() float64 {
	switch u {
	case KiloBytes:
		return kilobyte
	case KibiBytes:
		return kibibyte
	case MegaBytes:
		return megabyte
	case MebiBytes:
		return mebibyte
	}
	return 1
}

// Direction is the one that a volume without direction counts for.
type Direction string

// The directions.
const (
	Originated Direction = "MOBILE_ORIGINATED"
	Terminated Direction = "MOBILE_TERMINATED"
)

// Field is what a usage record has.
type Field string

// The fields that a profile gives expressions for. Volume is without direction, Day the
// day of a DayTotal.
const (
	PhysicalID       Field = "PHYSICAL_ID"
	IMSI             Field = "IMSI"
	MSISDN           Field = "MSISDN"
	SubscriberID     Field = "SUBSCRIBER_ID"
	RecordID         Field = "RECORD_ID"
	SessionID        Field = "SESSION_ID"
	Event            Field = "EVENT"
	Cause            Field = "CAUSE"
	StartedAt        Field = "STARTED_AT"
	EndedAt          Field = "ENDED_AT"
	Day              Field = "DAY"
	MobileOriginated Field = "MOBILE_ORIGINATED"
	MobileTerminated Field = "MOBILE_TERMINATED"
	Volume           Field = "VOLUME"
	Protocol         Field = "PROTOCOL"
	IPAddress        Field = "IP_ADDRESS"
	APN              Field = "APN"
	RATType          Field = "RAT_TYPE"
	IMEI             Field = "IMEI"
	VisitedNetwork   Field = "VISITED_NETWORK"
	NAS              Field = "NAS"
)

// Fields are all of them.
var Fields = []Field{
	PhysicalID, IMSI, MSISDN, SubscriberID, RecordID, SessionID, Event, Cause, StartedAt, EndedAt, Day, MobileOriginated, MobileTerminated,
	Volume, Protocol, IPAddress, APN, RATType, IMEI, VisitedNetwork, NAS,
}

// FieldExpression is the CEL expression of a field; the record is the variable r.
type FieldExpression struct {
	Field      Field  `json:"field"`
	Expression string `json:"expression"`
}

// Profile describes how the records of a sender are read.
type Profile struct {
	// Name is unique in the company; a profile of the company hides a ready one.
	Name string `json:"name"`
	// Description says for whom it is; it may be "".
	Description string `json:"description,omitempty"`
	Format      Format `json:"format"`
	// Records leads to the array of records of a JSON document: names with dots between,
	// "" for the document itself.
	Records string `json:"records,omitempty"`
	// Delimiter stands between cells of CSV; "" for a comma.
	Delimiter string            `json:"delimiter,omitempty"`
	Fields    []FieldExpression `json:"fields"`
	// Skip is true of records that are not usage, such as SMS; "" for none.
	Skip      string    `json:"skip,omitempty"`
	Counters  Counters  `json:"counters"`
	Unit      Unit      `json:"unit"`
	Direction Direction `json:"direction"`
	// TimeZone is that of times without one, and of days.
	TimeZone string `json:"timeZone"`
	// DateFormats are written like yyyy-MM-dd HH:mm:ss, or unix or unixMillis; RFC 3339
	// is always understood.
	DateFormats []string `json:"dateFormats,omitempty"`

	// Version counts the changes of a profile of the company; 0 is a ready one.
	Version int `json:"-"`
	// ChangedAt is when the version was saved; nil for a ready one.
	ChangedAt *time.Time `json:"-"`
}

// IsReady reports whether the profile came with the program.
func (p *Profile) IsReady() bool { return p.Version == 0 }

// WithDefaults fills what was left out.
func (p Profile) WithDefaults() Profile {
	if p.Counters == "" {
		p.Counters = Delta
	}
	if p.Unit == "" {
		p.Unit = Bytes
	}
	if p.Direction == "" {
		p.Direction = Terminated
	}
	if p.TimeZone == "" {
		p.TimeZone = "UTC"
	}
	return p
}

// Check refuses a profile that breaks a rule of its fields. Expressions are compiled by
// Compiler.
func (p *Profile) Check() error {
	if err := domain.CheckName("name", p.Name); err != nil {
		return err
	}
	for _, text := range []struct {
		field, value string
		most         int
	}{{"description", p.Description, maxExpression}, {"records", p.Records, domain.MaxName}, {"skip", p.Skip, maxExpression}} {
		if len(text.value) > text.most {
			return domain.Invalid(text.field, "%s has at most %d bytes", text.field, text.most)
		}
	}
	for _, choice := range []struct {
		field, value string
		known        bool
	}{
		{"format", string(p.Format), slices.Contains([]Format{JSON, NDJSON, CSV, CloudEvents}, p.Format)},
		{"counters", string(p.Counters), slices.Contains([]Counters{Delta, Cumulative, DayTotal}, p.Counters)},
		{"unit", string(p.Unit), slices.Contains([]Unit{Bytes, KiloBytes, KibiBytes, MegaBytes, MebiBytes}, p.Unit)},
		{"direction", string(p.Direction), slices.Contains([]Direction{Originated, Terminated}, p.Direction)},
	} {
		if !choice.known {
			return domain.Invalid(choice.field, "there is no %s %.40q", choice.field, choice.value)
		}
	}
	if _, err := domain.NewBilling(1, p.TimeZone); err != nil {
		return err
	}
	if p.Delimiter != "" && (len(p.Delimiter) != 1 || p.Delimiter == `"` || p.Delimiter == "\n" || p.Delimiter == "\r") {
		return domain.Invalid("delimiter", "delimiter must be one character such as ;")
	}
	if len(p.DateFormats) > maxFormats {
		return domain.Invalid("dateFormats", "a profile has at most %d date formats", maxFormats)
	}
	return p.checkFields()
}

func (p *Profile) checkFields() error {
	has := map[Field]bool{}
	if len(p.Fields) > maxFields {
		return domain.Invalid("fields", "a profile has at most %d fields", maxFields)
	}
	for i, f := range p.Fields {
		at := domain.Item("fields", i)
		switch {
		case !slices.Contains(Fields, f.Field):
			return domain.At(at, domain.Invalid("fields", "there is no field %.40q", string(f.Field)))
		case has[f.Field]:
			return domain.At(at, domain.Invalid("fields", "%s has two expressions", f.Field))
		case f.Expression == "" || len(f.Expression) > maxExpression:
			return domain.At(at, domain.Invalid("fields", "the expression of %s must have 1 to %d bytes", f.Field, maxExpression))
		}
		has[f.Field] = true
	}
	switch {
	case !has[PhysicalID] && !has[IMSI] && !has[MSISDN] && !has[SubscriberID]:
		return domain.Invalid("fields", "one of PHYSICAL_ID, IMSI, MSISDN and SUBSCRIBER_ID needs an expression")
	case !has[MobileOriginated] && !has[MobileTerminated] && !has[Volume]:
		return domain.Invalid("fields", "one of MOBILE_ORIGINATED, MOBILE_TERMINATED and VOLUME needs an expression")
	case has[Volume] && (has[MobileOriginated] || has[MobileTerminated]):
		return domain.Invalid("fields", "VOLUME has no direction: it does not go with MOBILE_ORIGINATED and MOBILE_TERMINATED")
	case p.Counters == DayTotal && (!has[Day] || has[SessionID] || has[StartedAt] || has[EndedAt]):
		return domain.Invalid("fields", "with DAY_TOTAL, DAY is needed, and SESSION_ID, STARTED_AT and ENDED_AT follow from it")
	case p.Counters != DayTotal && has[Day]:
		return domain.Invalid("fields", "DAY goes with DAY_TOTAL only")
	case p.Counters != DayTotal && !has[EndedAt] && !has[StartedAt]:
		return domain.Invalid("fields", "one of STARTED_AT and ENDED_AT needs an expression")
	case p.Counters == Cumulative && !has[SessionID]:
		return domain.Invalid("fields", "with CUMULATIVE, SESSION_ID is needed")
	}
	return nil
}
