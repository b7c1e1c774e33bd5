package bundle

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"

	"simgraph/domain"
)

// Reader reads the lines of a bundle.
type Reader struct {
	lines  *lines
	decode func(line []byte) (Item, error)
	// header is nil once it was read, and where there is none.
	header func(line []byte) error
}

// LineError is an error that concerns one line alone.
type LineError struct {
	// Line counts from 1.
	Line int
	// Type is "" when the line has none.
	Type Type
	Err  error
}

func (b *LineError) Error() string { return b.Err.Error() }

// Unwrap returns what is wrong with the line.
func (b *LineError) Unwrap() error { return b.Err }

// NewReader returns a reader of NDJSON.
func NewReader(r io.Reader) *Reader { return &Reader{lines: newLines(r), decode: decodeJSON} }

// NewCSVReader returns a reader of usage as CSV. The first line names the
// columns, as the fields are called in NDJSON; an empty cell is null. Texts may
// be quoted, but do not reach over lines.
func NewCSVReader(r io.Reader) *Reader {
	var c csvColumns
	return &Reader{lines: newLines(r), decode: c.decode, header: c.read}
}

// Line returns the number of the line that Next read last.
func (r *Reader) Line() int { return r.lines.number }

// Bytes returns how much of the stream was read.
func (r *Reader) Bytes() int64 { return r.lines.bytes }

// Next returns the next item, or io.EOF after the last. After a *LineError the
// reader goes on with the next line; every other error ends it.
func (r *Reader) Next() (Item, error) {
	line, err := r.lines.next()
	if errors.Is(err, errTooLong) {
		return Item{}, &LineError{Line: r.Line(), Err: err}
	}
	if err != nil {
		return Item{}, err
	}
	if header := r.header; header != nil {
		r.header = nil
		if err := header(line); err != nil {
			return Item{}, domain.Invalid("", "line %d: %v", r.Line(), err)
		}
		return r.Next()
	}
	item, err := r.decode(line)
	if err != nil {
		return Item{}, &LineError{Line: r.Line(), Type: item.Type, Err: err}
	}
	return item, nil
}

// record is a line as JSON writes it.
type record interface{ item() (Item, error) }

// decodeJSON reads a line. On an error the item has the type where that could be read.
func decodeJSON(line []byte) (Item, error) {
	var head struct {
		Type *Type `json:"type"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return Item{}, explain(err)
	}
	if head.Type == nil {
		return Item{}, domain.Invalid("type", "type is missing")
	}
	d, known := declared(*head.Type)
	if !known {
		return Item{}, domain.Invalid("type", "unknown type %q", clip(string(*head.Type)))
	}
	r := d.newRecord()
	if err := json.Unmarshal(line, r, options); err != nil {
		return Item{Type: *head.Type}, explain(err)
	}
	item, err := r.item()
	item.Type = *head.Type
	return item, err
}
