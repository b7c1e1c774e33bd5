package mail_test

import (
	"fmt"
	"testing"

	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestAnAddressIsOneRecipientHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	first, err := f.Recipients.Create(t.Context(), f.Whole(), "Ops@Acme.example", domain.Choice{})
	fatal.If(t, err)
	again, err := f.Recipients.Create(t.Context(), f.Whole(), "ops@acme.EXAMPLE", domain.Choice{})
	fatal.If(t, err)
	fleettest.Same(t, fmt.Sprint(*again), fmt.Sprint(*first))
	second, err := f.Recipients.Create(t.Context(), f.Whole(), "other@acme.example", domain.Choice{})
	fatal.If(t, err)
	_, err = f.Recipients.Edit(t.Context(), f.Whole(), second.RecipientID, domain.RecipientEdit{Email: new("OPS@acme.example")})
	fleettest.Same(t, fleettest.KindOf(err), domain.KindInvalid)
	edited, err := f.Recipients.Edit(t.Context(), f.Whole(), first.RecipientID, domain.RecipientEdit{Email: new("OPS@acme.example")})
	fatal.If(t, err)
	fleettest.Same(t, edited.Email, "OPS@acme.example")
	_, err = f.Recipients.Edit(t.Context(), f.Whole(), 999, domain.RecipientEdit{Email: new("x@acme.example")})
	fleettest.Same(t, fleettest.KindOf(err), domain.KindNotFound)
	_, err = f.Recipients.Remove(t.Context(), f.Whole(), first.RecipientID)
	fatal.If(t, err)
	_, err = f.Recipients.Remove(t.Context(), f.Whole(), first.RecipientID)
	fleettest.Same(t, fleettest.KindOf(err), domain.KindNotFound)
	n, err := f.Recipients.Count(t.Context(), f.Whole(), domain.Listing{})
	fatal.If(t, err)
	fleettest.Same(t, n, 1)
}

func TestUsersOfGroupsHaveNothingToDoWithRecipients(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	r, err := f.Recipients.Create(t.Context(), f.Whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	scope := fleettest.Only(fleettest.Vans)
	_, create := f.Recipients.Create(t.Context(), scope, "x@acme.example", domain.Choice{})
	_, find := f.Recipients.Find(t.Context(), scope, r.RecipientID)
	_, many := f.Recipients.FindMany(t.Context(), scope, []int64{r.RecipientID})
	_, list := f.Recipients.List(t.Context(), scope, domain.Listing{Page: domain.Page{Limit: 1}})
	_, count := f.Recipients.Count(t.Context(), scope, domain.Listing{})
	_, edit := f.Recipients.Edit(t.Context(), scope, r.RecipientID, domain.RecipientEdit{Email: new("x@acme.example")})
	_, remove := f.Recipients.Remove(t.Context(), scope, r.RecipientID)
	_, restore := f.Recipients.Restore(t.Context(), scope, r.RecipientID)
	_, test := f.Recipients.SendTest(t.Context(), scope, nil)
	_, mails := f.Recipients.Mails(t.Context(), scope, []int64{r.RecipientID}, domain.Page{Limit: 1})
	for i, err := range []error{create, find, many, list, count, edit, remove, restore, test, mails} {
		if fleettest.KindOf(err) != domain.KindForbidden {
			t.Errorf("%d: got %v", i, err)
		}
	}
}

func TestRecipientsAreBounded(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	emails := []string{"nobody"}
	for n := range domain.MaxRecipients + 2 {
		emails = append(emails, fmt.Sprintf("r%d@acme.example", n))
	}
	kept, err := f.Recipients.Keep(t.Context(), f.Whole(), emails)
	fatal.If(t, err)
	created, refused := 0, 0
	for _, k := range kept {
		if k.Err != nil {
			refused++
		}
		if k.Outcome == domain.Created {
			created++
		}
	}
	fleettest.Same(t, created, domain.MaxRecipients)
	fleettest.Same(t, refused, 3)
	_, err = f.Recipients.Create(t.Context(), f.Whole(), "one.more@acme.example", domain.Choice{})
	fleettest.Same(t, fleettest.KindOf(err), domain.KindInvalid)
	_, err = f.Recipients.Create(t.Context(), f.Whole(), "R5@acme.example", domain.Choice{})
	fatal.If(t, err)
}

func TestMailThatWaitsForARemovedRecipientIsDropped(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	r, err := f.Recipients.Create(t.Context(), f.Whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	f.Create(domain.RuleSIM, "s1", 1, 2)
	_, err = f.Recipients.SendTest(t.Context(), f.Whole(), &r.RecipientID)
	fatal.If(t, err)
	f.Use(1, 10, f.Now)
	_, err = f.Recipients.Remove(t.Context(), f.Whole(), r.RecipientID)
	fatal.If(t, err)
	pending, err := f.Outbox.Pending(t.Context(), domain.Digest{})
	fatal.If(t, err)
	fleettest.Same(t, len(pending), 0)
}
