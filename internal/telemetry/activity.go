package telemetry

import (
	"context"
	"strings"
	"sync"
	"time"

	"simgraph/domain"
)

const (
	// mostStatements bounds those that are remembered of one request.
	mostStatements = 50
	// usualStatements is what most requests stay within.
	usualStatements = 8
	// longestStatement bounds the text of one.
	longestStatement = 2_000
)

// activity is a request on its way, or an operation of a WebSocket. Fields of a
// response may run at once.
type activity struct {
	endpoint, requestID string
	began               time.Time

	mu        sync.Mutex
	operation string
	cost      int
	code      string
	// stream is true when the time does not measure speed.
	stream bool
	caller *domain.Caller
	// statements are the first that ran; more counts the others.
	statements []statement
	more       int
}

// statement is one that ran. Its text holds no values.
type statement struct {
	text string
	took time.Duration
}

type activityKey struct{}

func activityOf(ctx context.Context) *activity {
	a, _ := ctx.Value(activityKey{}).(*activity)
	return a
}

func (a *activity) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, activityKey{}, a)
}

// run notes an operation of the activity. A request of a REST path may run
// several; it keeps its own name.
func (a *activity) run(name string, cost int, stream bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.operation == "" {
		a.operation = name
	}
	a.cost += cost
	a.stream = a.stream || stream
}

func (a *activity) ended(code string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.code == "" {
		a.code = code
	}
}

func (a *activity) name(operation string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.operation = operation
}

func (a *activity) ran(text string, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.statements) == mostStatements {
		a.more++
		return
	}
	if a.statements == nil {
		a.statements = make([]statement, 0, usualStatements)
	}
	a.statements = append(a.statements, statement{text, took})
}

// list returns the statements with their times, each on one line.
func (a *activity) list() []string {
	lines := make([]string, len(a.statements))
	for i, s := range a.statements {
		text := strings.Join(strings.Fields(s.text[:min(len(s.text), longestStatement)]), " ")
		lines[i] = s.took.Round(10*time.Microsecond).String() + " " + text
	}
	return lines
}

// Admitted notes the caller in the context.
func (t *Telemetry) Admitted(ctx context.Context) {
	caller, err := domain.CallerOf(ctx)
	a := activityOf(ctx)
	if err != nil || a == nil {
		return
	}
	a.mu.Lock()
	a.caller = caller
	a.mu.Unlock()
	t.traceCaller(ctx, caller)
}

// Routed notes which path a request is for, as the contract writes it.
func (t *Telemetry) Routed(ctx context.Context, path string) {
	if a := activityOf(ctx); a != nil {
		a.name(path)
	}
}
