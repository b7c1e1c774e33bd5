package bundle

import (
	"bufio"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Writer writes the lines of a bundle.
type Writer struct {
	buffer  *bufio.Writer
	encoder *jsontext.Encoder
}

// NewWriter returns a writer that buffers: call Flush after the last line.
func NewWriter(w io.Writer) *Writer {
	buffer := bufio.NewWriterSize(w, 64<<10)
	return &Writer{buffer, jsontext.NewEncoder(buffer)}
}

// Write appends a line.
func (w *Writer) Write(item Item) error {
	d, known := declared(item.Type)
	if !known {
		return fmt.Errorf("no line of a bundle has the type %q", item.Type)
	}
	record, err := d.write(item)
	if err != nil {
		return err
	}
	return json.MarshalEncode(w.encoder, record)
}

// Flush writes out what is buffered.
func (w *Writer) Flush() error { return w.buffer.Flush() }
