package plan

// list writes a list, null when an item is that must not be.
func (w *writer) list(f *frame, p *value, v any) bool {
	if p.item.object != nil && p.item.object.plain && w.plainItems(p, v) {
		return true
	}
	start, invalid, panicked := len(w.buf), false, false
	w.buf = append(w.buf, '[')
	for i := range p.length(v) {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		ok, panics := w.item(f, p, v, i)
		panicked = panicked || panics
		invalid = invalid || !ok && p.item.nonNull
	}
	w.buf = append(w.buf, ']')
	return w.closeList(start, invalid, panicked)
}

// closeList looks back at the items. When one panicked, outside of its fields,
// gqlgen answers an empty list.
func (w *writer) closeList(start int, invalid, panicked bool) bool {
	switch {
	case panicked:
		w.buf = append(w.buf[:start], "[]"...)
	case invalid:
		w.buf = append(w.buf[:start], null...)
		return false
	}
	return true
}

func (w *writer) item(f *frame, p *value, v any, i int) (ok, panicked bool) {
	at := w.frame(f, nil, i)
	defer func() {
		if r := recover(); r != nil {
			w.fail(at, w.op.Recover(at, r))
			ok, panicked = false, true
		}
	}()
	return w.opened(at, p.item, p.at(v, i)), false
}
