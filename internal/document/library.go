// Package document finds the trusted documents that requests name, and reads the manifests
// that build tools write of them.
package document

import (
	"context"
	"errors"
	"sync"
	"time"

	"simgraph/domain"
	"simgraph/internal/flight"
)

const (
	// freshFor is how long a text is believed without asking the store, so that a removed
	// document ceases everywhere within 5 s.
	freshFor = 3 * time.Second
	// mostBytes bounds the memory for texts.
	mostBytes = 16 << 20
	// overhead is what a text takes beside its bytes.
	overhead = 256
	// atOnce bounds the look-ups at a time, so that ids which nobody has, of which none is
	// remembered, leave the connections of the database to others.
	atOnce = 4
)

// Text returns the text of a document that a company may run; "" for none.
type Text func(ctx context.Context, company domain.CompanyID, id string) (string, error)

// Library finds the texts of trusted documents. It remembers them for some seconds, so that
// a busy client costs the store one look-up every freshFor. What is not there is not
// remembered: a document that was added runs at once.
type Library struct {
	shipped map[string]string
	text    Text
	now     func() time.Time
	most    int

	lookUps flight.Group[key, struct{}, string]
	turns   chan struct{}
	mu      sync.RWMutex
	bytes   int
	known   map[key]remembered
}

type key struct {
	company domain.CompanyID
	id      string
}

type remembered struct {
	text  string
	until time.Time
}

// NewLibrary returns the documents of a store, and those that ship with the program: texts by
// id, which every caller may run who is not limited to trusted documents itself.
func NewLibrary(text Text, shipped map[string]string, now func() time.Time) *Library {
	l := &Library{shipped: shipped, text: text, now: now, most: mostBytes, turns: make(chan struct{}, atOnce), known: map[key]remembered{}}
	l.lookUps.Run = l.lookUp
	return l
}

// Find returns the text of the document that the caller of ctx may run, "" for none.
func (l *Library) Find(ctx context.Context, id string) (string, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return "", err
	}
	// A limited caller runs what was added for it, which is less than what the page does.
	if text, ok := l.shipped[id]; ok && !caller.DocumentsOnly {
		return text, nil
	}
	of := key{caller.Scope.Company, id}
	if text, ok := l.believed(of); ok {
		return text, nil
	}
	text, err := l.lookUps.Do(ctx, of, struct{}{})
	if err != nil && errors.Is(err, ctx.Err()) {
		return "", domain.Unavailable(err)
	}
	return text, err
}

// Only reports that the caller of ctx is limited to trusted documents.
func Only(ctx context.Context) bool {
	caller, err := domain.CallerOf(ctx)
	return err == nil && caller.DocumentsOnly
}

// believed returns the text of a document that was looked up not long ago.
func (l *Library) believed(of key) (string, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	entry, ok := l.known[of]
	return entry.text, ok && l.now().Before(entry.until)
}

// lookUp asks the store for a text, unless a look-up has found it since it was asked for.
func (l *Library) lookUp(ctx context.Context, of key, calls []struct{}) []flight.Result[string] {
	text, ok := l.believed(of)
	var err error
	if !ok {
		text, err = l.ask(ctx, of)
	}
	return flight.Same(len(calls), text, err)
}

// ask asks the store for a text, in turn.
func (l *Library) ask(ctx context.Context, of key) (string, error) {
	select {
	case l.turns <- struct{}{}:
		defer func() { <-l.turns }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	asked := l.now()
	text, err := l.text(ctx, of.company, of.id)
	if err == nil {
		l.remember(of, text, asked)
	}
	return text, err
}

func (l *Library) remember(of key, text string, asked time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(of)
	if text == "" {
		return
	}
	if l.bytes+len(text)+overhead > l.most {
		l.makeRoom(asked)
	}
	l.known[of] = remembered{text, asked.Add(freshFor)}
	l.bytes += len(text) + overhead
}

func (l *Library) forget(of key) {
	if entry, ok := l.known[of]; ok {
		l.bytes -= len(entry.text) + overhead
		delete(l.known, of)
	}
}

// makeRoom forgets what is stale; all, when that is less than half.
func (l *Library) makeRoom(now time.Time) {
	for of, entry := range l.known {
		if !now.Before(entry.until) {
			l.forget(of)
		}
	}
	if l.bytes > l.most/2 {
		clear(l.known)
		l.bytes = 0
	}
}
