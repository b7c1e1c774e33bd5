package bundle

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/imported"
	"simgraph/db/question"
	"simgraph/domain"
)

// Questions implements domain.Importer.
func (i *Importer) Questions(ctx context.Context, scope domain.Scope, items []*domain.Question) ([]domain.Imported, error) {
	var verdicts map[string]string
	err := i.inCompany(ctx, scope, "questions", func(tx *sqlx.Tx) (_ map[domain.Outcome]int, err error) {
		verdicts, err = question.Import(ctx, tx, scope, items)
		return imported.Tally(verdicts, nil), err
	})
	if err != nil {
		return nil, err
	}
	return imported.Answer(items, verdicts, func(q *domain.Question) string { return q.QuestionID }, question.Refuse), nil
}
