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
			for _, series := range []string{"group_subscribers", "period_group_usage_bytes", "period_tariff_usage_bytes", "period_sessions", "alerts"} {
				if !strings.Contains(text, "\nsimgraph_fleet_"+series) {
					t.Errorf("the numbers lack %s: %s", series, text)
				}
			}
		})
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
