package resolvers

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"simgraph/domain"
	"simgraph/graph/plan"
)

const (
	// batchWait is how long a loader waits for more keys. Shorter splits
	// batches, longer adds to the latency of every level of a query.
	batchWait = time.Millisecond
	// batchCap bounds the keys of one statement.
	batchCap = 1000
)

// relationBy loads one relation of many objects O, of which A is asked, with one
// statement for all of which the same is asked. It lives as long as a response.
type relationBy[A, O comparable, V any] struct {
	load loadBy[A, O, V]

	mu sync.Mutex
	// loader is made for the first object that was not loaded ahead.
	loader *dataloader.Loader[question[A, O], V]
	// primed is what was loaded ahead. Little is asked of the same relation in
	// one response, mostly one thing.
	primed []*answers[A, O, V]
}

// loadBy returns the values that there are of the objects, in a map that is the
// caller's.
type loadBy[A, O comparable, V any] func(ctx context.Context, of []O, asked A) (map[O]V, error)

// question is what is asked of an object.
type question[A, O comparable] struct {
	asked A
	of    O
}

// answers are the values of objects of which the same is asked.
type answers[A, O comparable, V any] struct {
	asked  A
	values map[O]V
	// refused are the errors of what was too much for one batch. Loading that
	// again would split it over batches that a bound lets pass one by one.
	refused map[O]error
}

func (r *relationBy[A, O, V]) batch(ctx context.Context, questions []question[A, O]) []*dataloader.Result[V] {
	results := make([]*dataloader.Result[V], len(questions))
	for i, q := range questions {
		if results[i] != nil {
			continue
		}
		var of []O
		for _, other := range questions[i:] {
			if other.asked == q.asked {
				of = append(of, other.of)
			}
		}
		values, err := r.loadTold(ctx, of, q.asked)
		for j, other := range questions[i:] {
			if other.asked == q.asked {
				results[i+j] = &dataloader.Result[V]{Data: values[other.of], Error: err}
			}
		}
	}
	return results
}

func (r *relationBy[A, O, V]) loadTold(ctx context.Context, of []O, asked A) (map[O]V, error) {
	tellBatch(ctx, len(of))
	return r.load(ctx, of, asked)
}

// of returns what is asked of an object; the zero value when there is nothing.
func (r *relationBy[A, O, V]) of(ctx context.Context, asked A, of O) (value V, err error) {
	r.mu.Lock()
	known := false
	if a := r.answersTo(asked); a != nil {
		value, known = a.values[of]
		err = a.refused[of]
	}
	r.mu.Unlock()
	if known || err != nil {
		return value, err
	}
	if err := plan.Postpone(ctx); err != nil {
		return value, err
	}
	return r.batching().Load(ctx, question[A, O]{asked, of})()
}

func (r *relationBy[A, O, V]) batching() *dataloader.Loader[question[A, O], V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loader == nil {
		r.loader = dataloader.NewBatchedLoader(r.batch,
			dataloader.WithWait[question[A, O], V](batchWait), dataloader.WithBatchCapacity[question[A, O], V](batchCap))
	}
	return r.loader
}

// ahead loads what is asked of many objects at once, before their fields are
// resolved, so that no field has to wait for a batch to fill. When it fails the
// fields load for themselves and report the error.
func (r *relationBy[A, O, V]) ahead(ctx context.Context, asked A, of []O) {
	for chunk := range slices.Chunk(r.missing(asked, of), batchCap) {
		values, err := r.loadTold(ctx, chunk, asked)
		if err != nil {
			r.refuse(asked, chunk, err)
			return
		}
		r.keep(asked, chunk, values)
	}
}

// aheadValues is ahead for who goes on to what is below: it returns the values
// that are known then.
func (r *relationBy[A, O, V]) aheadValues(ctx context.Context, asked A, of []O) []V {
	r.ahead(ctx, asked, of)
	return r.known(asked, of)
}

// known returns the values that were loaded ahead, once for each object.
func (r *relationBy[A, O, V]) known(asked A, of []O) []V {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.answersTo(asked)
	if a == nil {
		return nil
	}
	values := make([]V, 0, len(of))
	for _, object := range once(of) {
		if value, ok := a.values[object]; ok {
			values = append(values, value)
		}
	}
	return values
}

// missing returns the objects without a value, each once.
func (r *relationBy[A, O, V]) missing(asked A, of []O) []O {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.answersTo(asked)
	if a == nil {
		return once(of)
	}
	return slices.DeleteFunc(slices.Clone(once(of)), func(object O) bool {
		_, known := a.values[object]
		return known
	})
}

// once returns the objects without repeating any.
func once[O comparable](of []O) []O {
	if len(of) < 2 {
		return of
	}
	seen, objects := make(map[O]struct{}, len(of)), make([]O, 0, len(of))
	for _, object := range of {
		if seen[object] = struct{}{}; len(seen) > len(objects) {
			objects = append(objects, object)
		}
	}
	return objects
}

// keep remembers the values of objects, also that there is none. The map is the
// relation's from then on.
func (r *relationBy[A, O, V]) keep(asked A, of []O, values map[O]V) {
	if values == nil {
		values = make(map[O]V, len(of))
	}
	if len(values) < len(of) {
		for _, object := range of {
			if _, ok := values[object]; !ok {
				var none V
				values[object] = none
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.answersFor(asked); a.values == nil {
		a.values = values
	} else {
		maps.Copy(a.values, values)
	}
}

// refuse remembers an error that would be the same again.
func (r *relationBy[A, O, V]) refuse(asked A, of []O, err error) {
	if public, ok := domain.AsError(err); !ok || public.Kind != domain.KindInvalid {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.answersFor(asked)
	if a.refused == nil {
		a.refused = make(map[O]error, len(of))
	}
	for _, object := range of {
		a.refused[object] = err
	}
}

// answersTo returns nil when nothing is known of what is asked. The caller has
// the lock, as that of answersFor.
func (r *relationBy[A, O, V]) answersTo(asked A) *answers[A, O, V] {
	for _, a := range r.primed {
		if a.asked == asked {
			return a
		}
	}
	return nil
}

func (r *relationBy[A, O, V]) answersFor(asked A) *answers[A, O, V] {
	a := r.answersTo(asked)
	if a == nil {
		a = &answers[A, O, V]{asked: asked}
		r.primed = append(r.primed, a)
	}
	return a
}

func (r *relationBy[A, O, V]) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.primed = nil
	if r.loader != nil {
		r.loader.ClearAll()
	}
}

// relation is one of which there is but one thing to ask.
type relation[O comparable, V any] struct{ relationBy[struct{}, O, V] }

// loadOf returns the values that there are of the objects, in a map that is the
// caller's.
type loadOf[O comparable, V any] func(ctx context.Context, of []O) (map[O]V, error)

func newRelation[O comparable, V any](load loadOf[O, V]) relation[O, V] {
	return relation[O, V]{relationBy[struct{}, O, V]{load: func(ctx context.Context, of []O, _ struct{}) (map[O]V, error) {
		return load(ctx, of)
	}}}
}

func (r *relation[O, V]) of(ctx context.Context, of O) (V, error) {
	return r.relationBy.of(ctx, struct{}{}, of)
}

func (r *relation[O, V]) ahead(ctx context.Context, of []O) { r.relationBy.ahead(ctx, struct{}{}, of) }

func (r *relation[O, V]) aheadValues(ctx context.Context, of []O) []V {
	return r.relationBy.aheadValues(ctx, struct{}{}, of)
}

func (r *relation[O, V]) known(of []O) []V { return r.relationBy.known(struct{}{}, of) }

// prime tells a value that came with something else.
func (r *relation[O, V]) prime(of O, value V) { r.keep(struct{}{}, nil, map[O]V{of: value}) }
