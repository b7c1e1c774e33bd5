package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/companies"
	store "simgraph/db/signin"
	"simgraph/domain"
	"simgraph/internal/access"
	"simgraph/internal/httpd"
	"simgraph/internal/signin"
)

// SigningIn are the flags of how people sign in.
type SigningIn struct {
	SessionIdle     time.Duration `default:"2h" group:"Sign-in" range:"1m..24h" help:"How long a session of the page lasts without use."`
	SessionLifetime time.Duration `default:"10h" group:"Sign-in" range:"1m..24h" help:"How long a session of the page lasts in any case."`
}

func (s *SigningIn) store(pool *sqlx.DB, tokens *db.Access) *store.Store {
	return store.New(pool, tokens, store.Options{Idle: s.SessionIdle, Most: s.SessionLifetime})
}

// signIn adds the routes of the sign-in page, and lets browsers through the gate.
func (s *Serve) signIn(v *service, gate *access.Gate) []httpd.Route {
	gate.Sessions = access.NewSessions(v.sessions, access.NewSite(s.PublicURL), time.Now)
	return httpd.Pages(signin.New(signin.Config{Store: v.sessions, Sessions: gate.Sessions, Log: v.log}).Handlers())
}

// Session groups the commands about sessions of the page.
type Session struct {
	List SessionList `cmd:"" help:"List who is signed in to the page."`
	End  SessionEnd  `cmd:"" help:"End sessions of the page, everywhere within 5 s."`
}

// SessionList lists sessions.
type SessionList struct {
	Company string `placeholder:"ID" help:"The company; all when left out."`
	User    string `placeholder:"EMAIL" help:"The user; all when left out."`
}

// Run lists the sessions by company, those used last first.
func (l *SessionList) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "session list")
	if err != nil {
		return err
	}
	defer done()
	all, err := companiesNamed(ctx, companies.New(pool), l.Company)
	if err != nil {
		return err
	}
	sessions := store.New(pool, db.NewAccess(pool), store.Options{})
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "COMPANY\tSESSION\tUSER\tWAY\tBEGAN\tUSED\tENDS")
	for _, company := range all {
		found, err := sessions.List(ctx, domain.Whole(company.CompanyID), l.User)
		if err != nil {
			return err
		}
		for _, one := range found {
			_, _ = fmt.Fprintln(table, company.ExternalID+"\t"+one.ID+"\t"+one.Email+"\t"+one.Way+"\t"+minute(one.CreatedAt)+"\t"+minute(one.UsedAt)+"\t"+minute(one.EndsAt))
		}
	}
	return table.Flush()
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02T15:04Z") }

// SessionEnd ends sessions.
type SessionEnd struct {
	ID      string `arg:"" optional:"" help:"The session, as the list names it."`
	Company string `placeholder:"ID" help:"End those of the company."`
	User    string `placeholder:"EMAIL" help:"End those of the user."`
	All     bool   `help:"End those of all companies."`
}

// Help shows examples.
func (SessionEnd) Help() string {
	return `Examples:

	simgraph session end --user ops@acme.example
	simgraph session end --company acme
	simgraph session end 3f2a9c0d11e45b67
	simgraph session end --all`
}

// Validate is called by kong.
func (e *SessionEnd) Validate() error {
	if e.ID == "" && e.Company == "" && e.User == "" && !e.All {
		return errors.New("name a session, --user, --company or --all")
	}
	return nil
}

// Run ends the sessions and prints how many there were.
func (e *SessionEnd) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "session end")
	if err != nil {
		return err
	}
	defer done()
	all, err := companiesNamed(ctx, companies.New(pool), e.Company)
	if err != nil {
		return err
	}
	sessions := store.New(pool, db.NewAccess(pool), store.Options{})
	ended := 0
	for _, company := range all {
		n, err := sessions.EndAll(ctx, domain.Whole(company.CompanyID).By(actor("session end")), e.User, e.ID)
		if err != nil {
			return err
		}
		ended += n
	}
	if ended == 0 && e.ID != "" {
		return domain.NotFound("id", "session", e.ID)
	}
	env.printf("%s\n", strconv.Itoa(ended))
	return nil
}
