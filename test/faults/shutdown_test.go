//go:build linux

package faults_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// pending requests a list in the background.
func (n *node) pending() chan answer {
	answered := make(chan answer, 1)
	own := client(n.T)
	go func() {
		got, err := n.roundTrip(own, n.url(""), "GET", "/subscribers?limit=10", "")
		if err != nil {
			got.body = []byte(err.Error())
		}
		answered <- got
	}()
	return answered
}

func TestAServerThatStopsIsUnreadyFirstAndAnswersWhatItHasTaken(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	n := startNode(t, url, "--drain-delay", "3s", "--mail-wait", "1h")
	pool := open(t, url)
	release := hold(t, pool)
	defer release()
	held := n.pending()
	eventually(t, "the request waits in the database", func() bool { return working(t, pool) > 0 })
	n.signal(syscall.SIGTERM)
	eventually(t, "it is unready", func() bool { return !probe(n.addr) })
	if got, err := n.roundTrip(client(t), n.url(""), "GET", "/tags", ""); err != nil || got.status != http.StatusOK {
		t.Errorf("during the delay: %d %s %v", got.status, got.body, err)
	}
	eventually(t, "it takes no more connections", func() bool {
		_, err := http.Get(n.url("/healthz"))
		return err != nil
	})
	select {
	case <-n.exited:
		t.Fatal("it ended with a request in flight")
	default:
	}
	release()
	if got := <-held; got.status != http.StatusOK {
		t.Errorf("the request in flight: %d %s", got.status, got.body)
	}
	if status := n.awaitExit(patience); status != 0 {
		t.Errorf("exit status %d: %s", status, n.stderr)
	}
	t.Log("stop: unready at once, requests of the delay answered, then no more connections, the request in flight answered, exit status 0")
}

func TestTheTimeToDrainIsBounded(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	n := startNode(t, url, "--drain-time", "1s", "--mail-wait", "1h", "--statement-timeout", "0s", "--request-timeout", "0s")
	pool := open(t, url)
	release := hold(t, pool)
	defer release()
	held := n.pending()
	eventually(t, "the request waits in the database", func() bool { return working(t, pool) > 0 })
	began := time.Now()
	n.signal(syscall.SIGTERM)
	if got := <-held; got.status == http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
	n.awaitExit(patience)
	over := time.Since(began)
	eventually(t, "no statement is left", func() bool { return working(t, pool) == 0 })
	t.Logf("stop with --drain-time 1s and a statement that waits for ever: over after %v, no statement left in PostgreSQL after %v",
		over.Round(10*time.Millisecond), time.Since(began).Round(10*time.Millisecond))
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	for _, second := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		url := dbtest.URL(t)
		n := startNode(t, url, "--drain-time", "5m", "--mail-wait", "1h")
		pool := open(t, url)
		release := hold(t, pool)
		n.pending()
		eventually(t, "the request waits in the database", func() bool { return working(t, pool) > 0 })
		n.signal(syscall.SIGTERM)
		eventually(t, "it takes no more connections", func() bool { return !probe(n.addr) })
		n.signal(second)
		n.awaitExit(patience)
		release()
	}
}

func TestTheEmbeddedDatabaseStopsLast(t *testing.T) {
	t.Parallel()
	dir := dbtest.Dir(t, room)
	n := &node{T: t, launch: launch{addr: freeAddress(t), dataDir: dir, extra: []string{"--demo", "--demo-feed", "off"}}}
	n.addr = n.launch.addr
	n.start()
	n.token = strings.TrimSpace(run(t, "token", "--user", "admin@demo.example", "--data-dir", dir))
	subscriber := n.fleet(1)[0]
	body, feed := io.Pipe()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, n.url("/usage/records"), body)
	r.Header.Set("Authorization", "Bearer "+n.token)
	go func() { _, _ = io.WriteString(feed, usageLine("last", 1, subscriber)) }()
	response, err := client(t).Do(r)
	fatal.If(t, err)
	defer response.Body.Close()
	answers := bufio.NewScanner(response.Body)
	for i := 2; i < 5 && answers.Scan(); i++ {
		if !strings.Contains(answers.Text(), "accepted") {
			t.Fatal(answers.Text())
		}
		if i == 2 {
			n.signal(syscall.SIGTERM)
			eventually(t, "it is unready", func() bool { return !probe(n.addr) })
		}
		_, _ = io.WriteString(feed, usageLine("last", i, subscriber))
	}
	_ = feed.Close()
	for answers.Scan() {
		if !strings.Contains(answers.Text(), "accepted") {
			t.Fatal(answers.Text())
		}
	}
	if status := n.awaitExit(patience); status != 0 || answers.Err() != nil {
		t.Errorf("exit status %d, %v: %s", status, answers.Err(), n.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "postgres", "postmaster.pid")); err == nil {
		t.Error("the database still runs")
	}
	t.Log("stop with the embedded database: usage that came after SIGTERM on an open stream was booked and answered, then the database stopped, exit status 0")
}
