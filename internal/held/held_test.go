package held_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"simgraph/internal/held"
)

const size = 1 << 20

// bodies reads bodies, and holds them until the test ends.
type bodies struct {
	*testing.T
	readers []*held.Reader
}

func (b *bodies) read(owner string, size, limit int) error {
	r := held.NewReader(bytes.NewReader(make([]byte, size)), owner, int64(limit))
	b.readers = append(b.readers, r)
	_, err := io.Copy(io.Discard, io.MultiReader(r))
	return err
}

func (b *bodies) release() {
	for _, r := range b.readers {
		r.Release()
		r.Release()
	}
	b.readers = nil
}

func (b *bodies) fill(owner string) (n int) {
	b.Helper()
	for n = range 2 * held.Most / size {
		if err := b.read(owner, size, size); err != nil {
			if !errors.Is(err, held.ErrFull) {
				b.Fatal(err)
			}
			return n
		}
	}
	return n
}

func TestLargeBodiesAreBoundedTogetherAndSmallOnesAreNot(t *testing.T) {
	b := &bodies{T: t}
	t.Cleanup(b.release)
	one, other, third := b.fill("one"), b.fill("other"), b.fill("third")
	if half := held.Most / size / 2; one < half || one > half+1 || other < half-1 || other > half+1 || third > 1 {
		t.Errorf("%d bodies of one, %d of the other and %d of a third are held", one, other, third)
	}
	var none *held.Reader // of a request without a body
	none.Release()
	if err := b.read("third", held.Free, size); err != nil {
		t.Errorf("a small body: %v", err)
	}
	b.release()
	if again := b.fill("third"); again != one {
		t.Errorf("after all were released %d are held", again)
	}
}

func TestABodyAsLargeAsMayBeIsHeldBesideOthers(t *testing.T) {
	b := &bodies{T: t}
	t.Cleanup(b.release)
	b.fill("other")
	if err := b.read("one", 4*held.Most, 4*held.Most); err != nil {
		t.Error(err)
	}
	if err := b.read("one", size, 4*held.Most); !errors.Is(err, held.ErrFull) {
		t.Errorf("one more: %v", err)
	}
}
