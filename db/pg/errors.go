package pg

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/domain"
)

// Translate gives the errors of the driver that a caller may hear of their
// domain error, with the driver's as its cause, and returns all others as they
// are. A statement that was stopped also matches context.Canceled or
// context.DeadlineExceeded.
func Translate(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := domain.AsError(err); ok {
		return err
	}
	switch {
	case stopped(err):
		return domain.Unavailable(err)
	case pq.As(err, pqerror.QueryCanceled) != nil:
		return domain.Unavailable(fmt.Errorf("%w: %w", context.DeadlineExceeded, err))
	case pq.As(err, pqerror.CharacterNotInRepertoire, pqerror.UntranslatableCharacter) != nil:
		return domain.Invalid("", "a text is not valid UTF-8, or holds a NUL character")
	case unreachable(err), NoPrimary(err), pq.As(err, pqerror.ReadOnlySQLTransaction, pqerror.LockNotAvailable, pqerror.IdleInTransactionSessionTimeout) != nil:
		return domain.Unavailable(err)
	default:
		return err
	}
}

// otherRole are the errors of the driver for a host that is not as target_session_attrs
// of the address asks.
var otherRole = []string{
	"server is in hot standby mode", "server is not in hot standby mode", "session is read-only", "session is not read-only",
}

// NoPrimary reports whether the driver connected to no host of an address since those that
// answered are not as its target_session_attrs asks: during a failover none is the primary.
func NoPrimary(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	if fault, is := domain.AsError(err); is && fault.Unwrap() != nil {
		text = fault.Unwrap().Error()
	}
	return slices.ContainsFunc(otherRole, func(role string) bool { return strings.Contains(text, role) })
}

func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// lostNode are parts of libpq's messages for a connection that ended. The
// coordinator of Citus passes them on as internal errors (XX000), when a node ends
// in the middle of a statement.
var lostNode = []string{
	"server closed the connection unexpectedly", "SSL SYSCALL error", "SSL error: unexpected eof", "SSL connection has been closed unexpectedly",
	"could not receive data from server", "could not send data to server", "could not send SSL negotiation packet",
	"no connection to the server", "connection not open", "connection is not open", "lost connection", "failure on connection marked as essential",
	"connection to the remote node", "could not establish any connections to the node", "could not connect to server",
	"terminating connection due to", "the database system is",
}

// lostCopy begin the errors of the coordinator for a node that ends while it is sent the
// rows of an INSERT.
var lostCopy = []string{"failed to COPY to shard", "failed to complete COPY on"}

// unreachable reports whether the server is gone, going, not yet there, or out of
// a resource, which another attempt may find otherwise.
func unreachable(err error) bool {
	if refused, ok := errors.AsType[*pq.Error](err); ok {
		switch refused.Code.Class() {
		case pqerror.ClassConnectionException, pqerror.ClassInsufficientResources:
			return true
		case pqerror.ClassOperatorIntervention:
			return strings.HasPrefix(string(refused.Code), "57P0")
		case pqerror.ClassInternalError:
			return slices.ContainsFunc(lostNode, func(text string) bool { return strings.Contains(refused.Message, text) })
		case pqerror.ClassSystemError:
			return slices.ContainsFunc(lostCopy, func(text string) bool { return strings.HasPrefix(refused.Message, text) })
		}
		return false
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
