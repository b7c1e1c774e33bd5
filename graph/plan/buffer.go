package plan

import (
	"bytes"
	"io"
	"sync"
)

// ending is room for what follows the answer in a response.
const ending = 64

// written is an answer that is marshaled once.
type written []byte

// MarshalGQL implements graphql.Marshaler.
func (a written) MarshalGQL(w io.Writer) {
	if response, ok := w.(*bytes.Buffer); ok {
		response.Grow(len(a) + ending)
	}
	_, _ = w.Write(a) // the writer is the buffer of the response
	release(a)
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// largestKept bounds the buffers that are kept for later answers.
const largestKept = 1 << 20

func buffer() []byte { return (*buffers.Get().(*[]byte))[:0] }

func release(b []byte) {
	if cap(b) <= largestKept {
		b = b[:0]
		buffers.Put(&b)
	}
}
