//go:build linux

package faults_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

var (
	waitOfRule  = regexp.MustCompile(`(?m)^( +for:) \w+$`)
	spanOfRule  = regexp.MustCompile(`\[\d+[smhd]\]`)
	shiftOfRule = regexp.MustCompile(`offset \d+[smhd]`)
)

const (
	quickRules = `${1} 2s`
	// quickConfig scrapes every second.
	quickConfig = `
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [rules.yaml]
scrape_configs:
  - job_name: simgraph
    static_configs: [{targets: [%q]}]
`
)

// watcher is a Prometheus with the rules of deploy/, which wait for seconds where they wait
// for minutes and hours.
type watcher struct {
	*testing.T
	base string
}

func startPrometheus(t *testing.T, target string) *watcher {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err, ": apt-get install prometheus")
	}
	rules, err := os.ReadFile("../../deploy/prometheus-rules.yaml")
	fatal.If(t, err)
	text := waitOfRule.ReplaceAllString(string(rules), quickRules)
	text = shiftOfRule.ReplaceAllString(spanOfRule.ReplaceAllString(text, "[10s]"), "offset 10s")
	dir, address := t.TempDir(), freeAddress(t)
	for name, content := range map[string]string{"rules.yaml": text, "prometheus.yaml": fmt.Sprintf(quickConfig, target)} {
		fatal.If(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	log := &transcript{}
	cmd := exec.Command(program, "--config.file", filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", address, "--log.level", "warn")
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	fatal.If(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log)
		}
	})
	w := &watcher{T: t, base: "http://" + address}
	eventually(t, "Prometheus has scraped simgraph", func() bool { return w.has(`up{job="simgraph"} == 1`) })
	return w
}

// get reads an answer of the API.
func (w *watcher) get(path string, data any) bool {
	answer, err := http.Get(w.base + path)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(&struct{ Data any }{data}) == nil
}

// has reports whether a query has a result.
func (w *watcher) has(query string) bool {
	var data struct{ Result []any }
	return w.get("/api/v1/query?query="+url.QueryEscape(query), &data) && len(data.Result) > 0
}

// state is that of an alert: firing, pending, or "".
func (w *watcher) state(alert string) (state string) {
	var data struct {
		Alerts []struct {
			Labels map[string]string
			State  string
		}
	}
	w.get("/api/v1/alerts", &data)
	for _, a := range data.Alerts {
		if a.Labels["alertname"] == alert && state != "firing" {
			state = a.State
		}
	}
	return state
}

// watchedNode is a server whose rules are looked at while it is broken.
type watchedNode struct {
	*node
	*watcher
	pool   *sqlx.DB
	radius string
}

func (x *watchedNode) exec(sql string) {
	x.node.Helper()
	if _, err := x.pool.ExecContext(x.node.Context(), sql); err != nil {
		x.node.Fatal(err)
	}
}

// mutate runs a mutation.
func (x *watchedNode) mutate(text string, args ...any) {
	x.node.Helper()
	var data any
	x.graph("mutation {"+fmt.Sprintf(text, args...)+"}", &data)
}

// nobody is an address of the loopback that refuses connections.
const nobody = "127.0.0.1:1"

// breakages are faults with the alert that each fires. What a rule waits for in hours is
// moved into the past once it is there.
var breakages = []struct {
	alert string
	fault func(*watchedNode)
}{
	{"SimgraphStandbyLeftOut", func(*watchedNode) {}}, // it was never there
	{"SimgraphMailWaits", func(x *watchedNode) {
		x.mutate(`createRecipient(input: {email: "ops@example.com", scope: {all: true}}) {recipient {email}}`)
		x.mutate(`sendTestAlert(input: {all: true}) {mails {recipientName}}`)
		x.exec(`UPDATE mails SET created_at = created_at - interval '1 hour' WHERE state = 'queued'`)
	}},
	{"SimgraphWebhookMessagesWait", func(x *watchedNode) {
		x.mutate(`createWebhook(input: {name: "dead", url: "http://%s/", eventTypes: [SUBSCRIBER_CHANGED], scope: {all: true}}) {webhook {webhookId}}`, nobody)
		x.mutate(`editSubscriber(input: {physicalId: %q, nickname: "changed"}) {subscriber {physicalId}}`, x.fleet(1)[0])
		x.exec(`UPDATE webhook_messages SET created_at = created_at - interval '3 hours'`)
	}},
	{"SimgraphCommandsWait", func(x *watchedNode) {
		x.mutate(`setCommandProvider(input: {url: "http://%s/"}) {secret}`, nobody)
		x.mutate(`barSubscriber(input: {physicalId: %q}) {subscriber {physicalId}}`, x.fleet(1)[0])
		x.exec(`UPDATE commands SET requested_at = requested_at - interval '1 hour', changed_at = changed_at - interval '1 hour'`)
	}},
	{"SimgraphQuarantineWaits", func(x *watchedNode) {
		x.must(http.MethodPost, "/usage/records", usageLine("pgw", 2, "nobody"))
		x.exec(`UPDATE usage_quarantine SET held_at = held_at - interval '8 days'`)
	}},
	{"SimgraphUsageStopped", func(x *watchedNode) {
		x.exec(`UPDATE usage_sources SET complete_until = complete_until - interval '2 hours'`)
	}},
	{"SimgraphRADIUSRefused", func(x *watchedNode) {
		conn, err := net.Dial("udp", x.radius)
		fatal.If(x.node, err)
		defer conn.Close()
		eventually(x.node.T, "the packets of strangers are counted", func() bool {
			if _, err := conn.Write(append([]byte{4, 1, 0, 20}, make([]byte, 16)...)); err != nil {
				x.node.Fatal(err)
			}
			return x.watcher.state("SimgraphRADIUSRefused") == "firing"
		})
	}},
	{"SimgraphConditionsNotEvaluated", func(x *watchedNode) {
		x.exec(`UPDATE condition_turns SET evaluated_at = evaluated_at - interval '1 hour', due_at = 'infinity'`)
		x.exec(`ALTER TABLE feed_watermarks RENAME TO away`)
	}},
	{"SimgraphBacklogUnreadable", func(x *watchedNode) { x.exec(`ALTER TABLE companies RENAME TO lost`) }},
	{"SimgraphWorkerFails", func(*watchedNode) {}}, // the tables are still away
	{"SimgraphDown", func(x *watchedNode) {
		x.node.signal(syscall.SIGKILL)
		x.node.awaitExit(patience)
	}},
}

// Each fault of the service, what it needs or whom it calls fires its alert in a Prometheus
// with the rules that operators use, and fires it only then.
func TestFaultsFireTheirAlerts(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	listen := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	x := &watchedNode{radius: listen, pool: open(t, address), node: startNode(t, address, "--webhook-allow-private", "--webhook-timeout", "1s", "--mail-timeout", "1s",
		"--smtp-url", "smtp://"+nobody+"?starttls=never", "--radius-addr", listen, "--database-replica-url", "postgres://"+nobody+"/gone")}
	x.must(http.MethodPost, "/usage/records", usageLine("pgw", 1, x.fleet(1)[0]))
	x.watcher = startPrometheus(t, strings.TrimPrefix(x.admin, "http://"))
	for i, b := range breakages {
		if state := x.watcher.state(b.alert); i > 0 && b.alert != "SimgraphWorkerFails" && state != "" {
			t.Errorf("%s is %s before the fault", b.alert, state)
		}
		b.fault(x)
		eventually(t, b.alert+" fires", func() bool { return x.watcher.state(b.alert) == "firing" })
	}
}
