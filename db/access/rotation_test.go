package access_test

import (
	"testing"
	"time"

	"simgraph/db/access"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestARotatedKeyWorksBesideTheNewOneUntilItEnds(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	store := access.New(pool)
	label := domain.KeyLabel{Name: "Billing", Purpose: "nightly"}
	key, secret, err := store.CreateKey(t.Context(), fleettest.All, domain.KeySpec{KeyLabel: label, Email: "ops@acme.example", Scopes: []domain.Permission{domain.ViewSubscriber}, Lifetime: 24 * time.Hour})
	fatal.If(t, err)
	earlier := fleettest.Must[*domain.Grant](t)(store.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, secret, nil))
	end := time.Now().Add(10 * time.Minute).UTC().Truncate(time.Microsecond)
	old, made, newSecret, err := store.RotateKey(t.Context(), fleettest.All, key.AccessKeyID, domain.KeyRotation{OldEndsAt: end, Lifetime: 48 * time.Hour})
	fatal.If(t, err)
	if !old.ExpiresAt.Equal(end) || made.KeyLabel != label || made.UserEmail != key.UserEmail || *made.RotatedFrom != key.AccessKeyID || len(made.Scopes) != 1 || made.Scopes[0] != domain.ViewSubscriber {
		t.Fatalf("old %+v, new %+v", old, made)
	}
	grant := fleettest.Must[*domain.Grant](t)(store.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, secret, nil))
	if !grant.ExpiresAt.Equal(end) {
		t.Fatalf("a token of the old key lives until %v, the key until %v", grant.ExpiresAt, end)
	}
	next := fleettest.Must[*domain.Grant](t)(store.Exchange(t.Context(), domain.Origin{}, made.AccessKeyID, newSecret, nil))
	if _, err := pool.ExecContext(t.Context(), `UPDATE access_keys SET expires_at = now() WHERE company_id = $1 AND access_key_id = $2`, fleettest.Acme, key.AccessKeyID); err != nil {
		t.Fatal(err)
	}
	for _, token := range []domain.Secret{earlier.Token, grant.Token} {
		_, err = store.Authenticate(t.Context(), token)
		fleettest.WantKind(t, err, domain.KindInvalidToken)
	}
	_, err = store.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, secret, nil)
	fleettest.WantKind(t, err, domain.KindInvalidToken)
	fleettest.Must[*domain.Caller](t)(store.Authenticate(t.Context(), next.Token))
}

func TestARotationNeverLengthensTheOldKey(t *testing.T) {
	t.Parallel()
	store := access.New(fleettest.NewInventory(t))
	key := newKey(t, store) // lives an hour
	old, _, _, err := store.RotateKey(t.Context(), fleettest.All, key.AccessKeyID, domain.KeyRotation{OldEndsAt: time.Now().Add(100 * time.Hour), Lifetime: time.Hour})
	if err != nil || !old.ExpiresAt.Equal(key.ExpiresAt) {
		t.Fatalf("%v, ends %v instead of %v", err, old.ExpiresAt, key.ExpiresAt)
	}
}

func TestAKeyThatHasEndedIsNotRotated(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	store := access.New(pool)
	expired, revoked, live := newKey(t, store), newKey(t, store), newKey(t, store)
	fleettest.Must[*domain.AccessKey](t)(store.RevokeKey(t.Context(), fleettest.All, revoked.AccessKeyID))
	if _, err := pool.ExecContext(t.Context(), `UPDATE access_keys SET expires_at = now() WHERE company_id = $1 AND access_key_id = $2`, fleettest.Acme, expired.AccessKeyID); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	for name, rotation := range map[string]struct {
		id    string
		scope domain.Scope
		domain.KeyRotation
		want domain.ErrorKind
	}{
		"expired":              {expired.AccessKeyID, fleettest.All, domain.KeyRotation{OldEndsAt: later, Lifetime: time.Hour}, domain.KindInvalid},
		"revoked":              {revoked.AccessKeyID, fleettest.All, domain.KeyRotation{OldEndsAt: later, Lifetime: time.Hour}, domain.KindInvalid},
		"an end in the past":   {live.AccessKeyID, fleettest.All, domain.KeyRotation{OldEndsAt: time.Now().Add(-time.Hour), Lifetime: time.Hour}, domain.KindInvalid},
		"a life that is none":  {live.AccessKeyID, fleettest.All, domain.KeyRotation{OldEndsAt: later}, domain.KindInvalid},
		"of the other company": {live.AccessKeyID, domain.Whole(fleettest.Rival), domain.KeyRotation{OldEndsAt: later, Lifetime: time.Hour}, domain.KindNotFound},
	} {
		_, _, _, err := store.RotateKey(t.Context(), rotation.scope, rotation.id, rotation.KeyRotation)
		if fault, is := domain.AsError(err); !is || fault.Kind != rotation.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARotatedKeyDoesNotPassOnWhatTheUserLost(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	store := access.New(pool)
	key := newKey(t, store, domain.ViewSubscriber, domain.ManageAccessKeys)
	if _, err := pool.ExecContext(t.Context(), `UPDATE users SET permissions = array_remove(permissions, $3) WHERE company_id = $1 AND email = $2`, fleettest.Acme, key.UserEmail, string(domain.ManageAccessKeys)); err != nil {
		t.Fatal(err)
	}
	_, made, _, err := store.RotateKey(t.Context(), fleettest.All, key.AccessKeyID, domain.KeyRotation{OldEndsAt: time.Now().Add(time.Hour), Lifetime: time.Hour})
	if err != nil || len(made.Scopes) != 1 || made.Scopes[0] != domain.ViewSubscriber {
		t.Fatalf("%v, passes on %v", err, made.Scopes)
	}
}

func TestAKeyIsRenamed(t *testing.T) {
	t.Parallel()
	store := access.New(fleettest.NewInventory(t))
	key := newKey(t, store)
	name := "Dashboards"
	renamed := fleettest.Must[*domain.AccessKey](t)(store.EditKey(t.Context(), fleettest.All, key.AccessKeyID, domain.KeyEdit{Name: &name}))
	purpose := "the wall"
	renamed = fleettest.Must[*domain.AccessKey](t)(store.EditKey(t.Context(), fleettest.All, renamed.AccessKeyID, domain.KeyEdit{Purpose: &purpose}))
	found := fleettest.Must[map[string]*domain.AccessKey](t)(store.FindKeys(t.Context(), fleettest.All, []string{key.AccessKeyID}))[key.AccessKeyID]
	if want := (domain.KeyLabel{Name: name, Purpose: purpose}); renamed.KeyLabel != want || found.KeyLabel != want {
		t.Fatalf("got %+v and %+v", renamed.KeyLabel, found.KeyLabel)
	}
	hidden := "a\u200bb"
	_, err := store.EditKey(t.Context(), fleettest.All, key.AccessKeyID, domain.KeyEdit{Name: &hidden})
	fleettest.WantKind(t, err, domain.KindInvalid)
	_, err = store.EditKey(t.Context(), domain.Whole(fleettest.Rival), key.AccessKeyID, domain.KeyEdit{Name: &name})
	fleettest.WantKind(t, err, domain.KindNotFound)
}
