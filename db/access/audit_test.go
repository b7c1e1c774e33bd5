package access_test

import (
	"strings"
	"testing"

	"simgraph/db/access"
	"simgraph/db/audit"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestEveryUseOfAKeyIsAudited(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	log, store := audit.NewLog(pool), access.New(pool)
	start := len(fleettest.AuditOf(t, log, fleettest.Acme))
	key := newKey(t, store)
	from := domain.Origin{Door: "oauth", Address: "198.51.100.7", RequestID: "r-2"}
	grant := fleettest.Must[*domain.Grant](t)(store.Exchange(t.Context(), from, key.AccessKeyID, key.secret, nil))
	fatal.If(t, store.RevokeToken(t.Context(), from, key.AccessKeyID, key.secret, grant.Token))
	fleettest.Must[*domain.AccessKey](t)(store.RevokeKey(t.Context(), fleettest.All, key.AccessKeyID))
	if _, err := store.Exchange(t.Context(), from, key.AccessKeyID, key.secret, nil); err == nil {
		t.Fatal("a revoked key works")
	}
	var got []string
	for _, e := range fleettest.AuditOf(t, log, fleettest.Acme)[start:] {
		got = append(got, e.Action+" "+e.Address)
		if e.Action == domain.AuditKeyExchange && (e.Name != "ops@acme.example" || e.AccessKeyID != key.AccessKeyID) {
			t.Errorf("%+v", e)
		}
		for _, c := range e.Changes {
			if strings.Contains(fleettest.Text(c.After), string(key.secret)) || strings.Contains(fleettest.Text(c.After), string(grant.Token)) {
				t.Error("the log holds a secret")
			}
		}
	}
	want := "accessKey.create , accessKey.exchange 198.51.100.7, token.revoke 198.51.100.7, accessKey.revoke "
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s", got)
	}
}
