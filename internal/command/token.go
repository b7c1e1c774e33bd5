package command

import (
	"context"
	"fmt"
	"time"

	"simgraph/db"
	"simgraph/domain"
)

// Token prints an access token, for scripts and curl.
type Token struct {
	User string        `required:"" placeholder:"EMAIL" help:"The user that the token acts for."`
	TTL  time.Duration `default:"1h" range:"1s..87600h" help:"How long the token lives."`
}

// Help shows examples.
func (Token) Help() string {
	return `Examples:

	curl -H "Authorization: Bearer $(simgraph token --user ops@acme.example)" http://127.0.0.1:8080/subscribers`
}

// Run prints the token and nothing else.
func (t *Token) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "token")
	if err != nil {
		return err
	}
	defer done()
	access := db.NewAccess(pool)
	company, _, err := access.FindUser(ctx, t.User)
	if err != nil {
		return err
	}
	grant, err := access.Issue(ctx, domain.Whole(company).By(actor("token")), t.User, t.TTL)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Stdout, string(grant.Token))
	return err
}
