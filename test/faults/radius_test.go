//go:build linux

package faults_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
)

const (
	radiusSecret   = "testing-secret-0" // of testdata/freeradius.conf, as nas-secret
	radiusSessions = 100
	radiusReports  = 10
)

// needPrograms skips the test where programs of Debian are missing; CI has them.
func needPrograms(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil && os.Getenv("CI") == "true" {
			t.Fatal(err)
		} else if err != nil {
			t.Skipf("%v: apt-get install freeradius freeradius-utils", err)
		}
	}
}

// freePort is a UDP port of the loopback that nobody listens on just now.
func freePort(t *testing.T) int {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// startFreeRADIUS runs a proxy that keeps on disk what simgraph does not answer, and
// returns its port.
func startFreeRADIUS(t *testing.T, simgraph int) int {
	t.Helper()
	text, err := os.ReadFile("testdata/freeradius.conf")
	if err != nil {
		t.Fatal(err)
	}
	dir, port := t.TempDir(), freePort(t)
	config := strings.NewReplacer("{dir}", dir, "{port}", fmt.Sprint(port), "{simgraph}", fmt.Sprint(simgraph)).Replace(string(text))
	for name, content := range map[string]string{"radiusd.conf": config, "dictionary": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("freeradius", "-f", "-d", dir, "-n", "radiusd", "-l", filepath.Join(dir, "log"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, "FreeRADIUS is ready", func() bool {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		return strings.Contains(string(log), "Ready to process requests")
	})
	return port
}

// accountingReport is what a gateway states of a session after some minutes.
func accountingReport(imsi string, session int, at, now time.Time, seconds int, originated, terminated int64, delay int) string {
	status := "Interim-Update"
	if seconds == 0 {
		status = "Start"
	}
	return fmt.Sprintf(`Acct-Status-Type = %s
NAS-Identifier = "pgw1"
Acct-Session-Id = "s%d"
3GPP-IMSI = "%s"
Acct-Session-Time = %d
Acct-Input-Octets = %d
Acct-Input-Gigawords = %d
Acct-Output-Octets = %d
Acct-Output-Gigawords = %d
Event-Timestamp = %d
Acct-Delay-Time = %d
`, status, session, imsi, seconds, uint32(originated), originated>>32, uint32(terminated), terminated>>32, at.Unix(), int(now.Sub(at)/time.Second)+delay)
}

// A gateway behind FreeRADIUS reports sessions, of which reports are lost, repeated
// and out of order, while simgraph is killed: the ledger has the highest of each.
func TestAccountingThroughFreeRADIUSIsExact(t *testing.T) {
	needPrograms(t, "freeradius", "radclient")
	url, port := dbtest.URL(t), freePort(t)
	n := startNode(t, url, "--radius-addr", fmt.Sprintf("127.0.0.1:%d", port))
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(radiusSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "radius", "client", "add", "freeradius", "--network", "127.0.0.1", "--secret-file", secret, "--database-url", url, "--data-dir", n.launch.dataDir)
	imsis := regexp.MustCompile(`"imsi":"(\d+)"`).FindAllStringSubmatch(string(n.must("GET", "/subscribers?limit=100&filter=kind%20eq%20cellular", "")), -1)
	random, now := rand.New(rand.NewPCG(18, 18)), time.Now()
	began := now.Add(-2 * time.Hour).Truncate(time.Second)
	var reports []string
	var wantOriginated, wantTerminated int64
	for session := range radiusSessions {
		originated, terminated, mostOriginated, mostTerminated := int64(0), int64(0), int64(0), int64(0)
		for i := range radiusReports {
			if i == 0 || random.IntN(10) > 0 {
				for range 1 + random.IntN(3) {
					reports = append(reports, accountingReport(imsis[session%len(imsis)][1], session, began.Add(time.Duration(i)*5*time.Minute), now, 300*i, originated, terminated, random.IntN(20)))
				}
				mostOriginated, mostTerminated = originated, terminated
			}
			originated, terminated = originated+random.Int64N(1<<31), terminated+random.Int64N(1<<33)
		}
		wantOriginated, wantTerminated = wantOriginated+mostOriginated, wantTerminated+mostTerminated
	}
	reports = append(reports, "Acct-Status-Type = Tunnel-Start\nNAS-Identifier = \"pgw1\"\nAcct-Session-Id = \"poison\"\n")
	random.Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
	sendThrough(t, n, startFreeRADIUS(t, port), reports)
	pool, err := pg.Open(t.Context(), url, pg.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var got string
	want := fmt.Sprintf("%d sessions, %d and %d bytes, 1 rejected", radiusSessions, wantOriginated, wantTerminated)
	for deadline := time.Now().Add(3 * time.Minute); got != want && time.Now().Before(deadline); time.Sleep(time.Second) {
		if err := pool.Get(&got, `SELECT (SELECT count(*) FROM sessions) || ' sessions, ' || coalesce(sum(mobile_originated), 0) || ' and ' || coalesce(sum(mobile_terminated), 0) || ' bytes, ' ||
  (SELECT count(*) FROM feed_rejects) || ' rejected' FROM usage_records WHERE source = 'freeradius'`); err != nil {
			t.Fatal(err)
		}
	}
	if got != want {
		t.Errorf("stored %s\nnot    %s", got, want)
	}
	if out := run(t, "rebuild", "--database-url", url); !strings.Contains(out, "all totals agree") {
		t.Errorf("totals differ from the ledger: %s", out)
	}
}

// sendThrough sends the reports by radclient to FreeRADIUS, while simgraph is killed
// and started again.
func sendThrough(t *testing.T, n *node, proxy int, reports []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "reports")
	if err := os.WriteFile(file, []byte(strings.Join(reports, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	sender := exec.Command("radclient", "-q", "-p", "30", "-r", "5", "-t", "3", "-f", file, fmt.Sprintf("127.0.0.1:%d", proxy), "acct", "nas-secret")
	sent := make(chan error, 1)
	go func() { sent <- sender.Run() }()
	for range 3 {
		time.Sleep(2 * time.Second)
		n.kill()
		time.Sleep(time.Second)
		n.start()
	}
	t.Logf("radclient: %v", <-sent)
}
