//go:build linux

package faults_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

const (
	radiusSecret   = "testing-secret-0" // of testdata/freeradius.conf, as nas-secret
	radiusSessions = 1_000
	radiusReports  = 20 // after the Start of each
	radiusKills    = 5
)

// needPrograms skips the test where programs of Debian are missing; CI has them.
func needPrograms(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil && os.Getenv("CI") == "true" {
			t.Fatal(err)
		} else if err != nil {
			t.Skipf("%v: apt-get install freeradius freeradius-utils tshark", err)
		}
	}
}

// freePort is a UDP port of the loopback that nobody listens on just now.
func freePort(t *testing.T) int {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	fatal.If(t, err)
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// startFreeRADIUS runs a proxy that keeps on disk what simgraph does not answer, and
// returns its port.
func startFreeRADIUS(t *testing.T, simgraph int) *relay {
	t.Helper()
	text, err := os.ReadFile("testdata/freeradius.conf")
	fatal.If(t, err)
	dir, port := t.TempDir(), freePort(t)
	config := strings.NewReplacer("{dir}", dir, "{port}", fmt.Sprint(port), "{simgraph}", fmt.Sprint(simgraph)).Replace(string(text))
	for name, content := range map[string]string{"radiusd.conf": config, "dictionary": ""} {
		fatal.If(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	cmd := exec.Command("freeradius", "-f", "-d", dir, "-n", "radiusd", "-l", filepath.Join(dir, "log"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	fatal.If(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, "FreeRADIUS is ready", func() bool {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		return strings.Contains(string(log), "Ready to process requests")
	})
	return &relay{port: port, buffer: filepath.Join(dir, "simgraph")}
}

// relay is a FreeRADIUS that keeps what it cannot deliver in files of a folder.
type relay struct {
	port   int
	buffer string
}

// keeps reports whether packets wait in its folder.
func (p *relay) keeps() bool {
	files, err := os.ReadDir(p.buffer)
	return len(files) > 0 || err != nil && !os.IsNotExist(err)
}

// addRadiusClient lets this host report, as a source of the name.
func addRadiusClient(t *testing.T, l launch, name string) {
	t.Helper()
	addRadiusClientAt(t, l, name, "127.0.0.1")
}

func addRadiusClientAt(t *testing.T, l launch, name, network string) {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	fatal.If(t, os.WriteFile(secret, []byte(radiusSecret), 0o600))
	run(t, append([]string{"radius", "client", "add", name, "--network", network, "--secret-file", secret}, l.database()...)...)
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

// accounted are the reports of a gateway, shuffled, with what the ledger must have.
type accounted struct {
	reports                []string
	originated, terminated int64
}

// account makes up the reports of sessions: a tenth is lost, the others are sent one
// to three times with another Acct-Delay-Time.
func account(random *rand.Rand, now time.Time) *accounted {
	began := now.Add(-2 * time.Hour).Truncate(time.Second)
	a := &accounted{reports: []string{"Acct-Status-Type = Tunnel-Start\nNAS-Identifier = \"pgw1\"\nAcct-Session-Id = \"poison\"\n"}}
	for session := range radiusSessions {
		var originated, terminated, mostOriginated, mostTerminated int64
		for i := range radiusReports + 1 {
			if i == 0 || random.IntN(10) > 0 {
				at := began.Add(time.Duration(i) * 5 * time.Minute)
				for range 1 + random.IntN(3) {
					imsi := fmt.Sprintf("2341500000%05d", session%fleet)
					a.reports = append(a.reports, accountingReport(imsi, session, at, now, 300*i, originated, terminated, random.IntN(20)))
				}
				mostOriginated, mostTerminated = originated, terminated
			}
			originated, terminated = originated+random.Int64N(1<<31), terminated+random.Int64N(1<<33)
		}
		a.originated, a.terminated = a.originated+mostOriginated, a.terminated+mostTerminated
	}
	random.Shuffle(len(a.reports), func(i, j int) { a.reports[i], a.reports[j] = a.reports[j], a.reports[i] })
	return a
}

// A gateway behind FreeRADIUS reports sessions, of which reports are lost, repeated
// and out of order, while simgraph and its database are killed: the ledger has the
// highest of each, alerts fire once, and no answer is malformed.
func TestAccountingThroughFreeRADIUSIsExact(t *testing.T) {
	t.Parallel()
	needPrograms(t, "freeradius", "radclient", "tshark")
	d, port := newDatabase(t), freePort(t)
	x := startTrial(t, launch{databaseURL: d.url(), dataDir: t.TempDir(), extra: []string{"--radius-addr", fmt.Sprintf("127.0.0.1:%d", port)}})
	addRadiusClient(t, x.launch, "freeradius")
	a := account(rand.New(rand.NewPCG(18, 18)), time.Now())
	captured := capture(t, port)
	x.sendThrough(d, startFreeRADIUS(t, port).port, a.reports)
	pool := d.open()
	var got string
	want := fmt.Sprintf("%d sessions, %d and %d bytes, 1 rejected", radiusSessions, a.originated, a.terminated)
	for deadline := time.Now().Add(8 * time.Minute); got != want && time.Now().Before(deadline); time.Sleep(time.Second) {
		if err := pool.Get(&got, `SELECT (SELECT count(*) FROM sessions) || ' sessions, ' || coalesce(sum(mobile_originated), 0) || ' and ' || coalesce(sum(mobile_terminated), 0) || ' bytes, ' ||
  (SELECT count(*) FROM feed_rejects WHERE source = 'freeradius') || ' rejected' FROM usage_records WHERE source = 'freeradius'`); err != nil {
			t.Fatal(err)
		}
	}
	if got != want {
		t.Errorf("stored %s\nnot    %s", got, want)
	}
	if fired := x.checkAlerts(pool); fired == 0 {
		t.Error("no alert fired")
	}
	x.checkTotals([]string{"--database-url", d.url()})
	captured()
}

// sendThrough sends the reports by radclient to FreeRADIUS, while simgraph and its
// database are killed and started again.
func (x *trial) sendThrough(d *database, proxy int, reports []string) {
	x.t.Helper()
	file := filepath.Join(x.t.TempDir(), "reports")
	fatal.If(x.t, os.WriteFile(file, []byte(strings.Join(reports, "\n")), 0o600))
	began := time.Now()
	// As a gateway does, radclient repeats a report until it is answered.
	sender := exec.Command("radclient", "-q", "-p", "50", "-n", "600", "-r", "30", "-t", "3", "-f", file, fmt.Sprintf("127.0.0.1:%d", proxy), "acct", "nas-secret")
	sent := make(chan error, 1)
	go func() { sent <- sender.Run() }()
	for n := range radiusKills {
		time.Sleep(8 * time.Second)
		x.simgraph.kill()
		if n == radiusKills/2 {
			d.crash(syscall.SIGKILL)
			d.start()
		}
		time.Sleep(time.Second)
		x.simgraph = serve(x.t, x.launch)
	}
	if err := <-sent; err != nil {
		x.t.Errorf("radclient: %v: the proxy has not answered every report", err)
	}
	x.t.Logf("%d reports in %v", len(reports), time.Since(began).Round(time.Second))
}

// capture records the packets of a port until the function that it returns is called,
// which demands that tshark finds answers, and none that is malformed.
func capture(t *testing.T, port int) func() {
	t.Helper()
	file := filepath.Join(t.TempDir(), "packets.pcapng")
	cmd := exec.Command("tshark", "-q", "-i", "lo", "-f", fmt.Sprintf("udp port %d", port), "-w", file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log := &transcript{}
	cmd.Stderr = log
	fatal.If(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(patience); !strings.Contains(log.String(), "Capturing on"); time.Sleep(50 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("tshark does not capture: %v: %s", err, log)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("tshark does not capture: %s", log)
		}
	}
	return func() {
		t.Helper()
		time.Sleep(time.Second) // what was captured is written
		_ = cmd.Process.Signal(syscall.SIGINT)
		<-ended
		decode := []string{"-r", file, "-d", fmt.Sprintf("udp.port==%d,radius", port)}
		count := func(filter string) int {
			out, err := exec.Command("tshark", append(decode, "-Y", filter, "-T", "fields", "-e", "frame.number")...).Output()
			fatal.If(t, err)
			return strings.Count(string(out), "\n")
		}
		answers := count("radius.code == 5")
		malformed := count("radius.code == 5 && (_ws.malformed || _ws.expert.severity >= 8388608)")
		if others := count(fmt.Sprintf("udp.srcport == %d && !(radius.code == 5)", port)); answers < radiusSessions || malformed > 0 || others > 0 {
			t.Errorf("of %d answers %d are malformed, and %d packets are no answers", answers, malformed, others)
		}
		t.Logf("tshark: %d answers", answers)
	}
}
