package telemetry

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
)

const (
	// mostNames bounds the operation names of clients that are distinguished, and so
	// the series that they can cause.
	mostNames   = 200
	longestName = 64
)

// Metrics count what the server does. A nil *Metrics counts nothing.
type Metrics struct {
	registry *prometheus.Registry
	names    names

	requests        *prometheus.CounterVec
	requestSeconds  *prometheus.HistogramVec
	inFlight        *prometheus.GaugeVec
	operations      *prometheus.CounterVec
	operationTime   *prometheus.HistogramVec
	cost            *prometheus.HistogramVec
	subscriptions   prometheus.Gauge
	refused         *prometheus.CounterVec
	statementTime   prometheus.Histogram
	batch           prometheus.Histogram
	records         *prometheus.CounterVec
	recordTime      prometheus.Histogram
	recordDelay     prometheus.Histogram
	mails           *prometheus.CounterVec
	messages        *prometheus.CounterVec
	files           *prometheus.CounterVec
	passes          *prometheus.CounterVec
	workerFailures  *prometheus.CounterVec
	ledgerUpkeeps   prometheus.Counter
	reads           *prometheus.CounterVec
	brokenDocuments prometheus.Gauge
	deprecated      *prometheus.CounterVec
}

var (
	secondsBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	delayBuckets   = []float64{1, 10, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600}
	costBuckets    = []float64{1, 10, 50, 100, 500, 1_000, 5_000, 10_000, 50_000}
	batchBuckets   = []float64{1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000}
)

// NewMetrics returns metrics that count from zero; version is that of the
// build.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry:       prometheus.NewRegistry(),
		names:          names{known: map[string]bool{}},
		requests:       counters("requests_total", "HTTP requests that were answered.", "door", "operation", "status"),
		requestSeconds: histograms("request_duration_seconds", "Time to answer an HTTP request, streams left out.", secondsBuckets, "door", "operation"),
		inFlight:       gauges("requests_in_flight", "HTTP requests without an answer yet; streams count while they are open.", "door"),
		operations:     counters("operations_total", "Operations of the graph by their outcome: ok, or the code of the first error.", "door", "operation", "kind", "outcome"),
		operationTime:  histograms("operation_duration_seconds", "Time to execute an operation, subscriptions left out.", secondsBuckets, "door", "operation"),
		cost:           histograms("operation_cost", "Cost of operations.", costBuckets, "door"),
		subscriptions:  gauge("subscriptions", "Subscriptions that are open."),
		refused:        counters("refused_total", "What limits refused.", "limit"),
		statementTime:  histogram("statement_duration_seconds", "Time until PostgreSQL answers a statement.", secondsBuckets),
		batch:          histogram("loader_batch_size", "Keys that a loader loads in one statement.", batchBuckets),
		records:        counters("usage_records_total", "Usage records by what became of them.", "status"),
		recordTime:     histogram("usage_batch_duration_seconds", "Time to book a batch of usage records.", secondsBuckets),
		recordDelay:    histogram("usage_delay_seconds", "Time from the newest end of a record of a batch to its booking.", delayBuckets),
		mails:          counters("mails_total", "Attempts to send a mail by their result: sent, retried or failed.", "result"),
		messages:       counters("webhook_attempts_total", "Attempts to send a message of a webhook or a command by their result: delivered, retried or failed.", "result"),
		files:          counters("files_total", "Files of sources by what became of them: done, failed for a record that cannot be used, or retried.", "result"),
		passes:         counters("upstream_passes_total", "Passes of upstreams by how they ended: synced, swept where all of the account was read, failed, or stopped.", "result"),
		workerFailures: counters("worker_failures_total", "How often a worker failed and was started again.",
			"worker"),
		ledgerUpkeeps:   counter("ledger_upkeeps_total", "How often the months of the usage ledger were looked after."),
		reads:           counters("reads_total", "Queries by where they ran: standby, primary, or again for those that failed on a standby.", "server"),
		brokenDocuments: gauge("documents_broken", "Trusted documents that the schema of this version refuses, of all companies."),
		deprecated:      counters("deprecated_uses_total", "Operations that ran and name a deprecated coordinate of the schema.", "door", "coordinate"),
	}
	m.registry.MustRegister(m.requests, m.requestSeconds, m.inFlight, m.operations, m.operationTime, m.cost, m.subscriptions, m.refused,
		m.statementTime, m.batch, m.records, m.recordTime, m.recordDelay, m.mails, m.messages, m.files, m.passes, m.workerFailures, m.ledgerUpkeeps, m.reads, m.brokenDocuments, m.deprecated,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	build := gauges("build_info", "1, labelled with the version.", "version")
	build.WithLabelValues(version).Set(1)
	m.registry.MustRegister(build)
	return m
}

const namespace = "simgraph"

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
}

func gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
}

// Begin makes the counters of what is fixed beforehand count from zero, so that
// the first of each is seen as an increase.
func (m *Metrics) Begin(limits, mailResults, webhookResults, fileResults, passResults, workers []string) {
	for vector, labels := range map[*prometheus.CounterVec][]string{m.refused: limits, m.mails: mailResults, m.messages: webhookResults, m.files: fileResults, m.passes: passResults, m.workerFailures: workers} {
		for _, label := range labels {
			vector.WithLabelValues(label)
		}
	}
	for _, status := range []domain.UsageStatus{
		domain.UsageAccepted, domain.UsageDuplicate, domain.UsageQuarantined, domain.UsageConflict, domain.UsageRejected,
	} {
		m.records.WithLabelValues(string(status))
	}
}

// BrokenDocuments takes how many trusted documents do not run.
func (m *Metrics) BrokenDocuments(n int) {
	if m != nil {
		m.brokenDocuments.Set(float64(n))
	}
}

// BeginReads makes the counters of queries count from zero.
func (m *Metrics) BeginReads(servers []string) {
	for _, server := range servers {
		m.reads.WithLabelValues(server)
	}
}

// Read counts a query by where it runs.
func (m *Metrics) Read(server string) { m.reads.WithLabelValues(server).Inc() }

// Register adds what counts elsewhere.
func (m *Metrics) Register(collector prometheus.Collector) { m.registry.MustRegister(collector) }

func (m *Metrics) enter(endpoint string) {
	if m != nil {
		m.inFlight.WithLabelValues(endpoint).Inc()
	}
}

func (m *Metrics) answered(a *activity, w *recorder, took time.Duration) {
	if m == nil {
		return
	}
	a.mu.Lock()
	operation, stream := a.operation, a.stream
	a.mu.Unlock()
	m.inFlight.WithLabelValues(a.endpoint).Dec()
	m.requests.WithLabelValues(a.endpoint, operation, w.text()).Inc()
	if !stream {
		m.requestSeconds.WithLabelValues(a.endpoint, operation).Observe(took.Seconds())
	}
}

func (m *Metrics) operated(endpoint, name string, op transport.Operation, code string, took time.Duration) {
	if m == nil {
		return
	}
	outcome := "ok"
	if code != "" {
		outcome = code
	}
	m.operations.WithLabelValues(endpoint, name, string(op.Kind), outcome).Inc()
	for _, coordinate := range op.Deprecated {
		m.deprecated.WithLabelValues(endpoint, coordinate).Inc()
	}
	if op.Refused || op.Kind == ast.Subscription {
		return
	}
	m.operationTime.WithLabelValues(endpoint, name).Observe(took.Seconds())
	m.cost.WithLabelValues(endpoint).Observe(float64(op.Cost))
}

func (m *Metrics) subscribed(n float64) {
	if m != nil {
		m.subscriptions.Add(n)
	}
}

func (m *Metrics) statement(took time.Duration) {
	if m != nil {
		m.statementTime.Observe(took.Seconds())
	}
}

// Refused counts what a limit refused.
func (m *Metrics) Refused(limit string) {
	if m != nil {
		m.refused.WithLabelValues(limit).Inc()
	}
}

// Batch counts a batch of keys of a loader.
func (m *Metrics) Batch(keys int) {
	if m != nil {
		m.batch.Observe(float64(keys))
	}
}

// Mailed counts an attempt to send a mail.
func (m *Metrics) Mailed(result string) {
	if m != nil {
		m.mails.WithLabelValues(result).Inc()
	}
}

// Hooked counts an attempt to send a message of a webhook.
func (m *Metrics) Hooked(result string) {
	if m != nil {
		m.messages.WithLabelValues(result).Inc()
	}
}

// Filed counts a file of a source.
func (m *Metrics) Filed(result string) {
	if m != nil {
		m.files.WithLabelValues(result).Inc()
	}
}

// Passed counts a pass of an upstream.
func (m *Metrics) Passed(result string) {
	if m != nil {
		m.passes.WithLabelValues(result).Inc()
	}
}

// WorkerFailed counts a worker that failed and is started again.
func (m *Metrics) WorkerFailed(worker string) {
	if m != nil {
		m.workerFailures.WithLabelValues(worker).Inc()
	}
}

// LedgerKept counts that the months of the ledger were looked after.
func (m *Metrics) LedgerKept() {
	if m != nil {
		m.ledgerUpkeeps.Inc()
	}
}

// Booked counts a batch of usage records that was answered.
func (m *Metrics) Booked(records []domain.UsageRecord, results []domain.Recorded, began time.Time) {
	if m == nil {
		return
	}
	counts := map[domain.UsageStatus]int{}
	for _, result := range results {
		counts[result.Status]++
	}
	for status, n := range counts {
		m.records.WithLabelValues(string(status)).Add(float64(n))
	}
	now := time.Now()
	m.recordTime.Observe(now.Sub(began).Seconds())
	var newest time.Time
	for i := range records {
		if records[i].EndedAt.After(newest) {
			newest = records[i].EndedAt
		}
	}
	m.recordDelay.Observe(max(0, now.Sub(newest).Seconds()))
}

// bounded returns the name of an operation for labels.
func (m *Metrics) bounded(name string) string {
	if m == nil {
		return cut(name)
	}
	return m.names.bounded(cut(name))
}

func cut(name string) string {
	switch {
	case name == "":
		return "anonymous"
	case len(name) > longestName:
		return "other"
	}
	return name
}

// names are the operation names that are distinguished: those that came first.
type names struct {
	mu    sync.Mutex
	known map[string]bool
}

func (n *names) bounded(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[name] {
		return name
	}
	if len(n.known) >= mostNames {
		return "other"
	}
	n.known[name] = true
	return name
}
