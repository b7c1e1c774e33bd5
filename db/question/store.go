// Package question keeps questions about usage in PostgreSQL.
package question

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/imported"
	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Store keeps questions about usage in PostgreSQL.
type Store struct {
	kept.Owned[Row, domain.Question, *Row]
	// Most is how many questions a user keeps; New sets domain.MaxQuestions.
	Most int
}

var _ domain.Questions = (*Store)(nil)

// New returns the store on the pool; now is the clock.
func New(pool *sqlx.DB, now func() time.Time) *Store {
	return &Store{kept.Owned[Row, domain.Question, *Row]{
		Store: kept.New(pool, now, questionKind), Made: made, RemoveSQL: removeQuestion,
		MayChange: func(scope domain.Scope, q domain.Question) error {
			_, err := domain.QuestionEdit{}.Apply(scope, q)
			return err
		},
	}, domain.MaxQuestions}
}

// questionKind is how questions are kept.
var questionKind = kept.Kind[string, Row, domain.Question]{
	Type: "Question", Name: "question", Table: questionsTable, Shown: visibleTo, Lock: ` FOR UPDATE OF q`,
	Read: func(r *Row) (*domain.Question, error) { return r.Question(), nil },
	ID:   func(q *domain.Question) *string { return &q.QuestionID }, Version: (*domain.Question).Version, Audited: auditedQuestion,
}

func made(q *domain.Question) kept.Made {
	return kept.Made{OwnerID: &q.OwnerID, Owner: &q.Owner, CreatedAt: &q.CreatedAt, ChangedAt: &q.ChangedAt}
}

const (
	questionColumns = `q.question_id, q.name, q.description, q.folder, q.owner_id, q.owner, q.is_shared, q.created_at, q.changed_at,
  q.version, q.measure, q.step AS interval, q.split, q.chart, q.span, q.first_day, q.last_day, q.compare, q.group_id, q.tag_name, q.physical_id`
	// visibleQuestions is the condition that a scope ($1, $2) of a user ($3) shows the question q.
	visibleQuestions = `q.company_id = $1 AND (q.owner_id = $3 AND $3 <> 0 OR q.is_shared AND ($2::bigint[] IS NULL OR
  (q.group_id IS NULL OR q.group_id = ANY($2::bigint[])) AND (q.physical_id IS NULL OR EXISTS (
    SELECT FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = q.physical_id AND s.group_id = ANY($2::bigint[])))))`
	fromQuestions = `
FROM questions q
WHERE ` + visibleQuestions
	removeQuestion = `DELETE FROM questions WHERE company_id = $1 AND question_id = $2::uuid`
)

// visibleTo are the parameters of visibleQuestions after the company.
func visibleTo(scope domain.Scope) []any { return []any{pg.GroupsOf(scope), scope.UserID()} }

// Row is a question as its table has it.
type Row struct {
	QuestionID, Name     string
	Description, Folder  *string
	OwnerID              int64
	Owner                string
	IsShared             bool
	CreatedAt, ChangedAt time.Time
	domain.QuestionDefinition
	keyset.Keyed
}

// Question is the question of the row.
func (r Row) Question() *domain.Question {
	return &domain.Question{
		QuestionID: r.QuestionID, Name: r.Name, Description: r.Description, Folder: r.Folder, IsShared: r.IsShared, Definition: r.QuestionDefinition,
		OwnerID: r.OwnerID, Owner: r.Owner, CreatedAt: r.CreatedAt.UTC(), ChangedAt: r.ChangedAt.UTC(),
	}
}

// questionsTable is the list of domain.QuestionFields.
var questionsTable = keyset.Table{
	Key: query.Field{Name: "questionId", Type: query.Text}, Order: []query.Order{{Field: query.Field{Name: "name", Type: query.Text}}},
	Select: questionColumns, From: fromQuestions,
	Columns: map[string]keyset.Column{
		"questionId": {SQL: "q.question_id", UUID: true}, "name": {SQL: "q.name"}, "folder": {SQL: "q.folder", Nullable: true}, "owner": {SQL: "q.owner"},
		"isShared": {SQL: "q.is_shared"}, "createdAt": {SQL: "q.created_at"}, "changedAt": {SQL: "q.changed_at"},
	},
}

const (
	countOwnQuestions = `SELECT count(*) FROM questions WHERE company_id = $1 AND owner_id = $2`
	insertQuestion    = `
INSERT INTO questions (company_id, question_id, owner_id, owner, created_at, changed_at, name, description, folder, is_shared,
  version, measure, step, split, chart, span, first_day, last_day, compare, group_id, tag_name, physical_id)
VALUES ($1, $2::uuid, $19, $20, $21, $21, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`
	writeQuestion = `
UPDATE questions SET name = $3, description = $4, folder = $5, is_shared = $6, version = $7, measure = $8, step = $9, split = $10, chart = $11,
  span = $12, first_day = $13, last_day = $14, compare = $15, group_id = $16, tag_name = $17, physical_id = $18, changed_at = $19
WHERE company_id = $1 AND question_id = $2::uuid`
)

// questionArgs are the parameters $1 to $18 of the statements that write a question.
func questionArgs(scope domain.Scope, of *domain.Question, more ...any) []any {
	d := &of.Definition
	return append([]any{
		scope.Company, of.QuestionID, of.Name, of.Description, of.Folder, of.IsShared,
		d.Version, d.Measure, d.Interval, d.Split, d.Chart, d.Span, d.FirstDay, d.LastDay, d.Compare, d.GroupID, d.TagName, d.PhysicalID,
	}, more...)
}

// auditedQuestion are the fields of questions that the audit log keeps.
var auditedQuestion = []domain.AuditField[domain.Question]{
	{Name: "name", Text: func(q *domain.Question) string { return q.Name }},
	{Name: "description", Text: func(q *domain.Question) string { return domain.OrEmpty(q.Description) }},
	{Name: "folder", Text: func(q *domain.Question) string { return domain.OrEmpty(q.Folder) }},
	{Name: "isShared", Text: func(q *domain.Question) string { return strconv.FormatBool(q.IsShared) }},
	{Name: "definition", Text: func(q *domain.Question) string { return q.Definition.String() }},
}

// Create implements domain.Questions.
func (q *Store) Create(ctx context.Context, scope domain.Scope, question domain.Question) (*domain.Question, error) {
	if err := question.Check(); err != nil {
		return nil, err
	}
	return q.Owned.Create(ctx, scope, &question, func(tx *sqlx.Tx) error {
		n, err := pg.Count(ctx, tx, countOwnQuestions, scope.Company, question.OwnerID)
		if err != nil {
			return err
		}
		if n >= q.Most {
			return domain.Invalid("name", "a user keeps at most %d questions: delete some", q.Most)
		}
		_, err = pg.Affected(ctx, tx, insertQuestion, questionArgs(scope, &question, question.OwnerID, question.Owner, question.CreatedAt)...)
		return err
	})
}

// Edit implements domain.Questions.
func (q *Store) Edit(ctx context.Context, scope domain.Scope, id string, edit domain.QuestionEdit) (*domain.Question, error) {
	return q.Owned.Edit(ctx, scope, id, func(before domain.Question) (domain.Question, error) { return edit.Apply(scope, before) },
		func(tx *sqlx.Tx, _, after *domain.Question) error {
			_, err := pg.Affected(ctx, tx, writeQuestion, questionArgs(scope, after, after.ChangedAt)...)
			return err
		})
}

// importQuestions stores questions as shared ones. The owner is the user of the company who
// has the address.
const importQuestions = `
WITH line AS (
  SELECT l.*, CASE
    WHEN q.question_id IS NULL THEN 'created'
    WHEN NOT q.is_shared THEN 'private'
    WHEN (q.name, q.description, q.folder, q.owner, q.version, q.measure, q.step, q.split, q.chart, q.span, q.first_day, q.last_day, q.compare, q.group_id, q.tag_name, q.physical_id)
      IS DISTINCT FROM (l.name, l.description, l.folder, l.owner, l.version, l.measure, l.step, l.split, l.chart, l.span, l.first_day, l.last_day, l.compare, l.group_id, l.tag_name, l.physical_id) THEN 'updated'
    ELSE 'unchanged' END AS outcome
  FROM companies own
  CROSS JOIN json_to_recordset($2::json) AS l(question_id uuid, name text, description text, folder text, owner text, version integer, measure text, step text, split text,
    chart text, span text, first_day text, last_day text, compare text, group_id bigint, tag_name text, physical_id text)
  LEFT JOIN questions q ON q.company_id = own.company_id AND q.question_id = l.question_id
  WHERE own.company_id = $1
), written AS (
  INSERT INTO questions (company_id, question_id, name, description, folder, owner_id, owner, is_shared, version, measure, step, split,
    chart, span, first_day, last_day, compare, group_id, tag_name, physical_id, created_at, changed_at)
  SELECT own.company_id, l.question_id, l.name, l.description, l.folder, coalesce(u.user_id, 0), l.owner, true, l.version, l.measure, l.step, l.split,
    l.chart, l.span, l.first_day, l.last_day, l.compare, l.group_id, l.tag_name, l.physical_id, $3, $3
  FROM companies own
  CROSS JOIN line l
  LEFT JOIN users u ON u.company_id = own.company_id AND u.email = l.owner
  WHERE own.company_id = $1 AND l.outcome IN ('created', 'updated')
  ORDER BY l.question_id
  ON CONFLICT (company_id, question_id) DO UPDATE SET name = excluded.name, description = excluded.description, folder = excluded.folder,
    owner_id = excluded.owner_id, owner = excluded.owner, version = excluded.version, measure = excluded.measure, step = excluded.step, split = excluded.split,
    chart = excluded.chart, span = excluded.span, first_day = excluded.first_day, last_day = excluded.last_day, compare = excluded.compare,
    group_id = excluded.group_id, tag_name = excluded.tag_name, physical_id = excluded.physical_id, changed_at = excluded.changed_at
)
SELECT question_id::text, outcome FROM line`

// importedQuestion is a question as importQuestions reads it.
type importedQuestion struct {
	QuestionID  string  `json:"question_id"`
	Name        string  `json:"name"`
	Description *string `json:"description"`
	Folder      *string `json:"folder"`
	Owner       string  `json:"owner"`
	Version     int     `json:"version"`
	Measure     string  `json:"measure"`
	Step        string  `json:"step"`
	Split       *string `json:"split"`
	Chart       string  `json:"chart"`
	Span        string  `json:"span"`
	FirstDay    *string `json:"first_day"`
	LastDay     *string `json:"last_day"`
	Compare     *string `json:"compare"`
	GroupID     *int64  `json:"group_id"`
	TagName     *string `json:"tag_name"`
	PhysicalID  *string `json:"physical_id"`
}

// Import stores questions of a bundle, and returns what became of each by its id.
func Import(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, items []*domain.Question) (map[string]string, error) {
	rows, err := json.Marshal(pg.Pluck(items, func(q *domain.Question) importedQuestion {
		d := &q.Definition
		return importedQuestion{
			q.QuestionID, q.Name, q.Description, q.Folder, q.Owner, d.Version, string(d.Measure), string(d.Interval), (*string)(d.Split), string(d.Chart), string(d.Span),
			d.FirstDay, d.LastDay, (*string)(d.Compare), d.GroupID, d.TagName, d.PhysicalID,
		}
	}))
	if err != nil {
		return nil, err
	}
	verdicts := map[string]string{}
	return verdicts, imported.Judge(ctx, tx, verdicts, importQuestions, scope.Company, string(rows), pg.Moment(time.Now()))
}

// Refuse says why a question was not stored.
func Refuse(*domain.Question, string) *domain.Error {
	return domain.Invalid("id", "its owner has made the question private")
}

// Export has the shared questions of a company as Rows.
const Export = `
SELECT ` + questionColumns + `
FROM questions q
WHERE q.company_id = $1 AND q.is_shared
ORDER BY q.question_id`
