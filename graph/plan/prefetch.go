package plan

import (
	"context"
	"slices"
	"sync"
)

// Relation loads what a field needs, for many objects at once.
type Relation interface {
	// Queue adds to the level what the field needs of the objects, of which there
	// is at least one. All have the same selection, and so the same arguments.
	// What the field will refuse is left to it.
	Queue(ctx context.Context, level *Level, objects []any, args map[string]any)
}

// Level is what the objects of one depth need.
type Level struct{ Batches []Batch }

// Batch is what one load fetches.
type Batch interface{ Load(ctx context.Context) }

// load runs the batches at the same time.
func (l *Level) load(ctx context.Context) {
	if len(l.Batches) == 0 {
		return
	}
	var others sync.WaitGroup
	for _, batch := range l.Batches[1:] {
		others.Go(func() { batch.Load(ctx) })
	}
	l.Batches[0].Load(ctx)
	others.Wait()
}

// prefetch loads the relations below a value before anything is written, level
// by level: what the objects of a level need is loaded at once, wherever they
// are. A field that leads to further objects is resolved here, for each object
// once; the writer finds its result.
type prefetch struct {
	*writer
	level Level
	// further are fields whose values are there when the level is loaded.
	further []further
}

type further struct {
	step    *step
	objects []any
}

func (w *writer) prefetch(v *value, opened any) {
	if !v.loads {
		return
	}
	p := prefetch{writer: w}
	p.value(v, opened)
	for len(p.level.Batches)+len(p.further) > 0 {
		p.level.load(w.ctx)
		loaded := p.further
		p.level, p.further = Level{}, nil
		for _, f := range loaded {
			p.below(f.step, f.objects)
		}
	}
}

// value visits the objects of an opened value.
func (p *prefetch) value(v *value, opened any) {
	found := objects{}
	found.add(v, opened)
	p.visit(found)
}

func (p *prefetch) visit(found objects) {
	for _, of := range found {
		if len(of.objects) == 0 {
			continue
		}
		for _, s := range of.selection.steps {
			p.step(s, of.objects)
		}
	}
}

// step queues the relation of a field. Without one, what is below it belongs to
// the same level.
func (p *prefetch) step(s *step, objects []any) {
	if s.field == nil || s.field.Relation == nil && !s.leads || p.refuses(s, objects[0]) {
		return
	}
	if s.field.Relation == nil {
		p.below(s, objects)
		return
	}
	var args map[string]any
	if s.field.Arguments != nil {
		args = p.arguments[s.arguments].Args
	}
	s.field.Relation.Queue(p.ctx, &p.level, objects, args)
	if s.leads {
		p.further = append(p.further, further{s, objects})
	}
}

// refuses reports whether the field is an error for every object: then nothing
// is loaded for it.
func (p *prefetch) refuses(s *step, object any) bool {
	if s.field.Arguments != nil && p.arguments[s.arguments] == nil {
		return true
	}
	if s.field.Guard == nil {
		return false
	}
	_, err := s.field.Guard(p.ctx, object, func(context.Context) (any, error) { return nil, nil })
	return err != nil
}

// below resolves a field of the objects and visits what it leads to.
func (p *prefetch) below(s *step, of []any) {
	results := make(map[any]result, len(of))
	found := objects{}
	for _, object := range of {
		if _, known := results[object]; known {
			continue
		}
		r := p.resolved(s, object)
		results[object] = r
		found.add(s.value, r.value)
	}
	if p.results == nil {
		p.results = map[*step]map[any]result{}
	}
	p.results[s] = results
	p.visit(found)
}

// resolved is resolve for a resolver that may panic.
func (p *prefetch) resolved(s *step, object any) (r result) {
	defer func() {
		if fault := recover(); fault != nil {
			r = result{err: p.op.RecoverFunc(p.ctx, fault), panicked: true}
		}
	}()
	var args *Arguments
	if s.field.Arguments != nil {
		args = p.arguments[s.arguments]
	}
	return p.resolve(p.ctx, s, object, args)
}

// objects are objects by what is selected of them, where that has relations.
type objects []selected

type selected struct {
	selection *selection
	objects   []any
}

// add adds the objects of an opened value.
func (o *objects) add(v *value, opened any) {
	switch {
	case opened == nil || !v.loads:
	case v.kind == ofObject:
		o.selected(v.object, 1).put(opened)
	case v.kind == ofAbstract:
		name, object := v.concrete(opened)
		if sel := v.objects[name]; sel != nil && sel.loads {
			o.selected(sel, 1).put(object)
		}
	default:
		n := v.length(opened)
		if v.item.kind == ofObject {
			o.selected(v.item.object, n)
		}
		for i := range n {
			o.add(v.item, v.at(opened, i))
		}
	}
}

// selected returns those with the selection, with room for more.
func (o *objects) selected(sel *selection, more int) *selected {
	i := slices.IndexFunc(*o, func(known selected) bool { return known.selection == sel })
	if i < 0 {
		i = len(*o)
		*o = append(*o, selected{selection: sel})
	}
	known := &(*o)[i]
	known.objects = slices.Grow(known.objects, more)
	return known
}

func (s *selected) put(object any) { s.objects = append(s.objects, object) }
