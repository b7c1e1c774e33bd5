package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/access"
	"simgraph/db/companies"
	"simgraph/db/live"
	"simgraph/db/pg"
	store "simgraph/db/signin"
	"simgraph/db/sqlrole"
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
	served, err := live.Served(ctx, pool)
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

// SQLRole groups the commands about SQL roles.
type SQLRole struct {
	Create SQLRoleCreate `cmd:"" help:"Make a login of PostgreSQL that reads the views of a company, and print its address with the password, once."`
	List   SQLRoleList   `cmd:"" help:"List the SQL roles of a company, or of all."`
	Drop   SQLRoleDrop   `cmd:"" help:"Drop an SQL role, and end its sessions."`
}

// SQLRoleCreate makes an SQL role.
type SQLRoleCreate struct {
	Name          string        `arg:"" help:"The name of the role, such as acme_bi; no other role of the server has it."`
	Company       string        `placeholder:"ID" help:"The company; may be left out when there is only one."`
	Group         []int64       `range:"1..2147483647" placeholder:"ID" help:"A group that the role sees; give it again for more. The whole company when missing."`
	HiddenTariffs bool          `help:"Let it see the tariffs that groups hide from their users."`
	Longest       time.Duration `default:"60s" range:"1s..1h" help:"The longest that a statement may run; transactions may take twice as long."`
	Connections   int           `default:"4" range:"1..50" help:"How many connections it may have at once."`
}

// Help shows examples.
func (SQLRoleCreate) Help() string {
	return `Examples:

	simgraph sql-role create acme_bi --company acme
	simgraph sql-role create acme_vans --company acme --group 12 --group 13 --longest 5m

The address is for psql, Metabase and other tools of PostgreSQL. The role reads the
views of the schema analyst, which docs/analysts.md describes, and nothing else.`
}

// Run makes the role, and prints the address and nothing else.
func (r *SQLRoleCreate) Run(ctx context.Context, env *Env) error {
	pool, company, done, err := openCompany(ctx, env, "sql-role create", r.Company)
	if err != nil {
		return err
	}
	defer done()
	role := domain.SQLRole{Name: r.Name, Groups: r.Group, SeesTariffs: r.HiddenTariffs, Statement: r.Longest, Connections: r.Connections}
	password, err := sqlrole.New(pool, time.Now).Create(ctx, domain.Whole(company.CompanyID).By(actor("sql-role create")), role)
	if err != nil {
		return err
	}
	address, stop, err := env.address(ctx, "sql-role create")
	if err != nil {
		return err
	}
	defer stop()
	env.printf("%s\n", addressOf(address, r.Name, password))
	return nil
}

// addressOf is the address of the database for another role; of one that is a list of
// settings, the settings of the role.
func addressOf(address, name, password string) string {
	if spread, err := pg.Spread(address); err == nil {
		address = spread
	}
	at, err := url.Parse(address)
	if err != nil || at.Scheme == "" {
		return fmt.Sprintf("user=%s password=%s", name, password)
	}
	at.User = url.UserPassword(name, password)
	return at.String()
}

// SQLRoleList lists SQL roles.
type SQLRoleList struct {
	Company string `placeholder:"ID" help:"The company; all when left out."`
}

// Run lists the roles by company and name.
func (r *SQLRoleList) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "sql-role list")
	if err != nil {
		return err
	}
	defer done()
	all, err := companiesNamed(ctx, companies.New(pool), r.Company)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "COMPANY\tROLE\tGROUPS\tTARIFFS\tLONGEST\tCONNECTIONS\tCREATED\tSTATE")
	for _, company := range all {
		roles, err := sqlrole.New(pool, time.Now).List(ctx, domain.Whole(company.CompanyID))
		if err != nil {
			return err
		}
		for _, role := range roles {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", company.ExternalID, role.Name, groupsOf(role),
				either(role.SeesTariffs, "all", "as groups say"), role.Statement, role.Connections, day(role.CreatedAt), either(role.IsMissing, "not on this server: create it again", "-"))
		}
	}
	return table.Flush()
}

func groupsOf(role *domain.SQLRole) string {
	if len(role.Groups) == 0 {
		return "all"
	}
	return strings.Trim(fmt.Sprint(role.Groups), "[]")
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// SQLRoleDrop drops an SQL role.
type SQLRoleDrop struct {
	Name    string `arg:"" help:"The role."`
	Company string `placeholder:"ID" help:"The company; may be left out when there is only one."`
}

// Run drops the role.
func (r *SQLRoleDrop) Run(ctx context.Context, env *Env) error {
	pool, company, done, err := openCompany(ctx, env, "sql-role drop", r.Company)
	if err != nil {
		return err
	}
	defer done()
	if err := sqlrole.New(pool, time.Now).Drop(ctx, domain.Whole(company.CompanyID).By(actor("sql-role drop")), r.Name); err != nil {
		return err
	}
	env.printf("dropped %s of %s, and ended its sessions\n", r.Name, company.ExternalID)
	return nil
}

// endOverdueEvery is how often sessions of SQL roles are looked for that take too long.
const endOverdueEvery = 10 * time.Second

// endOverdue ends sessions of SQL roles that have taken more than they may.
func (v *service) endOverdue(ctx context.Context) error {
	ended, err := sqlrole.New(v.schema.pool, time.Now).EndOverdue(ctx)
	for _, name := range ended {
		v.log.WarnContext(ctx, "ended a session of an SQL role that took more than it may", "role", name)
	}
	return err
}
