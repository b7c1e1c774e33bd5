// Package note keeps notes in PostgreSQL: see domain/note.
package note

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/note"
	"simgraph/domain/query"
)

// Store keeps notes in PostgreSQL.
type Store struct {
	kept.Owned[Row, note.Note, *Row]
	// Most is how many notes a company keeps.
	Most int
}

var _ note.Notes = (*Store)(nil)

// New returns the store on the pool; now is the clock.
func New(pool *sqlx.DB, now func() time.Time) *Store {
	return &Store{kept.Owned[Row, note.Note, *Row]{
		Store: kept.New(pool, now, kind), Made: made, RemoveSQL: removeNote,
		MayChange: func(scope domain.Scope, n note.Note) error { _, err := note.Edit{}.Apply(scope, n); return err },
	}, note.MaxNotes}
}

// kind is how notes are kept.
var kind = kept.Kind[string, Row, note.Note]{
	Type: "Note", Name: "note", Table: table, Shown: func(scope domain.Scope) []any { return []any{pg.GroupsOf(scope)} }, Lock: ` FOR UPDATE OF n`,
	Read: func(r *Row) (*note.Note, error) { return r.Read(), nil },
	ID:   func(n *note.Note) *string { return &n.NoteID }, Version: (*note.Note).Version, Audited: audited,
	About: func(n *note.Note) []string {
		if n.PhysicalID == nil {
			return nil
		}
		return []string{*n.PhysicalID}
	},
}

func made(n *note.Note) kept.Made {
	return kept.Made{OwnerID: &n.OwnerID, Owner: &n.Owner, CreatedAt: &n.CreatedAt, ChangedAt: &n.ChangedAt}
}

const (
	noteColumns = `n.note_id, n.text, n.starts_at, n.ends_at, n.group_id, n.physical_id, n.owner_id, n.owner, n.created_at, n.changed_at`
	// visibleNotes is the condition that a scope ($1, $2) shows the note n.
	visibleNotes = `n.company_id = $1 AND ($2::bigint[] IS NULL OR
  (n.group_id IS NULL OR n.group_id = ANY($2::bigint[])) AND (n.physical_id IS NULL OR EXISTS (
    SELECT FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = n.physical_id AND s.group_id = ANY($2::bigint[]))))`
	fromNotes = `
FROM notes n
WHERE ` + visibleNotes
	removeNote = `DELETE FROM notes WHERE company_id = $1 AND note_id = $2::uuid`
)

// Row is a note as its table has it.
type Row struct {
	note.Note
	keyset.Keyed
}

// Read returns the note.
func (r *Row) Read() *note.Note {
	r.StartsAt, r.CreatedAt, r.ChangedAt = r.StartsAt.UTC(), r.CreatedAt.UTC(), r.ChangedAt.UTC()
	if r.EndsAt != nil {
		r.EndsAt = new(r.EndsAt.UTC())
	}
	return &r.Note
}

// table is the list of note.Fields.
var table = keyset.Table{
	Key: query.Field{Name: "noteId", Type: query.Text}, Order: []query.Order{{Field: query.Field{Name: "startsAt", Type: query.Time}, Desc: true}},
	Select: noteColumns, From: fromNotes,
	Columns: map[string]keyset.Column{
		"noteId": {SQL: "n.note_id", UUID: true}, "text": {SQL: "n.text"}, "startsAt": {SQL: "n.starts_at"}, "endsAt": {SQL: "n.ends_at", Nullable: true},
		"groupId": {SQL: "n.group_id", Nullable: true}, "physicalId": {SQL: "n.physical_id", Nullable: true}, "owner": {SQL: "n.owner"}, "createdAt": {SQL: "n.created_at"}, "changedAt": {SQL: "n.changed_at"},
	},
}

const (
	countNotes = `SELECT count(*) FROM notes WHERE company_id = $1`
	insertNote = `
INSERT INTO notes (company_id, note_id, text, starts_at, ends_at, group_id, physical_id, owner_id, owner, changed_at, created_at)
VALUES ($1, $2::uuid, $3, $4, $5, $6, $7, $8, $9, $10, $10)`
	writeNote = `
UPDATE notes SET text = $3, starts_at = $4, ends_at = $5, group_id = $6, physical_id = $7, owner_id = $8, owner = $9, changed_at = $10
WHERE company_id = $1 AND note_id = $2::uuid`
)

// write runs insertNote or writeNote.
func write(ctx context.Context, tx *sqlx.Tx, sql string, scope domain.Scope, n *note.Note) error {
	_, err := pg.Affected(ctx, tx, sql, scope.Company, n.NoteID, n.Text, n.StartsAt, n.EndsAt, n.GroupID, n.PhysicalID, n.OwnerID, n.Owner, n.ChangedAt)
	return err
}

// moments is the note with its times as the database keeps them.
func moments(n note.Note) note.Note {
	n.StartsAt = pg.Moment(n.StartsAt)
	if n.EndsAt != nil {
		n.EndsAt = new(pg.Moment(*n.EndsAt))
	}
	return n
}

// audited are the fields of notes that the audit log keeps.
var audited = []domain.AuditField[note.Note]{
	{Name: "text", Text: func(n *note.Note) string { return n.Text }},
	{Name: "startsAt", Text: func(n *note.Note) string { return moment(&n.StartsAt) }},
	{Name: "endsAt", Text: func(n *note.Note) string { return moment(n.EndsAt) }},
	{Name: "groupId", Text: func(n *note.Note) string { return number(n.GroupID) }},
	{Name: "physicalId", Text: func(n *note.Note) string { return domain.OrEmpty(n.PhysicalID) }},
}

func moment(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return pg.FormatInt(*n)
}

// Create implements note.Notes.
func (s *Store) Create(ctx context.Context, scope domain.Scope, n note.Note) (*note.Note, error) {
	n, err := n.Checked()
	if err != nil {
		return nil, err
	}
	if err := n.MayPin(scope); err != nil {
		return nil, err
	}
	n = moments(n)
	return s.Owned.Create(ctx, scope, &n, func(tx *sqlx.Tx) error {
		count, err := pg.Count(ctx, tx, countNotes, scope.Company)
		if err != nil {
			return err
		}
		if count >= s.Most {
			return domain.Invalid("text", "a company keeps at most %d notes: delete some", s.Most)
		}
		return write(ctx, tx, insertNote, scope, &n)
	})
}

// Edit implements note.Notes.
func (s *Store) Edit(ctx context.Context, scope domain.Scope, id string, edit note.Edit) (*note.Note, error) {
	return s.Owned.Edit(ctx, scope, id, func(n note.Note) (note.Note, error) {
		after, err := edit.Apply(scope, n)
		return moments(after), err
	}, func(tx *sqlx.Tx, _, after *note.Note) error { return write(ctx, tx, writeNote, scope, after) })
}
