package profile

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"simgraph/domain"
	"simgraph/domain/source"
)

const (
	// MaxRecords bounds the records of a body that a source is sent.
	MaxRecords = 3000
	// MaxBody bounds a body that a source is sent, in bytes, also once decompressed.
	MaxBody = 16 << 20
	// maxRecord bounds a record as it is written, so that no function makes too much of it, and maxDepth how deep it is nested.
	maxRecord = 64 << 10
	maxDepth  = 32
	maxCells  = 1000
	// maxGap bounds what is read from the end of a record to the end of the next one, also of bodies
	// without a bound: a quote or bracket that is never closed must not fill the memory.
	maxGap = MaxBody + 64<<10
)

// Item is a record of a body, or why it holds none.
type Item struct {
	// Place counts from 1.
	Place  int
	Record map[string]any
	// Text is the record as JSON, of one that cannot be read its beginning as it came.
	Text string
	// Bytes is about what the record takes in memory.
	Bytes int
	Err   error
}

// Limits bound a body; the zero value has the defaults.
type Limits struct {
	Records int
	Bytes   int64
}

// WithDefaults has the bounds that are missing.
func (l Limits) WithDefaults() Limits {
	return Limits{Records: cmp.Or(l.Records, MaxRecords), Bytes: cmp.Or(l.Bytes, MaxBody)}
}

// ErrTooLarge is the error of a body that has more than a bound.
var ErrTooLarge = errors.New("too large")

type tooLarge struct{ text string }

func (t *tooLarge) Error() string      { return t.text }
func (*tooLarge) Is(target error) bool { return target == ErrTooLarge }

// bounded returns an error beyond n bytes.
type bounded struct {
	io.Reader
	left, most int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &tooLarge{fmt.Sprintf("the body has more than %d bytes", b.most)}
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, ErrTooLarge) {
		err = domain.Invalid("", "the body cannot be read to its end: it broke off, or is not compressed as its headers say")
	}
	return n, err
}

// gap returns errGap where too much is read without a record.
type gap struct {
	io.Reader
	read int64
	// off is set for readers that do not hold what they skip.
	off bool
}

var errGap = errors.New("too much without a record")

func (g *gap) Read(p []byte) (int, error) {
	if g.read > maxGap && !g.off {
		return 0, errGap
	}
	n, err := g.Reader.Read(p)
	g.read += int64(n)
	return n, err
}

// Bounded returns the body without what is beyond that many bytes: that is ErrTooLarge.
func Bounded(body io.Reader, most int64) io.Reader { return &bounded{body, most + 1, most} }

// Decompress returns the body as it was before its Content-Encoding. Each bounds it.
func Decompress(body io.Reader, encoding string) (io.Reader, error) {
	switch encoding {
	case "", "identity":
		return body, nil
	case "gzip":
		r, err := gzip.NewReader(body)
		if errors.Is(err, ErrTooLarge) {
			return nil, err
		}
		if err != nil {
			return nil, domain.Invalid("", "the body is not compressed by gzip")
		}
		return r, nil
	}
	return nil, domain.Invalid("", "the body must be as it is or compressed by gzip, not by %.40q", encoding)
}

// Each calls do with the records of a body one after the other, until that returns an error. A
// record that cannot be read is an Item with Err; a body that cannot be read any further
// ends with one. It returns errors of do, of the reader and ErrTooLarge.
func (c *Compiled) Each(body io.Reader, limits Limits, do func(Item) error) error {
	limits = limits.WithDefaults()
	place := 0
	since := &gap{Reader: Bounded(body, limits.Bytes)}
	counted := func(item Item) error {
		if place++; place > limits.Records {
			return &tooLarge{fmt.Sprintf("the body has more than %d records", limits.Records)}
		}
		item.Place, since.read = place, 0
		return do(item)
	}
	err := c.each(bufio.NewReaderSize(since, 64<<10), since, counted)
	if errors.Is(err, errGap) {
		return counted(unreadable(nil, domain.Invalid("", "the record has more than %d bytes, or a quote or bracket is never closed: nothing is read from here on", MaxBody)))
	}
	return err
}

func (c *Compiled) each(in *bufio.Reader, since *gap, counted func(Item) error) error {
	if head, _ := in.Peek(3); bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3)
	} else if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return counted(unreadable(nil, domain.Invalid("", "the body is UTF-16, and must be UTF-8")))
	}
	switch c.Format {
	case source.CSV:
		return c.eachRow(in, counted)
	case source.NDJSON:
		since.off = true // long lines are skipped
		return eachLine(in, counted)
	}
	if blank, err := skipBlanks(in); blank || err != nil {
		return err
	}
	path := c.Records
	if c.Format == source.CloudEvents {
		path = ""
	}
	return eachValue(in, since, path, counted)
}

// skipBlanks goes to the first byte that is no blank; it reports true for a body without
// one, as some senders try an address with.
func skipBlanks(in *bufio.Reader) (bool, error) {
	for {
		b, err := in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return false, err
		case b != ' ' && b != '\t' && b != '\r' && b != '\n':
			return false, in.UnreadByte()
		}
	}
}

func unreadable(text []byte, err error) Item {
	const most = 2000
	text = text[:min(len(text), most)]
	return Item{Text: strings.ToValidUTF8(string(text), "\uFFFD"), Bytes: len(text), Err: err}
}

// parse reads a record of JSON.
func parse(text jsontext.Value) Item {
	if len(text) > maxRecord {
		return unreadable(text, domain.Invalid("", "the record has more than %d bytes", maxRecord))
	}
	item := Item{Text: string(text), Bytes: len(text)}
	if item.Record, item.Err = decode(item.Text); errors.Is(item.Err, errTooDeep) {
		return unreadable(text, item.Err)
	}
	return item
}

// eachLine reads NDJSON.
func eachLine(in *bufio.Reader, do func(Item) error) error {
	for {
		line, err := readLine(in)
		if text := bytes.TrimSpace(line); len(text) > 0 && err == nil {
			value := jsontext.Value(text)
			item := unreadable(text, domain.Invalid("", "the line is not valid JSON in UTF-8"))
			if value.IsValid() {
				item = parse(value)
			}
			if err := do(item); err != nil {
				return err
			}
		}
		var long *longLine
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &long):
			if err := do(unreadable(long.head, domain.Invalid("", "the line has more than %d bytes", maxRecord))); err != nil {
				return err
			}
		case err != nil:
			return err
		}
	}
}

// longLine is a line that was skipped.
type longLine struct{ head []byte }

func (*longLine) Error() string { return "the line is too long" }

// readLine returns a line without its end; with io.EOF there is no more.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= maxRecord {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
		case err != nil:
			return nil, err
		}
		if len(line) > maxRecord {
			return nil, &longLine{line[:2000]}
		}
		return bytes.TrimRight(line, "\r\n"), nil
	}
}

// eachValue reads the array at a path of a JSON document; an object there is a record by
// itself. Without a path, documents may follow each other. The body is read to its end, so
// that one which broke off is noticed.
func eachValue(in io.Reader, since *gap, path string, do func(Item) error) error {
	d := jsontext.NewDecoder(in)
	if path == "" {
		for {
			if kind := d.PeekKind(); kind == jsontext.KindInvalid {
				if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
					return bodyError(err, do)
				}
				return nil
			}
			if more, err := eachOf(d, do); err != nil || !more {
				return err
			}
		}
	}
	found, err := descend(d, strings.Split(path, "."))
	if err != nil {
		return bodyError(err, do)
	}
	if !found {
		err = do(unreadable(nil, domain.Invalid("", "the body has nothing at %.60q", path)))
	} else {
		_, err = eachOf(d, do)
	}
	if err == nil {
		since.off = true
		_, err = io.Copy(io.Discard, in)
	}
	return err
}

// eachOf reads the array, or the record, that comes next. It reports false where the body
// cannot be read any further.
func eachOf(d *jsontext.Decoder, do func(Item) error) (more bool, err error) {
	isArray := d.PeekKind() == '['
	if isArray {
		if _, err := d.ReadToken(); err != nil {
			return false, bodyError(err, do)
		}
	}
	for !isArray || d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return false, bodyError(err, do)
		}
		if err := do(parse(value)); err != nil || !isArray {
			return true, err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return false, bodyError(err, do)
	}
	return true, nil
}

// descend goes to the value below the names.
func descend(d *jsontext.Decoder, names []string) (bool, error) {
	for _, name := range names {
		if d.PeekKind() != '{' {
			return false, nil
		}
		if _, err := d.ReadToken(); err != nil {
			return false, err
		}
		for {
			key, err := d.ReadToken()
			if err != nil {
				return false, err
			}
			if key.Kind() == '}' {
				return false, nil
			}
			if key.String() == name {
				break
			}
			if err := d.SkipValue(); err != nil {
				return false, err
			}
		}
	}
	_ = d.PeekKind()
	return true, nil
}

// bodyError is an item for a body that breaks off or is no JSON: what came before it is
// read. What the reader itself returns stays an error.
func bodyError(err error, do func(Item) error) error {
	var syntax *jsontext.SyntacticError
	if errors.Is(err, ErrTooLarge) || !errors.As(err, &syntax) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return do(unreadable(nil, domain.Invalid("", "the body is not valid JSON in UTF-8, or nested too deep, from here on")))
}

// eachRow reads CSV.
func (c *Compiled) eachRow(in io.Reader, do func(Item) error) error {
	r := csv.NewReader(in)
	r.ReuseRecord, r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = true, -1, false, true
	if c.Delimiter != "" {
		r.Comma = rune(c.Delimiter[0])
	}
	var header []string
	for {
		cells, err := r.Read()
		var bad *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &bad):
			if err := do(unreadable(nil, domain.Invalid("", "line %d is no valid CSV: %v", bad.Line, bad.Err))); err != nil {
				return err
			}
			if header == nil {
				return nil
			}
			continue
		case err != nil:
			return err
		}
		if header == nil {
			if header, err = readHeader(cells); err != nil {
				return do(unreadable([]byte(strings.Join(cells, ",")), err))
			}
			continue
		}
		if err := do(row(header, cells)); err != nil {
			return err
		}
	}
}

func readHeader(cells []string) ([]string, error) {
	if len(cells) > maxCells {
		return nil, domain.Invalid("", "the header has more than %d columns", maxCells)
	}
	header := make([]string, len(cells))
	seen := map[string]bool{}
	for i, cell := range cells {
		header[i] = strings.TrimSpace(cell)
		if !utf8.ValidString(cell) {
			return nil, domain.Invalid("", "the header is not valid UTF-8")
		}
		if seen[header[i]] && header[i] != "" {
			return nil, domain.Invalid("", "the column %.60q is there twice", header[i])
		}
		seen[header[i]] = true
	}
	return header, nil
}

func row(header, cells []string) Item {
	if len(cells) > len(header) {
		return unreadable([]byte(strings.Join(cells, ",")), domain.Invalid("", "%d cells are expected, not %d", len(header), len(cells)))
	}
	record, size := make(map[string]any, len(header)), 0
	for i, cell := range cells {
		if size += len(cell); !utf8.ValidString(cell) || size > maxRecord {
			return unreadable([]byte(strings.Join(cells, ",")), domain.Invalid("", "the line is not valid UTF-8, or has more than %d bytes", maxRecord))
		}
		record[header[i]] = cell
	}
	return Item{Record: record, Bytes: size}
}

// AsText returns the record of an item as JSON.
func (i *Item) AsText() string {
	if i.Text != "" || i.Record == nil {
		return i.Text
	}
	text, err := json.Marshal(i.Record, json.Deterministic(true))
	if err != nil {
		return ""
	}
	return string(text)
}

// Parse reads a record that AsText wrote.
func Parse(text string) (map[string]any, error) {
	if !jsontext.Value(text).IsValid() {
		return nil, errNoObject
	}
	return decode(text)
}
