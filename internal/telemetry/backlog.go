package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"simgraph/domain"
)

const (
	// backlogTimeout bounds what reading the backlog may add to a scrape.
	backlogTimeout = 5 * time.Second
	// restFactor is how many times longer than a reading took the next one waits, up to
	// longestRest: a scrape gets what was read before then. So a backlog that is long
	// costs the database a twentieth of one connection at most.
	restFactor  = 19
	longestRest = time.Minute
	// settled is after what time no entry of the alert log comes that is older:
	// it is dated before its transaction commits.
	settled = 30 * time.Second
)

// Backlog reads how far work is behind.
type Backlog interface {
	Read(ctx context.Context) (domain.Backlog, error)
	// Fired returns how many thresholds were logged after since, up to until.
	Fired(ctx context.Context, since, until time.Time) (int, error)
}

// backlog reads the database when it is scraped. It reports the whole
// deployment: every instance reports the same.
type backlog struct {
	from Backlog
	log  *slog.Logger

	mu    sync.Mutex
	until time.Time
	fired int
	// read is what was read last, with its error; it is read again after next.
	read domain.Backlog
	err  error
	next time.Time
}

// NewBacklog returns the metrics of the backlog; failures go to the log.
func NewBacklog(from Backlog, log *slog.Logger) prometheus.Collector {
	return &backlog{from: from, log: log, until: time.Now()}
}

func described(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

var (
	mailsDesc       = described("outbox_mails", "Mails that wait to be sent, of all companies.")
	mailAgeDesc     = described("outbox_oldest_mail_seconds", "Age of the oldest mail that waits.")
	deliveriesDesc  = described("outbox_deliveries", "Notifications that wait to be gathered into mails.")
	deliveryAgeDesc = described("outbox_oldest_delivery_seconds", "Age of the oldest notification that waits.")
	waitingDesc     = described("waiting", "What waits, of all companies, by kind; rejects are requests whose reason still came within a day.", "queue")
	waitingAgeDesc  = described("waiting_oldest_seconds", "Age of the oldest that waits, by kind; 0 where nothing does.", "queue")
	stepsDesc       = described("housekeeping_pending", "Steps of housekeeping that are pending, by kind.", "step")
	evaluatedDesc   = described("conditions_evaluated_timestamp_seconds", "When the conditions of the company that is furthest behind were evaluated last without a failure, in Unix time.")
	silencesDesc    = described("silences_active", "Silences that have begun and not ended.")
	quarantineDesc  = described("usage_quarantined_records", "Usage records of unknown subscribers.")
	watermarkDesc   = described("usage_watermark_timestamp_seconds", "Latest end of any usage record, in Unix time.")
	announcedDesc   = described("ledger_announced_months", "Months of the usage ledger that are announced to be detached.")
	detachedDesc    = described("ledger_detached_months", "Months of the usage ledger that are detached: they are dropped unless they are restored.")
	firstMonthDesc  = described("ledger_first_month_timestamp_seconds", "First month of the usage ledger, in Unix time; 0 when no month was ever detached.")
	retentionsDesc  = described("retention_waiting", "Shorter retentions that were set, and by which nothing is deleted yet.")
	firedDesc       = described("alerts_fired_total", "Thresholds that were crossed in the whole deployment since this instance started.")
	upDesc          = described("backlog_up", "1 when the backlog of all companies could be read.")
)

// Describe implements prometheus.Collector.
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		mailsDesc, mailAgeDesc, deliveriesDesc, deliveryAgeDesc, waitingDesc, waitingAgeDesc, stepsDesc, evaluatedDesc, silencesDesc,
		quarantineDesc, watermarkDesc, announcedDesc, detachedDesc, firstMonthDesc, retentionsDesc, firedDesc, upDesc,
	} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (b *backlog) Collect(to chan<- prometheus.Metric) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.refresh(now)
	read := &b.read
	send := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, kind, value, labels...)
	}
	if b.err != nil {
		send(upDesc, prometheus.GaugeValue, 0)
		if !read.Partial {
			return
		}
	} else {
		send(upDesc, prometheus.GaugeValue, 1)
	}
	send(mailsDesc, prometheus.GaugeValue, float64(read.Mails))
	send(mailAgeDesc, prometheus.GaugeValue, age(read.OldestMail, now))
	send(deliveriesDesc, prometheus.GaugeValue, float64(read.Deliveries))
	send(deliveryAgeDesc, prometheus.GaugeValue, age(read.OldestDelivery, now))
	for _, queue := range domain.Queues {
		send(waitingDesc, prometheus.GaugeValue, float64(read.Queues[queue].Number), string(queue))
		send(waitingAgeDesc, prometheus.GaugeValue, age(read.Queues[queue].Oldest, now), string(queue))
	}
	for _, step := range domain.Steps {
		send(stepsDesc, prometheus.GaugeValue, float64(read.Housekeeping[step]), string(step))
	}
	send(silencesDesc, prometheus.GaugeValue, float64(read.Silences))
	send(quarantineDesc, prometheus.GaugeValue, float64(read.Queues[domain.QueueQuarantine].Number))
	send(announcedDesc, prometheus.GaugeValue, float64(read.Housekeeping[domain.StepAnnounced]))
	send(detachedDesc, prometheus.GaugeValue, float64(read.Housekeeping[domain.StepDetached]))
	send(firstMonthDesc, prometheus.GaugeValue, float64(max(0, read.FirstMonth.Unix())))
	send(retentionsDesc, prometheus.GaugeValue, float64(read.Housekeeping[domain.StepRetentions]))
	send(firedDesc, prometheus.CounterValue, float64(b.fired))
	for desc, at := range map[*prometheus.Desc]time.Time{watermarkDesc: read.Watermark, evaluatedDesc: read.Evaluated} {
		if !at.IsZero() {
			send(desc, prometheus.GaugeValue, float64(at.UnixMilli())/1000)
		}
	}
}

// refresh reads the backlog, unless it was read a short time ago.
func (b *backlog) refresh(now time.Time) {
	if now.Before(b.next) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	if b.read, b.err = b.from.Read(ctx); b.err == nil {
		b.err = b.count(ctx, now)
	}
	if b.err != nil {
		b.log.Warn("the backlog could not be read for the metrics", "error", b.err)
	}
	end := time.Now()
	b.next = end.Add(min(restFactor*end.Sub(now), longestRest))
}

// count adds what fired since the last scrape.
func (b *backlog) count(ctx context.Context, now time.Time) error {
	until := now.Add(-settled)
	if !until.After(b.until) {
		return nil
	}
	n, err := b.from.Fired(ctx, b.until, until)
	if err == nil {
		b.fired, b.until = b.fired+n, until
	}
	return err
}

func age(since, now time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return max(0, now.Sub(since).Seconds())
}
