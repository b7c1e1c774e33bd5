package pg

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
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
	case unreachable(err), pq.As(err, pqerror.ReadOnlySQLTransaction) != nil:
		return domain.Unavailable(err)
	default:
		return err
	}
}

func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// unreachable reports whether the server is gone, going, not yet there, or out of
// a resource, which another attempt may find otherwise.
func unreachable(err error) bool {
	if refused, ok := errors.AsType[*pq.Error](err); ok {
		switch refused.Code.Class() {
		case pqerror.ClassConnectionException, pqerror.ClassInsufficientResources:
			return true
		case pqerror.ClassOperatorIntervention:
			return strings.HasPrefix(string(refused.Code), "57P0")
		}
		return false
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
