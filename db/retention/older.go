package retention

import (
	"context"

	"github.com/lib/pq"

	"simgraph/db/companies"
	"simgraph/db/pg"
	rules "simgraph/domain/retention"
)

// CountedOlder bounds what Older counts on a node.
const CountedOlder = 1_000_000

const (
	olderEntries = `
SELECT count(*) FROM (
  SELECT 1 FROM audit_log l WHERE ($1::bigint[] IS NULL OR l.company_id = ANY($1)) AND l.at < $2 LIMIT $3) AS older`
	olderMails = `
SELECT count(*) FROM (
  SELECT 1 FROM mails m WHERE ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.state <> 'queued' AND m.created_at < $2 LIMIT $3) AS older`
	olderMessages = `
SELECT count(*) FROM (
  SELECT 1 FROM webhook_messages m WHERE ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.created_at < $2 LIMIT $3) AS older`
	olderCommands = `
SELECT count(*) FROM (
  SELECT 1 FROM commands c WHERE ($1::bigint[] IS NULL OR c.company_id = ANY($1)) AND c.changed_at < $2 LIMIT $3) AS older`
	olderFields = `
SELECT count(*) FROM (
  SELECT 1 FROM field_uses u WHERE ($1::bigint[] IS NULL OR u.company_id = ANY($1)) AND u.day < ($2::timestamptz AT TIME ZONE 'UTC')::date LIMIT $3) AS older`
	olderOperations = `
SELECT count(*) FROM (
  SELECT 1 FROM operations o WHERE ($1::bigint[] IS NULL OR o.company_id = ANY($1)) AND o.ended_at < $2 LIMIT $3) AS older`
)

var older = map[rules.Name][]string{
	rules.Audit: {olderEntries}, rules.Fields: {olderFields}, rules.Mails: {olderMails}, rules.Messages: {olderMessages, olderCommands}, rules.Operations: {olderOperations},
}

// Older returns how much of a kind there is that has expired, of all companies; what
// exceeds CountedOlder is counted in part.
func (s *Store) Older(ctx context.Context, name rules.Name, expired rules.Expired) (int, error) {
	n := 0
	err := companies.EachNode(ctx, s.pool, func(of pq.Int64Array) error {
		for _, sql := range older[name] {
			here, err := pg.Count(ctx, s.pool, sql, of, expired.Before(name), CountedOlder+1)
			if n += here; err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
