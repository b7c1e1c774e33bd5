package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	keys "simgraph/db/access"
	"simgraph/domain"
	"simgraph/internal/access"
)

func TestAnExpiredTokenIsNotBelievedUntilTheCacheEnds(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	const lifetime = time.Hour
	grant, err := d.store.Issue(t.Context(), domain.Whole(acme), "ops@acme.example", lifetime)
	if err != nil {
		t.Fatal(err)
	}
	lookUps := func(ahead time.Duration) int64 {
		d.elapsed.Store(int64(ahead))
		before := d.statements.Load()
		if _, err := d.gate.Caller(t.Context(), grant.Token); err != nil {
			t.Fatal(err)
		}
		return d.statements.Load() - before
	}
	if n := lookUps(lifetime - time.Second); n != 1 {
		t.Errorf("the first look-up took %d statements", n)
	}
	if n := lookUps(lifetime + time.Second); n != 1 {
		t.Errorf("after its end the token is believed: %d statements", n)
	}
}

// slowStore looks tokens up when it is let to.
type slowStore struct {
	*keys.Store
	begun chan struct{}
	let   chan struct{}
}

func (s *slowStore) Authenticate(ctx context.Context, token domain.Secret) (*domain.Caller, error) {
	s.begun <- struct{}{}
	select {
	case <-s.let:
	case <-ctx.Done():
	}
	return s.Store.Authenticate(ctx, token)
}

func TestACallerThatGoesAwayEndsItsOwnLookUpOnly(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	token := d.token(t)
	store := &slowStore{d.store, make(chan struct{}, 2), make(chan struct{})}
	gate := access.NewGate(store, time.Now)
	ask := func(ctx context.Context) <-chan error {
		got := make(chan error, 1)
		go func() {
			_, err := gate.Caller(ctx, token)
			got <- err
		}()
		return got
	}
	leaving, leave := context.WithCancel(t.Context())
	first := ask(leaving)
	<-store.begun
	second := ask(t.Context())
	leave()
	err := <-first
	if fault, ok := domain.AsError(err); !ok || fault.Kind != domain.KindUnavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("the one that left got %v", err)
	}
	<-store.begun
	close(store.let)
	if err := <-second; err != nil {
		t.Errorf("the one that stayed got %v", err)
	}
}

func TestAStreamEndsWithTheRightsThatItBeganWith(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]string{
		"a permission": `UPDATE users SET permissions = '{VIEW_SUBSCRIBER}'`,
		"the groups":   `INSERT INTO groups (company_id, group_id, name) VALUES (1, 12, 'Vans'); INSERT INTO user_groups SELECT company_id, user_id, 12 FROM users`,
		"nothing":      `UPDATE users SET permissions = '{VIEW_MONITORING_ALERTS,VIEW_SUBSCRIBER}'`,
	} {
		d := newFixture(t)
		ctx, err := d.gate.AdmitToken(t.Context(), d.token(t))
		if err != nil {
			t.Fatal(err)
		}
		d.pool.MustExec(change)
		if err := d.gate.StillValid(ctx); err != nil {
			t.Fatal(err)
		}
		d.elapsed.Store(int64(5 * time.Second))
		fault, ended := domain.AsError(d.gate.StillValid(ctx))
		if ended != (what != "nothing") || ended && fault.Kind != domain.KindInvalidToken {
			t.Errorf("after a change of %s: %v", what, fault)
		}
	}
}
