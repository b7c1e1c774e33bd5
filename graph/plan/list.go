package plan

import "sync"

// list writes a list, null when an item is that must not be.
func (w *writer) list(f *frame, p *value, v any) bool {
	if p.item.object != nil && p.item.object.plain && w.plainItems(p, v) {
		return true
	}
	if w.patient && p.item.waits() && p.length(v) > 1 {
		return w.itemsTogether(f, p, v)
	}
	begun := w.mark()
	w.lists++
	invalid, panicked := false, false
	w.buf = append(w.buf, '[')
	for i := range p.length(v) {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		ok, panics := w.item(f, p, v, i)
		if w.postponed.Load() {
			break
		}
		panicked = panicked || panics
		invalid = invalid || !ok && p.item.nonNull
	}
	w.lists--
	switch {
	case w.postponed.Load() && w.lists > 0:
		return false
	case w.postponed.Load():
		w.postponed.Store(false)
		w.back(begun)
		return w.itemsTogether(f, p, v)
	}
	w.buf = append(w.buf, ']')
	return w.closeList(begun.buf, invalid, panicked)
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
	at, lists := w.frame(f, nil, i), w.lists
	defer func() {
		if r := recover(); r != nil {
			w.lists = lists
			w.fail(at, w.op.Recover(at, r))
			ok, panicked = false, true
		}
	}()
	return w.opened(at, p.item, p.at(v, i)), false
}

// itemsTogether writes the items of a list at once.
func (w *writer) itemsTogether(f *frame, p *value, v any) bool {
	n := p.length(v)
	parts := make([]*writer, n)
	oks, panics := make([]bool, n), make([]bool, n)
	var waiting sync.WaitGroup
	for i := range parts {
		parts[i] = w.part()
		waiting.Go(func() { oks[i], panics[i] = parts[i].item(f, p, v, i) })
	}
	waiting.Wait()
	start, invalid, panicked := len(w.buf), false, false
	w.buf = append(w.buf, '[')
	for i, part := range parts {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.join(part)
		panicked = panicked || panics[i]
		invalid = invalid || !oks[i] && p.item.nonNull
	}
	w.buf = append(w.buf, ']')
	return w.closeList(start, invalid, panicked)
}
