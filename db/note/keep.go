package note

import (
	"context"

	"github.com/jmoiron/sqlx"

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

const importedNote = `
SELECT ` + noteColumns + `
FROM notes n
WHERE n.company_id = $1 AND n.note_id = $2::uuid
FOR UPDATE`

// Keep stores notes of a bundle. The owner is the user of the company who has the address.
func (s *Store) Keep(ctx context.Context, scope domain.Scope, all []*note.Note) ([]domain.Imported, error) {
	count := 0
	return imported.Keep(ctx, s.Pool, scope, "notes", len(all), func(tx *sqlx.Tx, i int) (answer domain.Imported, err error) {
		if i == 0 {
			if count, err = pg.Count(ctx, tx, countNotes, scope.Company); err != nil {
				return answer, err
			}
		}
		if answer, err = s.keep(ctx, tx, scope, moments(*all[i]), count); answer.Outcome == domain.Created {
			count++
		}
		return answer, err
	})
}

func (s *Store) keep(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, n note.Note, count int) (domain.Imported, error) {
	owner, err := imported.Owner(ctx, tx, scope, n.Owner)
	if err != nil {
		return domain.Imported{}, err
	}
	n.OwnerID, n.ChangedAt = owner, s.Moment()
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
