package bundle

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/announce"
	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/db/upstream"
	"simgraph/domain"
)

const importTags = `
WITH line AS (
  SELECT l.physical_id, l.tag_name, s.key, CASE
    WHEN s.key IS NULL THEN 'subscriber'
    WHEN st.tag_name IS NULL THEN 'created'
    ELSE 'unchanged' END AS outcome
  FROM companies own
  CROSS JOIN unnest($2::text[], $3::text[]) AS l(physical_id, tag_name)
  LEFT JOIN subscribers s ON s.company_id = own.company_id AND s.physical_id = l.physical_id
  LEFT JOIN subscriber_tags st ON st.company_id = own.company_id AND st.subscriber_key = s.key AND st.tag_name = l.tag_name
  WHERE own.company_id = $1
), written AS (
  INSERT INTO subscriber_tags (company_id, subscriber_key, tag_name)
  SELECT own.company_id, l.key, l.tag_name
  FROM companies own
  CROSS JOIN line l
  WHERE own.company_id = $1 AND l.outcome = 'created'
  ORDER BY l.key, l.tag_name
  ON CONFLICT DO NOTHING
)
SELECT physical_id || chr(31) || tag_name, outcome FROM line`

// pairOf identifies an item; neither part can hold the control character.
func pairOf(t domain.TagImport) string { return t.PhysicalID + "\x1f" + string(t.TagName) }

// Tags implements domain.Importer.
func (i *Importer) Tags(ctx context.Context, scope domain.Scope, items []domain.TagImport) ([]domain.Imported, error) {
	verdicts := make(map[string]string, len(items))
	err := i.inCompany(ctx, scope, "tags", func(tx *sqlx.Tx) (map[domain.Outcome]int, error) {
		err := imported.Judge(ctx, tx, verdicts, importTags, scope.Company,
			pq.Array(pg.Pluck(items, func(t domain.TagImport) string { return t.PhysicalID })),
			pq.Array(pg.Pluck(items, func(t domain.TagImport) string { return string(t.TagName) })))
		if err != nil {
			return nil, err
		}
		var edits []upstream.LabelEdit
		for _, t := range items {
			if verdicts[pairOf(t)] == "created" {
				edits = append(edits, upstream.EditsOf(t.TagName, []string{t.PhysicalID}, true)...)
			}
		}
		if err := upstream.WriteThrough(ctx, tx, scope, edits); err != nil {
			return nil, err
		}
		if err := upstream.RestoreEdits(ctx, tx, scope, pg.Pluck(items, func(t domain.TagImport) string { return t.PhysicalID })); err != nil {
			return nil, err
		}
		return imported.Tally(verdicts, nil), announce.Changed(ctx, tx, scope.Company, imported.Changed(verdicts))
	})
	if err != nil {
		return nil, err
	}
	answers := imported.Answer(items, verdicts, pairOf, func(t domain.TagImport, _ string) *domain.Error {
		return domain.NotFound("physicalId", "subscriber", t.PhysicalID)
	})
	i.grown(ctx, "subscriber_tags", answers)
	return answers, nil
}
