//go:build linux

package faults_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"simgraph/internal/fatal"
)

// checkLedger demands that each acknowledged record is in the ledger exactly
// once and as it was sent, and nothing that was never sent. It returns how many
// there are.
func (x *trial) checkLedger(pool *sqlx.DB) int {
	x.t.Helper()
	var rows []struct {
		RecordID                           string
		MobileOriginated, MobileTerminated int64
	}
	const ledger = `SELECT record_id, mobile_originated, mobile_terminated FROM usage_records`
	fatal.If(x.t, pool.SelectContext(x.t.Context(), &rows, ledger))
	x.load.mu.Lock()
	defer x.load.mu.Unlock()
	found := map[string]bool{}
	for _, row := range rows {
		sent, known := x.load.records[row.RecordID]
		if !known || found[row.RecordID] || sent.MobileOriginated != row.MobileOriginated || sent.MobileTerminated != row.MobileTerminated {
			x.t.Errorf("the ledger has %+v, sent was %+v; twice: %v", row, sent, found[row.RecordID])
		}
		found[row.RecordID] = true
	}
	lost := 0
	for id := range x.load.acked {
		if !found[id] {
			lost++
		}
	}
	if lost > 0 {
		x.t.Errorf("%d acknowledged records are not in the ledger", lost)
	}
	return len(rows)
}

// checkSubscribers demands that acknowledged changes of subscribers are there,
// each with its one entry in the audit log.
func (x *trial) checkSubscribers(pool *sqlx.DB) {
	x.t.Helper()
	const tags = `
SELECT t.tag_name AS name, s.physical_id AS value FROM subscriber_tags t JOIN subscribers s ON s.company_id = t.company_id AND s.key = t.subscriber_key`
	const nicknames = `SELECT physical_id AS name, nickname AS value FROM subscribers WHERE nickname <> ''`
	const audited = `
SELECT subject_id AS name, count(*)::text AS value FROM audit_log WHERE action = 'tag.attach' GROUP BY subject_id`
	x.load.mu.Lock()
	defer x.load.mu.Unlock()
	x.compare("tags", x.load.tags, x.pairs(pool, tags))
	x.compare("nicknames", x.load.nicknames, x.pairs(pool, nicknames))
	once := map[string]string{}
	for name := range x.load.tags {
		once[name] = "1"
	}
	x.compare("audit entries of tags", once, x.pairs(pool, audited))
}

func (x *trial) pairs(pool *sqlx.DB, query string) map[string]string {
	x.t.Helper()
	var rows []struct{ Name, Value string }
	fatal.If(x.t, pool.SelectContext(x.t.Context(), &rows, query))
	found := map[string]string{}
	for _, r := range rows {
		found[r.Name] = r.Value
	}
	return found
}

func (x *trial) compare(what string, acknowledged, found map[string]string) {
	x.t.Helper()
	for name, value := range acknowledged {
		if found[name] != value {
			x.t.Errorf("%s: %s was acknowledged as %q, found is %q", what, name, value, found[name])
		}
	}
}

// crossed are the thresholds that the usage of the ledger is above, by period,
// worked out without the totals that alerts look at.
const crossed = `
WITH periods AS (
  SELECT r.subscriber_key, s.group_id, date_trunc('month', r.started_at) AS period_start, r.mobile_originated + r.mobile_terminated AS bytes
  FROM usage_records r JOIN subscribers s ON s.company_id = r.company_id AND s.key = r.subscriber_key
), usage AS (
  SELECT 'subscriber' AS kind, subscriber_key AS subject, period_start, sum(bytes) AS bytes FROM periods GROUP BY 2, 3
  UNION ALL
  SELECT 'group', group_id, period_start, sum(bytes) FROM periods GROUP BY 2, 3
)
SELECT t.alert_id, t.boundary, u.subject, u.period_start
FROM usage u
JOIN alert_thresholds t ON u.bytes > t.threshold AND (
  t.rule_type = 'company' AND u.kind = 'subscriber' OR
  t.rule_type = 'sim' AND u.kind = 'subscriber' AND t.target_id = u.subject OR
  t.rule_type = 'grouppr' AND u.kind = 'group' AND t.target_id = u.subject)`

// checkAlerts demands one entry in the log for each threshold that was crossed
// and no other, and returns how many there are.
func (x *trial) checkAlerts(pool *sqlx.DB) (fired int) {
	x.t.Helper()
	const differences = `
WITH crossed AS (` + crossed + `), logged AS (
  SELECT alert_id, limit_boundary AS boundary, subject_id AS subject, period_start FROM alert_log
)
SELECT (SELECT count(*) FROM logged) AS fired,
  (SELECT count(*) FROM (SELECT * FROM crossed EXCEPT ALL SELECT * FROM logged) AS l) AS lost,
  (SELECT count(*) FROM (SELECT * FROM logged EXCEPT ALL SELECT * FROM crossed) AS d) AS excess`
	var counts struct{ Fired, Lost, Excess int }
	fatal.If(x.t, pool.GetContext(x.t.Context(), &counts, differences))
	if counts.Lost+counts.Excess > 0 {
		x.t.Errorf("of %d log entries %d are missing and %d too many", counts.Fired, counts.Lost, counts.Excess)
	}
	return counts.Fired
}

// checkMails demands that each recipient is notified of each notification by one
// mail, which came.
func (x *trial) checkMails(pool *sqlx.DB) {
	x.t.Helper()
	const wanted = `
SELECT l.notification_id::text AS notification, r.email, COALESCE(m.mail_id::text, '') AS mail, COALESCE(m.state, '') AS state
FROM (SELECT DISTINCT company_id, notification_id FROM alert_log WHERE notification_id IS NOT NULL) AS l
JOIN alert_recipients r ON r.company_id = l.company_id
LEFT JOIN alert_deliveries d ON d.company_id = l.company_id AND d.notification_id = l.notification_id AND d.recipient_id = r.recipient_id
LEFT JOIN mails m ON m.company_id = d.company_id AND m.mail_id = d.mail_id`
	type row struct{ Notification, Email, Mail, State string }
	var rows []row
	eventually(x.t, "all mail is sent", func() bool {
		rows = rows[:0]
		fatal.If(x.t, pool.SelectContext(x.t.Context(), &rows, wanted))
		for _, r := range rows {
			if r.State != "sent" {
				return false
			}
		}
		return true
	})
	for _, r := range rows {
		if x.box.count(r.Email, "<"+r.Mail+"@localhost>") == 0 {
			x.t.Errorf("the mail %s to %s never came", r.Mail, r.Email)
		}
	}
	if _, copies := x.box.mails(); copies > 0 && !x.load.mayCut {
		x.t.Errorf("%d mails came twice, though simgraph was not killed", copies)
	}
}

// checkTotals demands that every total agrees with the ledger, and the audit
// log with its hashes.
func (x *trial) checkTotals(flags []string) {
	x.t.Helper()
	if report := runProgram(x.t, x.tool, append([]string{"rebuild"}, flags...)...); report != "acme: all totals agree with the ledger\n" {
		x.t.Errorf("rebuild: %s", report)
	}
	runProgram(x.t, x.tool, append([]string{"audit", "verify"}, flags...)...)
}

// checkErrors demands that every answer kept the contract, and that the log
// reports no panic.
func (x *trial) checkErrors() {
	x.t.Helper()
	x.load.caller.mu.Lock()
	defer x.load.caller.mu.Unlock()
	for _, wrong := range x.load.wrong {
		x.t.Error(wrong)
	}
	if x.t.Failed() {
		for line := range strings.SplitSeq(x.simgraph.stderr.String(), "\n") {
			if strings.Contains(line, "ERROR") || strings.Contains(line, "internal") {
				x.t.Log(line)
			}
		}
	}
	if log := x.simgraph.stderr.String(); strings.Contains(log, "panic") || strings.Contains(log, "DATA RACE") {
		x.t.Errorf("the log: %s", log)
	}
}

// level is what a process holds; memory is what is left after a collection.
type level struct{ goroutines, connections, files, memory float64 }

// collect makes the process collect its garbage.
func (s *serving) collect() {
	s.t.Helper()
	response, err := http.Get(s.admin + "/debug/pprof/heap?gc=1")
	fatal.If(s.t, err)
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// metrics reads the metrics of the process.
func (s *serving) metrics() string {
	s.t.Helper()
	response, err := http.Get(s.admin + "/metrics")
	fatal.If(s.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	fatal.If(s.t, err)
	return string(text)
}

// level reads the metrics of the process.
func (s *serving) level() level {
	s.t.Helper()
	s.collect()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(s.metrics()))
	fatal.If(s.t, err)
	sum := func(name string) (total float64) {
		for _, m := range families[name].GetMetric() {
			total += m.GetGauge().GetValue()
		}
		return total
	}
	return level{sum("go_goroutines"), sum("go_sql_open_connections"), sum("process_open_fds"), sum("go_memstats_heap_alloc_bytes")}
}

// Slack for what comes and goes by itself.
const (
	slack       = 15
	slackMemory = 16 << 20
)

// checkLevel demands that the process comes back to what it held before.
func (x *trial) checkLevel() {
	x.t.Helper()
	x.load.http.CloseIdleConnections()
	var now level
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		now = x.simgraph.level()
		if now.goroutines <= x.before.goroutines+slack && now.connections <= x.before.connections+slack &&
			now.files <= x.before.files+slack && now.memory <= x.before.memory+slackMemory {
			return
		}
		if time.Now().After(deadline) {
			x.t.Errorf("it held %v, and holds %v", x.before, now)
			return
		}
	}
}

func (l level) String() string {
	return fmt.Sprintf("%.0f goroutines, %.0f connections, %.0f files, %.0f MB", l.goroutines, l.connections, l.files, l.memory/(1<<20))
}
