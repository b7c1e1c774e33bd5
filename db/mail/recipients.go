package mail

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/delivery"
	"simgraph/db/imported"
	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/domain/query"
)

// Recipients keeps the recipients of alert mail in PostgreSQL.
type Recipients struct {
	kept.Store[int64, recipientRow, domain.Recipient, *recipientRow]
}

var _ domain.Recipients = (*Recipients)(nil)

// NewRecipients returns the store on the pool; now is the clock.
func NewRecipients(pool *sqlx.DB, now func() time.Time) *Recipients {
	return &Recipients{kept.New(pool, now, recipientKind)}
}

// recipientKind is how recipients are kept.
var recipientKind = kept.Kind[int64, recipientRow, domain.Recipient]{
	Type: "Recipient", Name: "recipient", Table: recipientsTable,
	Read: func(r *recipientRow) (*domain.Recipient, error) { return r.recipient(), nil },
	ID:   func(of *domain.Recipient) *int64 { return &of.RecipientID }, Version: (*domain.Recipient).Version,
}

const recipientSelect = `r.recipient_id, r.email, r.suppressed_since, r.suppressed_reason, r.suppressed_detail, r.alert_ids AS alerts, r.group_ids AS wanted`

type recipientRow struct {
	domain.Recipient
	Alerts, Wanted pq.Int64Array
	keyset.Keyed
}

func (r *recipientRow) recipient() *domain.Recipient {
	r.Choice = domain.Choice{AlertIDs: r.Alerts, GroupIDs: r.Wanted}
	return &r.Recipient
}

const countRecipients = `SELECT count(*) FROM alert_recipients WHERE company_id = $1`

// recipientsTable is the list of domain.RecipientFields.
var recipientsTable = keyset.Table{
	Key: query.Field{Name: "recipientId", Type: query.Integer}, Select: recipientSelect, From: ` FROM alert_recipients r WHERE r.company_id = $1`, WholeOnly: "recipients",
	Columns: map[string]keyset.Column{
		"recipientId": {SQL: "r.recipient_id"}, "email": {SQL: "r.email"}, "suppressedSince": {SQL: "r.suppressed_since", Nullable: true},
		"suppressedReason": {SQL: `(r.suppressed_reason COLLATE "C")`, Nullable: true},
	},
}

const findRecipientsByEmail = `SELECT ` + recipientSelect + `
FROM alert_recipients r
WHERE r.company_id = $1 AND r.email_key = ANY($2)`

// Create implements domain.Recipients.
func (r *Recipients) Create(ctx context.Context, scope domain.Scope, email string, choice domain.Choice) (created *domain.Recipient, err error) {
	if err := choice.Check(); err != nil {
		return nil, err
	}
	err = r.Transact(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		kept, err := keepRecipients(ctx, tx, scope.Company, []string{email})
		if err != nil {
			return nil, err
		}
		if kept[0].Err != nil {
			return nil, kept[0].Err
		}
		found, err := r.Select(ctx, tx, findRecipientsByEmail, scope.Company, pq.StringArray{emailKey(email)})
		if err != nil {
			return nil, err
		}
		if created = found[0]; kept[0].Outcome != domain.Created {
			return nil, nil
		}
		if err := choose(ctx, tx, scope.Company, created.RecipientID, choice); err != nil {
			return nil, err
		}
		created.Choice = choice
		return r.Note(domain.AuditRecipientCreate, created.RecipientID, slices.Concat(
			[]domain.AuditChange{domain.Became("email", created.Email)},
			domain.Changed("alertIds", "", listed(choice.AlertIDs)), domain.Changed("groupIds", "", listed(choice.GroupIDs)),
		)...), nil
	})
	return created, err
}

// Keep implements domain.Recipients.
func (r *Recipients) Keep(ctx context.Context, scope domain.Scope, emails []string) (kept []domain.Imported, err error) {
	err = r.Transact(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		kept, err = keepRecipients(ctx, tx, scope.Company, emails)
		return audit.Import("recipients", imported.TallyAnswers(kept)), err
	})
	return kept, err
}

const insertRecipients = `
INSERT INTO alert_recipients (company_id, email, email_key)
SELECT own.company_id, email, email_key
FROM companies own CROSS JOIN unnest($2::text[], $3::text[]) AS wanted(email, email_key)
WHERE own.company_id = $1`

// keepRecipients adds the addresses that are not there yet.
func keepRecipients(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, emails []string) ([]domain.Imported, error) {
	keys := pg.Pluck(emails, emailKey)
	same, err := recipientKind.Select(ctx, tx, findRecipientsByEmail, company, pq.StringArray(keys))
	if err != nil {
		return nil, err
	}
	n, err := pg.Count(ctx, tx, countRecipients, company)
	if err != nil {
		return nil, err
	}
	known := pg.Keyed(same, func(of *domain.Recipient) string { return emailKey(of.Email) })
	kept := make([]domain.Imported, len(emails))
	var fresh []string
	for i, email := range emails {
		kept[i] = keepRecipient(email, known[keys[i]] != nil, n+len(fresh))
		if kept[i].Outcome == domain.Created {
			fresh, known[keys[i]] = append(fresh, email), &domain.Recipient{}
		}
	}
	_, err = pg.Affected(ctx, tx, insertRecipients, company, pq.StringArray(fresh), pq.StringArray(pg.Pluck(fresh, emailKey)))
	return kept, err
}

func keepRecipient(email string, known bool, others int) domain.Imported {
	if err := domain.CheckEmail("email", email); err != nil {
		refused, _ := domain.AsError(err)
		return domain.Imported{Err: refused}
	}
	switch {
	case known:
		return domain.Imported{Outcome: domain.Unchanged}
	case others >= domain.MaxRecipients:
		return domain.Imported{Err: domain.Invalid("email", "a company has at most %d recipients", domain.MaxRecipients)}
	}
	return domain.Imported{Outcome: domain.Created}
}

// emailKey makes addresses equal that differ in upper and lower case.
func emailKey(email string) string { return ascii.Lower(email) }

const editRecipient = `
UPDATE alert_recipients
SET email = $3, email_key = $4, suppressed_since = NULL, suppressed_reason = NULL, suppressed_detail = ''
WHERE company_id = $1 AND recipient_id = $2 AND email <> $3`

// Edit implements domain.Recipients.
func (r *Recipients) Edit(ctx context.Context, scope domain.Scope, id int64, edit domain.RecipientEdit) (*domain.Recipient, error) {
	if edit.Email != nil {
		if err := domain.CheckEmail("email", *edit.Email); err != nil {
			return nil, err
		}
	}
	if edit.Choice != nil {
		if err := edit.Choice.Check(); err != nil {
			return nil, err
		}
	}
	return r.Store.Edit(ctx, scope, id, func(tx *sqlx.Tx, before *domain.Recipient) (*domain.AuditEntry, error) {
		after := *before
		if edit.Email != nil {
			after.Email = *edit.Email
			if err := readdress(ctx, tx, scope.Company, id, after.Email); err != nil {
				return nil, err
			}
		}
		if edit.Choice != nil {
			after.Choice = *edit.Choice
			if err := choose(ctx, tx, scope.Company, id, after.Choice); err != nil {
				return nil, err
			}
		}
		changes := slices.Concat(
			domain.Changed("email", before.Email, after.Email),
			domain.Changed("alertIds", listed(before.AlertIDs), listed(after.AlertIDs)),
			domain.Changed("groupIds", listed(before.GroupIDs), listed(after.GroupIDs)),
		)
		if len(changes) == 0 {
			return nil, nil
		}
		return r.Note(domain.AuditRecipientEdit, id, changes...), nil
	})
}

// readdress gives a recipient another address, which no other recipient of the company has.
func readdress(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, id int64, email string) error {
	same, err := recipientKind.Select(ctx, tx, findRecipientsByEmail, company, pq.StringArray{emailKey(email)})
	if err != nil {
		return err
	}
	if len(same) > 0 && same[0].RecipientID != id {
		return domain.Invalid("email", "%q is a recipient already", email)
	}
	_, err = pg.Affected(ctx, tx, editRecipient, company, id, email, emailKey(email))
	return err
}

const chooseAlerts = `
UPDATE alert_recipients SET alert_ids = $3, group_ids = $4
WHERE company_id = $1 AND recipient_id = $2 AND (alert_ids <> $3 OR group_ids <> $4)`

// choose restricts a recipient to some alerts.
func choose(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, id int64, choice domain.Choice) error {
	_, err := pg.Affected(ctx, tx, chooseAlerts, company, id, pg.Numbers(choice.AlertIDs), pg.Numbers(choice.GroupIDs))
	return err
}

// listed writes numbers for the audit log.
func listed(ids []int64) string { return strings.Join(pg.Pluck(ids, pg.FormatInt), " ") }

const removeRecipient = `DELETE FROM alert_recipients WHERE company_id = $1 AND recipient_id = $2`

// Remove implements domain.Recipients.
func (r *Recipients) Remove(ctx context.Context, scope domain.Scope, id int64) (*domain.Recipient, error) {
	return r.Locked(ctx, scope, id, func(tx *sqlx.Tx, of *domain.Recipient) (*domain.AuditEntry, error) {
		if _, err := pg.Affected(ctx, tx, removeRecipient, scope.Company, id); err != nil {
			return nil, err
		}
		return r.Note(domain.AuditRecipientDelete, id, domain.Was("email", of.Email)), dropWaiting(ctx, tx, scope.Company, id, r.Now())
	})
}

const (
	suppressWaiting = `
UPDATE alert_deliveries SET suppressed = true
WHERE company_id = $1 AND recipient_id = $2 AND mail_id IS NULL AND NOT suppressed`
	cancelQueued = `
UPDATE mails SET state = 'cancelled', finished_at = $3
WHERE company_id = $1 AND recipient_id = $2 AND state = 'queued'`
)

// dropWaiting drops the mail that was not sent yet to a recipient.
func dropWaiting(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, recipientID int64, at time.Time) error {
	if _, err := pg.Affected(ctx, tx, suppressWaiting, company, recipientID); err != nil {
		return err
	}
	_, err := pg.Affected(ctx, tx, cancelQueued, company, recipientID, at)
	return err
}

const testedLately = `
SELECT count(*) FROM mails
WHERE company_id = $1 AND recipient_id = ANY($2) AND kind = 'test' AND created_at > $3`

const queueTests = `
INSERT INTO mails AS m (company_id, mail_id, recipient_id, email, kind, due_at, created_at)
SELECT r.company_id, t.mail_id, r.recipient_id, r.email, 'test', $4, $4
FROM alert_recipients r
JOIN unnest($2::bigint[], $3::uuid[]) AS t(recipient_id, mail_id) ON t.recipient_id = r.recipient_id
WHERE r.company_id = $1
RETURNING ` + delivery.MailColumns

// testsPerHour bounds the test mails of a recipient: an address that was typed
// wrong is somebody else's.
const testsPerHour = 5

// SendTest implements domain.Recipients.
func (r *Recipients) SendTest(ctx context.Context, scope domain.Scope, id *int64) (mails []*domain.Mail, err error) {
	err = r.Transact(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		recipients, err := testable(ctx, tx, scope.Company, id)
		if err != nil {
			return nil, err
		}
		at := r.Now()
		tested, err := pg.Count(ctx, tx, testedLately, scope.Company, recipients, at.Add(-time.Hour))
		if err != nil {
			return nil, err
		}
		if tested+len(recipients) > testsPerHour*len(recipients) {
			return nil, &domain.Error{Kind: domain.KindRateLimited, Message: "a recipient gets at most 5 test mails in an hour"}
		}
		ids := pg.Pluck(recipients, func(int64) string { return uuid.Must(uuid.NewV7()).String() })
		mails, err = pg.SelectAll[domain.Mail](ctx, tx, queueTests, scope.Company, recipients, pq.StringArray(ids), at)
		if err != nil || len(mails) == 0 {
			return nil, err
		}
		return &domain.AuditEntry{
			Action: domain.AuditRecipientTest, SubjectType: "Company",
			Changes: []domain.AuditChange{audit.Names("recipientIds", pg.Pluck(recipients, pg.FormatInt))},
		}, nil
	})
	return mails, err
}

const unsuppressedRecipients = `
SELECT recipient_id FROM alert_recipients
WHERE company_id = $1 AND suppressed_since IS NULL
ORDER BY recipient_id`

// testable returns who gets a test mail.
func testable(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, id *int64) (ids pq.Int64Array, err error) {
	if id == nil {
		err := tx.SelectContext(ctx, &ids, unsuppressedRecipients, company)
		return ids, err
	}
	recipient, err := recipientKind.FindIn(ctx, tx, domain.Whole(company), *id)
	if err != nil {
		return nil, err
	}
	if recipient.SuppressedSince != nil {
		return nil, domain.Invalid("recipientId", "no mail goes to %q any more: %s", recipient.Email, *recipient.SuppressedReason)
	}
	return pq.Int64Array{*id}, nil
}

const mailsOfRecipients = `
SELECT m.*
FROM unnest($2::bigint[]) AS wanted(id)
CROSS JOIN LATERAL (
  SELECT ` + delivery.MailColumns + `
  FROM mails m
  WHERE m.company_id = $1 AND m.recipient_id = wanted.id
  ORDER BY m.created_at DESC, m.mail_id
  LIMIT $3 OFFSET $4
) m`

// Mails implements domain.Recipients.
func (r *Recipients) Mails(ctx context.Context, scope domain.Scope, ids []int64, page domain.Page) (map[int64][]*domain.Mail, error) {
	if err := r.Table.Check(scope); err != nil {
		return nil, err
	}
	rows, err := pg.SelectAll[domain.Mail](ctx, r.Pool, mailsOfRecipients, scope.Company, pq.Int64Array(ids), page.Limit, page.Offset)
	if err != nil {
		return nil, err
	}
	mails := make(map[int64][]*domain.Mail, len(ids))
	for _, row := range rows {
		mails[row.RecipientID] = append(mails[row.RecipientID], row)
	}
	return mails, nil
}
