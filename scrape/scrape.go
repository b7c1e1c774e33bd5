package scrape

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"simgraph/domain"
	"simgraph/internal/problem"
)

// Path is where the numbers are.
const Path = "/metrics/fleet"

const (
	// maxPages bounds a list that is counted: 10,000 groups or alerts.
	maxPages = 100
	// maxTariffs is as many.
	maxTariffs = 100 * maxPages
)

//go:embed operations/*.graphql
var documents embed.FS

// Config describes how the numbers meet the rest of the program. All but Challenge and Log
// must be given.
type Config struct {
	// Prepare reads a document with one operation.
	Prepare func(document string) (Run, error)
	// SubscribersByTariff is that of domain.Catalogue.
	SubscribersByTariff func(ctx context.Context, scope domain.Scope, limit int) ([]domain.TariffCount, error)
	// Authenticate returns the context of a request with its domain.Caller. Its errors are
	// of the domain: Unauthorized, InvalidToken or Unavailable.
	Authenticate func(r *http.Request) (context.Context, error)
	// RequestID returns the id of the request that errors name.
	RequestID func(ctx context.Context) string
	// Challenge is the answer to refused credentials.
	Challenge problem.Challenge
	// Log takes internal errors; nil means slog.Default.
	Log *slog.Logger
}

// Run executes a prepared operation in process.
type Run = func(ctx context.Context, variables map[string]any) *graphql.Response

// Handler answers GET /metrics/fleet.
type Handler struct {
	Config
	fleet, groups, alerts Run
}

// New prepares the operations.
func New(cfg Config) (*Handler, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	h := &Handler{Config: cfg}
	for name, run := range map[string]*Run{"fleet": &h.fleet, "groups": &h.groups, "alerts": &h.alerts} {
		text, err := documents.ReadFile("operations/" + name + ".graphql")
		if err != nil {
			return nil, err
		}
		if *run, err = cfg.Prepare(string(text)); err != nil {
			return nil, fmt.Errorf("scrape: %s: %w", name, err)
		}
	}
	return h, nil
}

// ServeHTTP answers a request by a bearer token; sessions of browsers are not taken.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Refuse(w, r, problem.New(problem.WrongMethod, "", "use GET").With("Allow", "GET, HEAD"))
		return
	}
	ctx, err := h.Authenticate(r)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	n, err := h.read(ctx)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	registry := prometheus.NewRegistry()
	n.register(registry)
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
}

// Refuse answers a request that is not served, such as one beyond a limit.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := h.Challenge.Of(problem.Of(err))
	if p.Code == problem.Internal {
		h.Log.ErrorContext(r.Context(), "numbers of a fleet could not be read", "requestId", h.RequestID(r.Context()), "error", err)
	}
	p.Write(w, r, h.RequestID(r.Context()))
}

// read asks the graph as the caller.
func (h *Handler) read(ctx context.Context) (*numbers, error) {
	n := &numbers{}
	if err := ask(ctx, h.fleet, nil, n); err != nil {
		return nil, err
	}
	var err error
	if n.Groups, err = walk[group](ctx, h.groups); err != nil {
		return nil, err
	}
	if n.Tariffs, err = h.tariffs(ctx); err != nil {
		return nil, err
	}
	n.Alerts, err = walk[alert](ctx, h.alerts)
	return n, err
}

// tariffs asks the store: in the graph each tariff would be counted by itself.
func (h *Handler) tariffs(ctx context.Context) ([]domain.TariffCount, error) {
	caller, err := domain.CallerWith(ctx, domain.ViewSubscriber)
	if err != nil {
		return nil, err
	}
	counts, err := h.SubscribersByTariff(ctx, caller.Scope, maxTariffs+1)
	if err == nil && len(counts) > maxTariffs {
		err = tooMany(maxTariffs, "tariffs")
	}
	return counts, err
}

// tooMany is the error for a list beyond its bound.
func tooMany(most int, what string) error {
	return problem.New(string(domain.KindInvalid), "", fmt.Sprintf("there are more than %d %s", most, what))
}

// ask runs an operation, and reads its data into a value.
func ask(ctx context.Context, run Run, variables map[string]any, into any) error {
	response := run(ctx, variables)
	if len(response.Errors) == 0 {
		return json.Unmarshal(response.Data, into)
	}
	return problem.OfGraph(response.Errors[0])
}

// walk reads all pages of a list.
func walk[T any](ctx context.Context, run Run) (all []T, err error) {
	variables := map[string]any{}
	for range maxPages {
		var page struct {
			List struct {
				PageInfo struct {
					HasNextPage bool
					EndCursor   string
				}
				Nodes []T
			}
		}
		if err := ask(ctx, run, variables, &page); err != nil {
			return nil, err
		}
		all = append(all, page.List.Nodes...)
		if !page.List.PageInfo.HasNextPage {
			return all, nil
		}
		variables["after"] = page.List.PageInfo.EndCursor
	}
	return nil, tooMany(len(all), "groups or alerts")
}
