package transport

import (
	"container/list"
	"sync"
)

// documentsBytes bounds the text of all remembered documents together; in
// memory a parsed one takes some twenty times its text.
const documentsBytes = 2 << 20

// documents remembers those used last, by their text.
type documents struct {
	most  int
	mu    sync.Mutex
	bytes int
	byUse *list.List // of *document, last used first
	found map[string]*list.Element
}

func newDocuments(most int) *documents {
	return &documents{most: most, byUse: list.New(), found: map[string]*list.Element{}}
}

func (d *documents) find(text string) *document {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.found[text]
	if e == nil {
		return nil
	}
	d.byUse.MoveToFront(e)
	return e.Value.(*document)
}

func (d *documents) remember(doc *document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.found[doc.text] != nil {
		return
	}
	d.found[doc.text] = d.byUse.PushFront(doc)
	d.bytes += len(doc.text)
	for d.byUse.Len() > d.most || d.bytes > documentsBytes {
		last := d.byUse.Remove(d.byUse.Back()).(*document)
		delete(d.found, last.text)
		d.bytes -= len(last.text)
	}
}
