package plan

// plainItems writes a list of objects of which nothing but plain fields is
// selected, which needs no frames. False means that a value is not as it should
// be: nothing was written then, and the list is to be written in the other way,
// which finds where.
func (w *writer) plainItems(p *value, v any) (ok bool) {
	begun := w.mark()
	defer func() {
		if !ok {
			_ = recover() // it comes again
			w.back(begun)
		}
	}()
	w.buf = append(w.buf, '[')
	for i := range p.length(v) {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		item := p.at(v, i)
		if item == nil || !w.plainObject(p.item.object, item) {
			return false
		}
	}
	w.buf = append(w.buf, ']')
	return true
}

func (w *writer) plainObject(sel *selection, object any) bool {
	w.buf = append(w.buf, '{')
	for _, s := range sel.steps {
		w.buf = append(w.buf, s.key...)
		if s.field == nil {
			continue
		}
		b, ok := s.field.Plain(w.buf, object)
		switch {
		case ok:
			w.buf = b
		case s.field.NonNull:
			return false
		default:
			w.buf = append(w.buf, null...)
		}
	}
	w.buf = append(w.buf, '}')
	return true
}
