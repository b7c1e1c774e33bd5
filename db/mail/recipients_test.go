package mail_test

import (
	"fmt"
	"testing"
	"time"

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

// A refusal of an address is lifted for one recipient, with the mail that it was given up for.
func TestARestoreIsOfOneRecipient(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	emails := []string{"a@acme.example", "b@acme.example", "c@acme.example"}
	var suppressions []domain.Suppression
	ids := map[string]int64{}
	for _, email := range emails {
		made, err := f.Recipients.Create(t.Context(), f.Whole(), email, domain.Choice{})
		fatal.If(t, err)
		ids[email] = made.RecipientID
		reason := domain.Refused
		if email == emails[2] {
			reason = domain.Unsubscribed
		}
		suppressions = append(suppressions, domain.Suppression{Email: email, Since: f.Now, Reason: reason, Detail: "550"})
		f.Pool.MustExec(`INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, state, due_at, created_at, finished_at)
VALUES ($1, gen_random_uuid(), $2, $3, 'alerts', 'failed', $4, $4, $4)`, f.Whole().Company, made.RecipientID, email, f.Now)
	}
	_, err := f.Recipients.Suppress(t.Context(), f.Whole(), suppressions)
	fatal.If(t, err)
	for _, want := range []int{1, 0} { // the second time there is nothing to lift
		restored, err := f.Recipients.Restore(t.Context(), f.Whole(), ids[emails[0]])
		fatal.If(t, err)
		if restored.Recipient.SuppressedSince != nil || restored.Mails != want {
			t.Errorf("%+v with %d mails, not %d", restored.Recipient, restored.Mails, want)
		}
	}
	if other, err := f.Recipients.Find(t.Context(), f.Whole(), ids[emails[1]]); err != nil || other.SuppressedSince == nil {
		t.Errorf("another recipient is restored, too: %+v, %v", other, err)
	}
	_, err = f.Recipients.Restore(t.Context(), f.Whole(), ids[emails[2]])
	fleettest.Same(t, fleettest.KindOf(err), domain.KindInvalid)
	var queued []string
	fatal.If(t, f.Pool.Select(&queued, `SELECT email FROM mails WHERE state = 'queued'`))
	fleettest.Same(t, fmt.Sprint(queued), fmt.Sprint(emails[:1]))
}

// Mails to try an address are queued for it, five an hour, and stand in the audit log.
func TestMailsThatTryAnAddress(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	made, err := f.Recipients.Create(t.Context(), f.Whole(), "a@acme.example", domain.Choice{})
	fatal.If(t, err)
	_, err = f.Recipients.Create(t.Context(), f.Whole(), "b@acme.example", domain.Choice{})
	fatal.If(t, err)
	for n := range 5 {
		mails, err := f.Recipients.SendTest(t.Context(), f.Whole(), &made.RecipientID)
		fatal.If(t, err)
		if len(mails) != 1 || mails[0].Email != made.Email {
			t.Fatalf("%d: %+v", n, mails)
		}
	}
	_, err = f.Recipients.SendTest(t.Context(), f.Whole(), &made.RecipientID)
	fleettest.Same(t, fleettest.KindOf(err), domain.KindRateLimited)
	f.Now = f.Now.Add(time.Hour + time.Second)
	mails, err := f.Recipients.SendTest(t.Context(), f.Whole(), nil)
	fatal.If(t, err)
	fleettest.Same(t, len(mails), 2)
	var entries int
	fatal.If(t, f.Pool.Get(&entries, `SELECT count(*) FROM audit_log WHERE action = $1`, domain.AuditRecipientTest))
	fleettest.Same(t, entries, 6)
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
