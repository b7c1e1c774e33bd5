package command

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"simgraph/db/companies"
	"simgraph/db/mail"
	"simgraph/domain"
	"simgraph/domain/ascii"
)

// Recipient groups the commands about the recipients of alert mail.
type Recipient struct {
	List    RecipientList    `cmd:"" help:"List the recipients of a company's alert mail."`
	Restore RecipientRestore `cmd:"" help:"Send mail again to a recipient whose address was refused, also what was held back."`
}

// RecipientList lists recipients.
type RecipientList struct {
	Company    string `placeholder:"ID" help:"The company; may be left out when there is only one."`
	Suppressed bool   `help:"Only those that get no mail any more."`
}

// Help shows examples.
func (RecipientList) Help() string {
	return `Examples:

	simgraph recipient list
	simgraph recipient list --suppressed --company acme`
}

// Run lists the recipients by id.
func (l *RecipientList) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "recipient list")
	if err != nil {
		return err
	}
	defer done()
	company, err := OneCompany(ctx, companies.New(pool), l.Company)
	if err != nil {
		return err
	}
	recipients, err := recipientsOf(ctx, mail.NewRecipients(pool, time.Now), domain.Whole(company.CompanyID))
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "RECIPIENT\tSTATE\tSINCE\tDETAIL")
	for _, r := range recipients {
		if r.SuppressedSince != nil || !l.Suppressed {
			_, _ = fmt.Fprintln(table, recipientLine(r))
		}
	}
	return table.Flush()
}

func recipientLine(r *domain.Recipient) string {
	if r.SuppressedSince == nil {
		return r.Email + "\tgets mail\t\t"
	}
	return strings.Join([]string{r.Email, string(*r.SuppressedReason), r.SuppressedSince.UTC().Format(time.RFC3339), r.SuppressedDetail}, "\t")
}

// recipientsOf returns all recipients of the company.
func recipientsOf(ctx context.Context, recipients *mail.Recipients, scope domain.Scope) (all []*domain.Recipient, err error) {
	page := domain.Page{Limit: domain.MaxLimit}
	for {
		part, err := recipients.List(ctx, scope, domain.Listing{Page: page})
		if err != nil {
			return nil, err
		}
		all = append(all, part.Items...)
		if !part.HasNext {
			return all, nil
		}
		page.Cursor = part.Cursor(len(part.Items) - 1)
	}
}

// RecipientRestore lifts a suppression.
type RecipientRestore struct {
	Email   string `arg:"" help:"The address of the recipient."`
	Company string `placeholder:"ID" help:"The company; may be left out when there is only one."`
}

// Help describes what is sent, and shows an example.
func (RecipientRestore) Help() string {
	return `The mail of the last 72 hours that was held back is sent by the server. A
recipient that unsubscribed is not restored.

Example:

	simgraph recipient restore ops@acme.example --company acme`
}

// Run restores the recipient; one that is not suppressed stays as it is.
func (r *RecipientRestore) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "recipient restore")
	if err != nil {
		return err
	}
	defer done()
	company, err := OneCompany(ctx, companies.New(pool), r.Company)
	if err != nil {
		return err
	}
	scope := domain.Whole(company.CompanyID).By(actor("recipient restore"))
	store := mail.NewRecipients(pool, time.Now)
	of, err := r.find(ctx, store, scope)
	if err != nil {
		return err
	}
	if of.SuppressedSince == nil {
		_, err = fmt.Fprintf(env.Stdout, "%s is not suppressed\n", of.Email)
		return err
	}
	restored, err := store.Restore(ctx, scope, of.RecipientID)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "%s gets mail again; held back and sent now: %d mails, %d alerts\n", of.Email, restored.Mails, restored.Alerts)
	return err
}

func (r *RecipientRestore) find(ctx context.Context, store *mail.Recipients, scope domain.Scope) (*domain.Recipient, error) {
	recipients, err := recipientsOf(ctx, store, scope)
	if err != nil {
		return nil, err
	}
	for _, of := range recipients {
		if ascii.EqualFold(of.Email, r.Email) {
			return of, nil
		}
	}
	return nil, domain.NotFound("email", "recipient", r.Email)
}
