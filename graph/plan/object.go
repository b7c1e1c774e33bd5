package plan

// object writes an object with what is selected of it. A field that must not
// be null and is makes all of it null.
func (w *writer) object(f *frame, sel *selection, object any) bool {
	start := len(w.buf)
	w.buf = append(w.buf, '{')
	at := progress{}
	for at.next < len(sel.steps) {
		w.steps(f, sel, object, &at)
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

// steps writes the next steps, up to the last, or one that panics.
func (w *writer) steps(f *frame, sel *selection, object any, at *progress) {
	defer func() {
		if r := recover(); r != nil {
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
		at.invalid = at.invalid || s.field.NonNull
	}
}

// panicked replaces what a step has written by a null, and goes on after it.
func (w *writer) panicked(f *frame, s *step, at *progress, r any) {
	w.back(at.begun)
	w.buf = append(append(w.buf, s.key...), null...)
	field := w.frame(f, s, 0)
	w.fail(field, w.op.Recover(field, r))
	at.invalid = at.invalid || s.field.NonNull
	at.next++
}
