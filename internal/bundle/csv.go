package bundle

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strings"
	"unicode/utf8"

	"simgraph/domain"
	"simgraph/domain/query"
)

// csvColumns decodes lines of CSV by the names in the header.
type csvColumns struct {
	set []func(r *usageRecord, cell string) error
}

// csvFields puts a cell that is not empty into the record.
var csvFields = map[string]func(r *usageRecord, cell string) error{
	"type": func(_ *usageRecord, cell string) error {
		if Type(cell) != Usage {
			return domain.Invalid("type", "CSV holds lines of the type usage only, not %q", clip(cell))
		}
		return nil
	},
	"company":          text(func(r *usageRecord) **string { return &r.Company }),
	"source":           text(func(r *usageRecord) **string { return &r.Source }),
	"recordId":         text(func(r *usageRecord) **string { return &r.RecordID }),
	"physicalId":       text(func(r *usageRecord) **string { return &r.PhysicalID }),
	"sessionId":        text(func(r *usageRecord) **string { return &r.SessionID }),
	"sequence":         number("sequence", func(r *usageRecord) **int64 { return &r.Sequence }),
	"startedAt":        text(func(r *usageRecord) **string { return &r.StartedAt }),
	"endedAt":          text(func(r *usageRecord) **string { return &r.EndedAt }),
	"mobileOriginated": number("mobileOriginated", func(r *usageRecord) **int64 { return &r.MobileOriginated }),
	"mobileTerminated": number("mobileTerminated", func(r *usageRecord) **int64 { return &r.MobileTerminated }),
	"protocol":         text(func(r *usageRecord) **string { return &r.Protocol }),
	"ipAddress":        text(func(r *usageRecord) **string { return &r.IPAddress }),
	"counters":         text(func(r *usageRecord) **string { return &r.Counters }),
	"imsi":             text(func(r *usageRecord) **string { return &r.IMSI }),
	"msisdn":           text(func(r *usageRecord) **string { return &r.MSISDN }),
	"subscriberId":     text(func(r *usageRecord) **string { return &r.SubscriberID }),
	"event":            text(func(r *usageRecord) **string { return &r.Event }),
	"cause":            text(func(r *usageRecord) **string { return &r.Cause }),
	"apn":              text(func(r *usageRecord) **string { return &r.APN }),
	"ratType":          text(func(r *usageRecord) **string { return &r.RATType }),
	"imei":             text(func(r *usageRecord) **string { return &r.IMEI }),
	"visitedNetwork":   text(func(r *usageRecord) **string { return &r.VisitedNetwork }),
	"nas":              text(func(r *usageRecord) **string { return &r.NAS }),
}

// csvRequired are the columns without which no line could be read.
var csvRequired = []string{
	"company", "source", "startedAt", "endedAt", "mobileOriginated", "mobileTerminated",
}

func text(field func(*usageRecord) **string) func(*usageRecord, string) error {
	return func(r *usageRecord, cell string) error {
		*field(r) = &cell
		return nil
	}
}

func number(name string, field func(*usageRecord) **int64) func(*usageRecord, string) error {
	return func(r *usageRecord, cell string) error {
		n, ok := query.ParseInteger(cell, 64)
		if !ok {
			return domain.Invalid(name, "%s: a whole number of 64 bits is expected, not %q", name, clip(cell))
		}
		*field(r) = &n
		return nil
	}
}

// read takes the names of the columns from the header.
func (c *csvColumns) read(line []byte) error {
	names, err := cells(line)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, name := range names {
		name = strings.TrimSpace(name)
		set, known := csvFields[name]
		if !known {
			return domain.Invalid(name, "unknown column %q", clip(name))
		}
		if seen[name] {
			return domain.Invalid(name, "the column %q is there twice", name)
		}
		seen[name] = true
		c.set = append(c.set, set)
	}
	for _, name := range csvRequired {
		if !seen[name] {
			return domain.Invalid(name, "the column %q is missing in the header", name)
		}
	}
	if !seen["physicalId"] && !seen["imsi"] && !seen["msisdn"] && !seen["subscriberId"] {
		return domain.Invalid("physicalId", "one of the columns physicalId, imsi, msisdn and subscriberId is missing in the header")
	}
	return nil
}

func (c *csvColumns) decode(line []byte) (Item, error) {
	values, err := cells(line)
	if err != nil {
		return Item{Type: Usage}, err
	}
	if len(values) != len(c.set) {
		return Item{Type: Usage}, domain.Invalid("", "%d cells are expected, not %d", len(c.set), len(values))
	}
	r := usageRecord{Type: Usage}
	for i, cell := range values {
		if cell == "" {
			continue
		}
		if err := c.set[i](&r, cell); err != nil {
			return Item{Type: Usage}, err
		}
	}
	item, err := r.item()
	item.Type = Usage
	return item, err
}

// cells splits one line.
func cells(line []byte) ([]string, error) {
	if !utf8.Valid(line) {
		return nil, domain.Invalid("", "the line is not valid UTF-8")
	}
	r := csv.NewReader(bytes.NewReader(line))
	r.ReuseRecord = true
	values, err := r.Read()
	var bad *csv.ParseError
	if errors.As(err, &bad) {
		return nil, domain.Invalid("", "no valid CSV: %v at column %d", bad.Err, bad.Column)
	}
	return values, err
}
