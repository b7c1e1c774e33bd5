package security

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/audit"
	"simgraph/db/subscriber"
	"simgraph/domain"
	"simgraph/export"
	"simgraph/graph/engine/transport"
	"simgraph/internal/access"
	"simgraph/resolvers"
)

// now stands for a snapshot.
type now struct{ *world }

// Within implements export.Snapshot.
func (now) Within(ctx context.Context) context.Context { return ctx }

// Usage implements export.Snapshot.
func (n now) Usage() domain.UsageExports { return subscriber.NewUsageExports(n.pool) }

// Close implements export.Snapshot.
func (now) Close() error { return nil }

// exports serves the exports to whom the gate admits.
func (w *world) exports(t *testing.T, gate *access.Gate) *export.Handler {
	t.Helper()
	ports := w.ports
	ports.Subscribers = export.Subscribers{Subscribers: ports.Subscribers}
	graph := resolvers.New(ports, clock)
	engine := transport.New(graph.Schema(), transport.Config{Present: resolvers.Present, PerResponse: graph.WithLoaders})
	t.Cleanup(engine.Close)
	exporter, err := export.New(export.Config{
		Schema: w.schema, Prepare: engine.Prepare, Open: func(context.Context) (export.Snapshot, error) { return now{w}, nil },
		Audit: audit.NewLog(w.pool), StillValid: gate.StillValid, Now: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &export.Handler{
		Exporter: exporter, RequestID: transport.RequestID, Enter: func(context.Context) (func(), error) { return func() {}, nil }, Patience: time.Minute,
		Authenticate: gate.AdmitBrowser,
	}
}

func ask(handler http.Handler, token, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	return recorder
}

// everything are exports of all that there is.
func everything() map[string]string {
	all := map[string]string{}
	span := fmt.Sprintf("&from=%s&to=%s", clock().AddDate(0, -2, 0).Format(time.DateOnly), clock().AddDate(0, 0, 2).Format(time.DateOnly))
	for _, name := range export.Exports {
		for _, format := range []string{export.CSV, export.NDJSON} {
			path := export.Prefix + name + "?format=" + format
			if name != export.Usage {
				all[name+" as "+format] = path
				continue
			}
			all[name+" as "+format] = path + span
			for _, by := range domain.ExportSplits {
				of := span
				if by == domain.ByCountry { // of at most 31 days
					of = fmt.Sprintf("&from=%s&to=%s", clock().AddDate(0, 0, -28).Format(time.DateOnly), clock().AddDate(0, 0, 2).Format(time.DateOnly))
				}
				all[name+" by "+string(by)+" as "+format] = path + of + "&timeZone=UTC&by=" + strings.TrimPrefix(string(by), "IP_")
			}
		}
	}
	return all
}

// Exports are of what the caller sees: of its company and groups alone.
func TestExportsShowNothingOfOthers(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			handler, rows := w.handler, 0
			for what, path := range everything() {
				answer := ask(handler, w.tokens[attack.caller], path)
				text := random.ReplaceAllString(answer.Body.String(), "")
				if answer.Code == http.StatusForbidden && strings.HasPrefix(what, "audit") && strings.Contains(attack.caller, "vans") {
					continue
				}
				if answer.Code != http.StatusOK {
					t.Fatalf("%s: %d %s", what, answer.Code, text)
				}
				for _, mark := range attack.hidden.notShared(attack.hidden.marks(), own) {
					if strings.Contains(text, mark) {
						t.Errorf("%s shows %s, which is not the caller's: %s", what, mark, text)
					}
				}
				rows += strings.Count(text, own.physicalID(3))
			}
			if rows == 0 {
				t.Error("no export shows what is the caller's")
			}
		})
	}
}

// Filters and cursors that name what is hidden find nothing of it.
func TestExportsFindNothingOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	handler := w.handler
	vans := w.tokens["own-vans@acme.example"]
	span := fmt.Sprintf("&from=%s&to=%s", clock().AddDate(0, -2, 0).Format(time.DateOnly), clock().AddDate(0, 0, 2).Format(time.DateOnly))
	for _, hidden := range []part{others, rivals} {
		filter := "?filter=" + url.QueryEscape(`{"physicalId": {"eq": "`+hidden.physicalID(3)+`"}}`)
		for _, path := range []string{"subscribers" + filter, "usage" + filter + span, "sessions" + filter, "alert-log" + filter, fmt.Sprintf("usage?group=%d%s", hidden.group, span)} {
			if answer := ask(handler, vans, export.Prefix+path); answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "#end,rows=0,") {
				t.Errorf("%s is answered %d %s", path, answer.Code, answer.Body)
			}
		}
	}
	tariff := "?filter=" + url.QueryEscape(`{"tariffName": {"eq": "`+own.tariff()+`"}}`)
	whole := ask(handler, w.tokens["own-admin@acme.example"], export.Prefix+"subscribers"+tariff).Body.String()
	if !strings.Contains(whole, own.tariff()) {
		t.Errorf("the whole company sees no tariff: %s", whole)
	}
}

// Each export needs the permissions of the fields of the graph that it reads, and is noted in
// the audit log at its begin and end.
func TestExportsNeedPermissionsAndAreAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	handler := w.handler
	admin := w.tokens["own-admin@acme.example"]
	if answer := ask(handler, admin, "/export/subscribers?filter="+url.QueryEscape(`{"isActive": {"eq": true}}`)); answer.Code != http.StatusOK {
		t.Fatal(answer.Code, answer.Body)
	}
	log := ask(handler, admin, "/export/audit?format=ndjson&filter="+url.QueryEscape(`{"action": {"in": ["export.subscribers", "export.end"]}}`)).Body.String()
	for _, want := range []string{`"action":"export.subscribers"`, `"action":"export.end"`, `"door":"export"`, `{\"isActive\":{\"eq\":true}}`, `"complete"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log has no %s: %s", want, log)
		}
	}
	needed := map[string][]domain.Permission{
		"subscribers": {domain.ViewSubscriber}, export.Usage: {domain.ViewStatisticsOverview, domain.ViewSubscriber}, "audit": {domain.ViewUserDetails},
		"sessions": {domain.ViewStatisticsOverview, domain.ViewSubscriber}, "alert-log": {domain.ViewMonitoringAlerts, domain.ViewSubscriber},
	}
	for _, lacking := range domain.AllPermissions() {
		token := w.tokenWithout(t, lacking)
		for name, permissions := range needed {
			want := http.StatusOK
			if slices.Contains(permissions, lacking) {
				want = http.StatusForbidden
			}
			if answer := ask(handler, token, export.Prefix+name); answer.Code != want {
				t.Errorf("%s without %s is answered %d %s", name, lacking, answer.Code, answer.Body)
			}
		}
	}
}
