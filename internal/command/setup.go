package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"simgraph/db/access"
	"simgraph/db/bundle"
	"simgraph/db/companies"
	"simgraph/db/inventory"
	"simgraph/domain"
)

// Company groups the commands about companies.
type Company struct {
	Create CompanyCreate `cmd:"" help:"Add a company."`
	Edit   CompanyEdit   `cmd:"" help:"Change what is given of a company."`
	List   CompanyList   `cmd:"" help:"List the companies."`
}

// CompanyCreate adds a company.
type CompanyCreate struct {
	ID         string `arg:"" help:"The identifier that commands and bundles use, such as acme."`
	Name       string `required:"" help:"The name."`
	BillingDay int    `default:"1" range:"1..31" help:"The day of the month on which billing periods begin."`
	TimeZone   string `default:"UTC" placeholder:"ZONE" help:"The IANA time zone of billing periods, such as Europe/London."`
	Country    string `placeholder:"CODE" help:"The country of national numbers that network elements report, by ISO 3166-1, such as GB. They are not read when missing."`
}

// Help shows an example.
func (CompanyCreate) Help() string {
	return `Example:

	simgraph company create acme --name "Acme Ltd" --time-zone Europe/London`
}

// Run adds the company; one that is there stays as it is.
func (c *CompanyCreate) Run(ctx context.Context, env *Env) error {
	company := &domain.Company{ExternalID: c.ID, Name: c.Name, BillingDay: c.BillingDay, TimeZone: c.TimeZone, CountryCode: c.Country}
	if err := company.Check(); err != nil {
		return err
	}
	pool, done, err := env.Open(ctx, "company create")
	if err != nil {
		return err
	}
	defer done()
	if _, err := companies.New(pool).FindExternal(ctx, c.ID); err == nil {
		return domain.Invalid("id", "there is a company %q already", c.ID)
	} else if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindNotFound {
		return err
	}
	answers, err := bundle.NewImporter(pool).Companies(ctx, actor("company create"), []*domain.Company{company})
	if err := imported(answers, err); err != nil {
		return err
	}
	env.printf("company %s: %s\n", c.ID, outcomes[answers[0].Outcome])
	return nil
}

// CompanyEdit changes a company.
type CompanyEdit struct {
	ID         string  `arg:"" help:"The identifier of the company."`
	Name       *string `help:"The name."`
	BillingDay *int    `range:"1..31" help:"The day of the month on which billing periods begin. Usage is booked anew."`
	TimeZone   *string `placeholder:"ZONE" help:"The IANA time zone of billing periods. Usage is booked anew."`
	Country    *string `placeholder:"CODE" help:"The country of national numbers that network elements report, by ISO 3166-1; none where it is empty."`
}

// Help shows an example.
func (CompanyEdit) Help() string {
	return `Example:

	simgraph company edit acme --country GB`
}

// Run changes what is given.
func (c *CompanyEdit) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "company edit")
	if err != nil {
		return err
	}
	defer done()
	company, err := companies.New(pool).FindExternal(ctx, c.ID)
	if err != nil {
		return err
	}
	set(&company.Name, c.Name)
	set(&company.BillingDay, c.BillingDay)
	set(&company.TimeZone, c.TimeZone)
	set(&company.CountryCode, c.Country)
	if err := company.Check(); err != nil {
		return err
	}
	answers, err := bundle.NewImporter(pool).Companies(ctx, actor("company edit"), []*domain.Company{company})
	if err := imported(answers, err); err != nil {
		return err
	}
	env.printf("company %s: %s\n", c.ID, outcomes[answers[0].Outcome])
	return nil
}

// set takes a value over, if there is one.
func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}

// CompanyList lists companies.
type CompanyList struct{}

// Run lists the companies by their identifiers.
func (CompanyList) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "company list")
	if err != nil {
		return err
	}
	defer done()
	all, err := companies.New(pool).List(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "COMPANY\tNAME\tBILLING DAY\tTIME ZONE\tCOUNTRY")
	for _, c := range all {
		_, _ = fmt.Fprintln(table, strings.Join([]string{c.ExternalID, c.Name, strconv.Itoa(c.BillingDay), c.TimeZone, cmp.Or(c.CountryCode, "-")}, "\t"))
	}
	return table.Flush()
}

// companiesNamed returns the company of that external id or, for "", all.
func companiesNamed(ctx context.Context, companies domain.Companies, externalID string) ([]*domain.Company, error) {
	if externalID == "" {
		return companies.List(ctx)
	}
	one, err := companies.FindExternal(ctx, externalID)
	return []*domain.Company{one}, err
}

// outcomes are what became of one item, as commands print it.
var outcomes = map[domain.Outcome]string{domain.Created: "added", domain.Updated: "changed", domain.Unchanged: "unchanged"}

// imported is the error of an import of one item.
func imported(answers []domain.Imported, err error) error {
	if err != nil || answers[0].Err == nil {
		return err
	}
	return answers[0].Err
}

// User groups the commands about users.
type User struct {
	Create UserCreate `cmd:"" help:"Add a user of a company, and print a first key on request."`
}

// UserCreate adds a user.
type UserCreate struct {
	Email      string   `arg:"" help:"The e-mail address, unique within the company."`
	Company    string   `placeholder:"ID" help:"The company; may be left out when there is only one."`
	Permission []string `sep:"none" placeholder:"NAME" help:"A permission of the user, such as \"View Subscriber\" or VIEW_SUBSCRIBER; give it again for more. All when missing."`
	Group      []int64  `range:"1..2147483647" placeholder:"ID" help:"A group that the user is attached to; give it again for more. The user sees the whole company when missing."`
	Key        bool     `help:"Also make an access key of the user for a year, and print it with its secret."`
}

// Help shows examples.
func (UserCreate) Help() string {
	return `Examples:

	simgraph user create ops@acme.example --company acme --key
	simgraph user create reader@acme.example --permission VIEW_SUBSCRIBER --group 12`
}

// Run adds the user, and makes the key.
func (u *UserCreate) Run(ctx context.Context, env *Env) error {
	permissions, err := u.permissions()
	if err != nil {
		return err
	}
	pool, done, err := env.Open(ctx, "user create")
	if err != nil {
		return err
	}
	defer done()
	company, err := OneCompany(ctx, companies.New(pool), u.Company)
	if err != nil {
		return err
	}
	scope := domain.Whole(company.CompanyID).By(actor("user create"))
	operator := &domain.Caller{Permissions: domain.AllPermissions(), Scope: scope}
	created, err := inventory.New(pool, time.Now).CreateUser(ctx, operator, domain.User{Email: u.Email, Permissions: permissions, Groups: u.Group})
	if err != nil || !u.Key {
		return err
	}
	key, secret, err := access.New(pool).CreateKey(ctx, scope, domain.KeySpec{Email: created.Email, Lifetime: domain.KeyLifetime})
	if err != nil {
		return fmt.Errorf("the user was made, the key was not: %w", err)
	}
	return printKey(env, key, secret)
}

func (u *UserCreate) permissions() ([]domain.Permission, error) {
	if len(u.Permission) == 0 {
		return domain.AllPermissions(), nil
	}
	return parsePermissions(u.Permission)
}

func parsePermissions(names []string) ([]domain.Permission, error) {
	permissions := make([]domain.Permission, len(names))
	for i, name := range names {
		p, err := domain.ParsePermission(name)
		if err != nil {
			return nil, err
		}
		permissions[i] = p
	}
	return permissions, nil
}

// printKey writes a key with its secret, which cannot be read again.
func printKey(env *Env, key *domain.AccessKey, secret domain.Secret) error {
	return json.NewEncoder(env.Stdout).Encode(struct {
		AccessKeyID string `json:"accessKeyId"`
		Secret      string `json:"secret"`
	}{key.AccessKeyID, string(secret)})
}

// Operator groups the commands about network operators.
type Operator struct {
	Set OperatorSet `cmd:"" help:"Add a network operator, which all companies share, or rename it."`
}

// OperatorSet adds or renames an operator.
type OperatorSet struct {
	Code string `arg:"" help:"The code, such as the PLMN 23415."`
	Name string `arg:"" help:"The name."`
}

// Help shows an example.
func (OperatorSet) Help() string {
	return `Example:

	simgraph operator set 23415 "Vodafone UK"`
}

// Run stores the operator.
func (o *OperatorSet) Run(ctx context.Context, env *Env) error {
	operator := &domain.Operator{Code: o.Code, Name: o.Name}
	if err := operator.Check(); err != nil {
		return err
	}
	pool, done, err := env.Open(ctx, "operator set")
	if err != nil {
		return err
	}
	defer done()
	answers, err := bundle.NewImporter(pool).Operators(ctx, actor("operator set"), []*domain.Operator{operator})
	if err := imported(answers, err); err != nil {
		return err
	}
	env.printf("operator %s: %s\n", o.Code, outcomes[answers[0].Outcome])
	return nil
}
