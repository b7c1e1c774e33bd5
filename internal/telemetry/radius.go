package telemetry

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ObserveRADIUS registers the metrics of RADIUS accounting: packets by results, the
// time until packets with one of the answered results are answered, and what the
// kernel has dropped, as drops returns it. It returns what counts a packet; nil for
// a nil *Metrics.
func (m *Metrics) ObserveRADIUS(results, answered []string, drops func() float64) func(result string, took time.Duration) {
	if m == nil {
		return nil
	}
	packets := counters("radius_packets_total", "RADIUS packets by what became of them.", "result")
	seconds := histogram("radius_answer_duration_seconds", "Time until an accounting request that was stored is answered.", secondsBuckets)
	m.registry.MustRegister(packets, seconds, prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: namespace, Name: "radius_dropped_datagrams_total", Help: "Datagrams that the kernel dropped since the buffer of the socket was full.",
	}, drops))
	for _, result := range results {
		packets.WithLabelValues(result)
	}
	return func(result string, took time.Duration) {
		packets.WithLabelValues(result).Inc()
		if slices.Contains(answered, result) {
			seconds.Observe(took.Seconds())
		}
	}
}
