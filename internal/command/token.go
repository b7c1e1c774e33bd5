package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/access"
	store "simgraph/db/signin"
	"simgraph/domain"
	"simgraph/domain/signin"
)

// Token prints an access token, for scripts and curl.
type Token struct {
	User    string        `required:"" placeholder:"EMAIL" help:"The user that the token acts for."`
	Company string        `placeholder:"ID" help:"The company of the user; may be left out when one company alone has a user of that address."`
	TTL     time.Duration `default:"1h" range:"1s..3650d" help:"How long the token lives, such as 12h or 90d."`
}

// Help shows examples.
func (Token) Help() string {
	return `Examples:

	simgraph token --user ops@acme.example --ttl 90d
	curl -H "Authorization: Bearer $(simgraph token --user ops@acme.example)" http://127.0.0.1:8080/subscribers`
}

// Run prints the token and nothing else; which database it is of goes to the log.
func (t *Token) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "token")
	if err != nil {
		return err
	}
	defer done()
	access := access.New(pool)
	company, err := companyOfUser(ctx, pool, t.Company, t.User)
	if err != nil {
		return err
	}
	grant, err := access.Issue(ctx, domain.Whole(company).By(actor("token")), t.User, t.TTL)
	if err != nil {
		return err
	}
	t.report(ctx, env, pool, grant)
	_, err = fmt.Fprintln(env.Stdout, string(grant.Token))
	return err
}

// report logs what the token is good for, and warns when that is nothing yet.
func (t *Token) report(ctx context.Context, env *Env, pool *sqlx.DB, grant *domain.Grant) {
	env.Log.InfoContext(ctx, "issued an access token", "user", t.User, "database", env.place(), "expires", grant.ExpiresAt.UTC().Format(time.RFC3339))
	served, err := db.Served(ctx, pool)
	env.warn("look for a server", err)
	if err == nil && !served {
		env.Log.WarnContext(ctx, "no server serves this database now", "database", env.place())
	}
}

// LoginLink prints a link that signs a user in to the page once.
type LoginLink struct {
	User      string        `required:"" placeholder:"EMAIL" help:"The user that the link signs in."`
	Company   string        `placeholder:"ID" help:"The company of the user; may be left out when one company alone has a user of that address."`
	TTL       time.Duration `default:"15m" range:"1m..24h" help:"How long the link can be used."`
	PublicURL string        `name:"public-url" required:"" placeholder:"URL" help:"Where people reach the page."`
}

// Help shows examples.
func (LoginLink) Help() string {
	return `The first person who uses the link is signed in, so send it as you would send a password.

Examples:

	simgraph login-link --user ops@acme.example --public-url https://sim.example
	SIMGRAPH_PUBLIC_URL=https://sim.example simgraph login-link --user ops@acme.example --ttl 1h`
}

// Validate is called by kong.
func (l *LoginLink) Validate() error {
	at, err := url.Parse(l.PublicURL)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || at.RawQuery != "" || at.Fragment != "" {
		return errors.New("--public-url must be the address of the page, such as https://sim.example")
	}
	return nil
}

// Run prints the link and nothing else; for whom and how long it is goes to the log.
func (l *LoginLink) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "login-link")
	if err != nil {
		return err
	}
	defer done()
	access := access.New(pool)
	company, err := companyOfUser(ctx, pool, l.Company, l.User)
	if err != nil {
		return err
	}
	link, err := store.New(pool, access, store.Options{}).Issue(ctx, domain.Whole(company).By(actor("login-link")), l.User, l.TTL)
	if err != nil {
		return err
	}
	env.Log.InfoContext(ctx, "issued a link that signs in once", "user", link.Email, "database", env.place(), "expires", link.ExpiresAt.Format(time.RFC3339))
	_, err = fmt.Fprintln(env.Stdout, signin.LinkTo(l.PublicURL, link.Code))
	return err
}
