package db_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db"
	"simgraph/domain"
)

type madeKey struct {
	*domain.AccessKey
	secret domain.Secret
}

func newKey(t *testing.T, store *db.Access, scopes ...domain.Permission) madeKey {
	t.Helper()
	key, secret, err := store.CreateKey(t.Context(), all, "OPS@acme.example", scopes, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return madeKey{key, secret}
}

func TestATokenCarriesWhatKeyAndUserAgreeOn(t *testing.T) {
	t.Parallel()
	pool := newInventory(t)
	store := db.NewAccess(pool)
	ctx := t.Context()
	key := newKey(t, store)
	grant := must[*domain.Grant](t)(store.Exchange(ctx, domain.Origin{}, key.AccessKeyID, key.secret, []domain.Permission{domain.ViewSubscriber}))
	caller := must[*domain.Caller](t)(store.Authenticate(ctx, grant.Token))
	if !slices.Equal(caller.Permissions, []domain.Permission{domain.ViewSubscriber}) || caller.Scope.Restricted() ||
		caller.Company.ExternalID != "acme" || caller.Email != "ops@acme.example" {
		t.Fatalf("got %+v", caller)
	}
	// What the user loses, the token loses.
	pool.MustExec(`UPDATE users SET permissions = '{MANAGE_ACCESS_KEYS}' WHERE email = 'ops@acme.example'`)
	if caller = must[*domain.Caller](t)(store.Authenticate(ctx, grant.Token)); len(caller.Permissions) != 0 {
		t.Fatalf("still has %v", caller.Permissions)
	}
}

func TestAUserOfGroupsIsRestrictedToThem(t *testing.T) {
	t.Parallel()
	store := db.NewAccess(newInventory(t))
	grant := must[*domain.Grant](t)(store.Issue(t.Context(), all, "van@acme.example", time.Hour))
	caller := must[*domain.Caller](t)(store.Authenticate(t.Context(), grant.Token))
	if !slices.Equal(caller.Scope.Groups, []int64{12}) || !slices.Equal(caller.Scope.Masked, []int64{12}) {
		t.Fatalf("got %+v", caller.Scope)
	}
}

func TestWhatEndsAToken(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, store *db.Access, key madeKey, token domain.Secret, execute func(string)){
		"the token is revoked": func(t *testing.T, store *db.Access, key madeKey, token domain.Secret, _ func(string)) {
			if err := store.RevokeToken(t.Context(), domain.Origin{}, key.AccessKeyID, key.secret, token); err != nil {
				t.Fatal(err)
			}
		},
		"its holder ends it": func(t *testing.T, store *db.Access, _ madeKey, token domain.Secret, _ func(string)) {
			for range 2 { // what has ended is no error
				if err := store.EndToken(t.Context(), domain.Origin{}, token); err != nil {
					t.Fatal(err)
				}
			}
		},
		"the key is revoked": func(t *testing.T, store *db.Access, key madeKey, _ domain.Secret, _ func(string)) {
			must[*domain.AccessKey](t)(store.RevokeKey(t.Context(), all, key.AccessKeyID))
		},
		"the key expires": func(_ *testing.T, _ *db.Access, _ madeKey, _ domain.Secret, execute func(string)) {
			execute(`UPDATE access_keys SET expires_at = '2020-01-01'`)
		},
		"the token expires": func(_ *testing.T, _ *db.Access, _ madeKey, _ domain.Secret, execute func(string)) {
			execute(`UPDATE access_tokens SET expires_at = '2020-01-01'`)
		},
		"the user is disabled": func(_ *testing.T, _ *db.Access, _ madeKey, _ domain.Secret, execute func(string)) {
			execute(`UPDATE users SET disabled = true`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := newInventory(t)
			store := db.NewAccess(pool)
			key := newKey(t, store)
			grant := must[*domain.Grant](t)(store.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, key.secret, nil))
			must[*domain.Caller](t)(store.Authenticate(t.Context(), grant.Token))
			end(t, store, key, grant.Token, func(sql string) { pool.MustExec(sql) })
			_, err := store.Authenticate(t.Context(), grant.Token)
			wantKind(t, err, domain.KindInvalidToken)
		})
	}
}

func TestAKeyIsExchangedOnlyWithItsSecret(t *testing.T) {
	t.Parallel()
	store := db.NewAccess(newInventory(t))
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
		wantKind(t, err, domain.KindInvalidToken)
	}
	_, err := store.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, key.secret, []domain.Permission{domain.ManageAccessKeys})
	wantKind(t, err, domain.KindInvalid)
	if err := store.RevokeToken(t.Context(), domain.Origin{}, other.AccessKeyID, other.secret, "sgt_1_unknown"); err != nil {
		t.Fatal(err)
	}
}

func TestATokenOfAnotherKeyIsNotRevoked(t *testing.T) {
	t.Parallel()
	store := db.NewAccess(newInventory(t))
	key, other := newKey(t, store), newKey(t, store)
	grant := must[*domain.Grant](t)(store.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, key.secret, nil))
	if err := store.RevokeToken(t.Context(), domain.Origin{}, other.AccessKeyID, other.secret, grant.Token); err != nil {
		t.Fatal(err)
	}
	must[*domain.Caller](t)(store.Authenticate(t.Context(), grant.Token))
}

func TestKeysAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	store := db.NewAccess(newInventory(t))
	var want []string
	for range 5 {
		want = append([]string{newKey(t, store).AccessKeyID}, want...)
	}
	var got []string
	page := domain.Page{Limit: 2}
	for {
		slice := must[domain.Slice[*domain.AccessKey]](t)(store.Keys(t.Context(), all, page))
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
	if rivals := must[domain.Slice[*domain.AccessKey]](t)(store.Keys(t.Context(), domain.Whole(rival), page)); len(rivals.Items) != 0 {
		t.Fatalf("the other company sees %v", rivals.Items)
	}
	_, err := store.RevokeKey(t.Context(), domain.Whole(rival), want[0])
	wantKind(t, err, domain.KindNotFound)
}

func TestSecretsAreStoredAsHashesOnly(t *testing.T) {
	t.Parallel()
	pool := newInventory(t)
	store := db.NewAccess(pool)
	key := newKey(t, store)
	grant := must[*domain.Grant](t)(store.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, key.secret, nil))
	for _, table := range []string{"access_keys", "access_tokens"} {
		var dump string
		if err := pool.GetContext(t.Context(), &dump, `SELECT string_agg(row_to_json(r)::text, ' ') FROM `+table+` r`); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(dump, string(key.secret)) || strings.Contains(dump, string(grant.Token)) {
			t.Fatalf("%s holds a secret in clear", table)
		}
	}
}
