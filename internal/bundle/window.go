package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"simgraph/domain"
)

// How much of a stream is stored at once: enough that a statement's own cost
// does not count, little enough that memory and a cancelled import do.
const (
	windowLines = 10_000
	windowBytes = 16 << 20
)

// window is a run of lines. Those of a type are stored together, the types in
// the order of Types, so every line still follows those that it names. No two
// lines of a window concern the same thing, so the order within a type is free.
type window struct {
	entries map[Type][]entry
	seen    map[identity]bool
	bad     []*LineError
	// lines counts those of the window; end is where it ends in the stream.
	lines int
	end   int64
}

type entry struct {
	Item
	line int
}

// identity is what a line is about.
type identity struct {
	Type
	company, id string
}

func newWindow() *window { return &window{entries: map[Type][]entry{}, seen: map[identity]bool{}} }

// add takes in a line unless the window is about the same thing already.
func (w *window) add(item Item, line int) bool {
	if id, ok := identify(item); ok {
		if w.seen[id] {
			return false
		}
		w.seen[id] = true
	}
	w.entries[item.Type] = append(w.entries[item.Type], entry{item, line})
	w.lines++
	return true
}

// identify returns what a line is about; false where it matters not.
func identify(item Item) (identity, bool) {
	d, _ := declared(item.Type)
	if d.identify == nil {
		return identity{}, false
	}
	return identity{Type: item.Type, company: item.Company, id: d.identify(item.Value)}, true
}

// byCompany returns the lines of a type, those of each company together, in the
// order in which the companies come.
func (w *window) byCompany(d declaration) [][]entry {
	entries := w.entries[d.of]
	if d.shared {
		return slices.DeleteFunc([][]entry{entries}, func(e []entry) bool { return len(e) == 0 })
	}
	var groups [][]entry
	place := map[string]int{}
	for _, e := range entries {
		i, known := place[e.Company]
		if !known {
			i = len(groups)
			place[e.Company] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	return groups
}

func (w *window) refuse(e entry, reason error) {
	w.bad = append(w.bad, &LineError{Line: e.line, Type: e.Type, Err: reason})
}

// sortBad puts the bad lines in the order of the stream.
func (w *window) sortBad() {
	slices.SortFunc(w.bad, func(a, b *LineError) int { return cmp.Compare(a.Line, b.Line) })
}

// cut reads the stream in windows and sends them off, until its end or until
// the context is done. What was read before an error is sent too.
func cut(ctx context.Context, r *Reader, windows chan<- *window) error {
	w := newWindow()
	start := int64(0)
	alerts := alertCopies{}
	send := func() bool {
		w.end = r.Bytes()
		select {
		case windows <- w:
		case <-ctx.Done():
			return false
		}
		w, start = newWindow(), r.Bytes()
		return true
	}
	for {
		item, err := r.Next()
		item = alerts.number(item)
		if bad, ok := errors.AsType[*LineError](err); ok {
			w.bad = append(w.bad, bad)
			w.lines++
		} else if err != nil {
			send()
			return endOf(err)
		} else if !w.add(item, r.Line()) {
			if !send() {
				return ctx.Err()
			}
			w.add(item, r.Line())
		}
		if (w.lines >= windowLines || r.Bytes()-start >= windowBytes) && !send() {
			return ctx.Err()
		}
	}
}

// alertCopies counts the lines of each alert. Equal alerts are as many alerts:
// the first line is the first of them, the second line the second.
type alertCopies map[identity]int

// number returns the line of an alert with its number among the equal ones, and
// any other line as it is.
func (c alertCopies) number(item Item) Item {
	spec, is := item.Value.(domain.AlertSpec)
	if !is {
		return item
	}
	id := identity{Type: item.Type, company: item.Company, id: fmt.Sprint(spec)}
	item.Value = domain.AlertImport{AlertSpec: spec, Copy: c[id]}
	c[id]++
	return item
}

func endOf(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
