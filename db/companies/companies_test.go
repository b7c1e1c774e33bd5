package companies_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/companies"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestACompanyIsFoundByItsNumberAndByItsName(t *testing.T) {
	t.Parallel()
	store := companies.New(fleettest.NewInventory(t))
	for external, number := range map[string]domain.CompanyID{"acme": fleettest.Acme, "rival": fleettest.Rival} {
		found, err := store.FindExternal(t.Context(), external)
		fatal.If(t, err)
		same, err := store.Find(t.Context(), domain.Whole(number))
		fatal.If(t, err)
		if found.CompanyID != number || found.ExternalID != external || *same != *found {
			t.Errorf("%s: %+v and %+v", external, found, same)
		}
	}
	_, err := store.FindExternal(t.Context(), "Acme")
	fleettest.WantKind(t, err, domain.KindNotFound)
	_, err = store.Find(t.Context(), domain.Whole(9))
	fleettest.WantKind(t, err, domain.KindNotFound)
	all, err := store.List(t.Context())
	fatal.If(t, err)
	if len(all) != 2 || all[0].ExternalID != "acme" || all[1].ExternalID != "rival" {
		t.Errorf("got %+v", all)
	}
}

// A transaction that changes a company waits for another one of it, and not for one of another company.
func TestOneTransactionAtATimeChangesACompany(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	free := func(company domain.CompanyID) (is bool) {
		fatal.If(t, pool.Get(&is, `SELECT EXISTS (SELECT 1 FROM companies WHERE company_id = $1 FOR NO KEY UPDATE SKIP LOCKED)`, company))
		return is
	}
	failed := errors.New("refused")
	err := companies.InTx(t.Context(), pool, fleettest.Acme, func(tx *sqlx.Tx) error {
		tx.MustExec(`UPDATE groups SET name = 'Ships' WHERE company_id = 1`)
		if free(fleettest.Acme) || !free(fleettest.Rival) {
			t.Error("another company is locked, or this one is not")
		}
		return failed
	})
	var ships int
	fatal.If(t, pool.Get(&ships, `SELECT count(*) FROM groups WHERE name = 'Ships'`))
	if !errors.Is(err, failed) || ships != 0 || !free(fleettest.Acme) {
		t.Errorf("%v, and %d groups are changed", err, ships)
	}
	called := false
	err = companies.InTx(t.Context(), pool, 9, func(*sqlx.Tx) error { called = true; return nil })
	fleettest.WantKind(t, err, domain.KindNotFound)
	if called {
		t.Error("a company that is none was changed")
	}
}

func TestWhatFailsForOneCompanyIsDoneForTheOthers(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	const all = `SELECT company_id FROM companies WHERE ($1::bigint[] IS NULL OR company_id = ANY($1)) AND company_id > $2 ORDER BY company_id`
	var done []domain.CompanyID
	failed := errors.New("refused")
	err := companies.Try(t.Context(), pool, func(company domain.CompanyID) error {
		if done = append(done, company); company == fleettest.Acme {
			return failed
		}
		return nil
	}, all, 0)
	if !errors.Is(err, failed) || !slices.Equal(done, []domain.CompanyID{fleettest.Acme, fleettest.Rival}) {
		t.Errorf("%v after %v", err, done)
	}
	found, err := companies.With(t.Context(), pool, all, fleettest.Acme)
	fatal.If(t, err)
	if !slices.Equal(found, []domain.CompanyID{fleettest.Rival}) {
		t.Errorf("got %v", found)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := companies.With(ended, pool, all, 0); err == nil {
		t.Error("a query of a context that has ended succeeds")
	}
}
