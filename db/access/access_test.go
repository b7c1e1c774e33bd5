package access_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/access"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

type madeKey struct {
	*domain.AccessKey
	secret domain.Secret
}

func newKey(t *testing.T, store *access.Store, scopes ...domain.Permission) madeKey {
	t.Helper()
	key, secret, err := store.CreateKey(t.Context(), fleettest.All, domain.KeySpec{Email: "OPS@acme.example", Scopes: scopes, Lifetime: time.Hour})
	fatal.If(t, err)
	return madeKey{key, secret}
}

func TestATokenCarriesWhatKeyAndUserAgreeOn(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	store := access.New(pool)
	ctx := t.Context()
	key := newKey(t, store)
	grant := fleettest.Must[*domain.Grant](t)(store.Exchange(ctx, domain.Origin{}, key.AccessKeyID, key.secret, []domain.Permission{domain.ViewSubscriber}))
	caller := fleettest.Must[*domain.Caller](t)(store.Authenticate(ctx, grant.Token))
	if !slices.Equal(caller.Permissions, []domain.Permission{domain.ViewSubscriber}) || caller.Scope.Restricted() ||
		caller.Company.ExternalID != "acme" || caller.Email != "ops@acme.example" {
		t.Fatalf("got %+v", caller)
	}
	// What the user loses, the token loses.
	pool.MustExec(`UPDATE users SET permissions = '{MANAGE_ACCESS_KEYS}' WHERE email = 'ops@acme.example'`)
	if caller = fleettest.Must[*domain.Caller](t)(store.Authenticate(ctx, grant.Token)); len(caller.Permissions) != 0 {
		t.Fatalf("still has %v", caller.Permissions)
	}
}

func TestAUserOfGroupsIsRestrictedToThem(t *testing.T) {
	t.Parallel()
	store := access.New(fleettest.NewInventory(t))
	grant := fleettest.Must[*domain.Grant](t)(store.Issue(t.Context(), fleettest.All, "van@acme.example", time.Hour))
	caller := fleettest.Must[*domain.Caller](t)(store.Authenticate(t.Context(), grant.Token))
	if !slices.Equal(caller.Scope.Groups, []int64{12}) || !slices.Equal(caller.Scope.Masked, []int64{12}) {
		t.Fatalf("got %+v", caller.Scope)
	}
}

func TestWhatEndsAToken(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, store *access.Store, key madeKey, token domain.Secret, execute func(string)){
		"the token is revoked": func(t *testing.T, store *access.Store, key madeKey, token domain.Secret, _ func(string)) {
			fatal.If(t, store.RevokeToken(t.Context(), domain.Origin{}, key.AccessKeyID, key.secret, token))
		},
		"its holder ends it": func(t *testing.T, store *access.Store, _ madeKey, token domain.Secret, _ func(string)) {
			for range 2 { // what has ended is no error
				fatal.If(t, store.EndToken(t.Context(), domain.Origin{}, token))
			}
		},
		"the key is revoked": func(t *testing.T, store *access.Store, key madeKey, _ domain.Secret, _ func(string)) {
			fleettest.Must[*domain.AccessKey](t)(store.RevokeKey(t.Context(), fleettest.All, key.AccessKeyID))
		},
		"the key expires": func(_ *testing.T, _ *access.Store, _ madeKey, _ domain.Secret, execute func(string)) {
			execute(`UPDATE access_keys SET expires_at = '2020-01-01'`)
		},
		"the token expires": func(_ *testing.T, _ *access.Store, _ madeKey, _ domain.Secret, execute func(string)) {
			execute(`UPDATE access_tokens SET expires_at = '2020-01-01'`)
		},
		"the user is disabled": func(_ *testing.T, _ *access.Store, _ madeKey, _ domain.Secret, execute func(string)) {
			execute(`UPDATE users SET disabled = true`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := fleettest.NewInventory(t)
			store := access.New(pool)
			key := newKey(t, store)
			grant := fleettest.Must[*domain.Grant](t)(store.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, key.secret, nil))
			fleettest.Must[*domain.Caller](t)(store.Authenticate(t.Context(), grant.Token))
			end(t, store, key, grant.Token, func(sql string) { pool.MustExec(sql) })
			_, err := store.Authenticate(t.Context(), grant.Token)
			fleettest.WantKind(t, err, domain.KindInvalidToken)
		})
	}
}

func TestAKeyIsExchangedOnlyWithItsSecret(t *testing.T) {
	t.Parallel()
	store := access.New(fleettest.NewInventory(t))
	key := newKey(t, store, domain.ViewSubscriber)
	other := newKey(t, store)
	for _, wrong := range []struct {
		id     string
		secret domain.Secret
	}{
		{key.AccessKeyID, other.secret},
		{key.AccessKeyID, ""},
		{strings.Replace(key.AccessKeyID, "_1_", "_2_", 1), key.secret},
		{"sgk_zzzzzzzzzzzzzzzzzzzzzzzzzzz_x", key.secret},
		{"x\x00", key.secret},
		{"sgk_1_\x00", key.secret},
		{"", key.secret},
	} {
		_, err := store.Exchange(t.Context(), domain.Origin{}, wrong.id, wrong.secret, nil)
		fleettest.WantKind(t, err, domain.KindInvalidToken)
	}
	_, err := store.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, key.secret, []domain.Permission{domain.ManageAccessKeys})
	fleettest.WantKind(t, err, domain.KindInvalid)
	fatal.If(t, store.RevokeToken(t.Context(), domain.Origin{}, other.AccessKeyID, other.secret, "sgt_1_unknown"))
}

func TestATokenOfAnotherKeyIsNotRevoked(t *testing.T) {
	t.Parallel()
	store := access.New(fleettest.NewInventory(t))
	key, other := newKey(t, store), newKey(t, store)
	grant := fleettest.Must[*domain.Grant](t)(store.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, key.secret, nil))
	fatal.If(t, store.RevokeToken(t.Context(), domain.Origin{}, other.AccessKeyID, other.secret, grant.Token))
	fleettest.Must[*domain.Caller](t)(store.Authenticate(t.Context(), grant.Token))
}

func TestKeysAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	store := access.New(fleettest.NewInventory(t))
	var want []string
	for range 5 {
		want = append([]string{newKey(t, store).AccessKeyID}, want...)
	}
	var got []string
	page := domain.Page{Limit: 2}
	for {
		slice := fleettest.Must[domain.Slice[*domain.AccessKey]](t)(store.Keys(t.Context(), fleettest.All, domain.Listing{Page: page}))
		for _, key := range slice.Items {
			got = append(got, key.AccessKeyID)
		}
		if !slice.HasNext {
			break
		}
		page.Cursor = slice.Cursor(len(slice.Items) - 1)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if rivals := fleettest.Must[domain.Slice[*domain.AccessKey]](t)(store.Keys(t.Context(), domain.Whole(fleettest.Rival), domain.Listing{Page: page})); len(rivals.Items) != 0 {
		t.Fatalf("the other company sees %v", rivals.Items)
	}
	_, err := store.RevokeKey(t.Context(), domain.Whole(fleettest.Rival), want[0])
	fleettest.WantKind(t, err, domain.KindNotFound)
}

func TestSecretsAreStoredAsHashesOnly(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	store := access.New(pool)
	key := newKey(t, store)
	grant := fleettest.Must[*domain.Grant](t)(store.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, key.secret, nil))
	for _, table := range []string{"access_keys", "access_tokens"} {
		var dump string
		fatal.If(t, pool.GetContext(t.Context(), &dump, `SELECT string_agg(row_to_json(r)::text, ' ') FROM `+table+` r`))
		if strings.Contains(dump, string(key.secret)) || strings.Contains(dump, string(grant.Token)) {
			t.Fatalf("%s holds a secret in clear", table)
		}
	}
}
