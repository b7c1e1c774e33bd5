package db

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/domain"
)

// importTags locks the subscribers in the order of their keys, as the writers
// of single tags do.
const importTags = `
WITH named AS (
  SELECT s.key, s.physical_id FROM subscribers s
  WHERE s.company_id = $1 AND s.physical_id = ANY($2)
  ORDER BY s.key
  FOR NO KEY UPDATE
), line AS (
  SELECT l.physical_id, l.tag_name, n.key, CASE
    WHEN n.key IS NULL THEN 'subscriber'
    WHEN st.tag_name IS NULL THEN 'created'
    ELSE 'unchanged' END AS outcome
  FROM unnest($2::text[], $3::text[]) AS l(physical_id, tag_name)
  LEFT JOIN named n ON n.physical_id = l.physical_id
  LEFT JOIN subscriber_tags st ON st.company_id = $1 AND st.subscriber_key = n.key AND st.tag_name = l.tag_name
), written AS (
  INSERT INTO subscriber_tags (company_id, subscriber_key, tag_name)
  SELECT $1, key, tag_name FROM line WHERE outcome = 'created' ORDER BY key, tag_name
  ON CONFLICT DO NOTHING
)
SELECT physical_id || chr(31) || tag_name, outcome FROM line`

// Tags implements domain.Importer.
func (i *Importer) Tags(ctx context.Context, scope domain.Scope, items []domain.TagImport) ([]domain.Imported, error) {
	verdicts := make(map[string]string, len(items))
	err := i.inCompany(ctx, scope, func(tx *sqlx.Tx) error {
		return judge(ctx, tx, verdicts, importTags, scope.Company,
			pq.Array(pluck(items, func(t domain.TagImport) string { return t.PhysicalID })),
			pq.Array(pluck(items, func(t domain.TagImport) string { return string(t.TagName) })))
	})
	if err != nil {
		return nil, err
	}
	// Neither part can hold the control character.
	pair := func(t domain.TagImport) string { return t.PhysicalID + "\x1f" + string(t.TagName) }
	return answer(items, verdicts, pair, func(t domain.TagImport, _ string) *domain.Error {
		return domain.NotFound("physicalId", "subscriber", t.PhysicalID)
	}), nil
}
