package db_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db"
	"simgraph/db/companies"
	"simgraph/db/dbtest"
	"simgraph/domain"
)

// oneNodeAway stands for three nodes, of which that of the companies from 100 on
// fails.
const oneNodeAway = `
CREATE OR REPLACE FUNCTION simgraph_nodes() RETURNS TABLE (node integer, companies bigint[]) LANGUAGE sql AS $$
  VALUES (1, '{1,3}'::bigint[]), (2, '{100,101}'), (3, '{2}')
$$;
CREATE FUNCTION away(company bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  IF company >= 100 THEN RAISE 'SSL SYSCALL error: EOF detected' USING ERRCODE = 'XX000'; END IF;
  RETURN company;
END $$;
ALTER TABLE mails RENAME TO whole;
CREATE VIEW mails AS SELECT * FROM whole WHERE away(company_id) = company_id`

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
	outbox := db.NewOutbox(pool, func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) })
	pending, err := outbox.Pending(t.Context(), domain.Digest{Wait: time.Minute})
	slices.Sort(pending)
	if !slices.Equal(pending, []domain.CompanyID{1, 2}) || !isUnavailable(err) {
		t.Errorf("mail waits in %v, %v", pending, err)
	}
	pruned, err := outbox.Prune(t.Context(), time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
	if pruned != 2 || !isUnavailable(err) {
		t.Errorf("%d mails are pruned, %v", pruned, err)
	}
}

func TestTheBacklogOfTheNodesThatAnswerIsPartial(t *testing.T) {
	t.Parallel()
	read, err := db.NewBacklog(newOneNodeAway(t)).Read(t.Context())
	if read.Mails != 2 || !read.Partial || !isUnavailable(err) {
		t.Errorf("%+v, %v", read, err)
	}
}
