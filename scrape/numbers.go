package scrape

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"simgraph/domain"
	"simgraph/domain/ascii"
)

// numbers are what the graph answers.
type numbers struct {
	Company struct {
		Fleet struct{ Total, Active, Barred, Online, Transferring float64 }
		Usage struct {
			Totals            struct{ MobileOriginated, MobileTerminated, Sessions json.Number }
			ByGroup, ByTariff []share
		}
		FeedElements struct{ Nodes []feed }
	}
	Groups  []group
	Tariffs []domain.TariffCount
	Alerts  []alert
}

type share struct {
	Value, Label string
	Total        json.Number
}

type feed struct {
	Source        string
	CompleteUntil *time.Time
}

type group struct {
	GroupID             int
	Name                string
	NumberOfSubscribers float64
}

type alert struct{ Kind, Status string }

// register makes the series. Values with the same labels are added up.
func (n *numbers) register(to prometheus.Registerer) {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "simgraph_fleet", Name: name, Help: help}, labels)
		to.MustRegister(vec)
		return vec
	}
	company := n.Company
	subscribers := gauge("subscribers", "Subscribers by state; total is all of them.", "state")
	for state, count := range map[string]float64{
		"total": company.Fleet.Total, "active": company.Fleet.Active, "barred": company.Fleet.Barred,
		"online": company.Fleet.Online, "transferring": company.Fleet.Transferring,
	} {
		subscribers.WithLabelValues(state).Set(count)
	}
	inGroup := gauge("group_subscribers", "Subscribers by group.", "group_id", "group")
	for _, g := range n.Groups {
		inGroup.WithLabelValues(strconv.Itoa(g.GroupID), g.Name).Set(g.NumberOfSubscribers)
	}
	ofTariff := gauge("tariff_subscribers", "Subscribers by tariff; the empty tariff is a hidden one.", "tariff")
	for _, t := range n.Tariffs {
		ofTariff.WithLabelValues(t.Name).Set(float64(t.Subscribers))
	}
	bytes := gauge("period_usage_bytes", "Bytes in the current billing period.", "direction")
	bytes.WithLabelValues("originated").Set(float(company.Usage.Totals.MobileOriginated))
	bytes.WithLabelValues("terminated").Set(float(company.Usage.Totals.MobileTerminated))
	gauge("period_sessions", "Sessions that began in the current billing period.").WithLabelValues().Set(float(company.Usage.Totals.Sessions))
	byGroup := gauge("period_group_usage_bytes", "Bytes in the current billing period, of the 100 groups with the most.", "group_id", "group")
	for _, s := range company.Usage.ByGroup {
		byGroup.WithLabelValues(s.Value, s.Label).Add(float(s.Total))
	}
	byTariff := gauge("period_tariff_usage_bytes", "Bytes in the current billing period, of the 100 tariffs with the most.", "tariff")
	for _, s := range company.Usage.ByTariff {
		byTariff.WithLabelValues(s.Value).Add(float(s.Total))
	}
	alerts := gauge("alerts", "Alerts by kind and status.", "kind", "status")
	for _, a := range n.Alerts {
		alerts.WithLabelValues(ascii.Lower(a.Kind), ascii.Lower(a.Status)).Inc()
	}
	until := gauge("source_complete_until_timestamp_seconds", "The latest end of a usage record by source.", "source")
	for _, f := range company.FeedElements.Nodes {
		if f.CompleteUntil != nil {
			until.WithLabelValues(f.Source).Set(float64(f.CompleteUntil.Unix()))
		}
	}
}

// float is the nearest that Prometheus can hold.
func float(n json.Number) float64 {
	f, _ := n.Float64()
	return f
}
