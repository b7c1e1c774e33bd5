package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"simgraph/db"
	"simgraph/db/access"
	"simgraph/db/usage"
	"simgraph/domain"
)

// The fleet of answers is that of the other measurements with more groups and
// tags, and somebody who may read all of it.
const (
	moreGroups = `INSERT INTO groups (company_id, group_id, name)
SELECT $1, n, 'Group ' || n FROM generate_series(201, $2::int) n`
	spread = `
UPDATE subscribers SET group_id = 1 + key % $2::int, nickname = 'Meter ' || key, imsi = '2341500' || lpad(key::text, 8, '0'), data_number = '4478' || lpad(key::text, 8, '0'),
  is_online = key % 3 = 0, connection_date = '2020-01-01'::timestamptz + key % 2000 * interval '1 day'
WHERE company_id = $1`
	regroup  = `UPDATE group_memberships m SET group_id = s.group_id FROM subscribers s WHERE m.company_id = $1 AND s.company_id = $1 AND s.key = m.subscriber_key`
	moreTags = `
INSERT INTO subscriber_tags
SELECT company_id, key, 'site ' || key % 100 + n * 100 FROM subscribers, generate_series(1, 2) n WHERE company_id = $1`
	reader = `
WITH found AS (
  INSERT INTO user_lookup (email, company_id) VALUES ('reader@bench.example', $1) RETURNING user_id, email
)
INSERT INTO users (company_id, user_id, email, permissions)
SELECT $1, user_id, email, $2::text[] FROM found`
	companyBefore = `SELECT company_id FROM company_lookup WHERE external_id = 'bench'`
)

// prepareFleet makes the fleet, unless an earlier run left one.
func (a *answers) prepareFleet(ctx context.Context) error {
	if err := db.Migrate(ctx, a.pool); err != nil {
		return err
	}
	// Statements that were prepared before the schema changed are refused once.
	a.pool.SetMaxIdleConns(0)
	a.pool.SetMaxIdleConns(8)
	err := a.pool.GetContext(ctx, &a.scope.Company, companyBefore)
	if errors.Is(err, sql.ErrNoRows) {
		err = a.makeFleet(ctx)
	}
	if err != nil {
		return err
	}
	year, month, _ := time.Now().UTC().Date()
	a.month.End = time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	a.month.Start = a.month.End.AddDate(0, -1, 0)
	if err := a.cpu.find(ctx, a.pool); err != nil {
		return err
	}
	access := access.New(a.pool)
	grant, err := access.Issue(ctx, a.scope, "reader@bench.example", 12*time.Hour)
	if err == nil {
		a.token = string(grant.Token)
	}
	return err
}

func (a *answers) makeFleet(ctx context.Context) error {
	if err := a.seed(ctx, a.pool, a.subscribers); err != nil {
		return err
	}
	company := a.scope.Company
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{moreGroups, []any{company, a.groups}},
		{spread, []any{company, a.groups}},
		{regroup, []any{company}},
		{moreTags, []any{company}},
		{reader, []any{company, permissions()}},
	} {
		if _, err := a.pool.ExecContext(ctx, step.sql, step.args...); err != nil {
			return err
		}
	}
	usage := usage.New(a.pool, nil, usage.Options{})
	return a.fill(ctx, usage, 0, a.records)
}

// permissions is the array of all permissions.
func permissions() string {
	text := "{"
	for i, p := range domain.AllPermissions() {
		if i > 0 {
			text += ","
		}
		text += string(p)
	}
	return text + "}"
}
