package security

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"simgraph/internal/fatal"
	"simgraph/scrape"
)

// numbers scrapes by a token.
func (w *world) numbers(token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, scrape.Path, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, r)
	return recorder
}

// Numbers are of what the caller sees: of its company and groups alone, never of one subscriber.
func TestScrapedNumbersShowNothingOfOthers(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			answer := w.numbers(w.tokens[attack.caller])
			text := answer.Body.String()
			if answer.Code != http.StatusOK {
				t.Fatal(answer.Code, text)
			}
			for _, mark := range attack.hidden.notShared(attack.hidden.marks(), own) {
				if strings.Contains(text, mark) {
					t.Errorf("the numbers show %s, which is not the caller's: %s", mark, text)
				}
			}
			for n := 1; n <= 3; n++ {
				if strings.Contains(text, own.physicalID(n)) || strings.Contains(text, own.subscriberID(n)) {
					t.Errorf("a series is of one subscriber: %s", text)
				}
			}
			var fleet struct {
				Company struct{ Fleet struct{ Total int } }
			}
			data := struct{ Data any }{&fleet}
			fatal.If(t, json.Unmarshal(w.query(t, w.tokens[attack.caller], `{ company { fleet { total } } }`, nil).body, &data))
			if want := fmt.Sprintf("simgraph_fleet_subscribers{state=\"total\"} %d\n", fleet.Company.Fleet.Total); !strings.Contains(text, want) {
				t.Errorf("the numbers lack %s: %s", want, text)
			}
			for _, series := range []string{"group_subscribers", "tariff_subscribers", "period_group_usage_bytes", "period_tariff_usage_bytes", "period_sessions", "alerts"} {
				if !strings.Contains(text, "\nsimgraph_fleet_"+series) {
					t.Errorf("the numbers lack %s: %s", series, text)
				}
			}
		})
	}
}

// A user of a group that hides tariffs gets their subscribers under no name, and a user of
// the company by name.
func TestScrapedNumbersNameNoHiddenTariff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pool.MustExec(`UPDATE groups SET hide_tariff_details = true WHERE company_id = $1 AND group_id = $2`, w.company(t, own.company), own.group)
	text := w.numbers(w.tokens["own-vans@acme.example"]).Body.String()
	if strings.Contains(text, own.tariff()) {
		t.Errorf("the numbers name a hidden tariff: %s", text)
	}
	if hidden := seriesOf(text, `tariff_subscribers{tariff=""}`); hidden == "" || hidden != seriesOf(text, `subscribers{state="total"}`) {
		t.Errorf("%q subscribers have a hidden tariff: %s", hidden, text)
	}
	text = w.numbers(w.tokens["own-admin@acme.example"]).Body.String()
	if named := seriesOf(text, `tariff_subscribers{tariff="`+own.tariff()+`"}`); named == "" || named == "0" || strings.Contains(text, `tariff_subscribers{tariff=""}`) {
		t.Errorf("%q subscribers have the tariff: %s", named, text)
	}
}

// seriesOf returns the value of a series of the fleet, "" where there is none.
func seriesOf(text, series string) string {
	_, rest, _ := strings.Cut(text, "\nsimgraph_fleet_"+series+" ")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// Tariffs beyond the bound are refused with a clear error; those within it are all there.
func TestScrapedTariffsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var there int
	company := w.company(t, own.company)
	fatal.If(t, w.pool.GetContext(t.Context(), &there, `SELECT count(*) FROM tariffs WHERE company_id = $1`, company))
	add := `INSERT INTO tariffs (company_id, name, line_rental, currency) SELECT $1, 'filler ' || n, 1, 'GBP' FROM generate_series($2::int, $3::int) n`
	w.pool.MustExec(add, company, there+1, 10_000)
	text := w.numbers(w.tokens["own-admin@acme.example"]).Body.String()
	if n := strings.Count(text, "\nsimgraph_fleet_tariff_subscribers{"); n != 10_000 {
		t.Errorf("there are %d tariffs", n)
	}
	w.pool.MustExec(add, company, 10_001, 10_001)
	answer := w.numbers(w.tokens["own-admin@acme.example"])
	if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), "more than 10000 tariffs") {
		t.Errorf("answered %d %s", answer.Code, answer.Body)
	}
}

func TestScrapedNumbersNeedABearerToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, token := range []string{"", "wrong"} {
		if answer := w.numbers(token); answer.Code != http.StatusUnauthorized || answer.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%q is answered %d %v", token, answer.Code, answer.Header())
		}
	}
}
