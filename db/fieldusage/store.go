package fieldusage

import (
	"context"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/retention"
)

const (
	// lockUses orders the flushes of all instances that add rows for a company.
	lockUses   = `SELECT pg_advisory_xact_lock(hashtextextended('field_uses', $1))`
	storedRows = `
SELECT u.client, u.version, u.operation, u.set_id FROM field_uses u
WHERE u.company_id = $1 AND u.day = $2::date`
	storeSets = `
INSERT INTO field_sets AS s (company_id, set_id, coordinates, last_day)
SELECT own.company_id, n.set_id, string_to_array(n.coordinates, ' '), $2::date
FROM companies own
CROSS JOIN unnest($3::text[], $4::text[]) AS n(set_id, coordinates)
WHERE own.company_id = $1
ORDER BY n.set_id
ON CONFLICT (company_id, set_id) DO UPDATE SET last_day = excluded.last_day
WHERE s.last_day < excluded.last_day`
	storeUses = `
INSERT INTO field_uses AS u (company_id, day, client, version, operation, set_id, uses)
SELECT own.company_id, $2::date, n.client, n.version, n.operation, n.set_id, n.uses
FROM companies own
CROSS JOIN unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[]) AS n(client, version, operation, set_id, uses)
WHERE own.company_id = $1
ORDER BY n.client, n.version, n.operation, n.set_id
ON CONFLICT (company_id, day, client, version, operation, set_id) DO UPDATE SET uses = u.uses + excluded.uses`
)

// dayText is a day as the statements take it.
func dayText(day int64) string { return time.Unix(day*daySeconds, 0).UTC().Format(time.DateOnly) }

// store adds what was counted in a day of a company. Where all of its rows are known it is
// one statement.
func (s *Store) store(ctx context.Context, company domain.CompanyID, day int64, batch map[key]*count) error {
	rows := usesOf(batch)
	known := true
	for _, u := range rows {
		known = known && s.stored[u.row]
	}
	if known {
		err := s.add(ctx, s.pool, company, day, rows)
		if err != nil {
			clear(s.stored) // the database may be another one, such as a standby that took over
		}
		return err
	}
	err := pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, lockUses, company); err != nil {
			return pg.Translate(err)
		}
		there, clients, err := s.read(ctx, tx, company, day)
		if err != nil {
			return err
		}
		rows = s.fold(usesOf(batch), there, clients) // InTx may try again
		if err := s.addSets(ctx, tx, company, day, rows); err != nil {
			return err
		}
		return s.add(ctx, tx, company, day, rows)
	})
	if err == nil {
		s.know(day, rows)
	}
	return err
}

// read returns the rows of a day that are stored, and how many each client has.
func (s *Store) read(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID, day int64) (map[row]bool, map[client]int, error) {
	type stored struct{ Client, Version, Operation, SetID string }
	there, clients := map[row]bool{}, map[client]int{}
	err := pg.EachRow(ctx, in, storedRows, []any{company, dayText(day)}, func(r stored) error {
		there[row{company, day, r.Client, r.Version, r.Operation, r.SetID}] = true
		if r.Client != domain.OtherClients || r.Operation != "" {
			clients[client{r.Client, r.Version}]++
		}
		return nil
	})
	return there, clients, err
}

// know remembers rows that are stored. Those of other days, and of too many companies, are
// forgotten: they are read again.
func (s *Store) know(day int64, rows []uses) {
	for of := range s.stored {
		if of.day < day || len(s.stored) > s.Held {
			delete(s.stored, of)
		}
	}
	for _, u := range rows {
		s.stored[u.row] = true
	}
}

// addSets stores the sets that the rows have, with the last day that uses them.
func (s *Store) addSets(ctx context.Context, in sqlx.ExecerContext, company domain.CompanyID, day int64, rows []uses) error {
	sets := map[string]bool{}
	var ids, coordinates []string
	for _, u := range rows {
		if !sets[u.setID] {
			sets[u.setID] = true
			ids, coordinates = append(ids, u.setID), append(coordinates, strings.Join(u.coordinates, " "))
		}
	}
	_, err := pg.Affected(ctx, in, storeSets, company, dayText(day), pg.Texts(ids), pg.Texts(coordinates))
	return err
}

func (s *Store) add(ctx context.Context, in sqlx.ExecerContext, company domain.CompanyID, day int64, rows []uses) error {
	texts := func(of func(uses) string) pq.StringArray { return pg.Texts(pg.Pluck(rows, of)) }
	_, err := pg.Affected(ctx, in, storeUses, company, dayText(day),
		texts(func(u uses) string { return u.client }), texts(func(u uses) string { return u.version }),
		texts(func(u uses) string { return u.operation }), texts(func(u uses) string { return u.setID }),
		pg.Numbers(pg.Pluck(rows, func(u uses) int64 { return u.n })))
	return err
}

const (
	prunableUses = `
SELECT DISTINCT u.company_id FROM field_uses u
WHERE ($1::bigint[] IS NULL OR u.company_id = ANY($1)) AND u.day < $2::date`
	pruneUses = `
DELETE FROM field_uses
WHERE company_id = $1 AND day = (SELECT min(f.day) FROM field_uses f WHERE f.company_id = $1) AND day < $2::date`
	pruneSets = `DELETE FROM field_sets WHERE company_id = $1 AND last_day < $2::date`
)

// Prune removes the counts of all companies that have expired, a day at a time, then the
// sets that none uses, and returns how many counts.
func (s *Store) Prune(ctx context.Context, expired retention.Expired) (int, error) {
	pruned, before := 0, expired.Before(retention.Fields).UTC().Format(time.DateOnly)
	err := companies.Try(ctx, s.pool, func(company domain.CompanyID) error {
		for {
			n, err := pg.Affected(ctx, s.pool, pruneUses, company, before)
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
			pruned += n
		}
		_, err := pg.Affected(ctx, s.pool, pruneSets, company, before)
		return err
	}, prunableUses, before)
	return pruned, err
}
