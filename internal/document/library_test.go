package document

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
)

// shelf is a store of texts by company and id, which counts its look-ups.
type shelf struct {
	texts   map[key]string
	lookUps int
	err     error
}

func (s *shelf) text(_ context.Context, company domain.CompanyID, id string) (string, error) {
	s.lookUps++
	return s.texts[key{company, id}], s.err
}

func as(t *testing.T, company domain.CompanyID, limited bool) context.Context {
	return domain.WithCaller(t.Context(), &domain.Caller{Scope: domain.Whole(company), DocumentsOnly: limited})
}

func mustFind(ctx context.Context, t *testing.T, l *Library, id, want string) {
	t.Helper()
	if got, err := l.Find(ctx, id); err != nil || got != want {
		t.Fatalf("%s is %q, %v, not %q", id, got, err, want)
	}
}

func TestARemovedDocumentCeasesInSeconds(t *testing.T) {
	now := time.Now()
	s := &shelf{texts: map[key]string{{1, "a"}: "{a}"}}
	l := NewLibrary(s.text, nil, func() time.Time { return now })
	ctx := as(t, 1, false)
	for range 10 {
		mustFind(ctx, t, l, "a", "{a}")
	}
	if s.lookUps != 1 {
		t.Errorf("%d look-ups", s.lookUps)
	}
	delete(s.texts, key{1, "a"})
	now = now.Add(freshFor - time.Millisecond)
	mustFind(ctx, t, l, "a", "{a}")
	now = now.Add(time.Millisecond)
	mustFind(ctx, t, l, "a", "")
	s.texts[key{1, "a"}] = "{a}"
	mustFind(ctx, t, l, "a", "{a}")
}

func TestADocumentOfAnotherCompanyIsUnknown(t *testing.T) {
	s := &shelf{texts: map[key]string{{1, "a"}: "{a}"}}
	l := NewLibrary(s.text, nil, time.Now)
	mustFind(as(t, 1, true), t, l, "a", "{a}")
	mustFind(as(t, 2, true), t, l, "a", "")
	if _, err := l.Find(t.Context(), "a"); err == nil {
		t.Error("a caller that is not known runs a document")
	}
}

func TestWhatShipsIsForCallersWithoutALimit(t *testing.T) {
	s := &shelf{texts: map[key]string{{2, "page"}: "{p}"}}
	l := NewLibrary(s.text, map[string]string{"page": "{p}"}, time.Now)
	mustFind(as(t, 1, false), t, l, "page", "{p}")
	if s.lookUps > 0 {
		t.Error("the store is asked for what ships")
	}
	mustFind(as(t, 1, true), t, l, "page", "")
	mustFind(as(t, 2, true), t, l, "page", "{p}") // its own company has added it
	if _, err := l.Find(t.Context(), "page"); err == nil {
		t.Error("a caller that is not known runs a document")
	}
}

func TestCallersAreLimitedByTheirKey(t *testing.T) {
	if Only(as(t, 1, false)) || !Only(as(t, 1, true)) || Only(t.Context()) {
		t.Error("who is limited is mistaken")
	}
}

func TestAStoreThatFailsIsAskedAgain(t *testing.T) {
	s := &shelf{texts: map[key]string{{1, "a"}: "{a}"}, err: errors.New("away")}
	l := NewLibrary(s.text, nil, time.Now)
	if _, err := l.Find(as(t, 1, false), "a"); !errors.Is(err, s.err) {
		t.Fatal(err)
	}
	s.err = nil
	mustFind(as(t, 1, false), t, l, "a", "{a}")
}

func TestTheMemoryForTextsIsBounded(t *testing.T) {
	s := &shelf{texts: map[key]string{}}
	l := NewLibrary(s.text, nil, time.Now)
	l.most = 3 * (1000 + overhead)
	for i := range 20 {
		id := fmt.Sprint(i)
		s.texts[key{1, id}] = strings.Repeat("x", 1000)
		mustFind(as(t, 1, false), t, l, id, s.texts[key{1, id}])
		mustFind(as(t, 1, false), t, l, "unknown "+id, "")
		held := 0
		for _, entry := range l.known {
			held += len(entry.text) + overhead
		}
		if held != l.bytes || held > l.most {
			t.Fatalf("%d bytes are held, %d counted", held, l.bytes)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	s := &shelf{texts: map[key]string{{1, "a"}: "{a}"}}
	l := NewLibrary(s.text, nil, time.Now)
	ctx := domain.WithCaller(b.Context(), &domain.Caller{Scope: domain.Whole(1)})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Find(ctx, "a"); err != nil {
			b.Fatal(err)
		}
	}
}
