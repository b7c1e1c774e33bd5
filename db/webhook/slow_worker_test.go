package webhook_test

import (
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/domain/webhook"
	"simgraph/internal/fatal"
)

// What a worker says of an attempt after its lease, when another worker has the mail,
// changes nothing of it, but that it arrived. The last worker is believed.
func TestASlowWorkerDoesNotOverwriteANewerAttemptOfAMail(t *testing.T) {
	t.Parallel()
	const mailRow = `SELECT m::text FROM mails m`
	for name, say := range map[string]func(f *fleettest.Fleet, mail *domain.Mail) error{
		"that it is to be retried": func(f *fleettest.Fleet, mail *domain.Mail) error {
			return f.Outbox.Retry(f.T.Context(), 1, mail, "late", f.Now.Add(time.Second))
		},
		"that it was refused": func(f *fleettest.Fleet, mail *domain.Mail) error {
			_, err := f.Outbox.Refused(f.T.Context(), 1, mail)
			return err
		},
		"that it failed": func(f *fleettest.Fleet, mail *domain.Mail) error {
			return f.Outbox.Fail(f.T.Context(), 1, mail, "late", true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
			f.Create(domain.RuleCompany, "", 5, 1000)
			_, err := f.Recipients.Create(t.Context(), f.Whole(), "ops@acme.example", domain.Choice{})
			fatal.If(t, err)
			f.Use(1, 10, f.Now)
			f.Now = f.Now.Add(time.Minute)
			digest := domain.Digest{HourlyCap: 9, MaxEntries: 99}
			fatal.If(t, f.Outbox.Gather(t.Context(), 1, digest))
			claim := func() *domain.Mail {
				t.Helper()
				mails, err := f.Outbox.Claim(t.Context(), 1, digest, 9, time.Minute)
				fatal.If(t, err)
				if len(mails) != 1 {
					t.Fatalf("%d mails are claimed", len(mails))
				}
				return &mails[0].Mail
			}
			slow := claim()
			f.Now = f.Now.Add(2 * time.Minute)
			last := claim()
			before := row(f, mailRow)
			fatal.If(t, say(f, slow))
			fleettest.Same(t, row(f, mailRow), before)
			fleettest.Same(t, row(f, `SELECT count(*)::text FROM alert_recipients WHERE suppressed_since IS NOT NULL`), "0")
			fatal.If(t, say(f, last))
			if row(f, mailRow) == before {
				t.Error("what the last worker says changes nothing")
			}
		})
	}
}

// As TestASlowWorkerDoesNotOverwriteANewerAttemptOfAMail, of messages to webhooks.
func TestASlowWorkerDoesNotOverwriteANewerAttemptOfAMessage(t *testing.T) {
	t.Parallel()
	const messageRow = `SELECT m::text FROM webhook_messages m`
	for name, answer := range map[string]webhook.Answer{
		"that it is to be retried": {Status: 500, Error: "late"},
		"that it failed":           {Status: 410, Error: "late"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
			store := hooksOf(f, "k")
			hook := addHook(t, store, f.Whole(), webhook.Filter{})
			_, err := store.SendTest(t.Context(), f.Whole(), hook.WebhookID)
			fatal.If(t, err)
			claim := func() *webhook.Attempt {
				t.Helper()
				attempts, err := store.Claim(t.Context(), 1, 9, time.Minute)
				fatal.If(t, err)
				if len(attempts) != 1 {
					t.Fatalf("%d messages are claimed", len(attempts))
				}
				return attempts[0]
			}
			slow := claim()
			f.Now = f.Now.Add(2 * time.Minute)
			last := claim()
			before := row(f, messageRow)
			_, _, err = store.Finish(t.Context(), slow, answer)
			fatal.If(t, err)
			fleettest.Same(t, row(f, messageRow), before)
			_, _, err = store.Finish(t.Context(), last, answer)
			fatal.If(t, err)
			if row(f, messageRow) == before {
				t.Error("what the last worker says changes nothing")
			}
		})
	}
}

// row is a value as text.
func row(f *fleettest.Fleet, sql string) (text string) {
	f.T.Helper()
	fatal.If(f.T, f.Pool.Get(&text, sql))
	return text
}
