package plan

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// frame is the context of a field or of an item of a list. What gqlgen keeps
// there, and few resolvers read, is made when it is needed.
type frame struct {
	writer *writer
	parent *frame
	step   *step // nil for an item
	index  int   // of an item
	made   atomic.Pointer[graphql.FieldContext]
}

var _ context.Context = (*frame)(nil)

func (f *frame) Deadline() (time.Time, bool) { return f.writer.ctx.Deadline() }

func (f *frame) Done() <-chan struct{} { return f.writer.ctx.Done() }

func (f *frame) Err() error { return f.writer.ctx.Err() }

func (f *frame) Value(key any) any {
	if key == fieldContextKey {
		return f.fieldContext()
	}
	return f.writer.ctx.Value(key)
}

// fieldContextKey is the key under which gqlgen finds the context of a field.
var fieldContextKey = func() (key any) {
	graphql.GetFieldContext(keyhole{context.Background(), &key})
	return key
}()

// keyhole records which key is read.
type keyhole struct {
	context.Context
	seen *any
}

func (k keyhole) Value(key any) any {
	*k.seen = key
	return nil
}

func (f *frame) fieldContext() *graphql.FieldContext {
	if made := f.made.Load(); made != nil {
		return made
	}
	made := &graphql.FieldContext{}
	if f.step == nil {
		made.Index = &f.index
	} else if described, err := f.step.field.Context(f.parent, f.step.collected); err == nil {
		made = described
	}
	made.Parent = f.parent.fieldContext()
	f.made.CompareAndSwap(nil, made)
	return f.made.Load()
}
