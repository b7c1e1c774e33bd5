package imported_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/fleettest"
	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

var verdicts = map[string]string{"p1\x1fa": "created", "p2": "updated", "p3": "unchanged", "p5": "moved", "p4": "moved", "p6": "no such group"}

func TestVerdictsAreReadFromAStatement(t *testing.T) {
	t.Parallel()
	pool, got := fleettest.NewInventory(t), map[string]string{"p0": "created"}
	fatal.If(t, imported.Judge(t.Context(), pool, got, `VALUES ('p1', 'updated'), ('p2', $1)`, "unchanged"))
	if !maps.Equal(got, map[string]string{"p0": "created", "p1": "updated", "p2": "unchanged"}) {
		t.Errorf("got %v", got)
	}
	if err := imported.Judge(t.Context(), pool, got, `SELECT 'p1', (1 / (n - 2))::text FROM generate_series(1, 2) n`); err == nil {
		t.Error("a statement that fails in a later row succeeds")
	}
}

func TestVerdictsAreCountedAndAnswered(t *testing.T) {
	t.Parallel()
	if got := imported.Moved(verdicts); !slices.Equal(got, []string{"p4", "p5"}) {
		t.Errorf("moved are %v", got)
	}
	if got := slices.Sorted(slices.Values(imported.Changed(verdicts))); !slices.Equal(got, []string{"p1", "p2", "p4", "p5"}) {
		t.Errorf("changed are %v", got)
	}
	refuse := func(item, verdict string) *domain.Error { return domain.Invalid(item, "%s", verdict) }
	answers := imported.Answer([]string{"p6", "p2", "p9", "p1\x1fa", "p4", "p3"}, verdicts, func(item string) string { return item }, refuse)
	for i, want := range []domain.Imported{{Err: refuse("p6", "no such group")}, {Outcome: domain.Updated}, {Err: refuse("p9", "")}, {Outcome: domain.Created}, {Outcome: domain.Updated}, {Outcome: domain.Unchanged}} {
		if got := answers[i]; got.Outcome != want.Outcome || (got.Err == nil) != (want.Err == nil) || want.Err != nil && got.Err.Error() != want.Err.Error() {
			t.Errorf("%d: %+v, want %+v", i, got, want)
		}
	}
	if got := imported.TallyAnswers(answers); !maps.Equal(got, map[domain.Outcome]int{0: 2, domain.Created: 1, domain.Updated: 2, domain.Unchanged: 1}) {
		t.Errorf("counted are %v", got)
	}
	others := map[string]string{"p2": "updated", "p3": "no such group"}
	if got := imported.Tally(verdicts, others); !maps.Equal(got, map[domain.Outcome]int{0: 1, domain.Created: 1, domain.Updated: 2, domain.Unchanged: 1}) {
		t.Errorf("counted are %v", got)
	}
	fleettest.WantKind(t, imported.Unexpected("p1", ""), domain.KindInvalid)
}

// The items of a batch are kept together, anew after a conflict, and are counted in the audit log once.
func TestABatchIsKeptAsAWhole(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	names := func() (all []string) {
		fatal.If(t, pool.Select(&all, `SELECT name FROM groups WHERE company_id = 1 AND group_id > 100 ORDER BY group_id`))
		return all
	}
	keep := func(fail func(i int) error) ([]domain.Imported, error) {
		return imported.Keep(t.Context(), pool, fleettest.All, "groups", 3, func(tx *sqlx.Tx, i int) (domain.Imported, error) {
			if _, err := tx.Exec(`INSERT INTO groups VALUES (1, $1, $2, false)`, 101+i, fmt.Sprint("Group ", 101+i)); err != nil {
				return domain.Imported{}, err
			}
			return domain.Imported{Outcome: domain.Created}, fail(i)
		})
	}
	failed := errors.New("refused")
	_, err := keep(func(i int) error {
		if i == 2 {
			return failed
		}
		return nil
	})
	if !errors.Is(err, failed) || len(names()) != 0 {
		t.Fatalf("%v, and %q are kept", err, names())
	}
	conflicts := 0
	answers, err := keep(func(i int) error {
		if i == 1 && conflicts == 0 {
			conflicts++
			return conflict(t, pool)
		}
		return nil
	})
	fatal.If(t, err)
	if got := names(); conflicts != 1 || len(answers) != 3 || answers[2].Outcome != domain.Created || !slices.Equal(got, []string{"Group 101", "Group 102", "Group 103"}) {
		t.Fatalf("%+v: %q", answers, got)
	}
	if log := fleettest.AuditOf(t, audit.NewLog(pool), fleettest.Acme); len(log) != 1 {
		t.Errorf("the audit log has %d entries", len(log))
	}
}

// conflict is the error of a transaction that PostgreSQL ends because of another one.
func conflict(t *testing.T, pool *sqlx.DB) error {
	t.Helper()
	_, err := pool.Exec(`DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = 'serialization_failure'; END $$`)
	if err == nil {
		t.Fatal("there is no conflict")
	}
	return err
}

func TestTheOwnerOfWhatABundleBrings(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	fatal.If(t, pg.InTx(t.Context(), pool, func(tx *sqlx.Tx) error {
		for email, want := range map[string]int64{"ops@acme.example": 1, "ops@rival.example": 0, "nobody@acme.example": 0} {
			owner, err := imported.Owner(t.Context(), tx, fleettest.All, email)
			fatal.If(t, err)
			if owner != want {
				t.Errorf("%s is the user %d, not %d", email, owner, want)
			}
		}
		return nil
	}))
}
