package command

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/jmoiron/sqlx"

	keys "simgraph/db/access"
	"simgraph/db/companies"
	store "simgraph/db/signin"
	"simgraph/domain"
	"simgraph/internal/access"
	"simgraph/internal/replica"
	"simgraph/internal/seal"
	"simgraph/internal/signin"
)

// SigningIn are the flags of how people sign in.
type SigningIn struct {
	SessionIdle     time.Duration `default:"2h" group:"Sign-in" range:"1m..24h" help:"How long a session of the page lasts without use."`
	SessionLifetime time.Duration `default:"10h" group:"Sign-in" range:"1m..24h" help:"How long a session of the page lasts in any case."`
	OIDCConfig      string        `name:"oidc-config" type:"path" placeholder:"FILE" group:"Sign-in" help:"The identity providers that people sign in at, what rights they give, and the issuers that speak for programs, in JSON. Needs --public-url."`
	OIDCOnly        bool          `name:"oidc-only" group:"Sign-in" help:"Let nobody sign in to the page by an access key, or a token that a program got. Keys remain for programs, and tokens and links that the operator makes for emergencies."`
	MailLinks       string        `enum:"auto,on,off" default:"auto" group:"Sign-in" help:"Whether people who type their e-mail address are mailed a link that signs in once: on, off, or auto, which is on with --smtp-url and --public-url where no provider signs people in."`
	OIDCCheck       time.Duration `name:"oidc-check" default:"5m" group:"Sign-in" range:"1s..24h" help:"How often the provider of a session is asked whether it still knows the person, and with what claims."`
}

// check returns an error when flags do not go together.
func (s *SigningIn) check(mailing *Mailing) error {
	switch {
	case s.OIDCConfig == "" && s.OIDCOnly:
		return errors.New("--oidc-only needs --oidc-config")
	case s.OIDCConfig != "" && mailing.PublicURL == "":
		return errors.New("--oidc-config needs --public-url, to which providers send people back")
	case s.MailLinks == "on" && !mailing.mailsLinks():
		return errors.New("--mail-links on needs --smtp-url and --public-url")
	case s.MailLinks == "on" && s.OIDCOnly:
		return errors.New("--mail-links on does not go with --oidc-only, by which people sign in at providers alone")
	}
	return nil
}

// mailsLinks reports whether people may ask for links by mail.
func (s *Serve) mailsLinks(providers int) bool {
	return s.MailLinks == "on" || s.MailLinks == "auto" && s.Mailing.mailsLinks() && providers == 0
}

// signIn adds the routes of the sign-in page, and lets browsers through the gate.
func (s *Serve) signIn(env *Env, v *service, pool *sqlx.DB) error {
	var key seal.Key
	trusted := &signin.Trusted{}
	if s.OIDCConfig != "" {
		var err error
		if key, err = s.key(env.DataDir); err != nil {
			return err
		}
		if trusted, err = signin.ReadTrusted(s.OIDCConfig, s.PublicURL); err != nil {
			return err
		}
		if s.OIDCOnly && len(trusted.Providers) == 0 {
			return fmt.Errorf("--oidc-only needs a provider, and %s has none", s.OIDCConfig)
		}
	}
	mailsLinks := s.mailsLinks(len(trusted.Providers))
	v.sessions = store.New(pool, v.access, store.Options{
		Idle: s.SessionIdle, Most: s.SessionLifetime, Key: key, NoKeys: s.OIDCOnly, Mails: s.Mailing.mailsLinks(), Requests: mailsLinks,
	})
	v.graph.Accounts = v.sessions
	v.browsers = access.NewSessions(sessions{v.sessions, v.orStandby(v.sessions.Authenticate, func(pool *sqlx.DB) replica.Authenticate {
		return store.New(pool, keys.New(pool), store.Options{}).Authenticate
	})}, access.NewSite(s.PublicURL), time.Now)
	v.signIn = signin.New(signin.Config{
		Store: v.sessions, Sessions: v.browsers, Log: v.log, Links: v.sessions, TryLink: v.limits.ByLink, Logins: v.sessions, Key: key, Providers: trusted.Providers, Only: s.OIDCOnly, CheckEvery: s.OIDCCheck,
		MailsLinks: mailsLinks, TryRequest: v.tryLinkRequest,
	})
	v.machines = signin.NewMachines(v.sessions, trusted.Machines, v.log, time.Now)
	return nil
}

// tryLinkRequest ends the rest of the worker that sends mail, where the link may be asked for.
func (v *service) tryLinkRequest(ctx context.Context) error {
	err := v.limits.ByLinkRequest(ctx)
	if err == nil {
		v.pace.Use()
	}
	return err
}

// sessions are those of browsers, which standbys know too.
type sessions struct {
	*store.Store
	authenticate replica.Authenticate
}

// Authenticate implements signin.Sessions.
func (s sessions) Authenticate(ctx context.Context, session domain.Secret) (*domain.Caller, error) {
	return s.authenticate(ctx, session)
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
	sessions := store.New(pool, keys.New(pool), store.Options{})
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
	Company string `placeholder:"ID" help:"End those of the company, or of its --user."`
	User    string `placeholder:"EMAIL" help:"End those of the user, who is looked for in all companies without --company: name one where several have a user of that address, or --all."`
	All     bool   `help:"End those of all companies, or of all users with the address of --user. Without --user it needs --yes."`
	Consent
}

// Help shows examples.
func (SessionEnd) Help() string {
	return `Examples:

	simgraph session end --user ops@acme.example
	simgraph session end --company acme
	simgraph session end 3f2a9c0d11e45b67
	simgraph session end --all --yes

People whose sessions ended sign in again. Links that sign in once end too, except
where one session is named.`
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
	all, err := e.companies(ctx, pool)
	if err != nil {
		return err
	}
	sessions := store.New(pool, keys.New(pool), store.Options{})
	if err := e.warn(ctx, env, sessions, all); err != nil {
		return err
	}
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
	env.printf("%d sessions ended\n", ended)
	return nil
}

// warn lists how many sessions end where nobody was named, and returns an error where
// that was not agreed to.
func (e *SessionEnd) warn(ctx context.Context, env *Env, sessions *store.Store, all []*domain.Company) error {
	if !e.All || e.User != "" || e.ID != "" || e.Company != "" {
		return nil
	}
	for _, company := range all {
		open, err := sessions.List(ctx, domain.Whole(company.CompanyID), "")
		if err != nil {
			return err
		}
		env.printf("%s: %d sessions end\n", company.ExternalID, len(open))
	}
	return e.agreed("ended", "sign everybody out")
}

// companies are those in which sessions end. A user is one person in one company, unless
// --all says otherwise.
func (e *SessionEnd) companies(ctx context.Context, pool *sqlx.DB) ([]*domain.Company, error) {
	if e.User != "" && e.Company == "" && !e.All {
		id, _, err := keys.New(pool).FindUser(ctx, e.User)
		return []*domain.Company{{CompanyID: id}}, err
	}
	return companiesNamed(ctx, companies.New(pool), e.Company)
}
