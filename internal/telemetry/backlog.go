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
}

// NewBacklog returns the metrics of the backlog; failures go to the log.
func NewBacklog(from Backlog, log *slog.Logger) prometheus.Collector {
	return &backlog{from: from, log: log, until: time.Now()}
}

func described(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, nil, nil)
}

var (
	mailsDesc       = described("outbox_mails", "Mails that wait to be sent, of all companies.")
	mailAgeDesc     = described("outbox_oldest_mail_seconds", "Age of the oldest mail that waits.")
	deliveriesDesc  = described("outbox_deliveries", "Notifications that wait to be gathered into mails.")
	deliveryAgeDesc = described("outbox_oldest_delivery_seconds", "Age of the oldest notification that waits.")
	quarantineDesc  = described("usage_quarantined_records", "Usage records of unknown subscribers.")
	watermarkDesc   = described("usage_watermark_timestamp_seconds", "Latest end of any usage record, in Unix time.")
	announcedDesc   = described("ledger_announced_months", "Months of the usage ledger that are announced to be detached.")
	detachedDesc    = described("ledger_detached_months", "Months of the usage ledger that are detached: they are dropped unless they are restored.")
	firstMonthDesc  = described("ledger_first_month_timestamp_seconds", "First month of the usage ledger, in Unix time; 0 when no month was ever detached.")
	firedDesc       = described("alerts_fired_total", "Thresholds that were crossed in the whole deployment since this instance started.")
	upDesc          = described("backlog_up", "1 when the backlog of all companies could be read.")
)

// Describe implements prometheus.Collector.
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		mailsDesc, mailAgeDesc, deliveriesDesc, deliveryAgeDesc, quarantineDesc, watermarkDesc,
		announcedDesc, detachedDesc, firstMonthDesc, firedDesc, upDesc,
	} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (b *backlog) Collect(to chan<- prometheus.Metric) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	now := time.Now()
	read, err := b.from.Read(ctx)
	if err == nil {
		err = b.count(ctx, now)
	}
	send := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64) {
		to <- prometheus.MustNewConstMetric(desc, kind, value)
	}
	if err != nil {
		b.log.Warn("the backlog could not be read for the metrics", "error", err)
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
	send(quarantineDesc, prometheus.GaugeValue, float64(read.Quarantined))
	send(announcedDesc, prometheus.GaugeValue, float64(read.AnnouncedMonths))
	send(detachedDesc, prometheus.GaugeValue, float64(read.DetachedMonths))
	send(firstMonthDesc, prometheus.GaugeValue, float64(max(0, read.FirstMonth.Unix())))
	send(firedDesc, prometheus.CounterValue, float64(b.fired))
	if !read.Watermark.IsZero() {
		send(watermarkDesc, prometheus.GaugeValue, float64(read.Watermark.UnixMilli())/1000)
	}
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
