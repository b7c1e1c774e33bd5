package scrape

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// fleet is what the graph answers, as its JSON is.
const fleet = `{
  "company": {
    "fleet": {"total": 9, "active": 8, "barred": 1, "online": 5, "transferring": 2},
    "usage": {
      "totals": {"mobileOriginated": "9007199254740993", "mobileTerminated": "20", "sessions": "3"},
      "byGroup": [{"value": "12", "label": "Vans", "total": "7"}, {"value": "", "label": "", "total": "8"}],
      "byTariff": [{"value": "IoT", "label": "IoT", "total": "5"}, {"value": "IoT", "label": "", "total": "6"}]
    },
    "feedElements": {"nodes": [{"source": "pgw", "completeUntil": "2026-11-20T12:00:00Z"}, {"source": "new", "completeUntil": null}]}
  },
  "groups": [{"groupId": 12, "name": "Vans", "numberOfSubscribers": 6}],
  "alerts": [{"kind": "VOLUME", "status": "ARMED"}, {"kind": "VOLUME", "status": "ARMED"}, {"kind": "CONDITION", "status": "FIRING"}]
}`

const series = `# HELP simgraph_fleet_alerts Alerts by kind and status.
# TYPE simgraph_fleet_alerts gauge
simgraph_fleet_alerts{kind="condition",status="firing"} 1
simgraph_fleet_alerts{kind="volume",status="armed"} 2
# HELP simgraph_fleet_group_subscribers Subscribers by group.
# TYPE simgraph_fleet_group_subscribers gauge
simgraph_fleet_group_subscribers{group="Vans",group_id="12"} 6
# HELP simgraph_fleet_period_group_usage_bytes Bytes in the current billing period, of the 100 groups with the most.
# TYPE simgraph_fleet_period_group_usage_bytes gauge
simgraph_fleet_period_group_usage_bytes{group="",group_id=""} 8
simgraph_fleet_period_group_usage_bytes{group="Vans",group_id="12"} 7
# HELP simgraph_fleet_period_sessions Sessions that began in the current billing period.
# TYPE simgraph_fleet_period_sessions gauge
simgraph_fleet_period_sessions 3
# HELP simgraph_fleet_period_tariff_usage_bytes Bytes in the current billing period, of the 100 tariffs with the most.
# TYPE simgraph_fleet_period_tariff_usage_bytes gauge
simgraph_fleet_period_tariff_usage_bytes{tariff="IoT"} 11
# HELP simgraph_fleet_period_usage_bytes Bytes in the current billing period.
# TYPE simgraph_fleet_period_usage_bytes gauge
simgraph_fleet_period_usage_bytes{direction="originated"} 9.007199254740992e+15
simgraph_fleet_period_usage_bytes{direction="terminated"} 20
# HELP simgraph_fleet_source_complete_until_timestamp_seconds The latest end of a usage record by source.
# TYPE simgraph_fleet_source_complete_until_timestamp_seconds gauge
simgraph_fleet_source_complete_until_timestamp_seconds{source="pgw"} 1.795176e+09
# HELP simgraph_fleet_subscribers Subscribers by state; total is all of them.
# TYPE simgraph_fleet_subscribers gauge
simgraph_fleet_subscribers{state="active"} 8
simgraph_fleet_subscribers{state="barred"} 1
simgraph_fleet_subscribers{state="online"} 5
simgraph_fleet_subscribers{state="total"} 9
simgraph_fleet_subscribers{state="transferring"} 2
# HELP simgraph_fleet_tariff_subscribers Subscribers by tariff; the empty tariff is a hidden one.
# TYPE simgraph_fleet_tariff_subscribers gauge
simgraph_fleet_tariff_subscribers{tariff=""} 4
simgraph_fleet_tariff_subscribers{tariff="IoT"} 5
`

func TestTheSeriesOfAFleet(t *testing.T) {
	t.Parallel()
	n := &numbers{}
	fatal.If(t, json.Unmarshal([]byte(fleet), n))
	n.Tariffs = []domain.TariffCount{{Name: "IoT", Subscribers: 5}, {Name: "", Subscribers: 4}}
	registry := prometheus.NewRegistry()
	n.register(registry)
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, Path, http.NoBody))
	if got := answer.Body.String(); got != series {
		t.Errorf("got\n%s", got)
	}
}
