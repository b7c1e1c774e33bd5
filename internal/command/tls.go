package command

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

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

// secure serves HTTPS when a certificate was named.
func (s *Security) secure(ctx context.Context, v *service) error {
	certificate, err := s.certificate(ctx, v.log)
	if certificate != nil {
		v.server.TLS = certificate.Config()
	}
	return err
}

// certificate reads the certificate, and again on SIGHUP until ctx ends; nil
// when none was named.
func (s *Security) certificate(ctx context.Context, log *slog.Logger) (*httpd.Certificate, error) {
	if s.TLSCert == "" {
		return nil, nil
	}
	certificate, err := httpd.NewCertificate(s.TLSCert, s.TLSKey, log)
	if err != nil {
		return nil, err
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	context.AfterFunc(ctx, func() { signal.Stop(hangups); close(hangups) })
	go func() {
		for range hangups {
			if err := certificate.Reload(); err != nil {
				log.Error("the TLS certificate cannot be read, the old one stays", "error", err)
			}
		}
	}()
	return certificate, nil
}
