// Package document keeps trusted documents: see domain/document.
package document

import (
	"context"
	"iter"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/document"
	"simgraph/domain/query"
)

// Options are what a Store needs beside its pool.
type Options struct {
	// Check reads a text by the schema.
	Check document.Check
	// CheckTool says why a document cannot be the tool that it has become.
	CheckTool document.CheckTool
	// MostTools is how many tools a company may have.
	MostTools int
	// Now is the clock.
	Now func() time.Time
	// Most is how many documents a company may have; document.MaxDocuments when 0.
	Most int
}

// Store keeps trusted documents in PostgreSQL.
type Store struct {
	pool *sqlx.DB
	Options
}

var _ document.Documents = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB, options Options) *Store {
	if options.Most == 0 {
		options.Most = document.MaxDocuments
	}
	return &Store{pool, options}
}

func wholeOnly(scope domain.Scope) error { return pg.WholeCompanyOnly(scope, "trusted documents") }

func noDocument(id string) error { return domain.NotFound("documentId", "trusted document", id) }

const (
	documentColumns = `d.document_id, d.name, d.kind, d.body AS text, d.cost, d.created_by, d.created_at, d.tool_name, d.tool_description`
	fromDocuments   = `
FROM trusted_documents d
WHERE d.company_id = $1`
	selectDocuments = `SELECT ` + documentColumns + fromDocuments
	findDocuments   = selectDocuments + ` AND d.document_id = ANY($2)`
	documentByID    = selectDocuments + ` AND d.document_id = $2`
	documentsAfter  = selectDocuments + ` AND d.document_id > $2 ORDER BY d.document_id LIMIT $3`
	countDocuments  = `SELECT count(*)` + fromDocuments
	toolsByName     = selectDocuments + ` AND d.tool_name <> '' ORDER BY d.tool_name`
	textByID        = `SELECT d.body` + fromDocuments + ` AND d.document_id = $2`
)

// table is the list of document.Fields.
var table = keyset.Table{
	Key: query.Field{Name: "documentId"}, Order: keyset.Newest("createdAt"), Select: documentColumns, From: fromDocuments, WholeOnly: "trusted documents",
	Columns: map[string]keyset.Column{
		"documentId": {SQL: "d.document_id"}, "name": {SQL: "d.name"}, "kind": {SQL: "d.kind"}, "isTool": {SQL: "(d.tool_name <> '')"},
		"createdBy": {SQL: "d.created_by"}, "createdAt": {SQL: "d.created_at"},
	},
}

type listed struct {
	document.Document
	keyset.Keyed
}

// List implements document.Documents.
func (s *Store) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*document.Document], error) {
	return keyset.Page(ctx, s.pool, table, scope, listing, func(r *listed) *document.Document { return &r.Document })
}

// Count implements document.Documents.
func (s *Store) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return table.Count(ctx, s.pool, scope, listing)
}

// FindMany implements document.Documents.
func (s *Store) FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*document.Document, error) {
	if err := wholeOnly(scope); err != nil {
		return nil, err
	}
	found, err := pg.SelectAll[document.Document](ctx, s.pool, findDocuments, scope.Company, pq.StringArray(ids))
	return pg.Keyed(found, func(of *document.Document) string { return of.DocumentID }), err
}

// Runs implements document.Documents.
func (s *Store) Runs(of *document.Document) error { return of.Runs(s.Check, s.CheckTool) }

// readAtOnce is how many documents All reads by one statement.
const readAtOnce = 100

// All implements document.Documents.
func (s *Store) All(ctx context.Context, scope domain.Scope) iter.Seq2[*document.Document, error] {
	return func(yield func(*document.Document, error) bool) {
		if err := wholeOnly(scope); err != nil {
			yield(nil, err)
			return
		}
		for after := ""; ; {
			read, err := pg.SelectAll[document.Document](ctx, s.pool, documentsAfter, scope.Company, after, readAtOnce)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, one := range read {
				if !yield(one, nil) {
					return
				}
				after = one.DocumentID
			}
			if len(read) < readAtOnce {
				return
			}
		}
	}
}

const (
	// lockDocuments orders those who add documents of a company, so that the bound holds.
	lockDocuments  = `SELECT pg_advisory_xact_lock(hashtextextended('trusted_documents', $1))`
	insertDocument = `
INSERT INTO trusted_documents (company_id, document_id, name, kind, body, cost, created_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
)

// Create implements document.Documents.
func (s *Store) Create(ctx context.Context, scope domain.Scope, text string) (added *document.Document, isNew bool, err error) {
	if err := wholeOnly(scope); err != nil {
		return nil, false, err
	}
	checked, err := s.check(text)
	if err != nil {
		return nil, false, err
	}
	made := &document.Document{
		DocumentID: document.IDOf(text), Name: checked.Name, Kind: checked.Kind, Text: text, Cost: int64(checked.Cost),
		CreatedBy: author(scope), CreatedAt: pg.Moment(s.Now()),
	}
	err = audit.Change(ctx, s.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		if added, isNew, err = s.insert(ctx, tx, scope, made); err != nil || !isNew {
			return nil, err
		}
		return entryOf(domain.AuditDocumentCreate, made, domain.Became("name", made.Name), domain.Became("kind", string(made.Kind))), nil
	})
	return added, isNew, err
}

func (s *Store) check(text string) (document.Checked, error) {
	if text == "" || len(text) > document.MaxText {
		return document.Checked{}, domain.Invalid("text", "a document has 1 to %d bytes, not %d", document.MaxText, len(text))
	}
	checked, err := s.Check(text)
	if err != nil {
		return checked, domain.Invalid("text", "%s", err)
	}
	return checked, nil
}

func (s *Store) insert(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, made *document.Document) (*document.Document, bool, error) {
	if _, err := tx.ExecContext(ctx, lockDocuments, scope.Company); err != nil {
		return nil, false, pg.Translate(err)
	}
	there, err := pg.SelectAll[document.Document](ctx, tx, documentByID, scope.Company, made.DocumentID)
	if err != nil {
		return nil, false, err
	}
	if len(there) > 0 {
		return there[0], false, nil
	}
	n, err := pg.Count(ctx, tx, countDocuments, scope.Company)
	if err != nil {
		return nil, false, err
	}
	if n >= s.Most {
		return nil, false, domain.Invalid("text", "there are %d documents already: remove some that no client sends", s.Most)
	}
	_, err = pg.Affected(ctx, tx, insertDocument, scope.Company, made.DocumentID, made.Name, made.Kind, made.Text, made.Cost, made.CreatedBy, made.CreatedAt)
	return made, true, err
}

func entryOf(action string, of *document.Document, changes ...domain.AuditChange) *domain.AuditEntry {
	return &domain.AuditEntry{Action: action, SubjectType: "TrustedDocument", SubjectID: of.DocumentID, Changes: changes}
}

// author names who acts.
func author(scope domain.Scope) string {
	if scope.Actor == nil {
		return ""
	}
	return scope.Actor.Name
}

// Tools implements document.Documents.
func (s *Store) Tools(ctx context.Context, company domain.CompanyID) ([]*document.Document, error) {
	return pg.SelectAll[document.Document](ctx, s.pool, toolsByName, company)
}

const setTool = `UPDATE trusted_documents SET tool_name = $3, tool_description = $4 WHERE company_id = $1 AND document_id = $2`

// EditTool implements document.Documents.
func (s *Store) EditTool(ctx context.Context, scope domain.Scope, id, name, description string) (*document.Document, error) {
	if scope.Company == domain.Installation {
		return nil, domain.Invalid("documentId", "a tool belongs to one company")
	}
	return s.editTool(ctx, scope, id, func(tx *sqlx.Tx, d *document.Document) error {
		checked, err := s.check(d.Text)
		if err != nil {
			return err
		}
		tool, err := d.NewTool(checked, name, description)
		if err != nil {
			return err
		}
		d.ToolName, d.ToolDescription = tool.Name, tool.Description
		if err := s.CheckTool(d); err != nil {
			return domain.Invalid("documentId", "no tool can be the document %s: %s", d.DocumentID, err)
		}
		return s.hasRoom(ctx, tx, scope, d)
	})
}

// hasRoom refuses a tool whose name another has, and one too many.
func (s *Store) hasRoom(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, d *document.Document) error {
	tools, err := pg.SelectAll[document.Document](ctx, tx, toolsByName, scope.Company)
	if err != nil {
		return err
	}
	others := 0
	for _, tool := range tools {
		if tool.DocumentID == d.DocumentID {
			continue
		}
		if others++; tool.ToolName == d.ToolName {
			return domain.Invalid("name", "the document %s is the tool %s already", tool.DocumentID, tool.ToolName)
		}
	}
	if others >= s.MostTools {
		return domain.Invalid("name", "the company has %d tools already, the most that a list for agents has room for: remove one by simgraph documents tool ID --remove", others)
	}
	return nil
}

// RemoveTool implements document.Documents.
func (s *Store) RemoveTool(ctx context.Context, scope domain.Scope, id string) (*document.Document, error) {
	return s.editTool(ctx, scope, id, func(_ *sqlx.Tx, d *document.Document) error {
		if d.ToolName == "" {
			return domain.Invalid("documentId", "the document %s is no tool", d.DocumentID)
		}
		d.ToolName, d.ToolDescription = "", ""
		return nil
	})
}

func (s *Store) editTool(ctx context.Context, scope domain.Scope, id string, edit func(*sqlx.Tx, *document.Document) error) (edited *document.Document, err error) {
	if err := wholeOnly(scope); err != nil {
		return nil, err
	}
	err = audit.Change(ctx, s.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		if _, err := tx.ExecContext(ctx, lockDocuments, scope.Company); err != nil {
			return nil, pg.Translate(err)
		}
		if edited, err = pg.GetOne[document.Document](ctx, tx, noDocument(id), documentByID+` FOR UPDATE`, scope.Company, id); err != nil {
			return nil, err
		}
		was := *edited
		if err := edit(tx, edited); err != nil {
			return nil, err
		}
		if *edited == was {
			return nil, nil
		}
		if _, err := pg.Affected(ctx, tx, setTool, scope.Company, id, edited.ToolName, edited.ToolDescription); err != nil {
			return nil, err
		}
		return entryOf(domain.AuditDocumentEdit, edited, append(domain.Changed("toolName", was.ToolName, edited.ToolName),
			domain.Changed("toolDescription", was.ToolDescription, edited.ToolDescription)...)...), nil
	})
	return edited, err
}

const removeDocument = `DELETE FROM trusted_documents WHERE company_id = $1 AND document_id = $2`

// Remove implements document.Documents.
func (s *Store) Remove(ctx context.Context, scope domain.Scope, id string) (removed *document.Document, err error) {
	if err := wholeOnly(scope); err != nil {
		return nil, err
	}
	err = audit.Change(ctx, s.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		if removed, err = pg.GetOne[document.Document](ctx, tx, noDocument(id), documentByID+` FOR UPDATE`, scope.Company, id); err != nil {
			return nil, err
		}
		if _, err := pg.Affected(ctx, tx, removeDocument, scope.Company, id); err != nil {
			return nil, err
		}
		return entryOf(domain.AuditDocumentDelete, removed, domain.Was("name", removed.Name)), nil
	})
	return removed, err
}

// Text implements document.Documents.
func (s *Store) Text(ctx context.Context, company domain.CompanyID, id string) (string, error) {
	for _, of := range []domain.CompanyID{company, domain.Installation} {
		found, err := pg.SelectAll[string](ctx, s.pool, textByID, of, id)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return *found[0], nil
		}
	}
	return "", nil
}
