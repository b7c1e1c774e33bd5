package command

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/sqlrole"
	"simgraph/domain"
)

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
