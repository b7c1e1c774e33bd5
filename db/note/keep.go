package note

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/note"
)

// ExportNotes reads those of a company.
const ExportNotes = `
SELECT ` + noteColumns + `
FROM notes n
WHERE n.company_id = $1
ORDER BY n.note_id`

const (
	importedNote = `
SELECT ` + noteColumns + `
FROM notes n
WHERE n.company_id = $1 AND n.note_id = $2::uuid
FOR UPDATE`
	userOf = `SELECT coalesce((SELECT user_id FROM users WHERE company_id = $1 AND email = $2), 0)`
)

// Keep stores notes of a bundle. The owner is the user of the company who has the address.
func (s *Store) Keep(ctx context.Context, scope domain.Scope, all []*note.Note) (answers []domain.Imported, err error) {
	err = pg.Retry(ctx, func() error {
		answers = make([]domain.Imported, len(all))
		return audit.ChangeLocked(ctx, s.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
			count, err := pg.Count(ctx, tx, countNotes, scope.Company)
			if err != nil {
				return nil, err
			}
			for i, n := range all {
				if answers[i], err = s.keep(ctx, tx, scope, kept(*n), count); err != nil {
					return nil, err
				}
				if answers[i].Outcome == domain.Created {
					count++
				}
			}
			return audit.Import("notes", imported.TallyAnswers(answers)), nil
		})
	})
	return answers, err
}

func (s *Store) keep(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, n note.Note, count int) (domain.Imported, error) {
	owner, err := pg.Count(ctx, tx, userOf, scope.Company, n.Owner)
	if err != nil {
		return domain.Imported{}, err
	}
	n.OwnerID, n.ChangedAt = int64(owner), pg.Moment(s.now())
	rows, err := pg.SelectAll[Row](ctx, tx, importedNote, scope.Company, n.NoteID)
	if err != nil {
		return domain.Imported{}, err
	}
	if len(rows) == 0 {
		if count >= s.Most {
			return domain.Imported{Err: domain.Invalid("id", "a company keeps at most %d notes", s.Most)}, nil
		}
		return domain.Imported{Outcome: domain.Created}, write(ctx, tx, insertNote, scope, &n)
	}
	if before := rows[0].Read(); before.Owner == n.Owner && len(domain.Differences(before, &n, audited)) == 0 {
		return domain.Imported{Outcome: domain.Unchanged}, nil
	}
	return domain.Imported{Outcome: domain.Updated}, write(ctx, tx, writeNote, scope, &n)
}
