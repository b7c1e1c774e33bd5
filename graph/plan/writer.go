package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
)

// writer appends the answer of a root field, one field after the other. What the
// fields need was loaded before.
type writer struct {
	ctx       context.Context
	op        *graphql.OperationContext
	arguments []*Arguments // nil where they are bad
	// results are those of fields that were resolved before the writing, by their
	// objects.
	results map[*step]map[any]result
	buf     []byte
	faults  []fault
	// spare are frames that were allocated together.
	spare []frame
}

// result is what a resolver returned.
type result struct {
	value any // opened
	err   error
	// missing reports that the resolver returned no value at all.
	missing bool
	// panicked reports that err is that of a panic.
	panicked bool
}

// fault is an error that the answer will have.
type fault struct {
	at  *frame
	err error
	// lone errors are left out where the field has another.
	lone bool
}

var (
	errNull     = errors.New("must not be null")
	errNullItem = errors.New("the requested element is null which the schema does not allow")
)

func newWriter(ctx context.Context, op *graphql.OperationContext, r *root) *writer {
	w := &writer{
		ctx: ctx, op: op, arguments: make([]*Arguments, len(r.argued)),
		buf: buffer(),
	}
	for i, s := range r.argued {
		w.arguments[i] = w.coerced(s)
	}
	return w
}

// coerced returns nil when the arguments are bad: each object reports that.
func (w *writer) coerced(s *step) (args *Arguments) {
	defer func() {
		if recover() != nil {
			args = nil
		}
	}()
	coerced, err := s.field.Arguments(w.ctx, s.collected.ArgumentMap(w.op.Variables))
	if err != nil {
		return nil
	}
	return &Arguments{coerced}
}

// report hands the errors to the response.
func (w *writer) report() {
	for _, f := range w.faults {
		if !f.lone || !graphql.HasFieldError(f.at, f.at.fieldContext()) {
			w.op.Error(f.at, f.err)
		}
	}
}

// mark is a place to go back to.
type mark struct{ buf, faults int }

func (w *writer) mark() mark { return mark{len(w.buf), len(w.faults)} }

func (w *writer) back(to mark) {
	w.buf, w.faults = w.buf[:to.buf], w.faults[:to.faults]
}

func (w *writer) frame(parent *frame, s *step, index int) *frame {
	if len(w.spare) == 0 {
		w.spare = make([]frame, 32)
	}
	f := &w.spare[0]
	w.spare = w.spare[1:]
	f.writer, f.parent, f.step, f.index = w, parent, s, index
	return f
}

func (w *writer) fail(at *frame, err error) {
	w.faults = append(w.faults, fault{at: at, err: err})
}

// null writes a null, and returns false as all do that have written one. err
// is the fault of it where there must be a value.
func (w *writer) null(at *frame, nonNull bool, err error) bool {
	if nonNull {
		w.faults = append(w.faults, fault{at: at, err: err, lone: true})
	}
	w.buf = append(w.buf, null...)
	return false
}

// failed writes the null of a field that failed.
func (w *writer) failed(at *frame, err error) bool {
	w.fail(at, graphql.AddFieldLocationToError(at, err))
	w.buf = append(w.buf, null...)
	return false
}

// field writes the value of a field; false when it is null.
func (w *writer) field(parent *frame, s *step, object any) (ok bool) {
	if s.field.Plain != nil {
		if w.buf, ok = s.field.Plain(w.buf, object); ok {
			return true
		}
		return w.null(w.frame(parent, s, 0), s.field.NonNull, errNullItem)
	}
	f := w.frame(parent, s, 0)
	var args *Arguments
	if s.field.Arguments != nil {
		if args = w.arguments[s.arguments]; args == nil {
			return w.badArguments(f)
		}
	}
	if s.field.Leaf != nil {
		return w.leaf(f, object, args)
	}
	if s.leads {
		if r, known := w.results[s][object]; known {
			return w.result(f, r)
		}
	}
	return w.result(f, w.resolve(f, s, object, args))
}

// resolve returns the opened value of a field.
func (w *writer) resolve(ctx context.Context, s *step, object any, args *Arguments) result {
	v, err := s.field.guarded(ctx, object, args)
	if err != nil || v == nil {
		return result{err: err, missing: true}
	}
	opened, ok := s.value.open(v)
	if !ok {
		return result{err: wrongType(s.value, v)}
	}
	return result{value: opened}
}

// result writes the result of a field.
func (w *writer) result(f *frame, r result) bool {
	switch {
	case r.panicked:
		w.fail(f, r.err)
		w.buf = append(w.buf, null...)
		return false
	case r.err != nil:
		return w.failed(f, r.err)
	case r.missing:
		return w.null(f, f.step.field.NonNull, errNull)
	}
	return w.opened(f, f.step.value, r.value)
}

func (w *writer) leaf(f *frame, object any, args *Arguments) bool {
	b, ok, err := f.step.field.Leaf(f, object, args, w.buf)
	switch {
	case err != nil:
		return w.failed(f, err)
	case !ok:
		return w.null(f, f.step.field.NonNull, errNullItem)
	}
	w.buf = b
	return true
}

// badArguments has gqlgen report them.
func (w *writer) badArguments(f *frame) bool {
	if _, err := f.step.field.Context(f.parent, f.step.collected); err == nil {
		w.fail(f, errors.New("the arguments cannot be read"))
	}
	w.buf = append(w.buf, null...)
	return false
}

// root writes the value of the root field.
func (w *writer) root(f *frame, p *value, v any) bool {
	opened, ok := p.open(v)
	if !ok {
		w.fail(f, wrongType(p, v))
		return false
	}
	w.prefetch(p, opened)
	return w.opened(f, p, opened)
}

func wrongType(p *value, v any) error {
	return fmt.Errorf("unexpected type %T from middleware/directive chain, should be %s", v, p.want())
}

func (w *writer) opened(f *frame, p *value, v any) (ok bool) {
	if v == nil {
		return w.null(f, p.nonNull, errNullItem)
	}
	switch p.kind {
	case ofLeaf:
		if w.buf, ok = p.leaf(w.buf, v); !ok {
			return w.null(f, p.nonNull, errNullItem)
		}
		return true
	case ofLeaves:
		return w.leaves(f, p, v)
	case ofObject:
		return w.object(f, p.object, v)
	case ofAbstract:
		return w.abstract(f, p, v)
	default:
		return w.list(f, p, v)
	}
}

func (w *writer) leaves(f *frame, p *value, v any) bool {
	start := len(w.buf)
	b, nulls := p.leaves(w.buf, v)
	w.buf = b
	if nulls == 0 || !p.item.nonNull {
		return true
	}
	w.buf = w.buf[:start]
	return w.null(f, true, errNullItem)
}

func (w *writer) abstract(f *frame, p *value, v any) bool {
	name, object := p.concrete(v)
	if sel := p.objects[name]; sel != nil {
		return w.object(f, sel, object)
	}
	m, _ := object.(graphql.Marshaler)
	var ok bool
	if w.buf, ok = Marshal(w.buf, m); !ok {
		return w.null(f, false, nil)
	}
	return true
}
