package audit_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/fleettest"
	"simgraph/db/group"
	"simgraph/domain"
	"simgraph/domain/retention"
	"simgraph/internal/fatal"
)

// newAgedLog returns a log of acme whose first entries are three years old.
func newAgedLog(t *testing.T, old, young int) (*sqlx.DB, *audit.Log) {
	t.Helper()
	pool := fleettest.NewInventory(t)
	log, groups := audit.NewLog(pool), group.New(pool)
	head := fleettest.Must[domain.AuditMark](t)(log.Head(t.Context(), fleettest.All))
	for n := range old + young - int(head.Sequence) {
		fleettest.Must[*domain.Group](t)(groups.Rename(t.Context(), fleettest.All.By(auditor), 12, fmt.Sprint("n", n)))
	}
	age(t, pool, log, old)
	return pool, log
}

// age sets the first entries back by three years, and writes the chain anew.
func age(t *testing.T, pool *sqlx.DB, log *audit.Log, old int) {
	t.Helper()
	entries := fleettest.AuditOf(t, log, fleettest.Acme)
	var before [32]byte
	for i, e := range entries {
		if i < old {
			e.At = e.At.AddDate(-3, 0, 0)
		}
		before = e.Sum(fleettest.Acme, before)
		pool.MustExec(`UPDATE audit_log SET at = $3, hash = $4 WHERE company_id = $1 AND sequence = $2`, fleettest.Acme, e.Sequence, e.At, before[:])
	}
	pool.MustExec(`UPDATE audit_heads SET hash = $2 WHERE company_id = $1`, fleettest.Acme, before[:])
}

func yearAgo(t *testing.T) retention.Expired {
	t.Helper()
	moment, expires := retention.InForce{Kind: retention.Of(retention.Audit), Kept: 12}.Expired(time.Now())
	if !expires {
		t.Fatal("the audit log is kept for ever")
	}
	return moment
}

func TestAPrunedAuditLogStillVerifies(t *testing.T) {
	t.Parallel()
	pool, log := newAgedLog(t, 30, 12)
	whole := fleettest.AuditOf(t, log, fleettest.Acme)
	end := fleettest.Must[domain.AuditMark](t)(fleettest.Verified(t.Context(), log, fleettest.Acme))
	if n := fleettest.Must[int](t)(log.Prune(t.Context(), yearAgo(t), auditor)); n != 30 {
		t.Fatalf("%d entries are removed", n)
	}
	left := fleettest.AuditOf(t, log, fleettest.Acme)
	if len(left) != len(whole)-30+1 || left[0].Sequence != 31 {
		t.Fatalf("%d are left from %d on", len(left), left[0].Sequence)
	}
	pruned := left[len(left)-1]
	if pruned.Action != domain.AuditPrune || pruned.SubjectID != "30" || pruned.Name != auditor.Name || fleettest.Text(pruned.Changes[0].Before) != "30" || fleettest.Text(pruned.Changes[1].Before) != whole[29].Hash {
		t.Errorf("the entry is %+v", pruned)
	}
	for _, mark := range []domain.AuditMark{end, {Sequence: 30, Hash: whole[29].Hash}, {Sequence: 35, Hash: whole[34].Hash}} {
		if _, err := log.Verify(t.Context(), fleettest.All, mark); err != nil {
			t.Errorf("%v: %v", mark, err)
		}
	}
	for mark, want := range map[domain.AuditMark]string{
		{Sequence: 29, Hash: whole[28].Hash}: "entry 29 was pruned",
		{Sequence: 30, Hash: whole[28].Hash}: "not the one that was noted",
		{Sequence: 35, Hash: whole[28].Hash}: "not the one that was noted",
	} {
		if _, err := log.Verify(t.Context(), fleettest.All, mark); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", mark, err)
		}
	}
	if n := fleettest.Must[int](t)(log.Prune(t.Context(), yearAgo(t), auditor)); n != 0 {
		t.Errorf("%d more are removed", n)
	}
	var granted int
	if err := pool.Get(&granted, `SELECT count(*) FROM pg_class c, aclexplode(c.relacl) AS a WHERE c.oid = 'audit_log'::regclass AND a.privilege_type = 'DELETE'`); err != nil || granted > 0 {
		t.Errorf("entries may be deleted still: %v", err)
	}
}

// However few entries are read and removed at once, all that expired go and none that did
// not, each part with an entry of its own, and what is left is read whole and verifies.
func TestALongLogIsReadAndPrunedInParts(t *testing.T) {
	t.Parallel()
	for _, atOnce := range []int{1, 3, 5, 10, 11} {
		t.Run(fmt.Sprint(atOnce, " at once"), func(t *testing.T) {
			t.Parallel()
			_, log := newAgedLog(t, 10, 5)
			log.Bound(atOnce, atOnce)
			if read := len(fleettest.AuditOf(t, log, fleettest.Acme)); read != 15 {
				t.Fatalf("%d entries are read", read)
			}
			if n := fleettest.Must[int](t)(log.Prune(t.Context(), yearAgo(t), auditor)); n != 10 {
				t.Errorf("%d entries are removed", n)
			}
			left, parts := fleettest.AuditOf(t, log, fleettest.Acme), 0
			for i, e := range left {
				if e.Sequence != int64(11+i) {
					t.Errorf("entry %d is left at place %d", e.Sequence, i)
				}
				if e.Action == domain.AuditPrune {
					parts++
				}
			}
			if want := (10 + atOnce - 1) / atOnce; parts != want || len(left) != 5+want {
				t.Errorf("%d entries are left, %d of them of pruning, want %d", len(left), parts, want)
			}
			if _, err := fleettest.Verified(t.Context(), log, fleettest.Acme); err != nil {
				t.Error(err)
			}
		})
	}
}

// Whoever removes entries by hand, even with an anchor, is found out.
func TestWhatWasNotPrunedByTheServiceIsMissing(t *testing.T) {
	t.Parallel()
	pool, log := newAgedLog(t, 10, 12)
	fleettest.Must[int](t)(log.Prune(t.Context(), yearAgo(t), auditor))
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
			tx.MustExec(sql, fleettest.Acme)
		}
		if _, err := audit.VerifyIn(t.Context(), tx, fleettest.All); err == nil {
			t.Errorf("the log verifies without %s", name)
		}
		fatal.If(t, tx.Rollback())
	}
}

// Instances prune at the same time, while entries are written and verified.
func TestPruningIsDoneOnce(t *testing.T) {
	t.Parallel()
	pool, log := newAgedLog(t, 40, 12)
	groups := group.New(pool)
	var together sync.WaitGroup
	removed := make([]int, 4)
	for n := range removed {
		together.Go(func() {
			var err error
			if removed[n], err = log.Prune(t.Context(), yearAgo(t), nil); err != nil {
				t.Error(err)
			}
		})
		together.Go(func() {
			for i := range 10 {
				if _, err := groups.Rename(t.Context(), fleettest.All, 12, fmt.Sprint(n, i)); err != nil {
					t.Error(err)
				}
				if _, err := log.Verify(t.Context(), fleettest.All); err != nil {
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
