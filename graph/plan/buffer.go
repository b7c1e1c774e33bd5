package plan

import (
	"bytes"
	"io"
	"sync"
)

const (
	// heading is room for what begins a response, before the answer of its first
	// root field.
	heading = 128
	// closing is room for what ends it.
	closing = 64
)

// Loan lends a response the memory of its answers, which spares a copy.
type Loan struct {
	mu   sync.Mutex
	lent [][]byte
}

// Return takes the memory back. The data of the response must not be used any
// more.
func (l *Loan) Return() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.lent {
		release(b)
	}
	l.lent = nil
}

func (l *Loan) lend(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lent = append(l.lent, b)
}

// written is an answer, after room for a heading, that is marshaled once.
type written struct {
	buf  []byte
	loan *Loan
}

// MarshalGQL implements graphql.Marshaler.
func (a *written) MarshalGQL(w io.Writer) {
	response, ok := w.(*bytes.Buffer)
	if ok && a.loan != nil && response.Len() <= heading {
		begin := heading - response.Len()
		copy(a.buf[begin:], response.Bytes())
		*response = *bytes.NewBuffer(a.buf[begin:])
		a.loan.lend(a.buf)
		return
	}
	answer := a.buf[heading:]
	if ok {
		response.Grow(len(answer) + closing)
	}
	_, _ = w.Write(answer) // the writer is the buffer of the response
	release(a.buf)
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
