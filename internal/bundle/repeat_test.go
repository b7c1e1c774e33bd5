package bundle_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/bundle"
)

// E-mail addresses that differ in case are one user and one recipient, also
// within one statement of an import.
func TestAnAddressInAnotherCaseIsTheSame(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	user, recipient := acme[4], acme[9]
	got := d.load(append(slices.Clone(acme),
		replace(user, "ops@acme", "Ops@ACME"), replace(replace(user, "ops@acme", "OPS@acme"), `[12]`, `[]`), strings.Replace(recipient, "@acme", "@Acme", 1))...)
	if d.bad != nil || !strings.Contains(got, "user +1 ~1 =1") || !strings.Contains(got, "recipient +1 =1") {
		t.Errorf("%s, %q", got, d.bad)
	}
	if n := d.get(`SELECT count(*) FROM user_groups`); n != "0" {
		t.Errorf("the last line leaves %s groups", n)
	}
}

// unreconciled is usage that cannot be reconciled.
type unreconciled struct {
	*usage.Store
	err error
}

func (u unreconciled) Reconcile(context.Context, []domain.CompanyID) error { return u.err }

// What an import has stored is not in the totals until it is reconciled: it must
// not look complete.
func TestAnImportThatCannotBeReconciledFails(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	broken := errors.New("the lock is held")
	to := stores(d.pool)
	to.Usage = unreconciled{to.Usage.(*usage.Store), broken}
	counts, err := to.Import(t.Context(), bundle.NewReader(strings.NewReader(strings.Join(acme, "\n"))), bundle.Options{})
	if !errors.Is(err, broken) || counts[bundle.Usage].Created != 1 {
		t.Errorf("%v, %v", counts, err)
	}
}
