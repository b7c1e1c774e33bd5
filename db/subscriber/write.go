package subscriber

import (
	"context"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/announce"
	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/db/upstream"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
)

// importSubscribers looks up what the lines name, writes those lines that are
// sound and change something, and gives its verdict on every line. In the
// arrays, "" stands for a text that is null and 0 for no group. Rows that exist
// are locked in the order of their keys, as the writers of tags do. A change of
// the group, and a new fixed address, are only made where $25 says so. $26 are the keys
// of new rows: Citus takes no sequence in a statement that runs on the node of the company.
// Where $28 says so, nicknames of rows that exist stay.
const importSubscribers = `
WITH line AS (
  SELECT own.company_id, physical_id, kind, subscriber_id, nullif(data_number, '') AS data_number, imsi, nickname, operator_code, tariff_name,
    connection_date, expiry_date, contract_length, is_barred, is_active, nullif(terminate_date, '')::timestamptz AS terminate_date,
    nullif(group_id, 0) AS group_id, subscriber_type, is_transferring, is_online, nullif(eid, '') AS eid,
    nullif(smdp_provider, '') AS smdp_provider, nullif(parent, '') AS parent,
    CASE WHEN parent <> '' THEN is_enabled_on_parent END AS is_enabled_on_parent, key,
    nullif(fixed_ip_address, '') AS fixed_ip_address
  FROM companies own CROSS JOIN unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[],
    $12::timestamptz[], $13::integer[], $14::boolean[], $15::boolean[], $16::text[], $17::bigint[], $18::text[], $19::boolean[],
    $20::boolean[], $21::text[], $22::text[], $23::text[], $24::boolean[], $26::bigint[], $27::text[])
  AS l(physical_id, kind, subscriber_id, data_number, imsi, nickname, operator_code, tariff_name, connection_date,
    expiry_date, contract_length, is_barred, is_active, terminate_date, group_id, subscriber_type, is_transferring,
    is_online, eid, smdp_provider, parent, is_enabled_on_parent, key, fixed_ip_address)
  WHERE own.company_id = $1
), checked AS (
  SELECT l.*, p.key AS parent_key, old.key AS old_key, CASE
    WHEN o.code IS NULL THEN 'operator'
    WHEN t.name IS NULL THEN 'tariff'
    WHEN l.group_id IS NOT NULL AND g.group_id IS NULL THEN 'group'
    WHEN l.parent IS NOT NULL AND p.key IS NULL THEN 'parent'
    WHEN p.parent_key IS NOT NULL THEN 'parent is a profile'
    WHEN l.parent IS NOT NULL AND EXISTS (
      SELECT FROM subscribers child WHERE child.company_id = $1 AND child.parent_key = old.key) THEN 'has profiles'
    WHEN NOT $25 AND l.fixed_ip_address IS DISTINCT FROM old.fixed_ip_address AND l.fixed_ip_address IS NOT NULL THEN 'postponed'
    WHEN l.fixed_ip_address IS NOT NULL AND (row_number() OVER (
        PARTITION BY l.fixed_ip_address ORDER BY old.fixed_ip_address IS NOT DISTINCT FROM l.fixed_ip_address DESC, l.physical_id) > 1 OR EXISTS (
      SELECT FROM subscribers other
      WHERE other.company_id = $1 AND other.fixed_ip_address = l.fixed_ip_address AND other.physical_id <> l.physical_id)) THEN 'address'
    WHEN old.key IS NULL THEN 'created'
    WHEN old.group_id IS DISTINCT FROM l.group_id THEN CASE WHEN $25 THEN 'moved' ELSE 'postponed' END
    WHEN (old.kind, old.subscriber_id, old.data_number, old.imsi, old.nickname, old.operator_code, old.tariff_name,
      old.connection_date, old.expiry_date, old.contract_length, old.is_barred, old.is_active, old.terminate_date,
      old.subscriber_type, old.is_transferring, old.is_online, old.eid, old.smdp_provider, old.parent_key, old.is_enabled_on_parent,
      old.fixed_ip_address)
      IS DISTINCT FROM (l.kind, l.subscriber_id, l.data_number, l.imsi, l.nickname, l.operator_code, l.tariff_name,
      l.connection_date, l.expiry_date, l.contract_length, l.is_barred, l.is_active, l.terminate_date,
      l.subscriber_type, CASE WHEN old.has_feed THEN old.is_transferring ELSE l.is_transferring END,
      CASE WHEN old.has_feed THEN old.is_online ELSE l.is_online END, l.eid, l.smdp_provider, p.key, l.is_enabled_on_parent,
      l.fixed_ip_address) THEN 'updated'
    ELSE 'unchanged' END AS outcome
  FROM line l
  LEFT JOIN operators o ON o.code = l.operator_code
  LEFT JOIN tariffs t ON t.company_id = l.company_id AND t.name = l.tariff_name
  LEFT JOIN groups g ON g.company_id = l.company_id AND g.group_id = l.group_id
  LEFT JOIN subscribers p ON p.company_id = l.company_id AND p.physical_id = l.parent
  LEFT JOIN subscribers old ON old.company_id = l.company_id AND old.physical_id = l.physical_id
), written AS (
  INSERT INTO subscribers (company_id, key, kind, physical_id, subscriber_id, data_number, imsi, nickname, operator_code, tariff_name,
    connection_date, expiry_date, contract_length, is_barred, is_active, terminate_date, group_id, subscriber_type,
    is_transferring, is_online, eid, smdp_provider, parent_key, is_enabled_on_parent, fixed_ip_address)
  SELECT own.company_id, key, kind, physical_id, subscriber_id, data_number, imsi, nickname, operator_code, tariff_name,
    connection_date, expiry_date, contract_length, is_barred, is_active, terminate_date, group_id, subscriber_type,
    is_transferring, is_online, eid, smdp_provider, parent_key, is_enabled_on_parent, fixed_ip_address
  FROM companies own
  CROSS JOIN checked
  WHERE own.company_id = $1 AND outcome IN ('created', 'updated', 'moved')
  ORDER BY old_key, physical_id
  ON CONFLICT (company_id, physical_id) DO UPDATE SET kind = excluded.kind, subscriber_id = excluded.subscriber_id,
    data_number = excluded.data_number, imsi = excluded.imsi, nickname = CASE WHEN $28 THEN subscribers.nickname ELSE excluded.nickname END,
    operator_code = excluded.operator_code, tariff_name = excluded.tariff_name, connection_date = excluded.connection_date,
    expiry_date = excluded.expiry_date, contract_length = excluded.contract_length, is_barred = excluded.is_barred,
    is_active = excluded.is_active, terminate_date = excluded.terminate_date, group_id = excluded.group_id,
    subscriber_type = excluded.subscriber_type,
    is_transferring = CASE WHEN subscribers.has_feed THEN subscribers.is_transferring ELSE excluded.is_transferring END,
    is_online = CASE WHEN subscribers.has_feed THEN subscribers.is_online ELSE excluded.is_online END,
    eid = excluded.eid, smdp_provider = excluded.smdp_provider, parent_key = excluded.parent_key,
    is_enabled_on_parent = excluded.is_enabled_on_parent, fixed_ip_address = excluded.fixed_ip_address
  RETURNING key, physical_id, group_id
), moved AS (
  INSERT INTO group_memberships (company_id, subscriber_key, since, group_id)
  SELECT own.company_id, w.key, $2, w.group_id
  FROM companies own
  CROSS JOIN written w
  JOIN checked c ON c.physical_id = w.physical_id
  WHERE own.company_id = $1 AND c.outcome IN ('created', 'moved')
  ON CONFLICT (company_id, subscriber_key, since) DO UPDATE SET group_id = excluded.group_id
)
SELECT physical_id, outcome FROM checked`

// Written notes the moves among subscribers that were written, evaluates the alerts of
// their new groups and announces the changes.
func Written(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, now time.Time, found map[string]string) error {
	if err := Moved(ctx, tx, scope.Company, imported.Moved(found), now); err != nil {
		return err
	}
	return announce.Changed(ctx, tx, scope.Company, imported.Changed(found))
}

// Moved is for the transaction, under the lock of the company, that put subscribers
// into other groups: their usage from then on counts for these, and alerts on the
// members of these may fire.
func Moved(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, physicalIDs []string, at time.Time) error {
	if err := usage.NoteMoves(ctx, tx, company, physicalIDs, slices.Repeat([]time.Time{at}, len(physicalIDs))); err != nil {
		return err
	}
	return volume.FireMoved(ctx, tx, company, physicalIDs, at)
}

// Save writes a checked record in a transaction under the lock of the
// company, by the rules of an import, but for the audit log.
func Save(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, s *domain.Subscriber, now time.Time) error {
	found := map[string]string{}
	if err := Write(ctx, tx, scope, now, []*domain.Subscriber{s}, true, found); err != nil {
		return err
	}
	if outcome := found[s.PhysicalID]; imported.Outcomes[outcome] == 0 {
		return Refuse(s, outcome)
	}
	return Written(ctx, tx, scope, now, found)
}

const newSubscriberKeys = `SELECT nextval(pg_get_serial_sequence('subscribers', 'key')) FROM generate_series(1, $1::int)`

// Write writes items that are no parents of each other, and adds the
// verdicts on them to found.
func Write(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, now time.Time, items []*domain.Subscriber, movesToo bool, found map[string]string) error {
	var keys pq.Int64Array
	if err := tx.SelectContext(ctx, &keys, newSubscriberKeys, len(items)); err != nil {
		return err
	}
	edits, err := upstream.Renamed(ctx, tx, scope, items)
	if err != nil {
		return err
	}
	isKept, err := upstream.KeepsNicknames(ctx, tx, scope)
	if err != nil {
		return err
	}
	addresses := pq.StringArray(pg.Pluck(items, func(s *domain.Subscriber) string { return pg.OrZero(s.FixedIPAddress) }))
	if err := imported.Judge(ctx, tx, found, importSubscribers, append(subscriberArrays(scope, now, items, movesToo), keys, addresses, isKept)...); err != nil {
		return err
	}
	edits = slices.DeleteFunc(edits, func(e upstream.LabelEdit) bool { return imported.Outcomes[found[e.PhysicalID]] != domain.Updated })
	if err := upstream.WriteThrough(ctx, tx, scope, edits); err != nil {
		return err
	}
	return upstream.RestoreEdits(ctx, tx, scope, pg.Pluck(items, func(s *domain.Subscriber) string { return s.PhysicalID }))
}

func subscriberArrays(scope domain.Scope, now time.Time, items []*domain.Subscriber, movesToo bool) []any {
	texts := func(field func(*domain.Subscriber) string) any { return pq.StringArray(pg.Pluck(items, field)) }
	flags := func(field func(*domain.Subscriber) bool) any { return pq.BoolArray(pg.Pluck(items, field)) }
	numbers := func(field func(*domain.Subscriber) int64) any { return pq.Int64Array(pg.Pluck(items, field)) }
	return []any{
		scope.Company, now,
		texts(func(s *domain.Subscriber) string { return s.PhysicalID }),
		texts(func(s *domain.Subscriber) string { return string(s.Kind) }),
		texts(func(s *domain.Subscriber) string { return s.SubscriberID }),
		texts(func(s *domain.Subscriber) string { return pg.OrZero(s.DataNumber) }),
		texts(func(s *domain.Subscriber) string { return s.IMSI }),
		texts(func(s *domain.Subscriber) string { return s.Nickname }),
		texts(func(s *domain.Subscriber) string { return s.OperatorCode }),
		texts(func(s *domain.Subscriber) string { return pg.OrZero(s.TariffName) }),
		texts(func(s *domain.Subscriber) string { return timeText(s.ConnectionDate) }),
		texts(func(s *domain.Subscriber) string { return timeText(s.ExpiryDate) }),
		numbers(func(s *domain.Subscriber) int64 { return int64(pg.OrZero(s.ContractLength)) }),
		flags(func(s *domain.Subscriber) bool { return s.IsBarred }),
		flags(func(s *domain.Subscriber) bool { return s.IsActive }),
		texts(func(s *domain.Subscriber) string {
			if s.TerminateDate == nil {
				return ""
			}
			return timeText(*s.TerminateDate)
		}),
		numbers(func(s *domain.Subscriber) int64 { return pg.OrZero(s.GroupID) }),
		texts(func(s *domain.Subscriber) string { return string(s.SubscriberType) }),
		flags(func(s *domain.Subscriber) bool { return s.IsTransferring }),
		flags(func(s *domain.Subscriber) bool { return s.IsOnline }),
		texts(func(s *domain.Subscriber) string { return pg.OrZero(s.EID) }),
		texts(func(s *domain.Subscriber) string { return pg.OrZero(s.SMDPProvider) }),
		texts(func(s *domain.Subscriber) string { return pg.OrZero(s.ParentPhysicalID) }),
		flags(func(s *domain.Subscriber) bool { return pg.OrZero(s.IsEnabledOnParent) }),
		movesToo,
	}
}

// timeText writes a time in UTC: PostgreSQL refuses offsets of sixteen hours and more.
// It has microseconds, and rounds what is finer, into the year 10000 too.
func timeText(t time.Time) string {
	return pg.Moment(t).Format(time.RFC3339Nano)
}

// Refuse says why a subscriber was not written, by the verdict of the statement.
func Refuse(s *domain.Subscriber, verdict string) *domain.Error {
	switch verdict {
	case "operator":
		return domain.NotFound("operatorCode", "operator", s.OperatorCode)
	case "tariff":
		return domain.NotFound("tariffName", "tariff", pg.OrZero(s.TariffName))
	case "group":
		return domain.NotFound("groupId", "group", pg.FormatInt(pg.OrZero(s.GroupID)))
	case "address":
		return domain.Invalid("fixedIpAddress", "another subscriber of the company has the fixed address %s", pg.OrZero(s.FixedIPAddress))
	case "parent":
		return domain.NotFound("parent", "subscriber", pg.OrZero(s.ParentPhysicalID))
	case "parent is a profile":
		return domain.Invalid("parent", "%q cannot be the parent: it is itself a profile", pg.OrZero(s.ParentPhysicalID))
	case "has profiles":
		return domain.Invalid("parent", "%q cannot have a parent: it has profiles of its own", s.PhysicalID)
	}
	return imported.Unexpected(s, verdict)
}
