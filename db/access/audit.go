package access

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
)

// scope is that of the key's user, from there.
func (r *keyRow) scope(from domain.Origin) domain.Scope {
	return domain.Whole(r.CompanyID).By(&domain.Actor{UserID: r.UserID, Name: r.Email, AccessKeyID: r.AccessKeyID, Origin: from})
}

func auditKey(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, action, id string, changes ...domain.AuditChange) error {
	return audit.Record(ctx, tx, scope, domain.AuditEntry{Action: action, SubjectType: "AccessKey", SubjectID: id, Changes: changes})
}

// keyChanges are the differences between what a key was and is called, and is limited to.
func keyChanges(before, after *domain.AccessKey) []domain.AuditChange {
	var changes []domain.AuditChange
	if before.DocumentsOnly != after.DocumentsOnly {
		changes = domain.Changed("isDocumentsOnly", strconv.FormatBool(before.DocumentsOnly), strconv.FormatBool(after.DocumentsOnly))
	}
	for _, of := range []struct{ field, before, after string }{{"name", before.Name, after.Name}, {"purpose", before.Purpose, after.Purpose}} {
		if of.before != of.after {
			changes = append(changes, domain.AuditChange{Field: of.field, Before: &of.before, After: &of.after})
		}
	}
	return changes
}

// grantChanges return for whom rights were granted, which, and until when.
func grantChanges(email string, scopes []domain.Permission, until time.Time) []domain.AuditChange {
	names := pg.Pluck(scopes, func(p domain.Permission) string { return string(p) })
	return []domain.AuditChange{
		domain.Became("userEmail", email), domain.Became("scopes", strings.Join(names, " ")),
		domain.Became("expiresAt", until.UTC().Format(time.RFC3339)),
	}
}
