package httpd_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"simgraph/internal/fatal"
	"simgraph/internal/httpd"
)

// issue writes a certificate for 127.0.0.1 with that number.
func issue(t *testing.T, dir string, number int64) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fatal.If(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	fatal.If(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	fatal.If(t, err)
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	write(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	return certFile, keyFile
}

func newCertificate(t *testing.T, dir string) (*httpd.Certificate, error) {
	t.Helper()
	certFile, keyFile := issue(t, dir, 1)
	return httpd.NewCertificate(certFile, keyFile, slog.New(slog.DiscardHandler))
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	fatal.If(t, os.WriteFile(name, content, 0o600))
}

// shake connects and returns what was agreed on.
func shake(addr string, most uint16, suites ...uint16) (tls.ConnectionState, error) {
	conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, MaxVersion: most, CipherSuites: suites, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer conn.Close()
	return conn.ConnectionState(), nil
}

func TestHTTPSIsServedWithWhatIsSound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate, err := newCertificate(t, dir)
	fatal.If(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	health := &httpd.Health{Check: func(context.Context) error { return nil }}
	server := &httpd.Server{Handler: newHandler(health), Health: health, Log: slog.New(slog.DiscardHandler), Timing: httpd.Timing{Drain: time.Minute}, Close: func(context.Context) {}, TLS: certificate.Config()}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, listener) }()
	addr := listener.Addr().String()

	if state, err := shake(addr, 0); err != nil || state.Version != tls.VersionTLS13 || state.NegotiatedProtocol != "h2" {
		t.Errorf("%x %q %v", state.Version, state.NegotiatedProtocol, err)
	}
	if state, err := shake(addr, tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256); err != nil || state.Version != tls.VersionTLS12 {
		t.Errorf("%x %v", state.Version, err)
	}
	if _, err := shake(addr, tls.VersionTLS11); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	if _, err := shake(addr, tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA); err == nil {
		t.Error("CBC is spoken")
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	response, err := client.Get("https://" + addr + "/subscribers")
	fatal.If(t, err)
	_ = response.Body.Close()
	if response.ProtoMajor != 2 || response.Header.Get("Strict-Transport-Security") != "max-age=31536000" {
		t.Error(response.Proto, response.Header)
	}
	client.CloseIdleConnections()

	issue(t, dir, 2)
	if state, _ := shake(addr, 0); state.PeerCertificates[0].SerialNumber.Int64() != 1 {
		t.Error("the files are read at every handshake")
	}
	fatal.If(t, certificate.Reload())
	if state, _ := shake(addr, 0); state.PeerCertificates[0].SerialNumber.Int64() != 2 {
		t.Error("the new certificate is not used")
	}
	write(t, filepath.Join(dir, "cert.pem"), []byte("broken"))
	if certificate.Reload() == nil {
		t.Error("a broken certificate is read")
	}
	if state, err := shake(addr, 0); err != nil || state.PeerCertificates[0].SerialNumber.Int64() != 2 {
		t.Error("the certificate that was in use is lost:", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestACertificateThatChangesIsReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate, err := newCertificate(t, dir)
	fatal.If(t, err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", certificate.Config())
	fatal.If(t, err)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = conn.(*tls.Conn).Handshake(); _ = conn.Close() }()
		}
	}()
	issue(t, dir, 2)
	for began := time.Now(); time.Since(began) < 15*time.Second; time.Sleep(500 * time.Millisecond) {
		if state, err := shake(listener.Addr().String(), 0); err == nil && state.PeerCertificates[0].SerialNumber.Int64() == 2 {
			return
		}
	}
	t.Error("the certificate is not read again")
}

func TestACertificateThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := httpd.NewCertificate("nowhere.pem", "nowhere.pem", slog.New(slog.DiscardHandler)); err == nil {
		t.Error("no error")
	}
}
