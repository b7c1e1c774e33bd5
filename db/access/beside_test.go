package access_test

import (
	"slices"
	"testing"
	"time"

	"simgraph/db/access"
	"simgraph/db/audit"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// Each thing that is done to a key or its tokens leaves those of the keys before and after it
// as they are.
func TestWhatIsDoneToOneKeyLeavesTheOthers(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), fleettest.NewInventory(t)
	store := access.New(pool)
	keys := []madeKey{newKey(t, store), newKey(t, store), newKey(t, store)}
	exchange := func(key madeKey) domain.Secret {
		return fleettest.Must[*domain.Grant](t)(store.Exchange(ctx, domain.Origin{}, key.AccessKeyID, key.secret, nil)).Token
	}
	exchange(keys[0])
	exchange(keys[2])
	others := func() []string {
		return append(fleettest.RowsOf(t, pool, "access_key_id", keys[0].AccessKeyID), fleettest.RowsOf(t, pool, "access_key_id", keys[2].AccessKeyID)...)
	}
	before, one := others(), keys[1]
	if len(before) != 6 { // a key, a token and an entry of the audit log each
		t.Fatalf("the others have %q", before)
	}
	var tokens []domain.Secret
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"exchange", func() error { tokens = append(tokens, exchange(one), exchange(one)); return nil }},
		{"edit", func() error {
			_, err := store.EditKey(ctx, fleettest.All, one.AccessKeyID, domain.KeyEdit{Name: new("renamed")})
			return err
		}},
		{"revoke a token", func() error { return store.RevokeToken(ctx, domain.Origin{}, one.AccessKeyID, one.secret, tokens[0]) }},
		{"end a token", func() error { return store.EndToken(ctx, domain.Origin{}, tokens[1]) }},
		{"rotate", func() error {
			_, _, _, err := store.RotateKey(ctx, fleettest.All, one.AccessKeyID, domain.KeyRotation{OldEndsAt: time.Now().Add(time.Minute), Lifetime: time.Hour})
			return err
		}},
		{"revoke", func() error { _, err := store.RevokeKey(ctx, fleettest.All, one.AccessKeyID); return err }},
	} {
		fatal.If(t, step.do())
		if after := others(); !slices.Equal(after, before) {
			t.Fatalf("%s\nbefore %q\nafter  %q", step.name, before, after)
		}
	}
	if found := fleettest.Must[map[string]*domain.AccessKey](t)(store.FindKeys(ctx, fleettest.All, []string{one.AccessKeyID})); len(found) != 1 {
		t.Errorf("found %d keys by one id", len(found))
	}
}

// What was revoked is not revoked again: the first moment stays, and has the only entry.
func TestWhatWasRevokedStaysRevokedSinceThen(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), fleettest.NewInventory(t)
	store := access.New(pool)
	key := newKey(t, store)
	token := fleettest.Must[*domain.Grant](t)(store.Exchange(ctx, domain.Origin{}, key.AccessKeyID, key.secret, nil)).Token
	for range 2 {
		fatal.If(t, store.RevokeToken(ctx, domain.Origin{}, key.AccessKeyID, key.secret, token))
	}
	for range 2 {
		fleettest.Must[*domain.AccessKey](t)(store.RevokeKey(ctx, fleettest.All, key.AccessKeyID))
	}
	entries := map[string]int{}
	for _, entry := range fleettest.AuditOf(t, audit.NewLog(pool), fleettest.Acme) {
		entries[entry.Action]++
	}
	if entries[domain.AuditTokenRevoke] != 1 || entries[domain.AuditKeyRevoke] != 1 {
		t.Errorf("got %v", entries)
	}
}
