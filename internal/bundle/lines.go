package bundle

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// readBuffer is small beside a request of one record, and large enough for files.
const readBuffer = 16 << 10

// largestKept bounds the memory for a line that is used for the next.
const largestKept = 64 << 10

// MaxLine is the longest line of a bundle, in bytes.
const MaxLine = 1 << 20

var errTooLong = fmt.Errorf("the line is longer than %d bytes", MaxLine)

var byteOrderMark = []byte("\xef\xbb\xbf")

// lines cuts a stream into lines, holding no more than one of them.
type lines struct {
	in     *bufio.Reader
	buffer []byte
	number int
	bytes  int64
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, readBuffer)} }

// next returns the next line that is not blank, without its end; it is valid
// until the next call. errTooLong concerns that line alone.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.read()
		if len(bytes.TrimSpace(line)) > 0 || err != nil {
			return line, err
		}
	}
}

func (l *lines) read() ([]byte, error) {
	if l.buffer = l.buffer[:0]; cap(l.buffer) > largestKept {
		l.buffer = nil
	}
	size := 0
	for {
		part, err := l.in.ReadSlice('\n')
		size += len(part)
		if size <= MaxLine+1 {
			l.buffer = append(l.buffer, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return l.end(size, err)
	}
}

// end closes a line of that size, which err or a newline ended.
func (l *lines) end(size int, err error) ([]byte, error) {
	l.bytes += int64(size)
	if err != nil && (size == 0 || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	l.number++
	line := bytes.TrimSuffix(bytes.TrimSuffix(l.buffer, []byte("\n")), []byte("\r"))
	if l.number == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if size > MaxLine+1 || len(line) > MaxLine {
		return nil, errTooLong
	}
	return line, nil
}
