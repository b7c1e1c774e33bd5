package httpd

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// lookAgain is how often handshakes look whether the files have changed.
const lookAgain = 10 * time.Second

// Certificate is one that is kept in files, and read again when they change.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	looked  time.Time
	changed [2]time.Time
}

// NewCertificate reads a certificate with its chain, and its key, as PEM.
func NewCertificate(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log}
	return c, c.Reload()
}

// Reload reads the files at once. When that fails the certificate in use stays.
func (c *Certificate) Reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read(c.times())
}

func (c *Certificate) read(changed [2]time.Time) error {
	c.looked, c.changed = time.Now(), changed
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.current = &pair
	}
	return err
}

// times are when the files were written; zero for one that is not there.
func (c *Certificate) times() (at [2]time.Time) {
	for i, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			at[i] = info.ModTime()
		}
	}
	return at
}

// get returns the certificate for a handshake.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < lookAgain {
		return c.current, nil
	}
	c.looked = time.Now()
	changed := c.times()
	if changed == c.changed {
		return c.current, nil
	}
	if err := c.read(changed); err != nil {
		c.log.Error("the new TLS certificate cannot be used, the old one stays", "error", err)
	} else {
		c.log.Info("the TLS certificate was read anew")
	}
	return c.current, nil
}

// Config are the settings of TLS: 1.2 or newer, with forward secrecy and
// authenticated encryption only.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: c.get,
		CipherSuites: []uint16{ // of TLS 1.2; those of 1.3 are all sound
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		},
	}
}
