package pg

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"simgraph/internal/flight"
)

const (
	// sideBySide is how many statements that ask the same run at once. So many
	// callers are answered as fast as if they were alone; more share the next.
	sideBySide = 2
	// sharedWait is how long callers wait for those: they may hang on a connection
	// that is dead.
	sharedWait = 2 * time.Second
)

// SharedQuery answers callers who ask the same at the same time by one statement.
// It begins after all of them have called, so each reads what was written before.
type SharedQuery[V any] struct {
	flights flight.Group[string, func(context.Context) (V, error), V]
}

// NewSharedQuery returns one that no caller shares yet.
func NewSharedQuery[V any]() *SharedQuery[V] {
	return &SharedQuery[V]{flight.Group[string, func(context.Context) (V, error), V]{
		SideBySide: sideBySide, Patience: sharedWait,
		Run: func(ctx context.Context, _ string, calls []func(context.Context) (V, error)) []flight.Result[V] {
			value, err := calls[0](ctx)
			return flight.Same(len(calls), value, err)
		},
	}}
}

// Do runs a query of that text and those arguments, or shares the result of
// another caller's. What is shared must not be changed.
func (s *SharedQuery[V]) Do(ctx context.Context, query string, args []any, run func(context.Context) (V, error)) (V, error) {
	key, err := sharedKey(query, args)
	if err != nil {
		return run(ctx)
	}
	value, err := s.flights.Do(ctx, key, run)
	return value, Translate(err)
}

// sharedKey identifies a query. It fails for arguments that only a driver
// understands.
func sharedKey(query string, args []any) (string, error) {
	var key strings.Builder
	key.WriteString(query)
	for _, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return "", err
		}
		text := fmt.Sprint(value)
		_, _ = fmt.Fprintf(&key, "\x00%T %d %s", value, len(text), text)
	}
	return key.String(), nil
}
