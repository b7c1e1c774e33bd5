package mail_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"simgraph/db/access"
	"simgraph/db/signin"
	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/mail"
)

var linkInMail = regexp.MustCompile(`https://sim\.example/#link=(sgl_[A-Za-z0-9_-]+)`)

// An invitation is mailed by a real server, its link signs in once, and nothing of it is
// stored or logged.
func TestAnInvitationIsMailedWithALinkThatSignsIn(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	f.pool.MustExec(`INSERT INTO user_lookup (email, company_id, user_id) OVERRIDING SYSTEM VALUE VALUES ('new@acme.example', 1, 7)`)
	f.pool.MustExec(`INSERT INTO users (company_id, user_id, email, permissions) VALUES (1, 7, 'new@acme.example', '{}')`)
	sessions := signin.New(f.pool, access.New(f.pool), signin.Options{Idle: time.Hour, Most: time.Hour, Mails: true, Now: f.clock})
	made, err := sessions.Invite(t.Context(), &domain.Caller{Scope: domain.Whole(1)}, "new@acme.example")
	fatal.If(t, err)
	if made.Code != "" {
		t.Error("who invites gets the code of a link that is mailed")
	}
	f.round(mail.Round{Sent: 1})
	mails := server.mails()
	if len(mails) != 1 || !strings.Contains(mails[0].To, "new@acme.example") || strings.Contains(mails[0].Data, "unsubscribe") {
		t.Fatalf("%+v", mails)
	}
	found := linkInMail.FindStringSubmatch(strings.ReplaceAll(strings.ReplaceAll(mails[0].Data, "=\r\n", ""), "=3D", "="))
	if found == nil || !strings.Contains(mails[0].Data, "Subject: Invitation to simgraph of Acme") {
		t.Fatal(mails[0].Data)
	}
	code := domain.Secret(found[1])
	var stored int
	fatal.If(t, f.pool.Get(&stored, `SELECT count(*) FROM mails m WHERE m::text LIKE '%' || $1 || '%'`, string(code)))
	if stored != 0 {
		t.Error("the outbox holds the code")
	}
	if begun, err := sessions.ByLink(t.Context(), domain.Origin{Address: "192.0.2.7"}, code); err != nil || begun.Email != "new@acme.example" {
		t.Fatalf("%+v, %v", begun, err)
	}
	if _, err := sessions.ByLink(t.Context(), domain.Origin{}, code); err == nil {
		t.Error("the link signs in twice")
	}
	listed, err := sessions.SessionsOf(t.Context(), domain.Whole(1), []int64{7})
	fatal.If(t, err)
	if len(listed[7]) != 1 || listed[7][0].Address != "192.0.2.7" {
		t.Errorf("%+v", listed)
	}
}

// A link that was asked for is mailed in text and HTML, and is found in the mail alone.
func TestALinkThatWasAskedForIsMailed(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	f.pool.MustExec(`INSERT INTO user_lookup (email, company_id, user_id) OVERRIDING SYSTEM VALUE VALUES ('ada@acme.example', 1, 7)`)
	f.pool.MustExec(`INSERT INTO users (company_id, user_id, email, permissions) VALUES (1, 7, 'ada@acme.example', '{}')`)
	sessions := signin.New(f.pool, access.New(f.pool), signin.Options{Idle: time.Hour, Most: time.Hour, Requests: true, Now: f.clock})
	email, err := domain.ParseEmail("email", "ada@acme.example")
	fatal.If(t, err)
	fatal.If(t, sessions.Request(t.Context(), domain.Origin{}, email))
	f.round(mail.Round{Sent: 1})
	mails := server.mails()
	if len(mails) != 1 || !strings.Contains(mails[0].To, "ada@acme.example") || !strings.Contains(mails[0].Data, "Subject: Your link to sign in to simgraph of Acme") {
		t.Fatalf("%+v", mails)
	}
	text := strings.ReplaceAll(strings.ReplaceAll(mails[0].Data, "=\r\n", ""), "=3D", "=")
	found := linkInMail.FindAllStringSubmatch(text, -1)
	if len(found) != 2 || found[0][1] != found[1][1] || strings.Contains(text, "invited") || strings.Contains(text, "unsubscribe") {
		t.Fatal(text)
	}
	if begun, err := sessions.ByLink(t.Context(), domain.Origin{}, domain.Secret(found[0][1])); err != nil || begun.Email != "ada@acme.example" {
		t.Errorf("%+v, %v", begun, err)
	}
	f.round(mail.Round{})
}
