// Package held bounds the bytes of request bodies and messages that the process has in
// memory at a time.
package held

import (
	"errors"
	"io"
	"sync"
)

const (
	// Most bounds the large bodies that are held at a time, in bytes: parsed they take several
	// times as much. It is more where a single body may have more than half of it.
	Most = 16 << 20
	// Free is what a body may have without being counted, so that usual requests are not
	// refused: how many of those there are at a time is bounded by number.
	Free = 64 << 10
)

// ErrFull is the error of a read beyond the bound.
var ErrFull = errors.New("too many large requests are being read, try again later")

// Budget is what is held, together and by owner. The zero Budget is ready for use.
type Budget struct {
	mu    sync.Mutex
	total int64
	of    map[string]int64
}

// requests is that of the bodies of requests and of messages.
var requests Budget

// take reports whether there was room for n bytes more.
func (b *Budget) take(owner string, n, most int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.total+n > most || b.of[owner]+n > most/2 {
		return false
	}
	if b.of == nil {
		b.of = map[string]int64{}
	}
	b.total += n
	b.of[owner] += n
	return true
}

func (b *Budget) giveBack(owner string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total -= n
	if b.of[owner] -= n; b.of[owner] == 0 {
		delete(b.of, owner)
	}
}

// Reader counts what is read of a body until Release. It is for one goroutine at a time.
type Reader struct {
	of            *Budget
	in            io.Reader
	owner         string
	limit, most   int64
	read, counted int64
}

// NewReader returns a reader of the body of a request, or of a message, as Budget.NewReader does.
func NewReader(in io.Reader, owner string, limit int64) *Reader {
	return requests.NewReader(in, owner, limit)
}

// NewReader returns a reader of a body of at most limit bytes. Bodies of one owner have half of
// the room, so that a company does not take that of the others.
func (b *Budget) NewReader(in io.Reader, owner string, limit int64) *Reader {
	return &Reader{of: b, in: in, owner: owner, limit: limit, most: max(Most, 2*limit)}
}

// Read implements io.Reader. It returns ErrFull where there is no room for more.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.read += int64(n)
	more := min(r.read, r.limit) - Free - r.counted // what comes beyond the limit is not kept
	if more <= 0 {
		return n, err
	}
	if !r.of.take(r.owner, more, r.most) {
		return 0, ErrFull
	}
	r.counted += more
	return n, err
}

// Release reports that what was read is not held any more. It may be called again, and of nil; what
// is read later counts from nothing.
func (r *Reader) Release() {
	if r == nil {
		return
	}
	if r.counted > 0 {
		r.of.giveBack(r.owner, r.counted)
	}
	r.read, r.counted = 0, 0
}
