package replica

import (
	"context"
	"time"

	"simgraph/domain"
)

// Authenticate returns the caller behind a credential.
type Authenticate func(ctx context.Context, credential domain.Secret) (*domain.Caller, error)

// lostTime bounds a look-up at a primary that is lost, of which the host may not answer.
const lostTime = time.Second

// OrStandby returns what authenticates at the primary, and while that is lost at the
// standbys in use; standbys are in the order of Add. What no standby knows stays
// Unavailable, since it may be newer than the standby.
func (s *Set) OrStandby(primary Authenticate, standbys []Authenticate) Authenticate {
	return func(ctx context.Context, credential domain.Secret) (*domain.Caller, error) {
		if !s.primary.isLost() {
			return primary(ctx, credential)
		}
		bounded, cancel := context.WithTimeout(ctx, lostTime)
		defer cancel()
		caller, err := primary(bounded, credential)
		if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindUnavailable {
			return caller, err
		}
		for i, standby := range s.standbys {
			if !standby.used.Load() {
				continue
			}
			if found, failed := standbys[i](ctx, credential); failed == nil {
				return found, nil
			}
		}
		return nil, err
	}
}

// Stands reports whether a standby in use answers queries while the primary is lost.
func (s *Set) Stands() bool {
	if !s.primary.isLost() {
		return false
	}
	for _, standby := range s.standbys {
		if standby.used.Load() {
			return true
		}
	}
	return false
}
