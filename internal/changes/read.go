// Package changes reads CSV files with changes of subscribers, a subscriber a line,
// and starts operations with them, at POST /operations too.
package changes

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"hash/maphash"
	"io"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"simgraph/domain"
	"simgraph/domain/bulk"
)

const (
	// maxCells bounds the columns of a file.
	maxCells = 200
	// maxLine bounds a line in bytes, with the lines that a quoted cell goes on for.
	maxLine = 1 << 20
	// maxSeparators bounds the cells of a line, few of which a file has use for.
	maxSeparators = 100_000
	// readAtOnce is how much of a file is read ahead.
	readAtOnce = 1 << 16
)

// Read reads the rows of a file with a header, in their order, and keeps none. A line that
// cannot be read is a row with a fault, so that all errors are found at once. It ends with
// an error for a file of which the header cannot be read, with more than bulk.MaxRows rows
// or none, with a line over 1 MB or 100,000 cells, and with the error of in. Cells are
// separated by commas, semicolons or tabs, as the header is. A line of which the first cell
// begins with "# " is a note, and left out.
func Read(in io.Reader, mapping Mapping, now time.Time) iter.Seq2[bulk.Row, error] {
	return func(yield func(bulk.Row, error) bool) {
		r, err := newReader(in, mapping, now)
		if err != nil {
			yield(bulk.Row{}, err)
			return
		}
		r.rows(yield)
	}
}

func newReader(in io.Reader, mapping Mapping, now time.Time) (*reader, error) {
	bounded := &lineReader{in: in}
	bounded.next()
	buffered := bufio.NewReaderSize(bounded, readAtOnce)
	head, err := buffered.Peek(1 << 12)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF}) {
		return nil, domain.Invalid("file", "the file is in UTF-16: export it as CSV in UTF-8")
	}
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		_, _ = buffered.Discard(len("\ufeff")) // it was peeked
		head = head[len("\ufeff"):]
	}
	lines := csv.NewReader(buffered)
	lines.Comma, lines.FieldsPerRecord, lines.ReuseRecord = separator(head), -1, true
	bounded.comma = byte(lines.Comma)
	r := &reader{in: bounded, lines: lines, now: now, seen: map[digest]uint32{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	return r, r.header(mapping)
}

// lineReader bounds what is read between two calls of next, and how many separators are
// among it: each costs the reader of CSV some 40 bytes.
type lineReader struct {
	in          io.Reader
	comma       byte
	left, cells int
}

var (
	errLine  = domain.Invalid("file", "a line has more than %d MB: is a quote not closed?", maxLine>>20)
	errCells = domain.Invalid("file", "a line has more than %d cells: is a quote not closed?", maxSeparators)
)

func (l *lineReader) next() { l.left, l.cells = maxLine, maxSeparators }

// Read implements io.Reader.
func (l *lineReader) Read(p []byte) (int, error) {
	switch {
	case l.left <= 0:
		return 0, errLine
	case l.cells <= 0:
		return 0, errCells
	}
	n, err := l.in.Read(p)
	l.left -= n
	l.cells -= bytes.Count(p[:n], []byte{l.comma})
	return n, err
}

// separator is the one that the first line has most of.
func separator(head []byte) rune {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	best, most := ',', 0
	for _, candidate := range []rune{',', ';', '\t'} {
		if n := bytes.Count(first, []byte(string(candidate))); n > most {
			best, most = candidate, n
		}
	}
	return best
}

// digest stands for the identifier of a subscriber: those of a whole file are kept, 16 bytes
// each with the line. No file can be made of which two are equal, since seeds are random.
type digest [3]uint32

type reader struct {
	in     *lineReader
	lines  *csv.Reader
	now    time.Time
	fields []string
	seeds  [2]maphash.Seed
	// seen is the line of each subscriber.
	seen map[digest]uint32
}

func (r *reader) digest(physicalID string) digest {
	first, second := maphash.String(r.seeds[0], physicalID), maphash.String(r.seeds[1], physicalID)
	return digest{uint32(first >> 32), uint32(first), uint32(second)} //nolint:gosec // parts of digests
}

func (r *reader) header(mapping Mapping) error {
	header, err := r.lines.Read()
	bad, malformed := errors.AsType[*csv.ParseError](err)
	switch {
	case errors.Is(err, io.EOF):
		return domain.Invalid("file", "the file is empty: its first line names the columns")
	case malformed:
		return domain.Invalid("file", "the first line is no CSV: %v", bad.Err)
	case err != nil:
		return err
	case len(header) > maxCells:
		return domain.Invalid("file", "a file has at most %d columns, not %d", maxCells, len(header))
	}
	for _, name := range header {
		if !utf8.ValidString(name) {
			return domain.Invalid("file", "the first line is not in UTF-8: export the file as CSV in UTF-8")
		}
	}
	r.fields, err = mapping.columns(header)
	return err
}

// rows yields the rows until there are no more, or an error.
func (r *reader) rows(yield func(bulk.Row, error) bool) {
	for read := 0; ; {
		row, err := r.next()
		switch {
		case errors.Is(err, io.EOF) && read > 0:
			return
		case errors.Is(err, io.EOF):
			err = domain.Invalid("file", "the file has no line beneath its header")
		case err == nil && read == bulk.MaxRows:
			err = domain.Invalid("file", "an operation has at most %d subscribers: cut the file", bulk.MaxRows)
		}
		if err != nil {
			yield(bulk.Row{}, err)
			return
		}
		if read++; !yield(row, nil) {
			return
		}
	}
}

// next reads the next row, and returns io.EOF after the last.
func (r *reader) next() (bulk.Row, error) {
	for {
		r.in.next()
		cells, err := r.lines.Read()
		bad, malformed := errors.AsType[*csv.ParseError](err)
		switch {
		case malformed:
			return bulk.Row{Line: bad.StartLine, Fault: malformedLine(bad)}, nil
		case err != nil:
			return bulk.Row{}, err
		case !blank(cells) && !isNote(cells):
			line, _ := r.lines.FieldPos(0)
			return r.row(line, cells), nil
		}
	}
}

// malformedLine is the fault of a line that is no CSV; one of which a quote is not closed
// goes on to the end of the file.
func malformedLine(bad *csv.ParseError) *domain.Error {
	if bad.Line > bad.StartLine {
		return fault(domain.Invalid("", "a quote is not closed where it should be: lines %d to %d are one cell", bad.StartLine, bad.Line))
	}
	return fault(domain.Invalid("", "no valid CSV: %v in column %d", bad.Err, bad.Column))
}

func blank(cells []string) bool {
	for _, cell := range cells {
		if strings.TrimSpace(cell) != "" {
			return false
		}
	}
	return true
}

// isNote reports whether a line is a note for people, as templates have them.
func isNote(cells []string) bool {
	first := strings.TrimSpace(cells[0])
	return first == "#" || strings.HasPrefix(first, "# ")
}

// row reads a line. What is at fault there is the fault of the row.
func (r *reader) row(line int, cells []string) bulk.Row {
	row := bulk.Row{Line: line}
	if err := r.fill(&row, cells); err != nil {
		return bulk.Row{PhysicalID: shown(row.PhysicalID), Line: line, Fault: fault(err)}
	}
	return row
}

func (r *reader) fill(row *bulk.Row, cells []string) error {
	if len(cells) != len(r.fields) {
		return domain.Invalid("", "the line has %d cells, the header has %d", len(cells), len(r.fields))
	}
	var first error
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		if r.fields[i] == "" || cell == "" {
			continue
		}
		if !utf8.ValidString(cell) {
			return domain.Invalid(r.fields[i], "%s is not in UTF-8", r.fields[i])
		}
		if err := fields[r.fields[i]](row, strings.Clone(cell)); err != nil && first == nil {
			first = err // the identifier may still come
		}
	}
	switch {
	case first != nil:
		return first
	case row.PhysicalID == "":
		return domain.Invalid(identifier, "the line names no subscriber: its %s is empty", identifier)
	}
	id := r.digest(row.PhysicalID)
	if before, twice := r.seen[id]; twice {
		return domain.Invalid(identifier, "line %d names the same subscriber", before)
	}
	if row.IsEmpty() {
		return domain.Invalid("", "the line has nothing that changes")
	}
	r.seen[id] = uint32(row.Line) //nolint:gosec // few files have more lines
	return cmp.Or(r.once(row), row.Check(r.now))
}

// once refuses a fixed address that another line has: no two subscribers have the same.
func (r *reader) once(row *bulk.Row) error {
	if row.FixedIPAddress == nil {
		return nil
	}
	address := r.digest("\x00" + *row.FixedIPAddress)
	if before, twice := r.seen[address]; twice {
		return domain.Invalid("fixedIpAddress", "line %d has the same fixed address", before)
	}
	r.seen[address] = uint32(row.Line) //nolint:gosec // few files have more lines
	return nil
}

// shown is an identifier as it can be stored, whatever stood in the file.
func shown(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return -1
	}, strings.ToValidUTF8(text, "�"))
	return clip(text)
}
