package pg

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// ConnectError is why a database could not be opened.
type ConnectError struct {
	// Place is where it is to be, without credentials.
	Place string
	Err   error
}

// oneLine joins the lines that the driver writes of several hosts.
var oneLine = strings.NewReplacer(":\n", ": ", "\n", "; ")

// Error names the place, what was wrong, and what to do about it where that is known.
func (e *ConnectError) Error() string {
	text := fmt.Sprintf("the database at %s: %s", e.Place, oneLine.Replace(e.Err.Error()))
	if do := e.Advice(); do != "" {
		text += "; " + do
	}
	return text
}

// Unwrap returns what was wrong.
func (e *ConnectError) Unwrap() error { return e.Err }

const usePooler = "a pooler stands before the database: use --pooler with --direct-url, see PgBouncer in docs/operations.md"

// Advice is what an operator should do; "" where that is not known.
func (e *ConnectError) Advice() string {
	if refused, is := errors.AsType[*pq.Error](e.Err); is {
		return adviceOn(refused)
	}
	_, unnamed := errors.AsType[*net.DNSError](e.Err)
	switch {
	case errors.Is(e.Err, errPooled):
		return usePooler
	case NoPrimary(e.Err):
		return "promote a standby, or name the primary in the address as well"
	case unnamed:
		return "correct the name of the host, or the resolver of this machine"
	case errors.Is(e.Err, pq.ErrSSLNotSupported):
		return "the server has no TLS: switch ssl on there, or use sslmode=disable where the network is trusted"
	case isCertificate(e.Err):
		return "name the authority that signed the server's certificate by sslrootcert=FILE, and the host as the certificate does"
	case errors.Is(e.Err, syscall.ECONNREFUSED), errors.Is(e.Err, os.ErrNotExist):
		return "start PostgreSQL there, and compare host, port and listen_addresses"
	case errors.Is(e.Err, os.ErrDeadlineExceeded), errors.Is(e.Err, context.DeadlineExceeded), errors.Is(e.Err, syscall.EHOSTUNREACH), errors.Is(e.Err, syscall.ENETUNREACH):
		return "nothing answers: see firewalls between this machine and the server"
	default:
		return ""
	}
}

// adviceOn is Advice on what the server said.
func adviceOn(refused *pq.Error) string {
	switch refused.Code {
	case pqerror.ProtocolViolation:
		if strings.Contains(refused.Message, "unsupported startup parameter") {
			return usePooler
		}
		return ""
	case pqerror.InvalidPassword:
		return "correct user and password of the address"
	case pqerror.InvalidAuthorizationSpecification:
		return "let the role in from this machine: see pg_hba.conf of the server"
	case pqerror.InvalidCatalogName:
		return "make the database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
	case pqerror.TooManyConnections:
		return "raise max_connections of the server, or lower --max-conns of the instances"
	case pqerror.InsufficientPrivilege:
		return "GRANT CONNECT ON DATABASE … to the role"
	default:
		return ""
	}
}

func isCertificate(err error) bool {
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	return authority || host || invalid || verify
}

// Pooled reports whether the reason is a pooler that was not expected there.
func (e *ConnectError) Pooled() bool { return e.Advice() == usePooler }
