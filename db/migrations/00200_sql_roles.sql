-- +goose Up

-- Logins of PostgreSQL for business tools, each of a company. Their passwords are known to
-- PostgreSQL alone.
CREATE TABLE sql_roles (
  company_id         bigint NOT NULL,
  name               text COLLATE "C" NOT NULL,
  -- The role has another number on another server: what was restored there gives no rights.
  role_oid           oid NOT NULL,
  -- NULL stands for the whole company.
  group_ids          bigint[],
  -- Whether it sees the tariffs that groups hide.
  sees_tariffs       boolean NOT NULL,
  -- The longest that a statement may run; transactions may take twice as long.
  statement_seconds  integer NOT NULL,
  connections        integer NOT NULL,
  created_at         timestamptz NOT NULL,
  PRIMARY KEY (company_id, name)
);
SELECT simgraph_distribute('sql_roles');

-- Of a database that was emptied by DROP SCHEMA public CASCADE these are left, with nothing in them.
DROP SCHEMA IF EXISTS analyst, analyst_login;

-- The company of who has logged in: session_user stays as it is, whatever SET ROLE and settings say.
CREATE SCHEMA analyst_login;
CREATE VIEW analyst_login.session AS
SELECT r.company_id, r.group_ids, r.sees_tariffs
FROM sql_roles r
WHERE r.name = session_user AND r.role_oid = (SELECT a.oid FROM pg_roles a WHERE a.rolname = session_user);

-- What SQL roles read. The functions here are those of PostgreSQL, since a view calls functions by
-- the rights of who reads it.
CREATE SCHEMA analyst;

CREATE VIEW analyst.company WITH (security_barrier) AS
SELECT c.external_id AS company, c.name, c.time_zone, c.billing_day, c.country_code AS country, r.group_ids
FROM analyst_login.session r
JOIN companies c ON c.company_id = r.company_id;
COMMENT ON VIEW analyst.company IS 'The company of the role, one row: what its days and billing periods follow.';
COMMENT ON COLUMN analyst.company.company IS 'the identifier that commands use';
COMMENT ON COLUMN analyst.company.name IS 'the name';
COMMENT ON COLUMN analyst.company.time_zone IS 'the IANA time zone of days and billing periods';
COMMENT ON COLUMN analyst.company.billing_day IS 'the day of the month on which a billing period begins';
COMMENT ON COLUMN analyst.company.country IS 'the ISO 3166-1 code of national numbers; empty for none';
COMMENT ON COLUMN analyst.company.group_ids IS 'the groups that the role sees; null for the whole company';

CREATE VIEW analyst.subscribers WITH (security_barrier) AS
SELECT s.physical_id, s.subscriber_id, s.kind, s.subscriber_type, s.nickname, s.data_number, s.imsi, s.fixed_ip_address,
  s.operator_code, o.name AS operator_name, s.group_id, g.name AS group_name,
  CASE WHEN t.shown THEN s.tariff_name END AS tariff_name, CASE WHEN t.shown THEN f.line_rental END AS line_rental,
  CASE WHEN t.shown THEN f.currency END AS currency, CASE WHEN t.shown THEN s.contract_length END AS contract_length,
  s.connection_date, s.expiry_date, s.terminate_date, s.is_active, s.is_barred, s.is_online, s.is_transferring,
  s.eid, s.smdp_provider, seen.last_seen_at
FROM analyst_login.session r
JOIN subscribers s ON s.company_id = r.company_id AND (r.group_ids IS NULL OR s.group_id = ANY(r.group_ids))
LEFT JOIN operators o ON o.code = s.operator_code
LEFT JOIN groups g ON g.company_id = s.company_id AND g.group_id = s.group_id
LEFT JOIN tariffs f ON f.company_id = s.company_id AND f.name = s.tariff_name
LEFT JOIN subscriber_seen seen ON seen.company_id = s.company_id AND seen.subscriber_key = s.key
CROSS JOIN LATERAL (SELECT r.sees_tariffs OR g.hide_tariff_details IS NOT TRUE AS shown) t;
COMMENT ON VIEW analyst.subscribers IS 'Subscribers, also those that are not active any more.';
COMMENT ON COLUMN analyst.subscribers.physical_id IS 'the ICCID or other identifier of the device';
COMMENT ON COLUMN analyst.subscribers.subscriber_id IS 'the MSISDN or other number of the contract';
COMMENT ON COLUMN analyst.subscribers.kind IS 'cellular, nonip, satellite or another kind of device';
COMMENT ON COLUMN analyst.subscribers.subscriber_type IS 'physical or virtual';
COMMENT ON COLUMN analyst.subscribers.nickname IS 'the name that people gave';
COMMENT ON COLUMN analyst.subscribers.data_number IS 'the data number; null for none';
COMMENT ON COLUMN analyst.subscribers.imsi IS 'the IMSI';
COMMENT ON COLUMN analyst.subscribers.fixed_ip_address IS 'the fixed IP address; null for none';
COMMENT ON COLUMN analyst.subscribers.operator_code IS 'the code of the operator';
COMMENT ON COLUMN analyst.subscribers.operator_name IS 'the name of the operator';
COMMENT ON COLUMN analyst.subscribers.group_id IS 'the number of the group now; null for none';
COMMENT ON COLUMN analyst.subscribers.group_name IS 'the name of that group';
COMMENT ON COLUMN analyst.subscribers.tariff_name IS 'the tariff; null where it is hidden';
COMMENT ON COLUMN analyst.subscribers.line_rental IS 'the price a month in hundredths of the currency; null where it is hidden';
COMMENT ON COLUMN analyst.subscribers.currency IS 'the ISO 4217 code of the price; null where it is hidden';
COMMENT ON COLUMN analyst.subscribers.contract_length IS 'months; null where it is hidden';
COMMENT ON COLUMN analyst.subscribers.connection_date IS 'when the contract began';
COMMENT ON COLUMN analyst.subscribers.expiry_date IS 'when the contract can end';
COMMENT ON COLUMN analyst.subscribers.terminate_date IS 'when the contract ended; null while it runs';
COMMENT ON COLUMN analyst.subscribers.is_active IS 'whether the contract runs';
COMMENT ON COLUMN analyst.subscribers.is_barred IS 'whether it is barred';
COMMENT ON COLUMN analyst.subscribers.is_online IS 'whether the network knows it as attached';
COMMENT ON COLUMN analyst.subscribers.is_transferring IS 'whether it has a session';
COMMENT ON COLUMN analyst.subscribers.eid IS 'the EID of an eUICC; null for none';
COMMENT ON COLUMN analyst.subscribers.smdp_provider IS 'the SM-DP+ of a profile; null for none';
COMMENT ON COLUMN analyst.subscribers.last_seen_at IS 'the newest sign of life; null for none';

CREATE VIEW analyst.groups WITH (security_barrier) AS
SELECT g.group_id, g.name, g.hide_tariff_details AS is_tariff_hidden
FROM analyst_login.session r
JOIN groups g ON g.company_id = r.company_id AND (r.group_ids IS NULL OR g.group_id = ANY(r.group_ids));
COMMENT ON VIEW analyst.groups IS 'Groups of subscribers.';
COMMENT ON COLUMN analyst.groups.group_id IS 'the number of the group';
COMMENT ON COLUMN analyst.groups.name IS 'the name';
COMMENT ON COLUMN analyst.groups.is_tariff_hidden IS 'whether tariffs of its subscribers are hidden from its users';

CREATE VIEW analyst.tags WITH (security_barrier) AS
SELECT t.tag_name, count(*) AS subscribers
FROM analyst_login.session r
JOIN subscriber_tags t ON t.company_id = r.company_id
JOIN subscribers s ON s.company_id = t.company_id AND s.key = t.subscriber_key
WHERE r.group_ids IS NULL OR s.group_id = ANY(r.group_ids)
GROUP BY t.tag_name;
COMMENT ON VIEW analyst.tags IS 'Tags, with how many subscribers carry each.';
COMMENT ON COLUMN analyst.tags.tag_name IS 'the tag';
COMMENT ON COLUMN analyst.tags.subscribers IS 'how many subscribers carry it';

CREATE VIEW analyst.subscriber_tags WITH (security_barrier) AS
SELECT s.physical_id, t.tag_name
FROM analyst_login.session r
JOIN subscriber_tags t ON t.company_id = r.company_id
JOIN subscribers s ON s.company_id = t.company_id AND s.key = t.subscriber_key
WHERE r.group_ids IS NULL OR s.group_id = ANY(r.group_ids);
COMMENT ON VIEW analyst.subscriber_tags IS 'Which subscriber carries which tag.';
COMMENT ON COLUMN analyst.subscriber_tags.physical_id IS 'the ICCID or other identifier of the device';
COMMENT ON COLUMN analyst.subscriber_tags.tag_name IS 'the tag';

CREATE VIEW analyst.usage_by_hour WITH (security_barrier) AS
SELECT d.day, (d.day + make_interval(hours => (c.slot % 24)::integer)) AT TIME ZONE 'UTC' AS hour, s.physical_id, nullif(d.group_id, 0) AS group_id, p.name AS protocol,
  c.mobile_originated, c.mobile_terminated, c.sessions
FROM analyst_login.session r
JOIN subscriber_days d ON d.company_id = r.company_id
JOIN subscribers s ON s.company_id = d.company_id AND s.key = d.subscriber_key
CROSS JOIN LATERAL (
  SELECT d.cells[i] AS slot, sum(d.cells[i + 1])::bigint AS mobile_originated, sum(d.cells[i + 2])::bigint AS mobile_terminated, sum(d.cells[i + 4])::bigint AS sessions
  FROM generate_series(1, cardinality(d.cells), 5) AS i
  GROUP BY d.cells[i]
) c
LEFT JOIN usage_protocols p ON p.company_id = d.company_id AND p.protocol_id = c.slot / 24
WHERE r.group_ids IS NULL OR s.group_id = ANY(r.group_ids);
COMMENT ON VIEW analyst.usage_by_hour IS 'Usage of a subscriber by UTC hour and protocol. Say the days that you want: they are read by an index.';
COMMENT ON COLUMN analyst.usage_by_hour.day IS 'the UTC day';
COMMENT ON COLUMN analyst.usage_by_hour.hour IS 'the UTC hour in which the usage began';
COMMENT ON COLUMN analyst.usage_by_hour.physical_id IS 'the ICCID or other identifier of the device';
COMMENT ON COLUMN analyst.usage_by_hour.group_id IS 'the number of the group at that time; null for none';
COMMENT ON COLUMN analyst.usage_by_hour.protocol IS 'the protocol; null in rows that count sessions';
COMMENT ON COLUMN analyst.usage_by_hour.mobile_originated IS 'bytes that the device sent';
COMMENT ON COLUMN analyst.usage_by_hour.mobile_terminated IS 'bytes that the device received';
COMMENT ON COLUMN analyst.usage_by_hour.sessions IS 'sessions that began';

CREATE VIEW analyst.usage_by_day WITH (security_barrier) AS
SELECT d.day, s.physical_id, nullif(d.group_id, 0) AS group_id, d.mobile_originated, d.mobile_terminated, d.sessions, d.last_seen
FROM analyst_login.session r
JOIN subscriber_days d ON d.company_id = r.company_id
JOIN subscribers s ON s.company_id = d.company_id AND s.key = d.subscriber_key
WHERE r.group_ids IS NULL OR s.group_id = ANY(r.group_ids);
COMMENT ON VIEW analyst.usage_by_day IS 'Usage of a subscriber by UTC day, and by its group where that changed within the day.';
COMMENT ON COLUMN analyst.usage_by_day.day IS 'the UTC day';
COMMENT ON COLUMN analyst.usage_by_day.physical_id IS 'the ICCID or other identifier of the device';
COMMENT ON COLUMN analyst.usage_by_day.group_id IS 'the number of the group at that time; null for none';
COMMENT ON COLUMN analyst.usage_by_day.mobile_originated IS 'bytes that the device sent';
COMMENT ON COLUMN analyst.usage_by_day.mobile_terminated IS 'bytes that the device received';
COMMENT ON COLUMN analyst.usage_by_day.sessions IS 'sessions that began';
COMMENT ON COLUMN analyst.usage_by_day.last_seen IS 'the latest end of a record of the day';

CREATE VIEW analyst.usage_by_month WITH (security_barrier) AS
SELECT p.period_start, s.physical_id, p.mobile_originated, p.mobile_terminated, p.last_seen
FROM analyst_login.session r
JOIN subscriber_periods p ON p.company_id = r.company_id
JOIN subscribers s ON s.company_id = p.company_id AND s.key = p.subscriber_key
WHERE r.group_ids IS NULL OR s.group_id = ANY(r.group_ids);
COMMENT ON VIEW analyst.usage_by_month IS 'Usage of a subscriber by billing period, which begins on the billing day in the zone of the company.';
COMMENT ON COLUMN analyst.usage_by_month.period_start IS 'when the billing period begins';
COMMENT ON COLUMN analyst.usage_by_month.physical_id IS 'the ICCID or other identifier of the device';
COMMENT ON COLUMN analyst.usage_by_month.mobile_originated IS 'bytes that the device sent';
COMMENT ON COLUMN analyst.usage_by_month.mobile_terminated IS 'bytes that the device received';
COMMENT ON COLUMN analyst.usage_by_month.last_seen IS 'the latest end of a record of the period';

CREATE VIEW analyst.group_usage_by_hour WITH (security_barrier) AS
SELECT h.hour, h.group_id, g.name AS group_name, h.protocol, h.mobile_originated, h.mobile_terminated, h.sessions
FROM analyst_login.session r
CROSS JOIN LATERAL (
  SELECT v.hour, v.group_id, v.protocol, v.mobile_originated, v.mobile_terminated, 0::bigint AS sessions
  FROM group_hours v
  WHERE v.company_id = r.company_id AND (r.group_ids IS NULL OR v.group_id = ANY(r.group_ids))
  UNION ALL
  SELECT n.hour, n.group_id, NULL, 0, 0, n.sessions
  FROM group_sessions n
  WHERE n.company_id = r.company_id AND (r.group_ids IS NULL OR n.group_id = ANY(r.group_ids))
) h
JOIN groups g ON g.company_id = r.company_id AND g.group_id = h.group_id;
COMMENT ON VIEW analyst.group_usage_by_hour IS 'Usage of a group by UTC hour and protocol: of those who were in it at the time.';
COMMENT ON COLUMN analyst.group_usage_by_hour.hour IS 'the UTC hour in which the usage began';
COMMENT ON COLUMN analyst.group_usage_by_hour.group_id IS 'the number of the group';
COMMENT ON COLUMN analyst.group_usage_by_hour.group_name IS 'its name';
COMMENT ON COLUMN analyst.group_usage_by_hour.protocol IS 'the protocol; null in rows that count sessions';
COMMENT ON COLUMN analyst.group_usage_by_hour.mobile_originated IS 'bytes that the device sent';
COMMENT ON COLUMN analyst.group_usage_by_hour.mobile_terminated IS 'bytes that the device received';
COMMENT ON COLUMN analyst.group_usage_by_hour.sessions IS 'sessions that began';

CREATE VIEW analyst.group_usage_by_day WITH (security_barrier) AS
SELECT (h.hour AT TIME ZONE c.time_zone)::date AS day, h.group_id, g.name AS group_name, sum(h.mobile_originated)::bigint AS mobile_originated,
  sum(h.mobile_terminated)::bigint AS mobile_terminated, sum(h.sessions)::bigint AS sessions
FROM analyst_login.session r
JOIN companies c ON c.company_id = r.company_id
CROSS JOIN LATERAL (
  SELECT v.hour, v.group_id, v.mobile_originated, v.mobile_terminated, 0::bigint AS sessions
  FROM group_hours v
  WHERE v.company_id = r.company_id AND (r.group_ids IS NULL OR v.group_id = ANY(r.group_ids))
  UNION ALL
  SELECT n.hour, n.group_id, 0, 0, n.sessions
  FROM group_sessions n
  WHERE n.company_id = r.company_id AND (r.group_ids IS NULL OR n.group_id = ANY(r.group_ids))
) h
JOIN groups g ON g.company_id = r.company_id AND g.group_id = h.group_id
GROUP BY 1, h.group_id, g.name;
COMMENT ON VIEW analyst.group_usage_by_day IS 'Usage of a group by day in the zone of the company.';
COMMENT ON COLUMN analyst.group_usage_by_day.day IS 'the day in the zone of the company';
COMMENT ON COLUMN analyst.group_usage_by_day.group_id IS 'the number of the group';
COMMENT ON COLUMN analyst.group_usage_by_day.group_name IS 'its name';
COMMENT ON COLUMN analyst.group_usage_by_day.mobile_originated IS 'bytes that the device sent';
COMMENT ON COLUMN analyst.group_usage_by_day.mobile_terminated IS 'bytes that the device received';
COMMENT ON COLUMN analyst.group_usage_by_day.sessions IS 'sessions that began';

CREATE VIEW analyst.group_usage_by_month WITH (security_barrier) AS
SELECT p.period_start, p.group_id, g.name AS group_name, p.mobile_originated, p.mobile_terminated
FROM analyst_login.session r
JOIN group_periods p ON p.company_id = r.company_id AND (r.group_ids IS NULL OR p.group_id = ANY(r.group_ids))
JOIN groups g ON g.company_id = p.company_id AND g.group_id = p.group_id;
COMMENT ON VIEW analyst.group_usage_by_month IS 'Usage of a group by billing period.';
COMMENT ON COLUMN analyst.group_usage_by_month.period_start IS 'when the billing period begins';
COMMENT ON COLUMN analyst.group_usage_by_month.group_id IS 'the number of the group';
COMMENT ON COLUMN analyst.group_usage_by_month.group_name IS 'its name';
COMMENT ON COLUMN analyst.group_usage_by_month.mobile_originated IS 'bytes that the device sent';
COMMENT ON COLUMN analyst.group_usage_by_month.mobile_terminated IS 'bytes that the device received';

CREATE VIEW analyst.sessions WITH (security_barrier) AS
SELECT n.source, n.session_id, coalesce(s.physical_id, nullif(n.physical_id, '')) AS physical_id, n.imsi, n.began_at, n.as_of, n.ended_at, n.cause,
  n.mobile_originated, n.mobile_terminated, n.apn, host(n.ip_address) AS ip_address, n.imei, n.rat_type, n.visited_network
FROM analyst_login.session r
JOIN sessions n ON n.company_id = r.company_id
LEFT JOIN subscribers s ON s.company_id = n.company_id AND s.key = n.subscriber_key
WHERE r.group_ids IS NULL OR s.group_id = ANY(r.group_ids);
COMMENT ON VIEW analyst.sessions IS 'Sessions that network elements reported.';
COMMENT ON COLUMN analyst.sessions.source IS 'who reported it';
COMMENT ON COLUMN analyst.sessions.session_id IS 'the id that the source gave';
COMMENT ON COLUMN analyst.sessions.physical_id IS 'the ICCID or other identifier of the device; null where it is not known';
COMMENT ON COLUMN analyst.sessions.imsi IS 'the IMSI that was reported; empty for none';
COMMENT ON COLUMN analyst.sessions.began_at IS 'when it began';
COMMENT ON COLUMN analyst.sessions.as_of IS 'the moment that the newest report is about';
COMMENT ON COLUMN analyst.sessions.ended_at IS 'when it ended; null while it runs';
COMMENT ON COLUMN analyst.sessions.cause IS 'why it ended';
COMMENT ON COLUMN analyst.sessions.mobile_originated IS 'bytes that the device sent';
COMMENT ON COLUMN analyst.sessions.mobile_terminated IS 'bytes that the device received';
COMMENT ON COLUMN analyst.sessions.apn IS 'the access point name';
COMMENT ON COLUMN analyst.sessions.ip_address IS 'the IPv4 or IPv6 address; null for none';
COMMENT ON COLUMN analyst.sessions.imei IS 'the IMEI of the device';
COMMENT ON COLUMN analyst.sessions.rat_type IS 'the radio access';
COMMENT ON COLUMN analyst.sessions.visited_network IS 'the PLMN, of which the first three digits are the country';

CREATE VIEW analyst.alerts WITH (security_barrier) AS
SELECT a.kind, a.alert_id, a.rule_type, s.physical_id, a.group_id, a.name, a.description, a.lower_threshold, a.upper_threshold, a.bound, a.created_at
FROM analyst_login.session r
CROSS JOIN LATERAL (
  SELECT 'volume' AS kind, v.alert_id, v.rule_type, v.subscriber_key, v.group_id, v.name, v.description,
    (SELECT b.threshold FROM alert_thresholds b WHERE b.company_id = v.company_id AND b.alert_id = v.alert_id AND b.boundary = 'lower') AS lower_threshold,
    (SELECT b.threshold FROM alert_thresholds b WHERE b.company_id = v.company_id AND b.alert_id = v.alert_id AND b.boundary = 'upper') AS upper_threshold,
    NULL::bigint AS bound, v.date_created AS created_at
  FROM alerts v
  WHERE v.company_id = r.company_id
  UNION ALL
  SELECT v.kind, v.alert_id, v.rule_type, v.subscriber_key, v.group_id, v.name, v.description, NULL, NULL, v.bound, v.date_created
  FROM condition_alerts v
  WHERE v.company_id = r.company_id
) a
LEFT JOIN subscribers s ON s.company_id = r.company_id AND s.key = a.subscriber_key
WHERE r.group_ids IS NULL OR coalesce(a.group_id, s.group_id) = ANY(r.group_ids);
COMMENT ON VIEW analyst.alerts IS 'Alerts. Those on volume and those on conditions count on their own: kind and alert_id name one.';
COMMENT ON COLUMN analyst.alerts.kind IS 'volume, or the kind of the condition';
COMMENT ON COLUMN analyst.alerts.alert_id IS 'the number of the alert';
COMMENT ON COLUMN analyst.alerts.rule_type IS 'sim, grouppr (each of a group), groupfptp (a group as a whole) or company';
COMMENT ON COLUMN analyst.alerts.physical_id IS 'the subscriber that it is on; null for others';
COMMENT ON COLUMN analyst.alerts.group_id IS 'the group that it is on; null for others';
COMMENT ON COLUMN analyst.alerts.name IS 'the name; null for none';
COMMENT ON COLUMN analyst.alerts.description IS 'the description; null for none';
COMMENT ON COLUMN analyst.alerts.lower_threshold IS 'bytes; null for conditions';
COMMENT ON COLUMN analyst.alerts.upper_threshold IS 'bytes; null for conditions';
COMMENT ON COLUMN analyst.alerts.bound IS 'the bound of a condition, such as hours; null for volume';
COMMENT ON COLUMN analyst.alerts.created_at IS 'when it was made';

CREATE VIEW analyst.alert_log WITH (security_barrier) AS
SELECT l.created_at, l.kind, l.alert_id, l.state, l.rule_type, s.physical_id, l.group_id, l.boundary, l.period_start, l.threshold, l.usage, l.is_late,
  l.since, l.value, l.resolved_at, l.is_silenced
FROM analyst_login.session r
CROSS JOIN LATERAL (
  SELECT v.date_created AS created_at, 'volume' AS kind, v.alert_id, 'fired' AS state, v.rule_type, v.subscriber_key, v.group_id, v.target_group_id,
    v.limit_boundary AS boundary, v.period_start, v.threshold, v.usage, v.late AS is_late, v.date_created AS since, NULL::bigint AS value,
    NULL::timestamptz AS resolved_at, v.silence_id IS NOT NULL AS is_silenced
  FROM alert_log v
  WHERE v.company_id = r.company_id
  UNION ALL
  SELECT v.date_created, v.kind, v.alert_id, v.state, v.rule_type, v.subscriber_key, v.group_id, v.target_group_id,
    NULL, NULL, NULL, NULL, NULL, v.since, v.value, v.resolved_at, v.silence_id IS NOT NULL
  FROM condition_log v
  WHERE v.company_id = r.company_id
) l
LEFT JOIN subscribers s ON s.company_id = r.company_id AND s.key = l.subscriber_key
WHERE r.group_ids IS NULL
  OR l.rule_type <> 'company' AND coalesce(l.target_group_id, s.group_id) = ANY(r.group_ids) AND coalesce(l.group_id, s.group_id) = ANY(r.group_ids);
COMMENT ON VIEW analyst.alert_log IS 'What alerts of all kinds fired.';
COMMENT ON COLUMN analyst.alert_log.created_at IS 'when it was logged';
COMMENT ON COLUMN analyst.alert_log.kind IS 'volume, or the kind of the condition';
COMMENT ON COLUMN analyst.alert_log.alert_id IS 'the number of the alert, which may be gone';
COMMENT ON COLUMN analyst.alert_log.state IS 'fired or resolved';
COMMENT ON COLUMN analyst.alert_log.rule_type IS 'as in alerts';
COMMENT ON COLUMN analyst.alert_log.physical_id IS 'the subscriber that it is about; null for others';
COMMENT ON COLUMN analyst.alert_log.group_id IS 'the group that it is about; null for others';
COMMENT ON COLUMN analyst.alert_log.boundary IS 'lower or upper; null for conditions';
COMMENT ON COLUMN analyst.alert_log.period_start IS 'the billing period; null for conditions';
COMMENT ON COLUMN analyst.alert_log.threshold IS 'bytes; null for conditions';
COMMENT ON COLUMN analyst.alert_log.usage IS 'bytes as it fired; null for conditions';
COMMENT ON COLUMN analyst.alert_log.is_late IS 'whether usage of a period that was over fired it; null for conditions';
COMMENT ON COLUMN analyst.alert_log.since IS 'since when it was so';
COMMENT ON COLUMN analyst.alert_log.value IS 'what the condition counted; null for volume';
COMMENT ON COLUMN analyst.alert_log.resolved_at IS 'when it was over; null while it is not, and for volume';
COMMENT ON COLUMN analyst.alert_log.is_silenced IS 'whether a silence held it back';

-- Who has no row in sql_roles sees nothing.
GRANT USAGE ON SCHEMA analyst TO PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA analyst TO PUBLIC;

-- +goose Down
DROP VIEW analyst.company, analyst.subscribers, analyst.groups, analyst.tags, analyst.subscriber_tags, analyst.usage_by_hour, analyst.usage_by_day, analyst.usage_by_month, analyst.group_usage_by_hour, analyst.group_usage_by_day, analyst.group_usage_by_month, analyst.sessions, analyst.alerts, analyst.alert_log;
DROP SCHEMA analyst;
DROP VIEW analyst_login.session;
DROP SCHEMA analyst_login;
DROP TABLE sql_roles;
