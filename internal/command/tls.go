package command

import (
	"errors"
	"log/slog"
	"os"
	"sync/atomic"

	"simgraph/internal/httpd"
)

// Security are the flags of TLS and of browsers.
type Security struct {
	TLSCert    string   `name:"tls-cert" type:"path" group:"TLS and browsers" placeholder:"FILE" help:"Serve HTTPS with this certificate and its chain, in PEM; read again when it changes, and on SIGHUP."`
	TLSKey     string   `name:"tls-key" type:"path" group:"TLS and browsers" placeholder:"FILE" help:"The key of the certificate, in PEM."`
	CORSOrigin []string `name:"cors-origin" group:"TLS and browsers" placeholder:"ORIGIN" help:"Let pages of this origin use the server from browsers, such as https://app.example; * for all (repeatable)."`
}

// Validate is called by kong.
func (s *Security) Validate() error {
	if (s.TLSCert == "") != (s.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	_, err := httpd.NewOrigins(s.CORSOrigin, "")
	return err
}

// secure serves HTTPS when a certificate was named, which is reloaded from then on.
func (s *Security) secure(v *service, reload *reloader) error {
	if s.TLSCert == "" {
		return nil
	}
	certificate, err := httpd.NewCertificate(s.TLSCert, s.TLSKey, v.log)
	if err != nil {
		return err
	}
	v.server.TLS = certificate.Config()
	reload.certificate.Store(certificate)
	return nil
}

// reloader answers SIGHUP.
type reloader struct {
	log *slog.Logger
	// certificate is nil without TLS, and until it was read.
	certificate atomic.Pointer[httpd.Certificate]
}

// follow reads the certificate anew at each signal.
func (r *reloader) follow(hangups <-chan os.Signal) {
	for range hangups {
		r.reload()
	}
}

func (r *reloader) reload() {
	certificate := r.certificate.Load()
	if certificate == nil {
		r.log.Info("SIGHUP: there is no TLS certificate to read anew")
		return
	}
	if err := certificate.Reload(); err != nil {
		r.log.Error("SIGHUP: the TLS certificate cannot be read, the old one stays", "error", err)
		return
	}
	r.log.Info("SIGHUP: the TLS certificate was read anew")
}
