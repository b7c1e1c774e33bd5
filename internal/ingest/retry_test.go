package ingest_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"simgraph/domain"
	"simgraph/internal/ingest"
)

// failing fails so many calls, and accepts every record then.
type failing struct {
	times int
	with  error
	calls int
}

func (f *failing) RecordInTurn(_ context.Context, _ domain.Scope, records []domain.UsageRecord, _ func()) ([]domain.Recorded, error) {
	f.calls++
	if f.calls <= f.times {
		return nil, f.with
	}
	results := make([]domain.Recorded, len(records))
	for i := range results {
		results[i].Status = domain.UsageAccepted
	}
	return results, nil
}

// recordOn streams a record to the usage; ctx is the request's.
func recordOn(ctx context.Context, usage *failing) *httptest.ResponseRecorder {
	caller := &domain.Caller{Permissions: []domain.Permission{domain.RecordUsage}, Company: &domain.Company{ExternalID: "acme"}}
	handler := ingest.New(ingest.Config{
		Usage: usage, Log: slog.New(slog.DiscardHandler), StillValid: func(context.Context) error { return nil },
		Admit: func(r *http.Request) (context.Context, error) { return domain.WithCaller(r.Context(), caller), nil },
	})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, ingest.Path, strings.NewReader(line(1, ""))))
	return w
}

func TestABatchIsTriedAgainWhileTheDatabaseCannotTakeIt(t *testing.T) {
	t.Parallel()
	rateLimited := &domain.Error{Kind: domain.KindRateLimited, Message: "too much usage waits"}
	unavailable := domain.Unavailable(errors.New("connection refused"))
	for name, c := range map[string]struct {
		usage  failing
		status int
		calls  int
		took   time.Duration
	}{
		"at once":            {failing{}, 200, 1, 0},
		"rate limited once":  {failing{times: 1, with: rateLimited}, 200, 2, 100 * time.Millisecond},
		"unavailable twice":  {failing{times: 2, with: unavailable}, 200, 3, 300 * time.Millisecond},
		"up to the last try": {failing{times: 5, with: unavailable}, 200, 6, 3100 * time.Millisecond},
		"for too long":       {failing{times: 6, with: unavailable}, 503, 6, 3100 * time.Millisecond},
		"limited too long":   {failing{times: 6, with: rateLimited}, 429, 6, 3100 * time.Millisecond},
		"refused":            {failing{times: 1, with: domain.Forbidden("no")}, 403, 1, 0},
		"a fault":            {failing{times: 1, with: errors.New("a bug")}, 500, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				w := recordOn(t.Context(), &c.usage)
				if w.Code != c.status || c.usage.calls != c.calls {
					t.Errorf("%d after %d calls: %s", w.Code, c.usage.calls, w.Body)
				}
				// A batch lingers for more lines before it is booked.
				if took := time.Since(began); took < c.took || took > c.took+50*time.Millisecond {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				if accepted := strings.Contains(w.Body.String(), `"status":"accepted"`); accepted != (c.status == 200) {
					t.Errorf("%s", w.Body)
				}
			})
		})
	}
}

func TestABatchOfAClientThatIsGoneIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer leave()
		usage := &failing{times: 6, with: domain.Unavailable(errors.New("connection refused"))}
		func() {
			defer func() {
				if r := recover(); r != http.ErrAbortHandler { //nolint:errorlint // the handler panics with that very value
					t.Errorf("the handler ended with %v", r)
				}
			}()
			recordOn(ctx, usage)
		}()
		if usage.calls != 2 {
			t.Errorf("%d calls", usage.calls)
		}
	})
}
