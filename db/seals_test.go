package db_test

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/access"
	"simgraph/db/feed"
	"simgraph/db/fleettest"
	"simgraph/db/signin"
	"simgraph/db/source"
	"simgraph/db/upstream"
	"simgraph/db/webhook"
	"simgraph/domain"
	logins "simgraph/domain/signin"
	sources "simgraph/domain/source"
	upstreams "simgraph/domain/upstream"
	webhooks "simgraph/domain/webhook"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
)

// unsealed are the columns of bytes that hold no secret that is opened, and why.
var unsealed = map[string]string{
	"access_keys.secret_hash": "a hash",
	"audit_anchors.hash":      "a hash",
	"audit_heads.hash":        "a hash",
	"audit_log.hash":          "a hash",
	"mail_keys.secret":        "signs the links of mails, and is kept as it is",
	"web_sessions.token_hash": "a hash",
}

// sealed is a column of secrets, of which each row has its own.
type sealed struct {
	// id is the column beside the company that names a row.
	id string
	// create makes a row of the name in the company.
	create func(ctx context.Context, scope domain.Scope, name string) error
	// opened returns how many secrets open.
	opened func(ctx context.Context) (int, error)
}

// sealedColumns are those of the database; previous secrets are opened as the present ones.
func sealedColumns(pool *sqlx.DB) map[string]sealed {
	key := seal.Key(strings.Repeat("k", seal.KeySize))
	keyOf := func() (seal.Key, error) { return key, nil }
	hooks := webhook.New(pool, webhook.Options{Key: keyOf, Now: time.Now})
	clients := feed.NewClients(pool, key)
	records := source.New(pool, source.Options{Key: keyOf, Ready: []*sources.Profile{{Name: "ready"}}, Now: time.Now})
	mirrors := upstream.New(pool, upstream.Options{Key: keyOf, Now: time.Now})
	sessions := signin.New(pool, access.New(pool), signin.Options{Idle: time.Hour, Most: time.Hour, Key: key})
	return map[string]sealed{
		"webhooks.secret": {
			id: "webhook_id",
			create: func(ctx context.Context, scope domain.Scope, name string) error {
				_, _, err := hooks.Create(ctx, scope, webhooks.Spec{Name: name, URL: "https://example.com/hook", Format: webhooks.CloudEvents, Filter: webhooks.Filter{EventTypes: []webhooks.EventType{webhooks.AlertFired}}})
				return err
			},
			opened: func(ctx context.Context) (int, error) { return less(hooks.Sealed(ctx, 100)) },
		},
		"radius_clients.secret": {
			id: "name",
			create: func(ctx context.Context, scope domain.Scope, name string) error {
				network := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(scope.Company), name[0], 0}), 24)
				return clients.Create(ctx, scope, domain.RADIUSClient{Name: name, Network: network, Secret: []byte("a long secret")})
			},
			opened: func(ctx context.Context) (int, error) { return less(clients.Sealed(ctx)) },
		},
		"sources.secret": {
			id: "source_id",
			create: func(ctx context.Context, scope domain.Scope, name string) error {
				_, _, err := records.Create(ctx, scope, sources.Spec{Name: name, Profile: "ready", Authentication: sources.Basic})
				return err
			},
			opened: func(ctx context.Context) (n int, err error) {
				var ids []string
				err = pool.SelectContext(ctx, &ids, `SELECT source_id FROM sources`)
				for _, id := range ids {
					if _, refused := records.Open(ctx, id); refused == nil {
						n++
					}
				}
				return n, err
			},
		},
		"upstreams.key": {
			id: "upstream_id",
			create: func(ctx context.Context, scope domain.Scope, name string) error {
				_, err := mirrors.Create(ctx, scope, upstreams.Spec{Name: name, BaseURL: "https://" + name + ".example", Labels: upstreams.Ours, Days: 60, Currency: "GBP"},
					upstreams.Key{ID: "sgk_1", Secret: "hunter2"})
				return err
			},
			opened: func(ctx context.Context) (n int, err error) {
				if _, err = pool.ExecContext(ctx, `UPDATE upstreams SET claimed_until = NULL, due_at = now()`); err != nil {
					return 0, err
				}
				due, err := mirrors.Due(ctx)
				for _, of := range due {
					if job, refused := mirrors.Claim(ctx, of, time.Minute); refused == nil && job != nil {
						n++
					}
				}
				return n, err
			},
		},
		"web_sessions.refresh_token": {
			id: "session_hash",
			create: func(ctx context.Context, scope domain.Scope, name string) error {
				email, err := domain.ParseEmail("email", name+"@new.example")
				if err != nil {
					return err
				}
				_, err = sessions.ByProvider(ctx, domain.Origin{}, &logins.Login{
					Identity: logins.Identity{Issuer: "https://login.example", Subject: name}, Provider: "acme", Email: email, Create: true,
					State: domain.Secret(name), Rights: logins.Rights{Company: map[domain.CompanyID]string{fleettest.Acme: "acme", fleettest.Rival: "rival"}[scope.Company]},
					RefreshToken: "refresh", CheckAt: time.Now(),
				})
				return err
			},
			opened: func(ctx context.Context) (n int, err error) {
				if _, err = pool.ExecContext(ctx, `UPDATE web_sessions SET check_at = now()`); err != nil {
					return 0, err
				}
				due, err := sessions.Due(ctx)
				for _, check := range due {
					if check.RefreshToken != "" {
						n++
					}
				}
				return n, err
			},
		},
	}
}

// less is how many are not among those that did not open.
func less(all int, unopened []string, err error) (int, error) { return all - len(unopened), err }

// A secret opens in its own row alone: not in that of another thing of the company, nor in
// that of the same name or number in another company.
func TestASecretOpensInItsOwnRowAlone(t *testing.T) {
	t.Parallel()
	for column := range sealedColumns(nil) {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			ctx, pool := t.Context(), fleettest.NewInventory(t)
			of := sealedColumns(pool)[column]
			for _, scope := range []domain.Scope{fleettest.All, domain.Whole(fleettest.Rival)} {
				for _, name := range []string{"a", "b"} {
					fatal.If(t, of.create(ctx, scope, name))
				}
			}
			opened := func() int { return fleettest.Must[int](t)(of.opened(ctx)) }
			if n := opened(); n != 4 {
				t.Fatalf("%d of 4 open", n)
			}
			table, name, _ := strings.Cut(column, ".")
			var rows []struct {
				CompanyID domain.CompanyID
				ID        any
				Secret    []byte
			}
			fatal.If(t, pool.Select(&rows, fmt.Sprintf(`SELECT company_id, %[1]s AS id, %[2]s AS secret FROM %[3]s ORDER BY company_id, %[1]s`, of.id, name, table)))
			for away := 1; away < len(rows); away++ {
				for i, row := range rows {
					pool.MustExec(fmt.Sprintf(`UPDATE %s SET %s = $3 WHERE company_id = $1 AND %s = $2`, table, name, of.id), row.CompanyID, row.ID, rows[(i+away)%len(rows)].Secret)
				}
				if n := opened(); n != 0 {
					t.Errorf("%d open in a row %d rows away", n, away)
				}
			}
		})
	}
}

// Each column of bytes is known to hold secrets that are sealed, or none.
func TestEachColumnOfBytesIsSealedOrHoldsNoSecret(t *testing.T) {
	t.Parallel()
	var columns []string
	fatal.If(t, fleettest.NewInventory(t).Select(&columns, `
SELECT c.relname || '.' || a.attname
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
WHERE a.atttypid = 'bytea'::regtype AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
  AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY(i.indkey))
  AND a.attname NOT LIKE 'previous\_%'
ORDER BY 1`))
	known := slices.Sorted(maps.Keys(unsealed))
	known = append(known, slices.Collect(maps.Keys(sealedColumns(nil)))...)
	slices.Sort(known)
	if !slices.Equal(columns, known) {
		t.Errorf("got  %q\nwant %q", columns, known)
	}
}
