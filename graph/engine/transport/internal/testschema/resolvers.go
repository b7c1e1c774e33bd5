package testschema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
)

// Resolvers resolve the test schema. The zero value is ready for use.
type Resolvers struct {
	total atomic.Int32
	// Streams counts the subscriptions whose source runs.
	Streams atomic.Int32
}

// Secret is in the text of every internal error: no answer may show it.
const Secret = "secret-of-the-house"

// gqlparser adds @defer to each schema; no transport delivers its later parts.
func init() { delete(parsedSchema.Directives, "defer") }

// New returns the executable schema of the resolvers.
func New(r *Resolvers) graphql.ExecutableSchema { return NewExecutableSchema(Config{Resolvers: r}) }

func (r *Resolvers) Item() ItemResolver                 { return item{r} }
func (r *Resolvers) Mutation() MutationResolver         { return mutation{r} }
func (r *Resolvers) Query() QueryResolver               { return query{r} }
func (r *Resolvers) Subscription() SubscriptionResolver { return subscription{r} }

type (
	item         struct{ *Resolvers }
	mutation     struct{ *Resolvers }
	query        struct{ *Resolvers }
	subscription struct{ *Resolvers }
)

func newItem(n int) *Item {
	return &Item{
		ID: fmt.Sprint("item-", n), Name: fmt.Sprint("Item ", n), Size: int32(n), Big: int64(n) << 40,
		At: time.Date(2026, 1, 2, 3, 4, n%60, 0, time.UTC), Tags: []string{"a", "b"},
	}
}

func page(first *int32) *ItemConnection {
	c := &ItemConnection{Nodes: []*Item{}, TotalCount: 1000}
	for i := range min(*first, 100) {
		c.Nodes = append(c.Nodes, newItem(int(i)))
	}
	return c
}

// shown prints a value as JSON, so that tests see null, numbers and texts apart.
func shown(v any) (string, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

func (item) Related(_ context.Context, _ *Item, first *int32) (*ItemConnection, error) {
	return page(first), nil
}

func (item) Broken(context.Context, *Item) (string, error) { return "", errors.New(Secret) }

func (m mutation) Increment(_ context.Context, by int32) (int32, error) { return m.total.Add(by), nil }

func (query) Hello(context.Context) (string, error) { return "world", nil }

func (query) Integer(_ context.Context, v *int32, must int32) (string, error) {
	return shown([]any{v, must})
}
func (query) Float(_ context.Context, v *float64) (string, error) { return shown(v) }
func (query) Text(_ context.Context, v *string) (string, error)   { return shown(v) }
func (query) ID(_ context.Context, v *string) (string, error)     { return shown(v) }
func (query) Flag(_ context.Context, v *bool) (string, error)     { return shown(v) }
func (query) Color(_ context.Context, v *Color) (string, error)   { return shown(v) }
func (query) At(_ context.Context, v *time.Time) (string, error)  { return shown(v) }
func (query) Big(_ context.Context, v *int64) (string, error)     { return shown(v) }
func (query) Choice(_ context.Context, v *Choice) (string, error) { return shown(v) }
func (query) Filter(_ context.Context, v *Filter) (string, error) { return shown(v) }

func (query) Anything(_ context.Context, v any) (string, error) { return shown(v) }

// Extended adds an extension to the answer.
func (query) Extended(ctx context.Context) (bool, error) {
	graphql.RegisterExtension(ctx, "seen", true)
	return true, nil
}

func (query) Numbers(_ context.Context, v []int32, matrix [][]int32) (string, error) {
	return shown([]any{v, matrix})
}

func (query) Item(_ context.Context, id string) (*Item, error) {
	return nil, domain.NotFound("id", "item", id)
}

func (query) Items(_ context.Context, first *int32) (*ItemConnection, error) { return page(first), nil }

func (query) Nodes(_ context.Context, ids []string) ([]*Item, error) {
	return make([]*Item, len(ids)), nil
}

func (query) Samples(context.Context) ([]*Item, error) { return page(new(int32)).Nodes, nil }

func (query) Failures(ctx context.Context, times int32) ([]*string, error) {
	for range times {
		graphql.AddError(ctx, errors.New(Secret))
	}
	return nil, nil
}

func (query) Fail(_ context.Context, kind string) (*string, error) {
	switch kind {
	case "invalid":
		return nil, domain.Invalid("kind", "no such kind")
	case "wrapped":
		return nil, fmt.Errorf("%s: %w", Secret, domain.Forbidden("the permission is missing"))
	default:
		return nil, errors.New(Secret)
	}
}

func (query) Panic(context.Context) (*string, error) { panic(Secret) }

type responsesKey struct{}

// WithResponse counts in the context how many responses were begun.
func WithResponse(ctx context.Context, n int32) context.Context {
	return context.WithValue(ctx, responsesKey{}, n)
}

func (query) Responses(ctx context.Context) (int32, error) {
	n, _ := ctx.Value(responsesKey{}).(int32)
	return n, nil
}

// stream sends what next yields until it returns false or the client is gone.
func stream[T any](ctx context.Context, r *Resolvers, next func(i int32) (T, bool)) <-chan T {
	values := make(chan T)
	r.Streams.Add(1)
	go func() {
		defer r.Streams.Add(-1)
		defer close(values)
		for i := int32(1); ; i++ {
			v, ok := next(i)
			if !ok {
				return
			}
			select {
			case values <- v:
			case <-ctx.Done():
				return
			}
		}
	}()
	return values
}

func (s subscription) Count(ctx context.Context, to int32) (<-chan int32, error) {
	return stream(ctx, s.Resolvers, func(i int32) (int32, bool) { return i, i <= to }), nil
}

// Forever sends one event and then nothing.
func (s subscription) Forever(ctx context.Context) (<-chan int32, error) {
	return stream(ctx, s.Resolvers, func(i int32) (int32, bool) {
		if i > 1 {
			<-ctx.Done()
		}
		return i, ctx.Err() == nil
	}), nil
}

// Flood sends as fast as it is read.
func (s subscription) Flood(ctx context.Context) (<-chan *Item, error) {
	return stream(ctx, s.Resolvers, func(i int32) (*Item, bool) { return newItem(int(i)), true }), nil
}

func (subscription) Refused(context.Context) (<-chan int32, error) {
	return nil, domain.Forbidden("this stream is not for you")
}

func (subscription) Panicking(context.Context) (<-chan int32, error) { panic(Secret) }
