package pg

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"syscall"
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/internal/fatal"
)

var advised = regexp.MustCompile(`return (usePooler|"[^"]+")\n`)

// Each advice of the source is given on what it is for, and no other.
func TestEachAdviceIsGivenOnWhatItIsFor(t *testing.T) {
	t.Parallel()
	given := map[string]bool{}
	for want, of := range map[string][]error{
		"a pooler stands": {errPooled, &pq.Error{Code: pqerror.ProtocolViolation, Message: "unsupported startup parameter: jit"}},
		"promote a":       {errors.New(otherRole[0])},
		"correct the":     {&net.DNSError{}},
		"the server has":  {pq.ErrSSLNotSupported},
		"name the":        {x509.UnknownAuthorityError{}, x509.HostnameError{Certificate: &x509.Certificate{}}, x509.CertificateInvalidError{}},
		"start Postgre":   {syscall.ECONNREFUSED, os.ErrNotExist},
		"nothing answers": {os.ErrDeadlineExceeded, context.DeadlineExceeded, syscall.EHOSTUNREACH, syscall.ENETUNREACH},
		"correct user":    {&pq.Error{Code: pqerror.InvalidPassword}},
		"let the role":    {&pq.Error{Code: pqerror.InvalidAuthorizationSpecification}},
		"make the":        {&pq.Error{Code: pqerror.InvalidCatalogName}},
		"raise max":       {&pq.Error{Code: pqerror.TooManyConnections}},
		"GRANT CONNECT":   {&pq.Error{Code: pqerror.InsufficientPrivilege}},
		"":                {errors.New("another"), &pq.Error{Code: pqerror.ProtocolViolation}, &pq.Error{Code: pqerror.DiskFull}},
	} {
		for _, err := range of {
			got := (&ConnectError{Err: fmt.Errorf("connecting: %w", err)}).Advice()
			if given[got] = true; len(got) < len(want) || got[:len(want)] != want || (got == "") != (want == "") {
				t.Errorf("%v: got the advice %q", err, got)
			}
		}
	}
	source, err := os.ReadFile("advice.go")
	fatal.If(t, err)
	all := map[string]bool{`""`: true}
	for _, found := range advised.FindAllSubmatch(source, -1) {
		all[string(found[1])] = true
	}
	if len(all) != len(given) {
		t.Errorf("%d advices stand in the source, %d are given", len(all), len(given))
	}
}
