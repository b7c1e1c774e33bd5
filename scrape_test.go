//go:build linux

package main

import (
	"encoding/json"
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
	"time"

	"simgraph/internal/fatal"
)

var (
	analystsKey    = regexp.MustCompile(`(?m)^simgraph (key create .*)$`)
	analystsScrape = regexp.MustCompile("(?s)```yaml\n(scrape_configs:.*?)```")
)

// The configuration of the documentation lets Prometheus read the numbers of a fleet, by a
// token that it gets itself for the key of the documentation.
func TestPrometheusScrapesAFleet(t *testing.T) {
	t.Parallel()
	prometheus, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err, ": apt-get install prometheus")
	}
	page, err := os.ReadFile("docs/analysts.md")
	fatal.If(t, err)
	create, config := analystsKey.FindSubmatch(page), analystsScrape.FindSubmatch(page)
	if create == nil || config == nil {
		t.Fatal("docs/analysts.md has no key and no configuration")
	}
	s := start(t, demoDir(t), nil)
	var key struct{ AccessKeyID, Secret string }
	fatal.If(t, json.Unmarshal([]byte(s.must(strings.Fields(strings.Replace(string(create[1]), "ops@acme.example", "admin@demo.example", 1))...)), &key))

	dir := t.TempDir()
	secret, file := filepath.Join(dir, "secret"), filepath.Join(dir, "prometheus.yaml")
	fatal.If(t, os.WriteFile(secret, []byte(key.Secret), 0o600))
	text := strings.NewReplacer("KEY_ID", key.AccessKeyID, "/etc/prometheus/simgraph.secret", secret, "https://sim.example", s.base,
		`"sim.example"`, `"`+strings.TrimPrefix(s.base, "http://")+`"`, "scheme: https", "scheme: http", "1m", "1s").Replace(string(config[1]))
	fatal.If(t, os.WriteFile(file, []byte("global: {scrape_timeout: 1s}\n"+text), 0o600))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	address := listener.Addr().String()
	fatal.If(t, listener.Close())
	log := &transcript{}
	cmd := exec.Command(prometheus, "--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address, "--log.level", "warn")
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	fatal.If(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()

	_, answer := s.post("/graphql", "application/json", s.token, `{"query":"{ company { fleet { total } } }"}`)
	want := answer["data"].(map[string]any)["company"].(map[string]any)["fleet"].(map[string]any)["total"]
	query := "http://" + address + "/api/v1/query?query=" + url.QueryEscape(`simgraph_fleet_subscribers{state="total"}`)
	for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		if got := sampleOf(query); got != "" {
			if total, _ := json.Marshal(want); got != string(total) {
				t.Errorf("Prometheus reads %s subscribers, not %s", got, total)
			}
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("Prometheus reads nothing: %s", log)
		}
	}
}

// sampleOf returns the value of the first series that a query of Prometheus finds.
func sampleOf(query string) string {
	answer, err := http.Get(query)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	var body struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if json.NewDecoder(answer.Body).Decode(&body) != nil || len(body.Data.Result) == 0 {
		return ""
	}
	value, _ := body.Data.Result[0].Value[1].(string)
	return value
}

// A key without one of the permissions gets no part of the numbers.
func TestNumbersOfAFleetNeedTheirPermissions(t *testing.T) {
	t.Parallel()
	s := start(t, demoDir(t), nil)
	var key struct{ AccessKeyID, Secret string }
	fatal.If(t, json.Unmarshal([]byte(s.must("key", "create", "--user", "admin@demo.example", "--scope", "VIEW_SUBSCRIBER")), &key))
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {key.AccessKeyID}, "client_secret": {key.Secret}}
	_, grant := s.post("/oauth/token", "application/x-www-form-urlencoded", "", form.Encode())
	if status, body := s.get("/metrics/fleet", grant["access_token"].(string)); status != http.StatusForbidden {
		t.Errorf("answered %d %v", status, body)
	}
}
