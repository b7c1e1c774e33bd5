package plan

import "sync"

// object writes an object with what is selected of it. A field that must not
// be null and is makes all of it null.
func (w *writer) object(f *frame, sel *selection, object any) bool {
	start := len(w.buf)
	w.buf = append(w.buf, '{')
	at := progress{}
	if w.patient && sel.concurrent > 1 {
		w.together(f, sel, object, &at)
	} else {
		w.inTurn(f, sel, object, &at)
	}
	if w.postponed.Load() {
		return false
	}
	if at.invalid {
		w.buf = append(w.buf[:start], null...)
		return false
	}
	w.buf = append(w.buf, '}')
	return true
}

// progress is how far the steps of an object have come.
type progress struct {
	next    int  // the step
	begun   mark // where it began
	invalid bool
}

// inTurn writes one step after the other. Outside of lists, what is left when
// one postpones is written together; in a list that is for the list.
func (w *writer) inTurn(f *frame, sel *selection, object any, at *progress) {
	for at.next < len(sel.steps) {
		w.steps(f, sel, object, at)
		if w.postponed.Load() {
			if w.lists > 0 {
				return
			}
			w.back(at.begun)
			w.postponed.Store(false)
			w.together(f, sel, object, at)
			return
		}
	}
}

// steps writes the next steps, up to the last, or one that postpones or panics.
func (w *writer) steps(f *frame, sel *selection, object any, at *progress) {
	lists := w.lists
	defer func() {
		if r := recover(); r != nil {
			w.lists = lists
			w.panicked(f, sel.steps[at.next], at, r)
		}
	}()
	for ; at.next < len(sel.steps); at.next++ {
		at.begun = w.mark()
		s := sel.steps[at.next]
		w.buf = append(w.buf, s.key...)
		if s.field == nil || w.field(f, s, object) {
			continue
		}
		if w.postponed.Load() {
			return
		}
		at.invalid = at.invalid || s.field.NonNull
	}
}

// panicked replaces what a step has written by a null, and goes on after it.
func (w *writer) panicked(f *frame, s *step, at *progress, r any) {
	w.postponed.Store(false)
	w.back(at.begun)
	w.buf = append(append(w.buf, s.key...), null...)
	field := w.frame(f, s, 0)
	w.fail(field, w.op.Recover(field, r))
	at.invalid = at.invalid || s.field.NonNull
	at.next++
}

// together writes the steps that are left, those that may wait at once.
func (w *writer) together(f *frame, sel *selection, object any, at *progress) {
	left := sel.steps[at.next:]
	parts := make([]*writer, len(left))
	invalid := make([]bool, len(left))
	var waiting sync.WaitGroup
	for i, s := range left {
		parts[i] = w.part()
		one := &selection{steps: left[i : i+1]}
		write := func() {
			done := progress{}
			parts[i].inTurn(f, one, object, &done)
			invalid[i] = done.invalid
		}
		if s.field != nil && s.field.Concurrent {
			waiting.Go(write)
		} else {
			write()
		}
	}
	waiting.Wait()
	for i, part := range parts {
		w.join(part)
		at.invalid = at.invalid || invalid[i]
	}
}

// part returns a writer for something that is written at the same time.
func (w *writer) part() *writer { return &writer{run: w.run, patient: true, buf: buffer()} }

func (w *writer) join(part *writer) {
	w.buf = append(w.buf, part.buf...)
	w.faults = append(w.faults, part.faults...)
	release(part.buf)
}
