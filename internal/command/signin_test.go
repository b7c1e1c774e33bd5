package command_test

import (
	"strings"
	"testing"
	"time"

	"simgraph/db/access"
	"simgraph/db/pg"
	"simgraph/db/signin"
	"simgraph/domain"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

func TestTheOperatorListsAndEndsSessions(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.demo(command.Demo{Subscribers: 1, Days: 1, Seed: 1, Company: "demo", Until: "2026-11-20T12:00:00Z"})
	pool, err := pg.Open(t.Context(), c.env.DatabaseURL, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	tokens := access.New(pool)
	store := signin.New(pool, tokens, signin.Options{Idle: time.Hour, Most: 10 * time.Hour})
	company, _, err := tokens.FindUser(t.Context(), "admin@demo.example")
	fatal.If(t, err)
	var ids []string
	for range 3 {
		grant, err := tokens.Issue(t.Context(), domain.Whole(company), "admin@demo.example", time.Hour)
		fatal.If(t, err)
		begun, err := store.ByToken(t.Context(), domain.Origin{}, grant.Token)
		fatal.If(t, err)
		ids = append(ids, begun.ID)
	}
	list := func() string {
		c.stdout.Reset()
		fatal.If(t, (&command.SessionList{}).Run(t.Context(), c.env))
		return c.stdout.String()
	}
	if got := list(); strings.Count(got, "admin@demo.example") != 3 || !strings.Contains(got, ids[0]) {
		t.Fatalf("got %s", got)
	}
	fatal.If(t, (&command.SessionEnd{ID: ids[0]}).Run(t.Context(), c.env))
	if got := list(); strings.Contains(got, ids[0]) || !strings.Contains(got, ids[1]) {
		t.Fatalf("got %s", got)
	}
	if err := (&command.SessionEnd{ID: ids[0]}).Run(t.Context(), c.env); err == nil {
		t.Error("a session ends twice")
	}
	c.stdout.Reset()
	if err := (&command.SessionEnd{User: "Admin@demo.example"}).Run(t.Context(), c.env); err != nil || c.stdout.String() != "2 sessions ended\n" {
		t.Errorf("%v, %q", err, c.stdout.String())
	}
	if (&command.SessionEnd{}).Validate() == nil {
		t.Error("all sessions are ended unasked")
	}
}

func TestLinksByMailNeedAMailServerAndPeopleWhoMaySignInByThem(t *testing.T) {
	t.Parallel()
	mailing := command.Mailing{SMTPURL: "smtp://mail.example", PublicURL: "https://sim.example"}
	for _, c := range []struct {
		serve command.Serve
		want  string
	}{
		{command.Serve{Mailing: mailing, SigningIn: command.SigningIn{MailLinks: "on"}}, ""},
		{command.Serve{SigningIn: command.SigningIn{MailLinks: "auto"}}, ""},
		{command.Serve{SigningIn: command.SigningIn{MailLinks: "off"}}, ""},
		{command.Serve{Mailing: command.Mailing{PublicURL: "https://sim.example"}, SigningIn: command.SigningIn{MailLinks: "on"}}, "needs --smtp-url"},
		{command.Serve{Mailing: command.Mailing{SMTPURL: "smtp://mail.example"}, SigningIn: command.SigningIn{MailLinks: "on"}}, "needs --smtp-url"},
		{command.Serve{Mailing: mailing, SigningIn: command.SigningIn{MailLinks: "on", OIDCConfig: "providers.json", OIDCOnly: true}}, "--oidc-only"},
		{command.Serve{Mailing: mailing, SigningIn: command.SigningIn{MailLinks: "auto", OIDCConfig: "providers.json", OIDCOnly: true}}, ""},
	} {
		err := c.serve.Check(&command.Database{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, not %q", c.serve.SigningIn, err, c.want)
		}
	}
}
