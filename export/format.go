package export

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"time"
)

// The formats.
const (
	CSV     = "csv"
	NDJSON  = "ndjson"
	Parquet = "parquet"
)

// Formats are all, the first one is the default.
var Formats = []string{CSV, NDJSON, Parquet}

// MediaTypes are those of the formats.
var MediaTypes = map[string]string{
	CSV: "text/csv; charset=utf-8; header=present", NDJSON: "application/x-ndjson", Parquet: "application/vnd.apache.parquet",
}

// header is what a file says about itself.
type header struct {
	Export   string `json:"export"`
	Company  string `json:"company"`
	Name     string `json:"name"`
	TimeZone string `json:"timeZone"`
	// MadeAt is when the snapshot was made.
	MadeAt time.Time `json:"madeAt"`
	// CompleteUntil is up to when usage is known; nil where no source reports, or where the
	// caller may not see it.
	CompleteUntil *time.Time `json:"completeUntil"`
}

// Summary is what the last record of a file says. A file without one was cut.
type Summary struct {
	Rows int64 `json:"rows"`
	// SHA256 is over the first Bytes of the file, in hexadecimal.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// After is where to go on after the last row; "" where there is none.
	After string `json:"after"`
}

// encoder writes a file in one format. No method keeps its arguments.
type encoder interface {
	begin(of header) error
	row(cells []cell) error
	// sum returns the size and the checksum of what is written before the last record.
	sum() (bytes int64, checksum string, err error)
	end(Summary) error
}

func newEncoder(format string, to io.Writer, columns []column, spreadsheet bool) encoder {
	out := &output{to: to, hash: sha256.New()}
	switch format {
	case Parquet:
		return newParquet(out, columns)
	case NDJSON:
		return newNDJSON(out, columns)
	}
	return &csvEncoder{output: out, columns: columns, spreadsheet: spreadsheet}
}

// output gathers what is written, counts it and takes its checksum.
type output struct {
	to      io.Writer
	hash    hash.Hash
	written int64
	buffer  []byte
}

// flushFrom is the size in bytes from which what is gathered is written.
const flushFrom = 64 << 10

// Write implements io.Writer, past the buffer.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	o.hash.Write(b[:n])
	o.written += int64(n)
	return n, err
}

func (o *output) flush() error {
	_, err := o.Write(o.buffer)
	o.buffer = o.buffer[:0]
	return err
}

func (o *output) flushWhenFull() error {
	if len(o.buffer) < flushFrom {
		return nil
	}
	return o.flush()
}

func (o *output) sum() (bytes int64, checksum string, err error) {
	err = o.flush()
	return o.written, hex.EncodeToString(o.hash.Sum(nil)), err
}

// appendMoment writes a time in RFC 3339, in UTC, with the fraction that it has.
func appendMoment(to []byte, micros int64) []byte {
	return time.UnixMicro(micros).UTC().AppendFormat(to, time.RFC3339Nano)
}
