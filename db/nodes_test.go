package db_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/backlog"
	"simgraph/db/companies"
	"simgraph/db/dbtest"
	"simgraph/db/feed"
	"simgraph/db/fleettest"
	"simgraph/db/mail"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/domain/retention"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
)

// oneNodeAway stands for three nodes, of which that of the companies from 100 on
// fails.
const oneNodeAway = `
CREATE OR REPLACE FUNCTION simgraph_nodes() RETURNS TABLE (node integer, companies bigint[]) LANGUAGE sql AS $$
  VALUES (1, '{1,3}'::bigint[]), (2, '{100,101}'), (3, '{2}')
$$;
CREATE TABLE nodes_away AS SELECT true AS is_away;
CREATE FUNCTION away(company bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  IF company >= 100 AND (SELECT is_away FROM nodes_away) THEN RAISE 'SSL SYSCALL error: EOF detected' USING ERRCODE = 'XX000'; END IF;
  RETURN company;
END $$;
DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY '{mails,usage_sources,radius_clients}'::text[] LOOP
    EXECUTE format('ALTER TABLE %I RENAME TO %I', name, 'whole_' || name);
    EXECUTE format('CREATE VIEW %I AS SELECT * FROM %I WHERE away(company_id) = company_id', name, 'whole_' || name);
  END LOOP;
END $$`

func newOneNodeAway(t *testing.T) *sqlx.DB {
	t.Helper()
	dbtest.WithoutCitus(t, "nodes that are made up")
	pool := dbtest.New(t)
	pool.MustExec(`
INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, state, due_at, created_at)
SELECT c, gen_random_uuid(), 1, 'a@b.example', 'alerts', s, '2026-11-20', '2026-11-20'
FROM unnest('{1,2,101}'::bigint[]) AS c, unnest('{sent,queued}'::text[]) AS s`)
	pool.MustExec(oneNodeAway)
	return pool
}

func isUnavailable(err error) bool {
	fault, is := domain.AsError(err)
	return is && fault.Kind == domain.KindUnavailable
}

func TestOneServerIsAskedForAllCompaniesAtOnce(t *testing.T) {
	dbtest.WithoutCitus(t, "a database of one server")
	t.Parallel()
	asked := 0
	err := companies.EachNode(t.Context(), dbtest.New(t), func(of pq.Int64Array) error {
		asked++
		if of != nil {
			t.Errorf("asked for %v", of)
		}
		return nil
	})
	if err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

func TestANodeThatFailsDoesNotStopTheWorkOfOthers(t *testing.T) {
	t.Parallel()
	pool := newOneNodeAway(t)
	outbox := mail.NewOutbox(pool, func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) })
	pending, err := outbox.Pending(t.Context(), domain.Digest{Wait: time.Minute})
	slices.Sort(pending)
	if !slices.Equal(pending, []domain.CompanyID{1, 2}) || !isUnavailable(err) {
		t.Errorf("mail waits in %v, %v", pending, err)
	}
	pruned, err := outbox.Prune(t.Context(), fleettest.Expired(t, retention.Mails, 1, time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)))
	if pruned != 2 || !isUnavailable(err) {
		t.Errorf("%d mails are pruned, %v", pruned, err)
	}
}

func TestTheNewestUsageIsThatOfTheNodesThatAnswer(t *testing.T) {
	t.Parallel()
	pool := newOneNodeAway(t)
	ledger := usage.NewLedger(pool, usage.LedgerOptions{})
	pool.MustExec(`INSERT INTO whole_usage_sources VALUES (101, 'a', '2026-11-04')`)
	if _, err := ledger.Status(t.Context()); !isUnavailable(err) {
		t.Errorf("where no other node has usage, the status is known: %v", err)
	}
	pool.MustExec(`INSERT INTO whole_usage_sources VALUES (2, 'a', '2026-11-02'), (3, 'a', '2026-11-03')`)
	status, err := ledger.Status(t.Context())
	if err != nil || !status.Newest.Equal(time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v, %v", status, err)
	}
}

func TestRADIUSClientsOfANodeThatFailsStayAsTheyWere(t *testing.T) {
	t.Parallel()
	pool := newOneNodeAway(t)
	pool.MustExec(`INSERT INTO companies (company_id, external_id, name) VALUES (1, 'one', 'One'), (101, 'two', 'Two')`)
	clients := feed.NewClients(pool, make(seal.Key, seal.KeySize))
	create := func(company domain.CompanyID, name string) {
		t.Helper()
		client := domain.RADIUSClient{Name: name, Network: netip.MustParsePrefix("10.0.0.0/8"), Secret: []byte("a secret of some length")}
		fatal.If(t, clients.Create(t.Context(), domain.Whole(company), client))
	}
	expect := func(away bool, want ...string) {
		t.Helper()
		all, err := clients.All(t.Context())
		names := pg.Pluck(all, func(c *domain.RADIUSClient) string { return c.Name })
		if slices.Sort(names); !slices.Equal(names, want) || isUnavailable(err) != away {
			t.Errorf("the clients are %v, %v", names, err)
		}
	}
	goAway := func(away string) {
		pool.MustExec(`UPDATE nodes_away SET is_away = ` + away)
	}
	goAway("false")
	create(1, "a")
	create(101, "b")
	expect(false, "a", "b")
	goAway("true")
	create(1, "c")
	expect(true, "a", "b", "c")
}

func TestTheBacklogOfTheNodesThatAnswerIsPartial(t *testing.T) {
	t.Parallel()
	read, err := backlog.New(newOneNodeAway(t)).Read(t.Context())
	if read.Mails != 2 || !read.Partial || !isUnavailable(err) {
		t.Errorf("%+v, %v", read, err)
	}
}

// A database that is not distributed stays so while it is served.
func TestThatThereIsOneServerIsAskedOnce(t *testing.T) {
	dbtest.WithoutCitus(t, "a database of one server")
	t.Parallel()
	pool := dbtest.New(t)
	all := func(pq.Int64Array) error { return nil }
	fatal.If(t, companies.EachNode(t.Context(), pool, all))
	pool.MustExec(`DROP FUNCTION simgraph_nodes`)
	if err := companies.EachNode(t.Context(), pool, all); err != nil {
		t.Error(err)
	}
}
