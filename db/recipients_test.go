package db_test

import (
	"fmt"
	"testing"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestAnAddressIsOneRecipientHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	first, err := f.recipients.Create(t.Context(), f.whole(), "Ops@Acme.example", domain.Choice{})
	fatal.If(t, err)
	again, err := f.recipients.Create(t.Context(), f.whole(), "ops@acme.EXAMPLE", domain.Choice{})
	fatal.If(t, err)
	same(t, fmt.Sprint(*again), fmt.Sprint(*first))
	second, err := f.recipients.Create(t.Context(), f.whole(), "other@acme.example", domain.Choice{})
	fatal.If(t, err)
	_, err = f.recipients.Edit(t.Context(), f.whole(), second.RecipientID, domain.RecipientEdit{Email: new("OPS@acme.example")})
	same(t, kindOf(err), domain.KindInvalid)
	edited, err := f.recipients.Edit(t.Context(), f.whole(), first.RecipientID, domain.RecipientEdit{Email: new("OPS@acme.example")})
	fatal.If(t, err)
	same(t, edited.Email, "OPS@acme.example")
	_, err = f.recipients.Edit(t.Context(), f.whole(), 999, domain.RecipientEdit{Email: new("x@acme.example")})
	same(t, kindOf(err), domain.KindNotFound)
	_, err = f.recipients.Remove(t.Context(), f.whole(), first.RecipientID)
	fatal.If(t, err)
	_, err = f.recipients.Remove(t.Context(), f.whole(), first.RecipientID)
	same(t, kindOf(err), domain.KindNotFound)
	n, err := f.recipients.Count(t.Context(), f.whole(), domain.Listing{})
	fatal.If(t, err)
	same(t, n, 1)
}

func TestUsersOfGroupsHaveNothingToDoWithRecipients(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	r, err := f.recipients.Create(t.Context(), f.whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	scope := only(vans)
	_, create := f.recipients.Create(t.Context(), scope, "x@acme.example", domain.Choice{})
	_, find := f.recipients.Find(t.Context(), scope, r.RecipientID)
	_, many := f.recipients.FindMany(t.Context(), scope, []int64{r.RecipientID})
	_, list := f.recipients.List(t.Context(), scope, domain.Listing{Page: domain.Page{Limit: 1}})
	_, count := f.recipients.Count(t.Context(), scope, domain.Listing{})
	_, edit := f.recipients.Edit(t.Context(), scope, r.RecipientID, domain.RecipientEdit{Email: new("x@acme.example")})
	_, remove := f.recipients.Remove(t.Context(), scope, r.RecipientID)
	_, restore := f.recipients.Restore(t.Context(), scope, r.RecipientID)
	_, test := f.recipients.SendTest(t.Context(), scope, nil)
	_, mails := f.recipients.Mails(t.Context(), scope, []int64{r.RecipientID}, domain.Page{Limit: 1})
	for i, err := range []error{create, find, many, list, count, edit, remove, restore, test, mails} {
		if kindOf(err) != domain.KindForbidden {
			t.Errorf("%d: got %v", i, err)
		}
	}
}

func TestRecipientsAreBounded(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	emails := []string{"nobody"}
	for n := range domain.MaxRecipients + 2 {
		emails = append(emails, fmt.Sprintf("r%d@acme.example", n))
	}
	kept, err := f.recipients.Keep(t.Context(), f.whole(), emails)
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
	same(t, created, domain.MaxRecipients)
	same(t, refused, 3)
	_, err = f.recipients.Create(t.Context(), f.whole(), "one.more@acme.example", domain.Choice{})
	same(t, kindOf(err), domain.KindInvalid)
	_, err = f.recipients.Create(t.Context(), f.whole(), "R5@acme.example", domain.Choice{})
	fatal.If(t, err)
}

func TestMailThatWaitsForARemovedRecipientIsDropped(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	r, err := f.recipients.Create(t.Context(), f.whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	f.create(domain.RuleSIM, "s1", 1, 2)
	_, err = f.recipients.SendTest(t.Context(), f.whole(), &r.RecipientID)
	fatal.If(t, err)
	f.use(1, 10, f.now)
	_, err = f.recipients.Remove(t.Context(), f.whole(), r.RecipientID)
	fatal.If(t, err)
	pending, err := f.outbox.Pending(t.Context(), domain.Digest{})
	fatal.If(t, err)
	same(t, len(pending), 0)
}
