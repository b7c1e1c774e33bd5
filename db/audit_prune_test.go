package db_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/audit"
	"simgraph/domain"
)

// newAgedLog returns a log of acme whose first entries are three years old.
func newAgedLog(t *testing.T, old, young int) (*sqlx.DB, *audit.Log) {
	t.Helper()
	pool := newInventory(t)
	log, groups := audit.NewLog(pool), db.NewGroups(pool)
	head := must[domain.AuditMark](t)(log.Head(t.Context(), all))
	for n := range old + young - int(head.Sequence) {
		must[*domain.Group](t)(groups.Rename(t.Context(), all.By(auditor), 12, fmt.Sprint("n", n)))
	}
	age(t, pool, log, old)
	return pool, log
}

// age sets the first entries back by three years, and writes the chain anew.
func age(t *testing.T, pool *sqlx.DB, log *audit.Log, old int) {
	t.Helper()
	entries := auditOf(t, log, acme)
	var before [32]byte
	for i, e := range entries {
		if i < old {
			e.At = e.At.AddDate(-3, 0, 0)
		}
		before = e.Sum(acme, before)
		pool.MustExec(`UPDATE audit_log SET at = $3, hash = $4 WHERE company_id = $1 AND sequence = $2`, acme, e.Sequence, e.At, before[:])
	}
	pool.MustExec(`UPDATE audit_heads SET hash = $2 WHERE company_id = $1`, acme, before[:])
}

func yearAgo() time.Time { return time.Now().AddDate(-1, 0, 0) }

func TestAPrunedAuditLogStillVerifies(t *testing.T) {
	t.Parallel()
	pool, log := newAgedLog(t, 30, 12)
	whole := auditOf(t, log, acme)
	end := must[domain.AuditMark](t)(verified(t.Context(), log, acme))
	if n := must[int](t)(log.Prune(t.Context(), yearAgo(), auditor)); n != 30 {
		t.Fatalf("%d entries are removed", n)
	}
	left := auditOf(t, log, acme)
	if len(left) != len(whole)-30+1 || left[0].Sequence != 31 {
		t.Fatalf("%d are left from %d on", len(left), left[0].Sequence)
	}
	pruned := left[len(left)-1]
	if pruned.Action != domain.AuditPrune || pruned.SubjectID != "30" || pruned.Name != auditor.Name || text(pruned.Changes[0].Before) != "30" || text(pruned.Changes[1].Before) != whole[29].Hash {
		t.Errorf("the entry is %+v", pruned)
	}
	for _, mark := range []domain.AuditMark{end, {Sequence: 30, Hash: whole[29].Hash}, {Sequence: 35, Hash: whole[34].Hash}} {
		if _, err := log.Verify(t.Context(), all, mark); err != nil {
			t.Errorf("%v: %v", mark, err)
		}
	}
	for mark, want := range map[domain.AuditMark]string{
		{Sequence: 29, Hash: whole[28].Hash}: "entry 29 was pruned",
		{Sequence: 30, Hash: whole[28].Hash}: "not the one that was noted",
		{Sequence: 35, Hash: whole[28].Hash}: "not the one that was noted",
	} {
		if _, err := log.Verify(t.Context(), all, mark); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", mark, err)
		}
	}
	if n := must[int](t)(log.Prune(t.Context(), yearAgo(), auditor)); n != 0 {
		t.Errorf("%d more are removed", n)
	}
	var granted int
	if err := pool.Get(&granted, `SELECT count(*) FROM pg_class c, aclexplode(c.relacl) AS a WHERE c.oid = 'audit_log'::regclass AND a.privilege_type = 'DELETE'`); err != nil || granted > 0 {
		t.Errorf("entries may be deleted still: %v", err)
	}
}

// Whoever removes entries by hand, even with an anchor, is found out.
func TestWhatWasNotPrunedByTheServiceIsMissing(t *testing.T) {
	t.Parallel()
	pool, log := newAgedLog(t, 10, 12)
	must[int](t)(log.Prune(t.Context(), yearAgo(), auditor))
	for name, tamper := range map[string][]string{
		"the first that is left": {`DELETE FROM audit_log WHERE company_id = $1 AND sequence = 11`},
		"the anchor":             {`DELETE FROM audit_anchors WHERE company_id = $1`},
		"the anchor's hash":      {`UPDATE audit_anchors SET hash = sha256('x') WHERE company_id = $1`},
		"that it was pruned":     {`DELETE FROM audit_log WHERE company_id = $1 AND action = 'audit.prune'`},
		"more, with another anchor": {
			`UPDATE audit_anchors a SET sequence = l.sequence, hash = l.hash FROM audit_log l WHERE a.company_id = $1 AND l.company_id = $1 AND l.sequence = 13`,
			`DELETE FROM audit_log WHERE company_id = $1 AND sequence <= 13`,
		},
	} {
		tx := pool.MustBegin()
		for _, sql := range tamper {
			tx.MustExec(sql, acme)
		}
		if _, err := audit.VerifyIn(t.Context(), tx, all); err == nil {
			t.Errorf("the log verifies without %s", name)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

// Instances prune at the same time, while entries are written and verified.
func TestPruningIsDoneOnce(t *testing.T) {
	t.Parallel()
	pool, log := newAgedLog(t, 40, 12)
	groups := db.NewGroups(pool)
	var together sync.WaitGroup
	removed := make([]int, 4)
	for n := range removed {
		together.Go(func() {
			var err error
			if removed[n], err = log.Prune(t.Context(), yearAgo(), nil); err != nil {
				t.Error(err)
			}
		})
		together.Go(func() {
			for i := range 10 {
				if _, err := groups.Rename(t.Context(), all, 12, fmt.Sprint(n, i)); err != nil {
					t.Error(err)
				}
				if _, err := log.Verify(t.Context(), all); err != nil {
					t.Error(err)
				}
			}
		})
	}
	together.Wait()
	sum := 0
	for _, n := range removed {
		sum += n
	}
	if sum != 40 {
		t.Errorf("%v are removed", removed)
	}
}
