package export

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"simgraph/domain"
)

// csvEncoder writes CSV by RFC 4180. The first record and the last begin with #.
type csvEncoder struct {
	*output
	columns []column
	// spreadsheet makes formulas of texts that begin with a digit, of which spreadsheets would
	// make numbers.
	spreadsheet bool
}

func (e *csvEncoder) begin(of header) error {
	until := "unknown"
	if of.CompleteUntil != nil {
		until = of.CompleteUntil.UTC().Format(time.RFC3339)
	}
	e.records("#"+of.Export, of.Name+" ("+of.Company+")", "time zone "+of.TimeZone, "times in UTC",
		"made "+of.MadeAt.UTC().Format(time.RFC3339), "usage complete until "+until)
	names := make([]string, len(e.columns))
	for i, c := range e.columns {
		names[i] = c.name
	}
	e.records(names...)
	return e.flush()
}

func (e *csvEncoder) records(texts ...string) {
	for i, text := range texts {
		if i > 0 {
			e.buffer = append(e.buffer, ',')
		}
		e.field(text)
	}
	e.buffer = append(e.buffer, '\r', '\n')
}

func (e *csvEncoder) row(cells []cell) error {
	for i := range e.columns {
		if i > 0 {
			e.buffer = append(e.buffer, ',')
		}
		if c := &cells[i]; !c.isNull {
			e.value(e.columns[i].kind, c)
		}
	}
	e.buffer = append(e.buffer, '\r', '\n')
	return e.flushWhenFull()
}

func (e *csvEncoder) value(of kind, c *cell) {
	switch of {
	case integer:
		e.buffer = strconv.AppendInt(e.buffer, c.number, 10)
	case boolean:
		e.buffer = strconv.AppendBool(e.buffer, c.number == 1)
	case moment:
		e.buffer = appendMoment(e.buffer, c.number)
	case texts:
		if len(c.list) > 0 {
			list, _ := json.Marshal(c.list) // texts always marshal
			e.field(string(list))
		}
	default:
		e.field(guarded(c.text, e.spreadsheet))
	}
}

// guarded keeps spreadsheets from running a text as a formula and, unless it is for others
// too, from taking one for a number.
func guarded(text string, spreadsheet bool) string {
	switch {
	case text == "":
	case domain.IsFormula(text):
		return "'" + text
	case spreadsheet && text[0] >= '0' && text[0] <= '9':
		return `="` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

// field writes a text, in quotes where it needs them.
func (e *csvEncoder) field(text string) {
	if !strings.ContainsAny(text, "\",\r\n") && strings.TrimSpace(text) == text {
		e.buffer = append(e.buffer, text...)
		return
	}
	e.buffer = append(e.buffer, '"')
	e.buffer = append(e.buffer, strings.ReplaceAll(text, `"`, `""`)...)
	e.buffer = append(e.buffer, '"')
}

func (e *csvEncoder) end(s Summary) error {
	e.records("#end", fmt.Sprintf("rows=%d", s.Rows), fmt.Sprintf("bytes=%d", s.Bytes), "sha256="+s.SHA256, "after="+s.After)
	return e.flush()
}
