//go:build linux

package faults_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

const nothingToReload = "there is no TLS certificate to read anew"

func TestSIGHUPEndsNoServerWithoutTLS(t *testing.T) {
	t.Parallel()
	n := startNode(t, dbtest.URL(t), "--mail-wait", "1h", "--drain-delay", "2s")
	n.hangUp(1)
	if !probe(n.addr) {
		t.Error("it is not ready any more")
	}
	n.signal(syscall.SIGTERM)
	eventually(t, "it is unready", func() bool { return !probe(n.addr) })
	n.hangUp(2)
	if status := n.awaitExit(patience); status != 0 {
		t.Errorf("exit status %d: %s", status, n.stderr)
	}
}

// hangUp sends SIGHUP and waits for the line of the log, the nth of its kind.
func (n *node) hangUp(nth int) {
	n.Helper()
	n.signal(syscall.SIGHUP)
	eventually(n.T, "SIGHUP is logged", func() bool { return strings.Count(n.stderr.String(), nothingToReload) == nth })
}

func TestSIGHUPEndsNoServerThatStarts(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	pool := open(t, url)
	tx := pool.MustBegin()
	defer func() { _ = tx.Rollback() }()
	tx.MustExec(`LOCK TABLE goose_db_version IN ACCESS EXCLUSIVE MODE`)
	stderr := &transcript{}
	cmd := exec.Command(program, "serve", "--addr", "127.0.0.1:0", "--data-dir", t.TempDir(), "--database-url", url)
	cmd.Stderr = stderr
	fatal.If(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	eventually(t, "it waits for the lock", func() bool { return working(t, pool) > 0 })
	_ = cmd.Process.Signal(syscall.SIGHUP)
	eventually(t, "SIGHUP is logged", func() bool { return strings.Contains(stderr.String(), nothingToReload) })
	_ = tx.Rollback()
	eventually(t, "it has started", func() bool { return strings.Contains(stderr.String(), "mail goes to") })
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
}

func TestSIGHUPEndsACommandUnlessItWasStartedByNohup(t *testing.T) {
	t.Parallel()
	// Where the tests themselves run under nohup, programs that they start would
	// ignore the signal too.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(signals) })
	dir := dbtest.Dir(t, room)
	i := startImport(t, dir)
	eventually(t, "the command runs the database", func() bool { return databaseOn(dir) != 0 })
	_ = i.cmd.Process.Signal(syscall.SIGHUP)
	select {
	case <-i.exited:
	case <-time.After(patience):
		t.Fatalf("it goes on: %s", &i.stderr)
	}
	if status := i.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGHUP {
		t.Errorf("it ended with %v: %s", i.cmd.ProcessState, &i.stderr)
	}
	dir = dbtest.Dir(t, room)
	i = startImport(t, dir, "nohup")
	eventually(t, "the command runs the database", func() bool { return databaseOn(dir) != 0 })
	_ = i.cmd.Process.Signal(syscall.SIGHUP)
	if status := i.run(acme); status != 0 {
		t.Errorf("%d %s", status, &i.stderr)
	}
}

func TestSIGHUPReadsTheCertificateAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	issue(t, cert, key, 1)
	n := &node{T: t, launch: launch{addr: freeAddress(t), dataDir: t.TempDir(), databaseURL: dbtest.URL(t), extra: []string{"--tls-cert", cert, "--tls-key", key}}}
	n.serving = serve(t, n.launch)
	if got := n.certificate(); got != 1 {
		t.Fatalf("certificate %d", got)
	}
	issue(t, cert, key, 2)
	n.signal(syscall.SIGHUP)
	eventually(t, "SIGHUP is logged", func() bool { return strings.Contains(n.stderr.String(), "SIGHUP: the TLS certificate was read anew") })
	if got := n.certificate(); got != 2 {
		t.Errorf("certificate %d after SIGHUP", got)
	}
	fatal.If(t, os.WriteFile(cert, []byte("nonsense"), 0o600))
	n.signal(syscall.SIGHUP)
	eventually(t, "the failure is logged", func() bool { return strings.Contains(n.stderr.String(), "the old one stays") })
	if got := n.certificate(); got != 2 {
		t.Errorf("certificate %d after a bad one", got)
	}
	n.terminate()
}

// certificate is the number of the certificate that the server shows.
func (n *node) certificate() int64 {
	n.Helper()
	conn, err := tls.Dial("tcp", n.launch.addr, &tls.Config{InsecureSkipVerify: true})
	fatal.If(n, err)
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// issue writes a certificate with that number.
func issue(t *testing.T, certFile, keyFile string, number int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fatal.If(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(number), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	fatal.If(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	fatal.If(t, err)
	for name, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: certificate}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		fatal.If(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
	}
}
