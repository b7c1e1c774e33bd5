package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"simgraph/domain"
)

// replicas collects the state of the standbys.
type replicas func() []domain.Replica

// NewReplicas returns the metrics of the standbys that take reads.
func NewReplicas(states func() []domain.Replica) prometheus.Collector { return replicas(states) }

var (
	replicaUsedDesc = prometheus.NewDesc(prometheus.BuildFQName(namespace, "", "replica_used"),
		"1 while queries go to the standby.", []string{"replica"}, nil)
	replicaLagDesc = prometheus.NewDesc(prometheus.BuildFQName(namespace, "", "replica_lag_seconds"),
		"For how long the standby lacks something that the primary has, at most ten minutes.", []string{"replica"}, nil)
)

// Describe implements prometheus.Collector.
func (replicas) Describe(to chan<- *prometheus.Desc) {
	to <- replicaUsedDesc
	to <- replicaLagDesc
}

// Collect implements prometheus.Collector.
func (r replicas) Collect(to chan<- prometheus.Metric) {
	for _, state := range r() {
		used := 0.0
		if state.Used {
			used = 1
		}
		to <- prometheus.MustNewConstMetric(replicaUsedDesc, prometheus.GaugeValue, used, state.Place)
		to <- prometheus.MustNewConstMetric(replicaLagDesc, prometheus.GaugeValue, state.Lag.Seconds(), state.Place)
	}
}
