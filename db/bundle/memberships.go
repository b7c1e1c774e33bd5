package bundle

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
)

// importMemberships takes 0 for no group.
const importMemberships = `
WITH line AS (
  SELECT l.physical_id, l.since, nullif(l.group_id, 0) AS group_id, s.key, CASE
    WHEN s.key IS NULL THEN 'subscriber'
    WHEN l.group_id <> 0 AND g.group_id IS NULL THEN 'group'
    WHEN l.since > $5 THEN 'future'
    WHEN m.since IS NULL THEN 'created'
    WHEN m.group_id IS DISTINCT FROM nullif(l.group_id, 0) THEN 'moved'
    ELSE 'unchanged' END AS outcome
  FROM companies own
  CROSS JOIN unnest($2::text[], $3::timestamptz[], $4::bigint[]) AS l(physical_id, since, group_id)
  LEFT JOIN subscribers s ON s.company_id = own.company_id AND s.physical_id = l.physical_id
  LEFT JOIN groups g ON g.company_id = own.company_id AND g.group_id = l.group_id
  LEFT JOIN group_memberships m ON m.company_id = own.company_id AND m.subscriber_key = s.key AND m.since = l.since
  WHERE own.company_id = $1
), written AS (
  INSERT INTO group_memberships (company_id, subscriber_key, since, group_id)
  SELECT own.company_id, l.key, l.since, l.group_id
  FROM companies own
  CROSS JOIN line l
  WHERE own.company_id = $1 AND l.outcome IN ('created', 'moved')
  ORDER BY l.key, l.since
  ON CONFLICT (company_id, subscriber_key, since) DO UPDATE SET group_id = excluded.group_id
)
SELECT physical_id || chr(31) || (extract(epoch FROM since) * 1000000)::bigint, outcome FROM line`

// Memberships implements domain.Importer.
func (i *Importer) Memberships(ctx context.Context, scope domain.Scope, items []domain.Membership) ([]domain.Imported, error) {
	var answers []domain.Imported
	err := i.inCompany(ctx, scope, "memberships", func(tx *sqlx.Tx) (map[domain.Outcome]int, error) {
		verdicts := make(map[string]string, len(items))
		err := imported.Judge(ctx, tx, verdicts, importMemberships, scope.Company,
			pq.Array(pg.Pluck(items, func(m domain.Membership) string { return m.PhysicalID })),
			pq.Array(pg.Pluck(items, func(m domain.Membership) string { return m.Since.Format(time.RFC3339Nano) })),
			pq.Array(pg.Pluck(items, func(m domain.Membership) int64 { return pg.OrZero(m.GroupID) })),
			i.now().Add(domain.ClockTolerance))
		if err != nil {
			return nil, err
		}
		pair := func(m domain.Membership) string { return m.PhysicalID + "\x1f" + pg.FormatInt(m.Since.UnixMicro()) }
		answers = imported.Answer(items, verdicts, pair, refuseMembership)
		return imported.TallyAnswers(answers), noteMemberships(ctx, tx, scope, items, answers)
	})
	return answers, err
}

// noteMemberships marks the usage since the memberships that changed.
func noteMemberships(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, items []domain.Membership, answers []domain.Imported) error {
	var moved []string
	var since []time.Time
	for n, m := range items {
		if outcome := answers[n].Outcome; outcome == domain.Created || outcome == domain.Updated {
			moved, since = append(moved, m.PhysicalID), append(since, m.Since)
		}
	}
	return usage.NoteMoves(ctx, tx, scope.Company, moved, since)
}

func refuseMembership(m domain.Membership, verdict string) *domain.Error {
	switch verdict {
	case "subscriber":
		return domain.NotFound("physicalId", "subscriber", m.PhysicalID)
	case "group":
		return domain.NotFound("groupId", "group", pg.FormatInt(pg.OrZero(m.GroupID)))
	case "future":
		return domain.Invalid("since", "since is in the future")
	}
	return imported.Unexpected(m, verdict)
}
