package telemetry

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"
)

const (
	// repeatsEvery is how often the log has the same failure.
	repeatsEvery = time.Minute
	// mostFailures bounds the failures that are distinguished; more are logged each time.
	mostFailures = 1000
)

// Unrepeated returns a logger that writes a warning or an error once a minute, however
// often it comes: what is tried again every second while the database is away would fill
// the log. It counts as the same by its message and all attributes but its error, so
// that each request, mail and worker has its own. The next line has the number of those
// that were left out, as "repeated".
func Unrepeated(log *slog.Logger) *slog.Logger {
	return slog.New(&repeats{Handler: log.Handler(), logged: &loggedFailures{byText: map[string]*loggedFailure{}}})
}

type repeats struct {
	slog.Handler
	// context are the attributes and groups of the logger.
	context string
	logged  *loggedFailures
}

type loggedFailures struct {
	mu     sync.Mutex
	byText map[string]*loggedFailure
}

type loggedFailure struct {
	at      time.Time
	leftOut int
}

// Handle implements slog.Handler.
func (r *repeats) Handle(ctx context.Context, record slog.Record) error {
	text, failure := r.failure(&record)
	if !failure {
		return r.Handler.Handle(ctx, record)
	}
	leftOut, write := r.logged.note(text, record.Time)
	if !write {
		return nil
	}
	if leftOut > 0 {
		record = record.Clone()
		record.AddAttrs(slog.Int("repeated", leftOut))
	}
	return r.Handler.Handle(ctx, record)
}

// failure returns what two lines about one failure have in common; false for other lines.
func (r *repeats) failure(record *slog.Record) (text string, is bool) {
	if record.Level < slog.LevelWarn {
		return "", false
	}
	var b strings.Builder
	b.WriteString(r.context + record.Message)
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			is = true
		} else {
			b.WriteString("\x00" + a.String())
		}
		return true
	})
	return b.String(), is
}

// note reports whether a failure is to be written, and how many like it were not since
// the last time.
func (f *loggedFailures) note(text string, at time.Time) (leftOut int, write bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.byText[text]
	switch {
	case before != nil && at.Sub(before.at) < repeatsEvery:
		before.leftOut++
		return 0, false
	case before != nil:
		leftOut = before.leftOut
	case len(f.byText) >= mostFailures:
		maps.DeleteFunc(f.byText, func(_ string, of *loggedFailure) bool { return at.Sub(of.at) >= repeatsEvery })
		if len(f.byText) >= mostFailures {
			return 0, true
		}
	}
	f.byText[text] = &loggedFailure{at: at}
	return leftOut, true
}

// WithAttrs implements slog.Handler.
func (r *repeats) WithAttrs(attrs []slog.Attr) slog.Handler {
	context := r.context
	for _, a := range attrs {
		context += a.String() + "\x00"
	}
	return &repeats{r.Handler.WithAttrs(attrs), context, r.logged}
}

// WithGroup implements slog.Handler.
func (r *repeats) WithGroup(name string) slog.Handler {
	return &repeats{r.Handler.WithGroup(name), r.context + name + "\x00", r.logged}
}
