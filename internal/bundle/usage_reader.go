package bundle

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"

	"simgraph/domain"
)

// UsageReader reads a stream of usage records as NDJSON: lines of the type
// usage, of which type and company may be left out.
type UsageReader struct{ lines *lines }

// UsageLine is a usage record of a stream. Company is "" when the line names
// none.
type UsageLine struct {
	// Line counts from 1.
	Line int
	// Bytes is how long the line is; 0 where it holds no record.
	Bytes   int
	Company string
	Record  domain.UsageRecord
}

// NewUsageReader returns a reader of the stream.
func NewUsageReader(r io.Reader) *UsageReader { return &UsageReader{newLines(r)} }

// Next returns the next record, or io.EOF after the last. After a *LineError
// the reader goes on with the next line; every other error ends it.
func (r *UsageReader) Next() (UsageLine, error) {
	text, err := r.lines.next()
	at := UsageLine{Line: r.lines.number}
	if errors.Is(err, errTooLong) {
		return at, &LineError{Line: at.Line, Type: Usage, Err: err}
	}
	if err != nil {
		return at, err
	}
	if err := at.decode(text); err != nil {
		return at, &LineError{Line: at.Line, Type: Usage, Err: err}
	}
	at.Bytes = len(text)
	return at, nil
}

func (l *UsageLine) decode(text []byte) error {
	r := usageRecord{Type: Usage, Company: new("")}
	if err := json.Unmarshal(text, &r, options); err != nil {
		return explain(err)
	}
	if r.Type != Usage {
		return domain.Invalid("type", "this takes usage only, not %q", clip(string(r.Type)))
	}
	item, err := r.item()
	if err != nil {
		return err
	}
	l.Company, l.Record = item.Company, item.Value.(domain.UsageRecord)
	return nil
}
