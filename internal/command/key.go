package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/access"
	"simgraph/db/companies"
	"simgraph/domain"
)

// Key groups the commands about access keys.
type Key struct {
	Create KeyCreate `cmd:"" help:"Make an access key of a user, and print it with its secret."`
	List   KeyList   `cmd:"" help:"List the access keys of a company, or of all."`
	Rotate KeyRotate `cmd:"" help:"Make a key that takes over from another, which ends later; print it with its secret."`
	Revoke KeyRevoke `cmd:"" help:"End an access key and all its tokens."`
}

// KeyCreate makes an access key.
type KeyCreate struct {
	User    string        `required:"" placeholder:"EMAIL" help:"The user that the key acts for."`
	Company string        `placeholder:"ID" help:"The company of the user; may be left out when one company alone has a user of that address."`
	Scope   []string      `sep:"none" placeholder:"NAME" help:"A permission that the key passes on, such as \"View Subscriber\" or VIEW_SUBSCRIBER; give it again for more. All of the user's when missing."`
	TTL     time.Duration `default:"365d" range:"1s..3650d" help:"How long the key lives, such as 90d or 12h."`
	Name    string        `placeholder:"NAME" help:"What the key is called."`
	Purpose string        `placeholder:"TEXT" help:"What uses it, and what for."`

	DocumentsOnly bool `help:"Limit it to trusted documents on the graph."`
}

// Help shows examples.
func (KeyCreate) Help() string {
	return `Examples:

	simgraph key create --user ops@acme.example
	simgraph key create --user ops@acme.example --scope VIEW_SUBSCRIBER --ttl 90d --name Billing`
}

// Run makes the key.
func (k *KeyCreate) Run(ctx context.Context, env *Env) error {
	scopes, err := parsePermissions(k.Scope)
	if err != nil {
		return err
	}
	pool, done, err := env.Open(ctx, "key create")
	if err != nil {
		return err
	}
	defer done()
	access := access.New(pool)
	company, err := companyOfUser(ctx, pool, k.Company, k.User)
	if err != nil {
		return err
	}
	key, secret, err := access.CreateKey(ctx, domain.Whole(company).By(actor("key create")), domain.KeySpec{
		KeyLabel: domain.KeyLabel{Name: k.Name, Purpose: k.Purpose}, Email: k.User, Scopes: scopes, Lifetime: k.TTL, DocumentsOnly: k.DocumentsOnly,
	})
	if err != nil {
		return err
	}
	return printKey(env, key, secret)
}

// KeyList lists access keys.
type KeyList struct {
	Company string `placeholder:"ID" help:"The company; all when left out."`
}

// Run lists the keys by company, newest first.
func (k *KeyList) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "key list")
	if err != nil {
		return err
	}
	defer done()
	all, err := companiesNamed(ctx, companies.New(pool), k.Company)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "COMPANY\tACCESS KEY\tNAME\tUSER\tCREATED\tEXPIRES\tLAST USED\tSTATE\tRUNS\tSCOPES")
	for _, company := range all {
		if err := writeKeys(ctx, access.New(pool), company, table); err != nil {
			return err
		}
	}
	return table.Flush()
}

func writeKeys(ctx context.Context, access *access.Store, company *domain.Company, table io.Writer) error {
	page := domain.Page{Limit: domain.MaxLimit}
	for {
		keys, err := access.Keys(ctx, domain.Whole(company.CompanyID), domain.Listing{Page: page})
		if err != nil {
			return err
		}
		for _, key := range keys.Items {
			_, _ = fmt.Fprintln(table, company.ExternalID+"\t"+keyLine(key, time.Now()))
		}
		if !keys.HasNext {
			return nil
		}
		page.Cursor = keys.Cursor(len(keys.Items) - 1)
	}
}

func keyLine(key *domain.AccessKey, now time.Time) string {
	state := "live"
	switch {
	case key.RevokedAt != nil:
		state = "revoked"
	case !now.Before(key.ExpiresAt):
		state = "expired"
	}
	name := key.Name
	if name == "" {
		name = "-"
	}
	used := "never"
	if key.LastUsedAt != nil {
		used = day(*key.LastUsedAt)
	}
	runs := "all"
	if key.DocumentsOnly {
		runs = "documents"
	}
	scopes := make([]string, len(key.Scopes))
	for i, p := range key.Scopes {
		scopes[i] = string(p)
	}
	return strings.Join([]string{key.AccessKeyID, name, key.UserEmail, day(key.CreatedAt), day(key.ExpiresAt), used, state, runs, strings.Join(scopes, " ")}, "\t")
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// KeyRotate makes a key that takes over from another.
type KeyRotate struct {
	ID      string        `arg:"" help:"The access key that is rotated."`
	Overlap time.Duration `default:"7d" range:"1s..3650d" help:"For how long the old key goes on, such as 12h or 7d, unless it ends before that."`
	TTL     time.Duration `default:"365d" range:"1s..3650d" help:"How long the new key lives, such as 90d or 12h."`
}

// Help shows an example.
func (KeyRotate) Help() string {
	return `Example: the new key is deployed within a day, then the old one ends.

	simgraph key rotate sgk_1_… --overlap 24h`
}

// Run makes the new key, and sets when the old one ends.
func (k *KeyRotate) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "key rotate")
	if err != nil {
		return err
	}
	defer done()
	access := access.New(pool)
	company, _, err := access.FindKey(ctx, k.ID)
	if err != nil {
		return err
	}
	_, made, secret, err := access.RotateKey(ctx, domain.Whole(company).By(actor("key rotate")), k.ID, domain.KeyRotation{OldEndsAt: time.Now().Add(k.Overlap), Lifetime: k.TTL})
	if err != nil {
		return err
	}
	return printKey(env, made, secret)
}

// KeyRevoke ends an access key.
type KeyRevoke struct {
	ID string `arg:"" help:"The access key."`
}

// Run revokes the key; one that is revoked stays so.
func (k *KeyRevoke) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "key revoke")
	if err != nil {
		return err
	}
	defer done()
	access := access.New(pool)
	company, key, err := access.FindKey(ctx, k.ID)
	if err != nil {
		return err
	}
	if key.RevokedAt != nil {
		env.printf("%s of %s was revoked on %s\n", k.ID, key.UserEmail, day(*key.RevokedAt))
		return nil
	}
	if _, err = access.RevokeKey(ctx, domain.Whole(company).By(actor("key revoke")), k.ID); err != nil {
		return err
	}
	env.printf("revoked %s of %s: its tokens end everywhere within 5 s\n", k.ID, key.UserEmail)
	return nil
}

// companyOfUser returns the company of that external id or, for "", the only one that
// has a user of that e-mail address.
func companyOfUser(ctx context.Context, pool *sqlx.DB, externalID, email string) (domain.CompanyID, error) {
	if externalID != "" {
		company, err := companies.New(pool).FindExternal(ctx, externalID)
		if err != nil {
			return 0, err
		}
		return company.CompanyID, nil
	}
	id, _, err := access.New(pool).FindUser(ctx, email)
	return id, err
}

// OneCompany returns the company of that external id or, for "", the only one.
func OneCompany(ctx context.Context, companies domain.Companies, externalID string) (*domain.Company, error) {
	if externalID != "" {
		return companies.FindExternal(ctx, externalID)
	}
	all, err := companies.List(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, domain.Invalid("company", "there are %d companies: name one with --company", len(all))
	}
	return all[0], nil
}
