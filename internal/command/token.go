package command

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/domain"
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
	access := db.NewAccess(pool)
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
