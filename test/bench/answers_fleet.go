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
	// smallCompanies adds companies of one subscriber each, with a tag, usage, a session and an
	// entry of the alert log.
	smallCompanies = `
WITH looked AS (
  INSERT INTO company_lookup (external_id) SELECT 'small ' || n FROM generate_series(1, $1::int) n RETURNING company_id, external_id
), companies AS (
  INSERT INTO companies (company_id, external_id, name) SELECT company_id, external_id, external_id FROM looked
), tariffs AS (
  INSERT INTO tariffs SELECT company_id, 'IoT', 100, 'GBP' FROM looked
), subscribers AS (
  INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
    expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
  SELECT company_id, 'cellular', 'only', 'only', '', '', o.code, 'IoT', '2026-01-01', '2030-01-01', 12, false, true, 'physical', false, false
  FROM looked, (SELECT min(code) AS code FROM operators) o
  RETURNING company_id, key
), tags AS (
  INSERT INTO subscriber_tags SELECT company_id, key, 'site' FROM subscribers
), memberships AS (
  INSERT INTO group_memberships SELECT company_id, key, '2026-01-01', NULL FROM subscribers
), periods AS (
  INSERT INTO subscriber_periods (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated)
  SELECT company_id, $2, key, 1000, 1000 FROM subscribers
), sessions AS (
  INSERT INTO sessions (company_id, identity, generation, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn, began_at, as_of, reported_at,
    interval_seconds, cause, mobile_originated, mobile_terminated, reports, booked, is_transferring, decreased, clock_off, apn, imei, rat_type, visited_network, cell)
  SELECT company_id, gen_random_uuid(), 0, key, 'pgw', '', 'only', 'only', '', '', $2, $2, $2, 0, '', 1000, 1000, 3, 3, false, false, false, '', '', '', '', '' FROM subscribers
)
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, period_start, period_end, threshold, usage, late, date_created)
SELECT company_id, 1, 'company', 'bench', 'lower', 1, key, $2, $2::timestamptz + interval '1 month', 1000, 2000, false, $2 FROM subscribers`
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
	isNew := errors.Is(err, sql.ErrNoRows)
	if isNew {
		err = a.makeFleet(ctx)
	}
	if err != nil {
		return err
	}
	year, month, _ := time.Now().UTC().Date()
	a.month.End = time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	a.month.Start = a.month.End.AddDate(0, -1, 0)
	if isNew && a.companies > 0 {
		if _, err := a.pool.ExecContext(ctx, smallCompanies, a.companies, a.month.Start); err != nil {
			return err
		}
		if _, err := a.pool.ExecContext(ctx, `ANALYZE`); err != nil {
			return err
		}
	}
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
