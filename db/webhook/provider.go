package webhook

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/webhook"
)

const (
	providerOf   = `SELECT ` + webhookSelect + ` FROM webhooks w WHERE w.company_id = $1 AND w.is_provider`
	lockProvider = providerOf + ` FOR NO KEY UPDATE`
)

// FindProvider returns the endpoint that gets the commands of the company; nil without one.
func FindProvider(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID) (*webhook.Endpoint, error) {
	return provider(ctx, in, company, providerOf)
}

// LockProvider is FindProvider for a transaction that writes commands: one of these runs
// at a time, so that each sees which command of a subscriber is the next.
func LockProvider(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) (*webhook.Endpoint, error) {
	return provider(ctx, tx, company, lockProvider)
}

func provider(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID, sql string) (*webhook.Endpoint, error) {
	row, err := pg.GetOne[endpointRow](ctx, in, nil, sql, company)
	if err != nil || row == nil {
		return nil, err
	}
	return row.endpoint(), nil
}

const (
	insertProvider = `
INSERT INTO webhooks (company_id, webhook_id, user_id, name, url, format, event_types, alert_ids, group_ids, tag_names, secret, created_at, is_provider)
VALUES ($1, $2, $3, 'commands', $4, $5, ARRAY[$6], '{}', '{}', '{}', $7, $8, true)`
	writeProvider = `
UPDATE webhooks SET url = $3, disabled_at = NULL, disabled_reason = NULL, failing_since = NULL, paused_until = NULL
WHERE company_id = $1 AND webhook_id = $2`
)

// SetProvider makes the provider of the company or gives it the URL where that is not
// nil, enables it, and returns the secret where that is new.
func (s *Store) SetProvider(ctx context.Context, scope domain.Scope, url *string, rotate bool) (set *webhook.Endpoint, secret webhook.Secret, err error) {
	if url != nil {
		if err := s.Rules.CheckURL(*url); err != nil {
			return nil, nil, err
		}
	}
	err = s.retried(ctx, func(tx *sqlx.Tx) error {
		if _, err := companies.Lock(ctx, tx, scope.Company); err != nil {
			return err
		}
		before, err := LockProvider(ctx, tx, scope.Company)
		if err != nil {
			return err
		}
		var entry *domain.AuditEntry
		switch {
		case before != nil:
			entry, secret, err = s.editProvider(ctx, tx, scope, before, url, rotate)
		case url == nil:
			return domain.Invalid("url", "the company has no provider yet: a URL makes one")
		default:
			entry, secret, err = s.addProvider(ctx, tx, scope, *url)
		}
		if err != nil {
			return err
		}
		if set, err = FindProvider(ctx, tx, scope.Company); err != nil || entry == nil {
			return err
		}
		return audit.Record(ctx, tx, scope, *entry)
	})
	return set, secret, err
}

// retried runs do in a transaction again that others made fail.
func (s *Store) retried(ctx context.Context, do func(*sqlx.Tx) error) error {
	return pg.Retry(ctx, func() error { return pg.InTx(ctx, s.Pool, do) })
}

func (s *Store) addProvider(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, url string) (*domain.AuditEntry, webhook.Secret, error) {
	secret := webhook.NewSecret()
	var id int64
	if err := tx.GetContext(ctx, &id, newWebhook); err != nil {
		return nil, nil, err
	}
	sealed, err := s.seal(scope.Company, id, secret)
	if err != nil {
		return nil, nil, err
	}
	_, err = pg.Affected(ctx, tx, insertProvider, scope.Company, id, userOf(scope), url, webhook.CloudEvents, webhook.CommandRequested, sealed, s.Moment())
	return providerEntry(domain.AuditProviderSet, id, domain.Became("url", url)), secret, err
}

func (s *Store) editProvider(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, of *webhook.Endpoint, url *string, rotate bool) (
	*domain.AuditEntry, webhook.Secret, error,
) {
	if url == nil {
		url = &of.URL
	}
	changes := domain.Changed("url", of.URL, *url)
	if of.DisabledAt != nil {
		changes = append(changes, domain.Was("disabledReason", string(*of.DisabledReason)))
	}
	if _, err := pg.Affected(ctx, tx, writeProvider, scope.Company, of.WebhookID, *url); err != nil {
		return nil, nil, err
	}
	var secret webhook.Secret
	if rotate {
		secret = webhook.NewSecret()
		sealed, err := s.seal(scope.Company, of.WebhookID, secret)
		if err != nil {
			return nil, nil, err
		}
		if _, err := pg.Affected(ctx, tx, rotateSecret, scope.Company, of.WebhookID, sealed, s.Moment().Add(webhook.SecretOverlap)); err != nil {
			return nil, nil, err
		}
		changes = append(changes, domain.Became("secret", "rotated"))
	}
	if len(changes) == 0 {
		return nil, nil, nil
	}
	return providerEntry(domain.AuditProviderSet, of.WebhookID, changes...), secret, nil
}

// RemoveProvider removes the endpoint, which LockProvider locked, with its messages.
func RemoveProvider(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, of *webhook.Endpoint) error {
	if err := pg.Each(ctx, tx, []string{removeMessages, removeWebhook}, scope.Company, of.WebhookID); err != nil {
		return err
	}
	return audit.Record(ctx, tx, scope, *providerEntry(domain.AuditProviderRemove, of.WebhookID, domain.Was("url", of.URL)))
}

func providerEntry(action string, id int64, changes ...domain.AuditChange) *domain.AuditEntry {
	return audit.Entry(action, "CommandProvider", id, changes...)
}
