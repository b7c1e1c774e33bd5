//go:build linux

package faults_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"simgraph/db/dbtest"
)

// crush sends requests as fast as answers come, over many connections, and sorts what
// comes back.
func (n *node) crush(connections int, during time.Duration) (admitted *bystander, shed map[int]int, rude []string) {
	admitted, shed = &bystander{usual: slowest(func() { n.fleet(100) })}, map[int]int{}
	until := time.Now().Add(during)
	query := document(`{subscribers(first: 100) {nodes {physicalId nickname group {name} tags {name}}}}`)
	own := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	defer own.CloseIdleConnections()
	var mu sync.Mutex
	var clients sync.WaitGroup
	for range connections {
		clients.Go(func() {
			for time.Now().Before(until) {
				began := time.Now()
				got, err := n.roundTrip(own, n.url(""), "POST", "/graphql", query)
				if err == nil && (got.status == http.StatusServiceUnavailable || got.status == http.StatusTooManyRequests) {
					mu.Lock()
					shed[got.status]++
					if got.header.Get("Retry-After") == "" {
						rude = append(rude, string(got.body))
					}
					mu.Unlock()
					continue
				}
				admitted.note(time.Since(began), got, err)
			}
		})
	}
	clients.Wait()
	return admitted, shed, rude
}

func TestOverloadIsShedAndWhatIsAdmittedStaysFast(t *testing.T) {
	t.Parallel()
	n := startNode(t, dbtest.URL(t), "--concurrency", "4", "--queue", "8", "--queue-time", "300ms",
		"--token-rate", "0", "--address-rate", "0", "--cost-rate", "0")
	goroutines := n.goroutines()
	admitted, shed, rude := n.crush(96, 3*time.Second)
	refused := n.metric("simgraph_refused_total", `"concurrency"`)
	eventually(t, "it is at rest again", func() bool { return n.goroutines() < goroutines+10 })
	if _, err := n.roundTrip(client(t), n.url(""), "GET", "/tags", ""); err != nil {
		t.Error(err)
	}
	t.Logf("overload: 96 connections where 4 run and 8 wait; %d answered, p50 %v, p99 %v; shed %v, all with Retry-After; %d errors",
		len(admitted.took), admitted.quantile(0.5).Round(time.Millisecond), admitted.quantile(0.99).Round(time.Millisecond), shed, len(admitted.failed))
	admitted.fine(t)
	if shed[http.StatusServiceUnavailable] == 0 || len(rude) > 0 || int(refused) != shed[http.StatusServiceUnavailable] {
		t.Errorf("shed %v, counted %v, without Retry-After: %.3q", shed, refused, rude)
	}
}

func TestATokenAboveItsRateGetsRetryAfter(t *testing.T) {
	t.Parallel()
	n := startNode(t, dbtest.URL(t), "--token-rate", "50", "--token-burst", "50")
	const seconds = 3
	began := time.Now()
	admitted, shed, rude := n.crush(16, seconds*time.Second)
	lasted := int(time.Since(began)/time.Second) + 1
	t.Logf("a token above its rate of 50/s: %d answered in %d s, shed %v, all with Retry-After", len(admitted.took), seconds, fmt.Sprint(shed))
	if got := len(admitted.took); got > 50+50*lasted || got < 50 || shed[http.StatusTooManyRequests] == 0 || len(rude) > 0 || len(admitted.failed) > 0 {
		t.Errorf("%d answered, shed %v, failed %.3q, without Retry-After: %.3q", got, shed, admitted.failed, rude)
	}
}
