-- The statements of the stores that are put together of several constants.
-- Written by: go test ./db -run TheFileOfStatements -update

-- db: blocking
SELECT DISTINCT b.pid, COALESCE(a.application_name, '') AS application, COALESCE(a.usename, '') AS account, COALESCE(a.state, '') AS state,
  a.xact_start AS transaction_at, COALESCE(extract(epoch FROM clock_timestamp() - a.xact_start), 0)::float8 AS transaction_for,
  a.query_start AS statement_at
FROM unnest(pg_blocking_pids($1)) AS b (pid) LEFT JOIN pg_stat_activity a ON a.pid = b.pid;

-- db: migrating
SELECT DISTINCT b.pid, COALESCE(a.application_name, '') AS application, COALESCE(a.usename, '') AS account, COALESCE(a.state, '') AS state,
  a.xact_start AS transaction_at, COALESCE(extract(epoch FROM clock_timestamp() - a.xact_start), 0)::float8 AS transaction_for,
  a.query_start AS statement_at
FROM pg_locks b LEFT JOIN pg_stat_activity a ON a.pid = b.pid
WHERE b.locktype = 'advisory' AND b.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND b.granted AND (b.classid::bigint << 32) | b.objid::bigint = $1;

-- db/access: authenticate
SELECT u.user_id, u.email, u.permissions, k.scopes AS key_scopes, COALESCE(k.is_documents_only, false) AS documents_only,
       c.company_id, c.external_id, c.name, c.billing_day, c.time_zone, c.country_code, t.scopes, t.expires_at, COALESCE(t.access_key_id, '') AS access_key_id, t.of_program,
       visible.groups, visible.masked
FROM access_tokens t
JOIN users u ON u.company_id = t.company_id AND u.user_id = t.user_id
JOIN companies c ON c.company_id = t.company_id
LEFT JOIN access_keys k ON k.company_id = t.company_id AND k.access_key_id = t.access_key_id
CROSS JOIN LATERAL (
  SELECT array_agg(g.group_id ORDER BY g.group_id) AS groups, array_agg(g.group_id ORDER BY g.group_id) FILTER (WHERE g.hide_tariff_details) AS masked
  FROM user_groups ug
  JOIN groups g ON g.company_id = ug.company_id AND g.group_id = ug.group_id
  WHERE ug.company_id = $1 AND ug.user_id = u.user_id) visible
WHERE t.company_id = $1 AND t.token_hash = $2 AND t.expires_at > $3 AND t.revoked_at IS NULL AND NOT u.disabled
  AND (t.access_key_id IS NULL OR (k.revoked_at IS NULL AND k.expires_at > $3));

-- db/access: callerOfUser
SELECT u.user_id, u.email, u.permissions, k.scopes AS key_scopes, COALESCE(k.is_documents_only, false) AS documents_only,
       c.company_id, c.external_id, c.name, c.billing_day, c.time_zone, c.country_code, u.permissions AS scopes, now() AS expires_at, '' AS access_key_id, false AS of_program, visible.groups, visible.masked
FROM users u
JOIN companies c ON c.company_id = u.company_id
LEFT JOIN access_keys k ON k.company_id = u.company_id AND k.user_id = u.user_id AND k.access_key_id = ''
CROSS JOIN LATERAL (
  SELECT array_agg(g.group_id ORDER BY g.group_id) AS groups, array_agg(g.group_id ORDER BY g.group_id) FILTER (WHERE g.hide_tariff_details) AS masked
  FROM user_groups ug
  JOIN groups g ON g.company_id = ug.company_id AND g.group_id = ug.group_id
  WHERE ug.company_id = $1 AND ug.user_id = u.user_id) visible
WHERE u.company_id = $1 AND u.user_id = $2 AND NOT u.disabled;

-- db/access: findCompanyUser
SELECT u.user_id, u.email, u.permissions, u.disabled, u.signed_in_at,
  (SELECT i.invited_at FROM user_invitations i WHERE i.company_id = $1 AND i.user_id = u.user_id) AS invited_at,
  (SELECT i.expires_at FROM user_invitations i WHERE i.company_id = $1 AND i.user_id = u.user_id) AS invitation_ends_at,
  ARRAY(SELECT ug.group_id FROM user_groups ug WHERE ug.company_id = $1 AND ug.user_id = u.user_id ORDER BY 1) AS groups FROM users u WHERE u.company_id = $1 AND u.email = $2;

-- db/access: findKeys
SELECT k.company_id, k.access_key_id, k.name, k.purpose, k.rotated_from, u.email, k.secret_hash, k.scopes, k.is_documents_only AS documents_only, k.created_at, k.expires_at, k.revoked_at, k.last_used_at,
  u.user_id, u.permissions, u.disabled FROM access_keys k JOIN users u ON u.company_id = k.company_id AND u.user_id = k.user_id WHERE k.company_id = $1 AND k.access_key_id = ANY($2);

-- db/access: findUsers
SELECT u.user_id, u.email, u.permissions, u.disabled, u.signed_in_at,
  (SELECT i.invited_at FROM user_invitations i WHERE i.company_id = $1 AND i.user_id = u.user_id) AS invited_at,
  (SELECT i.expires_at FROM user_invitations i WHERE i.company_id = $1 AND i.user_id = u.user_id) AS invitation_ends_at,
  ARRAY(SELECT ug.group_id FROM user_groups ug WHERE ug.company_id = $1 AND ug.user_id = u.user_id ORDER BY 1) AS groups FROM users u WHERE u.company_id = $1 AND u.email = ANY($2);

-- db/access: lockKey
SELECT k.company_id, k.access_key_id, k.name, k.purpose, k.rotated_from, u.email, k.secret_hash, k.scopes, k.is_documents_only AS documents_only, k.created_at, k.expires_at, k.revoked_at, k.last_used_at,
  u.user_id, u.permissions, u.disabled FROM access_keys k JOIN users u ON u.company_id = k.company_id AND u.user_id = k.user_id WHERE k.company_id = $1 AND k.access_key_id = $2 FOR UPDATE OF k;

-- db/announce: announce
SELECT pg_notify('simgraph_live', payload) FROM unnest($1::text[]) AS p(payload);

-- db/announce: announceOperationOf
SELECT pg_notify('simgraph_live', $1);

-- db/announce: anyFollower
SELECT FROM live_followers WHERE company_id = $1 AND expires_at > now() LIMIT 1;

-- db/announce: stateFollowed
SELECT EXISTS (SELECT FROM live_followers WHERE company_id = $1 AND expires_at > now()) AS followed, EXISTS (
  SELECT FROM webhooks w WHERE w.company_id = $1 AND w.disabled_at IS NULL AND 'subscriber.changed' = ANY(w.event_types)) AS wanted;

-- db/audit: auditAfter
SELECT a.sequence, a.at, a.action, a.subject_type, a.subject_id, a.physical_ids, a.changes::text AS changes_json,
  a.user_id, a.actor AS name, a.access_key_id, a.door, a.address, a.request_id, a.reason, encode(a.hash, 'hex') AS hash
FROM audit_log a
WHERE a.company_id = $1 AND a.sequence > $2
ORDER BY a.sequence
LIMIT $3;

-- db/audit: newestAudit
SELECT a.sequence, a.at, a.action, a.subject_type, a.subject_id, a.physical_ids, a.changes::text AS changes_json,
  a.user_id, a.actor AS name, a.access_key_id, a.door, a.address, a.request_id, a.reason, encode(a.hash, 'hex') AS hash
FROM audit_log a
WHERE a.company_id = $1 AND a.subject_type = $2
ORDER BY a.sequence DESC
LIMIT 1;

-- db/backlog: againHeldMessages
SELECT coalesce(sum(w.waiting), 0) AS waiting, min(w.oldest) AS oldest
FROM webhooks h
CROSS JOIN LATERAL (
  SELECT count(*) AS waiting, min(m.created_at) AS oldest FROM webhook_messages m
  WHERE m.company_id = h.company_id AND ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.webhook_id = h.webhook_id AND m.state = 'queued'
    AND m.retry_at IS NOT NULL
) w
WHERE ($1::bigint[] IS NULL OR h.company_id = ANY($1)) AND NOT h.is_provider AND h.disabled_at IS NOT NULL;

-- db/backlog: againMessages
SELECT coalesce(sum(w.waiting), 0) AS waiting, min(w.oldest) AS oldest
FROM webhooks h
CROSS JOIN LATERAL (
  SELECT count(*) AS waiting, min(m.created_at) AS oldest FROM webhook_messages m
  WHERE m.company_id = h.company_id AND ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.webhook_id = h.webhook_id AND m.state = 'queued'
    AND m.retry_at IS NOT NULL
) w
WHERE ($1::bigint[] IS NULL OR h.company_id = ANY($1)) AND NOT h.is_provider AND h.disabled_at IS NULL;

-- db/backlog: newHeldMessages
SELECT coalesce(sum(w.waiting), 0) AS waiting, min(w.oldest) AS oldest
FROM webhooks h
CROSS JOIN LATERAL (
  SELECT count(*) AS waiting, min(m.created_at) AS oldest FROM webhook_messages m
  WHERE m.company_id = h.company_id AND ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.webhook_id = h.webhook_id AND m.state = 'queued'
    AND m.retry_at IS NULL
) w
WHERE ($1::bigint[] IS NULL OR h.company_id = ANY($1)) AND NOT h.is_provider AND h.disabled_at IS NOT NULL;

-- db/backlog: newMessages
SELECT coalesce(sum(w.waiting), 0) AS waiting, min(w.oldest) AS oldest
FROM webhooks h
CROSS JOIN LATERAL (
  SELECT count(*) AS waiting, min(m.created_at) AS oldest FROM webhook_messages m
  WHERE m.company_id = h.company_id AND ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.webhook_id = h.webhook_id AND m.state = 'queued'
    AND m.retry_at IS NULL
) w
WHERE ($1::bigint[] IS NULL OR h.company_id = ANY($1)) AND NOT h.is_provider AND h.disabled_at IS NULL;

-- db/backlog: waitingCommands
SELECT coalesce(sum(w.waiting), 0) AS waiting, min(w.oldest) AS oldest
FROM companies c
CROSS JOIN LATERAL (
  SELECT count(*) AS waiting, min(q.changed_at) AS oldest FROM commands q
  WHERE q.company_id = c.company_id AND ($1::bigint[] IS NULL OR q.company_id = ANY($1)) AND q.state = 'requested'
) w
WHERE $1::bigint[] IS NULL OR c.company_id = ANY($1);

-- db/backlog: waitingReports
SELECT coalesce(sum(w.waiting), 0) AS waiting, min(w.oldest) AS oldest
FROM companies c
CROSS JOIN LATERAL (
  SELECT count(*) AS waiting, min(q.changed_at) AS oldest FROM commands q
  WHERE q.company_id = c.company_id AND ($1::bigint[] IS NULL OR q.company_id = ANY($1)) AND q.state = 'accepted'
) w
WHERE $1::bigint[] IS NULL OR c.company_id = ANY($1);

-- db/bulk: activeOperations
SELECT count(*) FROM (
  SELECT o.operation_id FROM operations o WHERE o.company_id = $1 AND o.ended_at IS NULL
  UNION ALL
  SELECT u.operation_id FROM operation_uploads u WHERE u.company_id = $1 AND u.written_at > now() - interval '10 minutes') active;

-- db/bulk: claimOperation
UPDATE operations o SET attempts = o.attempts + 1, due_at = now() + make_interval(secs => $2)
WHERE o.company_id = $1 AND o.ended_at IS NULL AND (o.due_at <= now() OR o.due_at > now() + interval '10 minutes') AND o.operation_id = (
  SELECT a.operation_id FROM operations a
  WHERE a.company_id = $1 AND a.ended_at IS NULL
  ORDER BY a.operation_id
  LIMIT 1)
RETURNING o.operation_id, o.attempts;

-- db/bulk: findOperations
SELECT o.operation_id::text AS operation_id, o.state, o.is_dry_run, o.error_policy, o.undo_of::text AS undo_of,
  o.actor AS started_by, o.reason, o.change::text AS change_text, o.creates, o.digest, o.total, o.done, o.created, o.changed, o.removed, o.failed, o.skipped, o.started_at, o.ended_at,
  CASE WHEN o.state IN ('DONE', 'CANCELLED') AND o.undo_of IS NULL AND NOT o.is_dry_run AND o.created + o.changed > 0 AND NOT EXISTS (
    SELECT FROM operations u WHERE u.company_id = $1 AND u.undo_of = o.operation_id AND u.state <> 'CANCELLED')
  THEN o.ended_at + interval '168 hours' END AS undoable_until,
  CASE WHEN o.state = 'CHECKED' AND o.created + o.changed > 0 AND (o.failed = 0 OR o.error_policy <> 'REJECT_EVERYTHING') AND NOT EXISTS (
    SELECT FROM operations d WHERE d.company_id = $1 AND d.dry_run_of = o.operation_id)
  THEN o.ended_at + interval '24 hours' END AS startable_until,
  o.dry_run_of::text AS dry_run_id, (SELECT d.operation_id::text FROM operations d WHERE d.company_id = $1 AND d.dry_run_of = o.operation_id) AS started_id,
  o.fired, cardinality(o.mailed) AS recipients, o.messages, o.commands, o.silence_id FROM operations o WHERE o.company_id = $1 AND ($2::bigint[] IS NULL OR o.user_id = $3 AND o.groups <@ $2::bigint[]) AND o.operation_id = ANY($4::uuid[]);

-- db/bulk: findResults
SELECT r.operation_id::text AS operation_id, r.position, r.physical_id, r.line, s.key AS subscriber_key, r.outcome, r.code, r.message,
  COALESCE(r.changes::text, '') AS changes_text, COALESCE(s.group_id = ANY($5::bigint[]), false) AS hides_tariff
FROM operation_rows r
LEFT JOIN subscribers s ON s.company_id = $1 AND s.physical_id = r.physical_id
JOIN operations o ON o.company_id = $1 AND o.operation_id = r.operation_id
JOIN unnest($4::uuid[], $6::integer[]) AS l(operation_id, position) ON l.operation_id = r.operation_id AND l.position = r.position
WHERE r.company_id = $1 AND o.company_id = $1 AND ($2::bigint[] IS NULL OR o.user_id = $3 AND o.groups <@ $2::bigint[]);

-- db/bulk: pendingOperations
SELECT DISTINCT o.company_id FROM operations o
WHERE ($1::bigint[] IS NULL OR o.company_id = ANY($1)) AND o.ended_at IS NULL AND (o.due_at <= now() OR o.due_at > now() + interval '10 minutes');

-- db/bulk: takeOver
DELETE FROM operation_uploads u WHERE u.company_id = $1 AND u.operation_id = $2 AND u.written_at < now() - interval '10 minutes';

-- db/bulk: uploadsOver
SELECT DISTINCT u.company_id FROM operation_uploads u WHERE ($1::bigint[] IS NULL OR u.company_id = ANY($1)) AND u.written_at < now() - interval '10 minutes';

-- db/bulk: uploadsOverOf
SELECT u.operation_id FROM operation_uploads u WHERE u.company_id = $1 AND u.written_at < now() - interval '10 minutes';

-- db/bundle: exportAlertLog
WITH copies AS (
  SELECT a.alert_id, row_number() OVER (PARTITION BY a.rule_type, a.target_id, lower.threshold, upper.threshold ORDER BY a.alert_id) - 1 AS copy
FROM alerts a
JOIN alert_thresholds lower ON lower.company_id = a.company_id AND lower.alert_id = a.alert_id AND lower.boundary = 'lower'
JOIN alert_thresholds upper ON upper.company_id = a.company_id AND upper.alert_id = a.alert_id AND upper.boundary = 'upper'
LEFT JOIN subscribers s ON s.company_id = a.company_id AND s.key = a.subscriber_key
  WHERE a.company_id = $1
)
SELECT l.entry_id, l.alert_id, l.rule_type, l.target, l.limit_boundary, l.subscriber_key, l.group_id, l.target_group_id,
  l.period_start, l.period_end, l.threshold, l.usage, l.late AS is_late, l.silence_id, l.notification_id, l.date_created, abs(l.alert_id) AS former_id, l.revision, COALESCE(subject.physical_id, '') AS physical_id,
  t.alert_id IS NOT NULL AS stands, COALESCE(COALESCE(s.subscriber_id, a.group_id::text, ''), '') AS alert_target, COALESCE(copies.copy, 0) AS copy,
  COALESCE(lower.threshold, 0) AS lower_threshold, COALESCE(upper.threshold, 0) AS upper_threshold
FROM alert_log l
LEFT JOIN subscribers subject ON subject.company_id = $1 AND subject.key = l.subscriber_key
LEFT JOIN alert_thresholds t ON t.company_id = $1 AND t.alert_id = l.alert_id AND t.boundary = l.limit_boundary AND t.revision = l.revision
LEFT JOIN alerts a ON a.company_id = $1 AND a.alert_id = t.alert_id
LEFT JOIN alert_thresholds lower ON lower.company_id = $1 AND lower.alert_id = t.alert_id AND lower.boundary = 'lower'
LEFT JOIN alert_thresholds upper ON upper.company_id = $1 AND upper.alert_id = t.alert_id AND upper.boundary = 'upper'
LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = a.subscriber_key
LEFT JOIN copies ON copies.alert_id = t.alert_id
WHERE l.company_id = $1
ORDER BY l.date_created, l.entry_id;

-- db/bundle: exportAlerts
SELECT DISTINCT a.rule_type, COALESCE(s.subscriber_id, a.group_id::text, '') COLLATE "C" AS target,
  lower.threshold AS lower_threshold, upper.threshold AS upper_threshold, row_number() OVER (PARTITION BY a.rule_type, a.target_id, lower.threshold, upper.threshold ORDER BY a.alert_id) - 1 AS copy, a.name, a.description
FROM alerts a
JOIN alert_thresholds lower ON lower.company_id = a.company_id AND lower.alert_id = a.alert_id AND lower.boundary = 'lower'
JOIN alert_thresholds upper ON upper.company_id = a.company_id AND upper.alert_id = a.alert_id AND upper.boundary = 'upper'
LEFT JOIN subscribers s ON s.company_id = a.company_id AND s.key = a.subscriber_key
WHERE a.company_id = $1
ORDER BY a.rule_type, target, lower_threshold, upper_threshold, copy;

-- db/bundle: exportSessions
SELECT 
n.identity AS id, n.generation, n.subscriber_key, n.source, n.nas, n.session_id, n.physical_id, n.imsi, n.msisdn,
n.began_at, n.as_of, n.reported_at, n.interval_seconds, n.ended_at, n.cause, n.mobile_originated, n.mobile_terminated,
n.reports, n.booked, n.is_transferring, n.decreased, n.clock_off, n.apn, coalesce(host(n.ip_address), '') AS address,
coalesce(text(n.ipv6_prefix), '') AS prefix, n.imei, n.rat_type, n.visited_network,
n.latest_begin AS latest, n.session_seconds, n.has_start, n.dating, n.charging_id, n.other_sources AS others, n.cell, coalesce(s.physical_id, '') AS subscriber,
  ARRAY(SELECT k.name::text FROM session_names k WHERE k.company_id = $1 AND k.identity = n.identity ORDER BY k.name) AS names
FROM sessions n
LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = n.subscriber_key
WHERE n.company_id = $1 AND (n.subscriber_key IS NOT NULL OR n.physical_id <> '')
ORDER BY n.began_at, n.identity, n.generation;

-- db/carrier: expireCommands
UPDATE commands SET state = 'failed', reason = 'not delivered in time', changed_at = $3
WHERE company_id = $1 AND command_id IN (
  SELECT o.command_id FROM commands o
  WHERE o.company_id = $1 AND o.state = 'requested' AND o.changed_at < $2
  LIMIT $4)
RETURNING command_id::text AS command_id, subscriber_key;

-- db/carrier: findCommands
SELECT c.command_id::text AS command_id, c.subscriber_key, c.kind, c.state, c.reason, c.sequence, c.operation_id::text AS operation_id,
  c.requested_at, c.changed_at, COALESCE(m.attempts, 0) AS attempts,
  c.was_sent OR COALESCE(m.attempts, 0) > 0 AS was_sent,
  CASE WHEN m.state = 'queued' AND isfinite(m.due_at) THEN m.due_at END AS next_attempt_at, m.last_status, COALESCE(m.last_error, '') AS last_error,
  c.event AS payload
FROM commands c
JOIN subscribers s ON s.company_id = c.company_id AND s.key = c.subscriber_key
LEFT JOIN webhook_messages m ON m.company_id = $1 AND m.message_id = c.command_id
WHERE c.company_id = $1 AND ($2::bigint[] IS NULL OR s.group_id = ANY($2)) AND c.command_id = ANY($3::uuid[]);

-- db/carrier: settleCommand
UPDATE commands SET state = $3, reason = $4, changed_at = $5
WHERE company_id = $1 AND command_id = $2 AND (state = 'requested' OR state = 'superseded' OR state = 'accepted' AND $3 <> 'accepted'
  OR state = 'failed' AND reason LIKE 'not delivered%');

-- db/catalogue: findVisibleOperators
SELECT o.code, o.name FROM operators o WHERE EXISTS (SELECT FROM subscribers s
  WHERE s.company_id = $1 AND ($2::bigint[] IS NULL OR s.group_id = ANY($2)) AND s.operator_code = o.code) AND o.code = ANY($3);

-- db/catalogue: findVisibleTariffs
SELECT t.name, t.line_rental, t.currency FROM tariffs t WHERE t.company_id = $1 AND ($2::bigint[] IS NULL OR EXISTS (SELECT FROM subscribers s
  WHERE s.company_id = $1 AND s.group_id = ANY($2) AND s.group_id <> ALL(COALESCE($3::bigint[], '{}')) AND s.tariff_name = t.name)) AND t.name = ANY($4);

-- db/companies: LockByID
SELECT company_id, external_id, name, billing_day, time_zone, country_code
FROM companies
WHERE company_id = $1
FOR NO KEY UPDATE;

-- db/condition: allConditions
SELECT a.alert_id, a.rule_type, COALESCE(s.subscriber_id, a.group_id::text, '') AS target, a.subscriber_key, a.group_id,
  a.kind, a.bound, a.traits AS of, a.revision, a.armed_at, a.date_created, a.name, a.description
FROM condition_alerts a
LEFT JOIN subscribers s ON s.company_id = a.company_id AND s.key = a.subscriber_key
WHERE a.company_id = $1
ORDER BY a.alert_id;

-- db/condition: countFired
SELECT a.alert_id AS parent, count(DISTINCT (l.subject_id, l.source, l.nas)) AS number
FROM condition_alerts a
LEFT JOIN subscribers s ON s.company_id = a.company_id AND s.key = a.subscriber_key
JOIN condition_log l ON l.company_id = $1 AND l.alert_id = a.alert_id AND l.revision = a.revision AND l.state = 'fired' AND (l.is_open OR l.date_created >= $3)
WHERE a.company_id = $1 AND ($2::bigint[] IS NULL OR COALESCE(a.group_id, s.group_id) = ANY($2)) AND a.alert_id = ANY($4)
GROUP BY a.alert_id;

-- db/condition: findConditionLog
SELECT l.entry_id, l.alert_id, l.kind, l.state, l.rule_type, l.target, l.subscriber_key, l.group_id, l.target_group_id, l.source, l.nas,
  l.since, l.bound, l.value, l.trait, l.before, l.after, l.resolves, l.resolved_at, l.silence_id, l.notification_id, l.date_created
FROM condition_log l
LEFT JOIN subscribers s ON s.company_id = l.company_id AND s.key = l.subscriber_key
WHERE l.company_id = $1 AND ($2::bigint[] IS NULL OR l.rule_type <> 'company'
  AND COALESCE(l.target_group_id, s.group_id) = ANY($2) AND COALESCE(l.group_id, s.group_id) = ANY($2)) AND l.entry_id = ANY($3);

-- db/condition: findConditions
SELECT a.alert_id, a.rule_type, COALESCE(s.subscriber_id, a.group_id::text, '') AS target, a.subscriber_key, a.group_id,
  a.kind, a.bound, a.traits AS of, a.revision, a.armed_at, a.date_created, a.name, a.description
FROM condition_alerts a
LEFT JOIN subscribers s ON s.company_id = a.company_id AND s.key = a.subscriber_key
WHERE a.company_id = $1 AND ($2::bigint[] IS NULL OR COALESCE(a.group_id, s.group_id) = ANY($2)) AND a.alert_id = ANY($3);

-- db/condition: groupSeen
SELECT o.entry_id, o.group_id, o.since, false AS is_unwatched
FROM condition_log o
WHERE o.company_id = $1 AND o.alert_id = $2 AND o.is_open AND EXISTS (
  SELECT FROM subscribers s
CROSS JOIN LATERAL (
  SELECT greatest(s.connection_date, (
    SELECT max(u.last_seen)
    FROM (
      SELECT p.last_seen FROM subscriber_periods p
      WHERE p.company_id = $1 AND p.subscriber_key = s.key AND p.period_start <= $5
      ORDER BY p.period_start DESC
      LIMIT 3
    ) u
  ), (
    SELECT max(r.as_of)
    FROM (
      SELECT n.as_of FROM sessions n
      WHERE s.has_feed AND n.company_id = $1 AND n.subscriber_key = s.key
      ORDER BY n.began_at DESC
      LIMIT 20
    ) r
  )) AS at
  OFFSET 0
) seen
  WHERE s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false AND s.group_id = $3 AND seen.at > greatest(o.since, $4, s.connection_date));

-- db/condition: historyOfFleet
SELECT s.key AS subject, s.connection_date AS connected_at, coalesce(p.mobile_originated + p.mobile_terminated, 0) AS used, d.days, d.bytes
FROM subscribers s
LEFT JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.subscriber_key = s.key
CROSS JOIN LATERAL (
  SELECT coalesce(array_agg(date_part('epoch', d.day)::bigint), '{}') AS days,
    coalesce(array_agg(d.mobile_originated + d.mobile_terminated), '{}') AS bytes
  FROM subscriber_days d
  WHERE d.company_id = $1 AND d.day = ANY($4::date[]) AND d.subscriber_key = s.key
) d
WHERE s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false AND s.connection_date <= $5 AND s.key > $6 AND NOT EXISTS (
    SELECT FROM condition_log o
    WHERE o.company_id = $1 AND o.alert_id = $2 AND o.revision = $7 AND o.subject_id = s.key AND o.since = $3)
  AND $9::bigint IS NULL ORDER BY s.key LIMIT $8;

-- db/condition: historyOfMembers
SELECT s.key AS subject, s.connection_date AS connected_at, coalesce(p.mobile_originated + p.mobile_terminated, 0) AS used, d.days, d.bytes
FROM subscribers s
LEFT JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.subscriber_key = s.key
CROSS JOIN LATERAL (
  SELECT coalesce(array_agg(date_part('epoch', d.day)::bigint), '{}') AS days,
    coalesce(array_agg(d.mobile_originated + d.mobile_terminated), '{}') AS bytes
  FROM subscriber_days d
  WHERE d.company_id = $1 AND d.day = ANY($4::date[]) AND d.subscriber_key = s.key
) d
WHERE s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false AND s.connection_date <= $5 AND s.key > $6 AND NOT EXISTS (
    SELECT FROM condition_log o
    WHERE o.company_id = $1 AND o.alert_id = $2 AND o.revision = $7 AND o.subject_id = s.key AND o.since = $3)
  AND s.group_id = $9 ORDER BY s.key LIMIT $8;

-- db/condition: historyOfSubscriber
SELECT s.key AS subject, s.connection_date AS connected_at, coalesce(p.mobile_originated + p.mobile_terminated, 0) AS used, d.days, d.bytes
FROM subscribers s
LEFT JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.subscriber_key = s.key
CROSS JOIN LATERAL (
  SELECT coalesce(array_agg(date_part('epoch', d.day)::bigint), '{}') AS days,
    coalesce(array_agg(d.mobile_originated + d.mobile_terminated), '{}') AS bytes
  FROM subscriber_days d
  WHERE d.company_id = $1 AND d.day = ANY($4::date[]) AND d.subscriber_key = s.key
) d
WHERE s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false AND s.connection_date <= $5 AND s.key > $6 AND NOT EXISTS (
    SELECT FROM condition_log o
    WHERE o.company_id = $1 AND o.alert_id = $2 AND o.revision = $7 AND o.subject_id = s.key AND o.since = $3)
  AND s.key = $9 ORDER BY s.key LIMIT $8;

-- db/condition: inUseSubscriber
SELECT count(*) FROM subscribers s WHERE s.key = $2 AND s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false;

-- db/condition: lastMember
SELECT s.key AS subscriber_key, seen.at AS since, k.source AS known_source, k.nas AS known_nas
FROM subscribers s
CROSS JOIN LATERAL (
  SELECT greatest(s.connection_date, (
    SELECT max(u.last_seen)
    FROM (
      SELECT p.last_seen FROM subscriber_periods p
      WHERE p.company_id = $1 AND p.subscriber_key = s.key AND p.period_start <= $5
      ORDER BY p.period_start DESC
      LIMIT 3
    ) u
  ), (
    SELECT max(r.as_of)
    FROM (
      SELECT n.as_of FROM sessions n
      WHERE s.has_feed AND n.company_id = $1 AND n.subscriber_key = s.key
      ORDER BY n.began_at DESC
      LIMIT 20
    ) r
  )) AS at
  OFFSET 0
) seen
LEFT JOIN condition_sources k ON k.company_id = $1 AND k.subscriber_key = s.key AND k.since = seen.at
WHERE s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false AND s.group_id = $3 AND s.connection_date <= $4
  AND NOT EXISTS (SELECT FROM condition_log o WHERE o.company_id = $1 AND o.alert_id = $2 AND o.is_open)
ORDER BY seen.at DESC, s.key
LIMIT 1;

-- db/condition: lastSeen
SELECT s.key AS subscriber_key, seen.at AS since, k.source AS known_source, k.nas AS known_nas
FROM subscribers s
CROSS JOIN LATERAL (
  SELECT greatest(s.connection_date, (
    SELECT max(u.last_seen)
    FROM (
      SELECT p.last_seen FROM subscriber_periods p
      WHERE p.company_id = $1 AND p.subscriber_key = s.key AND p.period_start <= $5
      ORDER BY p.period_start DESC
      LIMIT 3
    ) u
  ), (
    SELECT max(r.as_of)
    FROM (
      SELECT n.as_of FROM sessions n
      WHERE s.has_feed AND n.company_id = $1 AND n.subscriber_key = s.key
      ORDER BY n.began_at DESC
      LIMIT 20
    ) r
  )) AS at
  OFFSET 0
) seen
LEFT JOIN condition_sources k ON k.company_id = $1 AND k.subscriber_key = s.key AND k.since = seen.at
WHERE s.company_id = $1 AND ($2::bigint IS NULL OR s.key = $2) AND ($3::bigint IS NULL OR s.group_id = $3 AND s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false)
ORDER BY seen.at DESC, s.key
LIMIT $4;

-- db/condition: newestEntry
SELECT l.entry_id, l.alert_id, l.kind, l.state, l.rule_type, l.target, l.subscriber_key, l.group_id, l.target_group_id, l.source, l.nas,
  l.since, l.bound, l.value, l.trait, l.before, l.after, l.resolves, l.resolved_at, l.silence_id, l.notification_id, l.date_created
FROM condition_log l
LEFT JOIN subscribers s ON s.company_id = l.company_id AND s.key = l.subscriber_key
WHERE l.company_id = $1 AND l.alert_id = $2 AND l.revision = $3 AND l.subject_id = $4 AND l.state = 'fired'
ORDER BY l.entry_id DESC
LIMIT 1;

-- db/condition: previewedActive
SELECT s.key, s.connection_date AS connected_at
FROM subscribers s
WHERE s.company_id = $1 AND ($2::bigint IS NULL OR s.key = $2) AND ($3::bigint IS NULL OR s.group_id = $3) AND s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false ORDER BY s.key LIMIT $4;

-- db/condition: previewedAll
SELECT s.key, s.connection_date AS connected_at
FROM subscribers s
WHERE s.company_id = $1 AND ($2::bigint IS NULL OR s.key = $2) AND ($3::bigint IS NULL OR s.group_id = $3) AND true ORDER BY s.key LIMIT $4;

-- db/condition: silentFleet
SELECT s.key AS subscriber_key, seen.at AS since, k.source AS known_source, k.nas AS known_nas
FROM (
  SELECT s.key, s.connection_date, s.has_feed
  FROM subscribers s
  WHERE s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false AND s.connection_date <= $3 AND NOT EXISTS (
    SELECT FROM subscriber_periods p
    WHERE p.company_id = $1 AND p.period_start = ANY($4::timestamptz[]) AND p.subscriber_key = s.key AND p.last_seen > $3)
    AND NOT EXISTS (
    SELECT FROM sessions n
    WHERE n.company_id = $1 AND n.subscriber_key = s.key AND n.ended_at IS NULL AND n.as_of > $3)
    AND NOT EXISTS (SELECT FROM condition_log o WHERE o.company_id = $1 AND o.alert_id = $2 AND o.subject_id = s.key AND o.is_open)
    AND $10::bigint IS NULL
  OFFSET 0
) s
CROSS JOIN LATERAL (
  SELECT greatest(s.connection_date, (
    SELECT max(u.last_seen)
    FROM (
      SELECT p.last_seen FROM subscriber_periods p
      WHERE p.company_id = $1 AND p.subscriber_key = s.key AND p.period_start <= $5
      ORDER BY p.period_start DESC
      LIMIT 3
    ) u
  ), (
    SELECT max(r.as_of)
    FROM (
      SELECT n.as_of FROM sessions n
      WHERE s.has_feed AND n.company_id = $1 AND n.subscriber_key = s.key
      ORDER BY n.began_at DESC
      LIMIT 20
    ) r
  )) AS at
  OFFSET 0
) seen
LEFT JOIN condition_sources k ON k.company_id = $1 AND k.subscriber_key = s.key AND k.since = seen.at
WHERE seen.at <= $3 AND NOT EXISTS (
    SELECT FROM unnest($6::text[], $11::text[], $7::timestamptz[]) AS f(source, nas, until)
    WHERE f.source = k.source AND f.nas = k.nas AND f.until < seen.at + make_interval(hours => $8))
ORDER BY s.key
LIMIT $9;

-- db/condition: silentMembers
SELECT s.key AS subscriber_key, seen.at AS since, k.source AS known_source, k.nas AS known_nas
FROM (
  SELECT s.key, s.connection_date, s.has_feed
  FROM subscribers s
  WHERE s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false AND s.connection_date <= $3 AND NOT EXISTS (
    SELECT FROM subscriber_periods p
    WHERE p.company_id = $1 AND p.period_start = ANY($4::timestamptz[]) AND p.subscriber_key = s.key AND p.last_seen > $3)
    AND NOT EXISTS (
    SELECT FROM sessions n
    WHERE n.company_id = $1 AND n.subscriber_key = s.key AND n.ended_at IS NULL AND n.as_of > $3)
    AND NOT EXISTS (SELECT FROM condition_log o WHERE o.company_id = $1 AND o.alert_id = $2 AND o.subject_id = s.key AND o.is_open)
    AND s.group_id = $10
  OFFSET 0
) s
CROSS JOIN LATERAL (
  SELECT greatest(s.connection_date, (
    SELECT max(u.last_seen)
    FROM (
      SELECT p.last_seen FROM subscriber_periods p
      WHERE p.company_id = $1 AND p.subscriber_key = s.key AND p.period_start <= $5
      ORDER BY p.period_start DESC
      LIMIT 3
    ) u
  ), (
    SELECT max(r.as_of)
    FROM (
      SELECT n.as_of FROM sessions n
      WHERE s.has_feed AND n.company_id = $1 AND n.subscriber_key = s.key
      ORDER BY n.began_at DESC
      LIMIT 20
    ) r
  )) AS at
  OFFSET 0
) seen
LEFT JOIN condition_sources k ON k.company_id = $1 AND k.subscriber_key = s.key AND k.since = seen.at
WHERE seen.at <= $3 AND NOT EXISTS (
    SELECT FROM unnest($6::text[], $11::text[], $7::timestamptz[]) AS f(source, nas, until)
    WHERE f.source = k.source AND f.nas = k.nas AND f.until < seen.at + make_interval(hours => $8))
ORDER BY s.key
LIMIT $9;

-- db/condition: silentSubscriber
SELECT s.key AS subscriber_key, seen.at AS since, k.source AS known_source, k.nas AS known_nas
FROM (
  SELECT s.key, s.connection_date, s.has_feed
  FROM subscribers s
  WHERE s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false AND s.connection_date <= $3 AND NOT EXISTS (
    SELECT FROM subscriber_periods p
    WHERE p.company_id = $1 AND p.period_start = ANY($4::timestamptz[]) AND p.subscriber_key = s.key AND p.last_seen > $3)
    AND NOT EXISTS (
    SELECT FROM sessions n
    WHERE n.company_id = $1 AND n.subscriber_key = s.key AND n.ended_at IS NULL AND n.as_of > $3)
    AND NOT EXISTS (SELECT FROM condition_log o WHERE o.company_id = $1 AND o.alert_id = $2 AND o.subject_id = s.key AND o.is_open)
    AND s.key = $10
  OFFSET 0
) s
CROSS JOIN LATERAL (
  SELECT greatest(s.connection_date, (
    SELECT max(u.last_seen)
    FROM (
      SELECT p.last_seen FROM subscriber_periods p
      WHERE p.company_id = $1 AND p.subscriber_key = s.key AND p.period_start <= $5
      ORDER BY p.period_start DESC
      LIMIT 3
    ) u
  ), (
    SELECT max(r.as_of)
    FROM (
      SELECT n.as_of FROM sessions n
      WHERE s.has_feed AND n.company_id = $1 AND n.subscriber_key = s.key
      ORDER BY n.began_at DESC
      LIMIT 20
    ) r
  )) AS at
  OFFSET 0
) seen
LEFT JOIN condition_sources k ON k.company_id = $1 AND k.subscriber_key = s.key AND k.since = seen.at
WHERE seen.at <= $3 AND NOT EXISTS (
    SELECT FROM unnest($6::text[], $11::text[], $7::timestamptz[]) AS f(source, nas, until)
    WHERE f.source = k.source AND f.nas = k.nas AND f.until < seen.at + make_interval(hours => $8))
ORDER BY s.key
LIMIT $9;

-- db/condition: stormsOfFleet
SELECT h.subscriber_key, h.since, h.value
FROM (
  SELECT d.subscriber_key, d.day::timestamp AT TIME ZONE 'UTC' + make_interval(hours => c.hour) AS since, sum(c.sessions)::bigint AS value
  FROM (
    SELECT t.subscriber_key, t.day
    FROM subscriber_days t
    JOIN subscribers s ON s.company_id = $1 AND s.key = t.subscriber_key AND $7::bigint IS NULL
    WHERE t.company_id = $1 AND t.day = ANY($3::date[])
    GROUP BY t.subscriber_key, t.day
    HAVING sum(t.sessions) > $5
  ) b
  JOIN subscriber_days d ON d.company_id = $1 AND d.day = b.day AND d.subscriber_key = b.subscriber_key
  CROSS JOIN LATERAL usage_cells(d.cells) AS c
  GROUP BY d.subscriber_key, d.day, c.hour
  HAVING sum(c.sessions) > $5
) h
WHERE h.since > $4::timestamptz - make_interval(hours => 1) AND NOT EXISTS (
  SELECT FROM condition_log o
  WHERE o.company_id = $1 AND o.alert_id = $2 AND o.revision = $8 AND o.subject_id = h.subscriber_key AND o.since = h.since)
ORDER BY h.since, h.subscriber_key
LIMIT $6;

-- db/condition: stormsOfMembers
SELECT h.subscriber_key, h.since, h.value
FROM (
  SELECT d.subscriber_key, d.day::timestamp AT TIME ZONE 'UTC' + make_interval(hours => c.hour) AS since, sum(c.sessions)::bigint AS value
  FROM (
    SELECT t.subscriber_key, t.day
    FROM subscriber_days t
    JOIN subscribers s ON s.company_id = $1 AND s.key = t.subscriber_key AND s.group_id = $7
    WHERE t.company_id = $1 AND t.day = ANY($3::date[])
    GROUP BY t.subscriber_key, t.day
    HAVING sum(t.sessions) > $5
  ) b
  JOIN subscriber_days d ON d.company_id = $1 AND d.day = b.day AND d.subscriber_key = b.subscriber_key
  CROSS JOIN LATERAL usage_cells(d.cells) AS c
  GROUP BY d.subscriber_key, d.day, c.hour
  HAVING sum(c.sessions) > $5
) h
WHERE h.since > $4::timestamptz - make_interval(hours => 1) AND NOT EXISTS (
  SELECT FROM condition_log o
  WHERE o.company_id = $1 AND o.alert_id = $2 AND o.revision = $8 AND o.subject_id = h.subscriber_key AND o.since = h.since)
ORDER BY h.since, h.subscriber_key
LIMIT $6;

-- db/condition: stormsOfSubscriber
SELECT h.subscriber_key, h.since, h.value
FROM (
  SELECT d.subscriber_key, d.day::timestamp AT TIME ZONE 'UTC' + make_interval(hours => c.hour) AS since, sum(c.sessions)::bigint AS value
  FROM (
    SELECT t.subscriber_key, t.day
    FROM subscriber_days t
    JOIN subscribers s ON s.company_id = $1 AND s.key = t.subscriber_key AND s.key = $7
    WHERE t.company_id = $1 AND t.day = ANY($3::date[])
    GROUP BY t.subscriber_key, t.day
    HAVING sum(t.sessions) > $5
  ) b
  JOIN subscriber_days d ON d.company_id = $1 AND d.day = b.day AND d.subscriber_key = b.subscriber_key
  CROSS JOIN LATERAL usage_cells(d.cells) AS c
  GROUP BY d.subscriber_key, d.day, c.hour
  HAVING sum(c.sessions) > $5
) h
WHERE h.since > $4::timestamptz - make_interval(hours => 1) AND NOT EXISTS (
  SELECT FROM condition_log o
  WHERE o.company_id = $1 AND o.alert_id = $2 AND o.revision = $8 AND o.subject_id = h.subscriber_key AND o.since = h.since)
ORDER BY h.since, h.subscriber_key
LIMIT $6;

-- db/condition: subscribersSeen
SELECT o.entry_id, o.subscriber_key, o.since, s.key IS NULL AS is_unwatched
FROM condition_log o
LEFT JOIN subscribers s ON s.key = o.subscriber_key AND s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false AND ($3::bigint IS NULL OR s.group_id = $3)
WHERE o.company_id = $1 AND o.alert_id = $2 AND o.is_open
  AND (s.key IS NULL
    OR EXISTS (
      SELECT FROM subscriber_periods p
      WHERE p.company_id = $1 AND p.period_start = ANY($4::timestamptz[]) AND p.subscriber_key = s.key AND p.last_seen > greatest(o.since, $6))
    OR s.has_feed AND EXISTS (
      SELECT FROM (
        SELECT n.as_of FROM sessions n
        WHERE n.company_id = $1 AND n.subscriber_key = s.key
        ORDER BY n.began_at DESC
        LIMIT 20) r
      WHERE r.as_of > greatest(o.since, $6)))
ORDER BY o.entry_id
LIMIT $5;

-- db/condition: watchingSubscribers
SELECT a.alert_id, a.rule_type, COALESCE(s.subscriber_id, a.group_id::text, '') AS target, a.subscriber_key, a.group_id,
  a.kind, a.bound, a.traits AS of, a.revision, a.armed_at, a.date_created, a.name, a.description, m.key AS subject, fired.since, COALESCE(fired.is_open, false) AS is_open
FROM subscribers m
JOIN condition_alerts a ON a.company_id = $1 AND a.kind <> 'source'
  AND (a.rule_type = 'sim' AND a.subscriber_key = m.key OR a.rule_type = 'groupfptp' AND a.group_id = m.group_id
    OR a.rule_type = 'company' AND $2::bigint[] IS NULL)
LEFT JOIN subscribers s ON s.company_id = a.company_id AND s.key = a.subscriber_key
LEFT JOIN LATERAL (
  SELECT min(l.date_created) AS since, bool_or(l.is_open) AS is_open
  FROM condition_log l
  WHERE l.company_id = $1 AND l.alert_id = a.alert_id AND l.revision = a.revision AND l.subject_id = m.key AND l.state = 'fired' AND (l.is_open OR l.date_created >= $3)
) fired ON true
WHERE m.company_id = $1 AND m.key = ANY($4) AND a.company_id = $1 AND ($2::bigint[] IS NULL OR COALESCE(a.group_id, s.group_id) = ANY($2))
ORDER BY a.alert_id;

-- db/dashboard: ExportDashboards
SELECT d.dashboard_id, d.name, d.description, d.folder, d.owner_id, d.owner, d.is_shared, d.version, d.created_at, d.changed_at,
  d.span, d.first_day, d.last_day, d.group_id, d.tag_name, d.physical_id, d.refresh_minutes, d.tiles AS placed
FROM dashboards d
WHERE d.company_id = $1 AND d.is_shared
ORDER BY d.dashboard_id;

-- db/dashboard: importedDashboard
SELECT d.dashboard_id, d.name, d.description, d.folder, d.owner_id, d.owner, d.is_shared, d.version, d.created_at, d.changed_at,
  d.span, d.first_day, d.last_day, d.group_id, d.tag_name, d.physical_id, d.refresh_minutes, d.tiles AS placed
FROM dashboards d
WHERE d.company_id = $1 AND d.dashboard_id = $2::uuid
FOR UPDATE;

-- db/delivery: findMails
SELECT m.mail_id, m.recipient_id, m.email, m.kind, (CASE m.state WHEN 'sent' THEN 'delivered' ELSE m.state END) AS state, m.attempts, m.due_at, m.created_at, m.finished_at, m.last_error, m.note
FROM mails m
WHERE m.company_id = $1 AND m.mail_id = ANY($2::uuid[]);

-- db/document: countDocuments
SELECT count(*)
FROM trusted_documents d
WHERE d.company_id = $1;

-- db/document: documentsAfter
SELECT d.document_id, d.name, d.kind, d.body AS text, d.cost, d.created_by, d.created_at, d.tool_name, d.tool_description
FROM trusted_documents d
WHERE d.company_id = $1 AND d.document_id > $2 ORDER BY d.document_id LIMIT $3;

-- db/document: findDocuments
SELECT d.document_id, d.name, d.kind, d.body AS text, d.cost, d.created_by, d.created_at, d.tool_name, d.tool_description
FROM trusted_documents d
WHERE d.company_id = $1 AND d.document_id = ANY($2);

-- db/document: textByID
SELECT d.body
FROM trusted_documents d
WHERE d.company_id = $1 AND d.document_id = $2;

-- db/document: toolsByName
SELECT d.document_id, d.name, d.kind, d.body AS text, d.cost, d.created_by, d.created_at, d.tool_name, d.tool_description
FROM trusted_documents d
WHERE d.company_id = $1 AND d.tool_name <> '' ORDER BY d.tool_name;

-- db/feed: findElements
SELECT e.source, e.nas, (CASE WHEN e.nas = '' THEN u.complete_until ELSE w.complete_until END) AS complete_until, least(w.least_lag, w.lag_before) AS lag_seconds
FROM 
(SELECT source, '' COLLATE "C" AS nas FROM usage_sources WHERE company_id = $1
 UNION SELECT source, nas FROM feed_packets WHERE company_id = $1
 UNION SELECT source, nas FROM feed_watermarks WHERE company_id = $1) e
LEFT JOIN usage_sources u ON u.company_id = $1 AND u.source = e.source
LEFT JOIN feed_watermarks w ON w.company_id = $1 AND w.source = e.source AND w.nas = e.nas
WHERE true AND ((e.source || chr(31) || e.nas) COLLATE "C") = ANY($2);

-- db/feed: findRejects
SELECT r.source, r.nas, r.reason, r.requests, r.first_at, r.last_at, r.example
FROM feed_rejects r
WHERE r.company_id = $1 AND ((r.source || chr(31) || r.nas || chr(31) || r.reason) COLLATE "C") = ANY($2);

-- db/feed: findSessions
SELECT 
n.identity AS id, n.generation, n.subscriber_key, n.source, n.nas, n.session_id, n.physical_id, n.imsi, n.msisdn,
n.began_at, n.as_of, n.reported_at, n.interval_seconds, n.ended_at, n.cause, n.mobile_originated, n.mobile_terminated,
n.reports, n.booked, n.is_transferring, n.decreased, n.clock_off, n.apn, coalesce(host(n.ip_address), '') AS address,
coalesce(text(n.ipv6_prefix), '') AS prefix, n.imei, n.rat_type, n.visited_network,
n.latest_begin AS latest, n.session_seconds, n.has_start, n.dating, n.charging_id, n.other_sources AS others, n.cell
FROM sessions n
LEFT JOIN subscribers s ON s.company_id = n.company_id AND s.key = n.subscriber_key
JOIN unnest($3::uuid[], $4::int[]) AS w(identity, generation) ON w.identity = n.identity AND w.generation = n.generation
WHERE n.company_id = $1 AND ($2::bigint[] IS NULL OR s.group_id = ANY($2));

-- db/feed: findWaiting
SELECT w.* FROM 
(SELECT q.physical_id, q.imsi, q.msisdn, q.source, count(*) AS records, sum(q.mobile_originated + q.mobile_terminated)::bigint AS bytes,
   min(q.started_at) AS first_at, max(q.ended_at) AS last_at
 FROM usage_quarantine q
 WHERE q.company_id = $1
 GROUP BY q.physical_id, q.imsi, q.msisdn, q.source) w WHERE true AND ((w.physical_id || chr(31) || w.imsi || chr(31) || w.msisdn || chr(31) || w.source) COLLATE "C") = ANY($2);

-- db/feed: incompleteSessions
SELECT n.source, n.nas, count(*)
FROM sessions n
LEFT JOIN subscribers s ON s.company_id = n.company_id AND s.key = n.subscriber_key
JOIN unnest($3::text[], $4::text[]) AS k(source, nas) ON k.source = n.source AND k.nas = n.nas
WHERE n.company_id = $1 AND ($2::bigint[] IS NULL OR s.group_id = ANY($2)) AND n.decreased GROUP BY n.source, n.nas;

-- db/feed: openSessions
SELECT n.source, n.nas, count(*)
FROM sessions n
LEFT JOIN subscribers s ON s.company_id = n.company_id AND s.key = n.subscriber_key
JOIN unnest($3::text[], $4::text[]) AS k(source, nas) ON k.source = n.source AND k.nas = n.nas
WHERE n.company_id = $1 AND ($2::bigint[] IS NULL OR s.group_id = ANY($2)) AND n.ended_at IS NULL GROUP BY n.source, n.nas;

-- db/fieldusage: findDaily
SELECT (u.day::timestamp AT TIME ZONE 'UTC') AS day, u.coordinate, u.client, u.uses FROM 
(SELECT f.day, c.coordinate, f.client, sum(f.uses)::bigint AS uses
 FROM field_uses f
 JOIN field_sets s ON s.company_id = $1 AND s.set_id = f.set_id
 CROSS JOIN unnest(s.coordinates) AS c(coordinate)
 WHERE f.company_id = $1
 GROUP BY f.day, c.coordinate, f.client) u WHERE true AND ((to_char(u.day, 'YYYY-MM-DD') || chr(31) || u.coordinate || chr(31) || u.client) COLLATE "C") = ANY($2);

-- db/group: countsOfGroups
SELECT g.group_id,
       (SELECT count(*) FROM user_groups u WHERE u.company_id = $1 AND u.group_id = g.group_id) AS users,
       (SELECT count(*) FROM subscribers s WHERE s.company_id = $1 AND s.group_id = g.group_id) AS subscribers
FROM groups g
WHERE g.company_id = $1 AND ($2::bigint[] IS NULL OR g.group_id = ANY($2)) AND g.group_id = ANY($3);

-- db/mail: claimMails
UPDATE mails m SET attempts = m.attempts + 1, due_at = $3
WHERE m.company_id = $1 AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $5) AND m.mail_id IN (
  SELECT q.mail_id FROM mails q
  WHERE q.company_id = $1 AND q.state = 'queued' AND (q.due_at <= $2 OR q.due_at > $5)
  ORDER BY q.due_at
  LIMIT $4
  FOR UPDATE SKIP LOCKED)
RETURNING m.mail_id, m.recipient_id, m.email, m.kind, (CASE m.state WHEN 'sent' THEN 'delivered' ELSE m.state END) AS state, m.attempts, m.due_at, m.created_at, m.finished_at, m.last_error, m.note;

-- db/mail: conditionEntriesOfMails
SELECT wanted.mail_id, e.*
FROM unnest($2::uuid[]) AS wanted(mail_id)
CROSS JOIN LATERAL (
  SELECT l.entry_id, l.alert_id, l.kind, l.state, l.rule_type, l.target, l.group_id, l.source, l.since, l.bound, l.value,
    l.trait, l.before, l.after, l.date_created, COALESCE(s.subscriber_id, '') AS subscriber_id, COALESCE(s.nickname, '') AS nickname, COALESCE(g.name, '') AS group_name,
    count(*) OVER () AS total
  FROM alert_deliveries d
  JOIN condition_log l ON l.company_id = $1 AND l.notification_id = d.notification_id
  LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
  LEFT JOIN groups g ON g.company_id = $1 AND g.group_id = l.target_group_id
  WHERE d.company_id = $1 AND d.mail_id = wanted.mail_id AND l.silence_id IS NULL AND (d.entries IS NULL OR l.entry_id = ANY(d.entries))
  ORDER BY l.date_created DESC, l.entry_id DESC
  LIMIT $3
) e;

-- db/mail: entriesOfMails
SELECT wanted.mail_id, e.*
FROM unnest($2::uuid[]) AS wanted(mail_id)
CROSS JOIN LATERAL (
  SELECT l.entry_id, l.alert_id, l.rule_type, l.target, l.limit_boundary, l.subscriber_key, l.group_id, l.target_group_id,
  l.period_start, l.period_end, l.threshold, l.usage, l.late AS is_late, l.silence_id, l.notification_id, l.date_created, COALESCE(s.physical_id, '') AS physical_id, COALESCE(s.subscriber_id, '') AS subscriber_id, COALESCE(s.nickname, '') AS nickname, COALESCE(g.name, '') AS group_name,
    count(*) OVER () AS total
  FROM alert_deliveries d
  JOIN alert_log l ON l.company_id = $1 AND l.notification_id = d.notification_id
  LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
  LEFT JOIN groups g ON g.company_id = $1 AND g.group_id = l.target_group_id
  WHERE d.company_id = $1 AND d.mail_id = wanted.mail_id AND l.silence_id IS NULL AND (d.entries IS NULL OR l.entry_id = ANY(d.entries))
  ORDER BY l.date_created DESC, l.entry_id DESC
  LIMIT $3
) e;

-- db/mail: findRecipientsByEmail
SELECT r.recipient_id, r.email, r.suppressed_since, r.suppressed_reason, r.suppressed_detail, r.alert_ids AS alerts, r.group_ids AS wanted
FROM alert_recipients r
WHERE r.company_id = $1 AND r.email_key = ANY($2);

-- db/mail: gatherMails
WITH ready AS (
  SELECT r.recipient_id, w.mail_id, r.email
  FROM alert_recipients r
  JOIN unnest($7::bigint[], $8::uuid[]) AS w(recipient_id, mail_id) ON w.recipient_id = r.recipient_id
  WHERE r.company_id = $1 AND r.suppressed_since IS NULL
  AND EXISTS (
    SELECT FROM alert_deliveries d
    WHERE d.company_id = $1 AND d.recipient_id = r.recipient_id AND d.mail_id IS NULL AND NOT d.suppressed
      AND (d.created_at <= $2 OR d.created_at > $6))
  AND (
    SELECT count(*) FROM mails m
    WHERE m.company_id = $1 AND m.recipient_id = r.recipient_id AND m.kind = 'alerts' AND m.created_at > $3 AND m.created_at <= $5) < $4
), taken AS (
  UPDATE alert_deliveries d SET mail_id = ready.mail_id
  FROM ready
  WHERE d.company_id = $1 AND d.recipient_id = ready.recipient_id AND d.mail_id IS NULL AND NOT d.suppressed
), gathered AS (
  INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, due_at, created_at)
  SELECT own.company_id, ready.mail_id, ready.recipient_id, ready.email, 'alerts', $5, $5
  FROM companies own
  CROSS JOIN ready
  WHERE own.company_id = $1
)
SELECT FROM companies WHERE company_id = $1;

-- db/mail: lockReady
SELECT r.recipient_id FROM alert_recipients r
WHERE r.company_id = $1 AND r.suppressed_since IS NULL
  AND EXISTS (
    SELECT FROM alert_deliveries d
    WHERE d.company_id = $1 AND d.recipient_id = r.recipient_id AND d.mail_id IS NULL AND NOT d.suppressed
      AND (d.created_at <= $2 OR d.created_at > $6))
  AND (
    SELECT count(*) FROM mails m
    WHERE m.company_id = $1 AND m.recipient_id = r.recipient_id AND m.kind = 'alerts' AND m.created_at > $3 AND m.created_at <= $5) < $4
FOR UPDATE SKIP LOCKED;

-- db/mail: mailsOfRecipients
SELECT m.*
FROM unnest($2::bigint[]) AS wanted(id)
CROSS JOIN LATERAL (
  SELECT m.mail_id, m.recipient_id, m.email, m.kind, (CASE m.state WHEN 'sent' THEN 'delivered' ELSE m.state END) AS state, m.attempts, m.due_at, m.created_at, m.finished_at, m.last_error, m.note
  FROM mails m
  WHERE m.company_id = $1 AND m.recipient_id = wanted.id
  ORDER BY m.created_at DESC, m.mail_id
  LIMIT $3 OFFSET $4
) m;

-- db/mail: queueTests
INSERT INTO mails AS m (company_id, mail_id, recipient_id, email, kind, due_at, created_at)
SELECT r.company_id, t.mail_id, r.recipient_id, r.email, 'test', $4, $4
FROM alert_recipients r
JOIN unnest($2::bigint[], $3::uuid[]) AS t(recipient_id, mail_id) ON t.recipient_id = r.recipient_id
WHERE r.company_id = $1
RETURNING m.mail_id, m.recipient_id, m.email, m.kind, (CASE m.state WHEN 'sent' THEN 'delivered' ELSE m.state END) AS state, m.attempts, m.due_at, m.created_at, m.finished_at, m.last_error, m.note;

-- db/note: ExportNotes
SELECT n.note_id, n.text, n.starts_at, n.ends_at, n.group_id, n.physical_id, n.owner_id, n.owner, n.created_at, n.changed_at
FROM notes n
WHERE n.company_id = $1
ORDER BY n.note_id;

-- db/note: importedNote
SELECT n.note_id, n.text, n.starts_at, n.ends_at, n.group_id, n.physical_id, n.owner_id, n.owner, n.created_at, n.changed_at
FROM notes n
WHERE n.company_id = $1 AND n.note_id = $2::uuid
FOR UPDATE;

-- db/question: Export
SELECT q.question_id, q.name, q.description, q.folder, q.owner_id, q.owner, q.is_shared, q.created_at, q.changed_at,
  q.version, q.measure, q.step AS interval, q.split, q.chart, q.span, q.first_day, q.last_day, q.compare, q.group_id, q.tag_name, q.physical_id
FROM questions q
WHERE q.company_id = $1 AND q.is_shared
ORDER BY q.question_id;

-- db/report: ExportReports
SELECT r.report_id, r.question_id, r.dashboard_id, r.frequency, r.hour, r.recipients AS addresses, r.unsubscribed AS parted, r.is_paused, r.owner_id, r.owner,
  r.next_due_at, r.last_sent_at, nullif(r.last_failure, '') AS last_failure, r.ended_at, r.ended_reason, r.created_at, r.changed_at
FROM reports r
WHERE r.company_id = $1
  AND (EXISTS (SELECT FROM questions q WHERE q.company_id = $1 AND q.question_id = r.question_id AND q.is_shared)
    OR EXISTS (SELECT FROM dashboards d WHERE d.company_id = $1 AND d.dashboard_id = r.dashboard_id AND d.is_shared))
ORDER BY r.report_id;

-- db/report: claimReport
UPDATE reports r SET claim = r.claim + 1, claimed_until = $3
WHERE r.company_id = $1 AND r.next_due_at <= $2 AND (r.claimed_until IS NULL OR r.claimed_until <= $2) AND r.report_id = (
  SELECT q.report_id FROM reports q
  WHERE q.company_id = $1 AND q.next_due_at <= $2 AND (q.claimed_until IS NULL OR q.claimed_until <= $2)
  ORDER BY q.next_due_at, q.report_id
  LIMIT 1
  FOR UPDATE SKIP LOCKED)
RETURNING r.report_id, r.question_id, r.dashboard_id, r.frequency, r.hour, r.recipients AS addresses, r.unsubscribed AS parted, r.is_paused, r.owner_id, r.owner,
  r.next_due_at, r.last_sent_at, nullif(r.last_failure, '') AS last_failure, r.ended_at, r.ended_reason, r.created_at, r.changed_at, r.claim, r.failures;

-- db/report: endReport
UPDATE reports SET next_due_at = NULL, ended_at = $6, ended_reason = $7, claimed_until = NULL
WHERE company_id = $1 AND report_id = $2::uuid AND claim = $3 AND changed_at = $4 AND next_due_at = $5;

-- db/report: failReport
UPDATE reports SET next_due_at = $6, claimed_until = $7, failures = $8, last_failure = $9
WHERE company_id = $1 AND report_id = $2::uuid AND claim = $3 AND changed_at = $4 AND next_due_at = $5;

-- db/report: finishReport
UPDATE reports SET next_due_at = $6, last_sent_at = $7, claimed_until = NULL, failures = 0, last_failure = ''
WHERE company_id = $1 AND report_id = $2::uuid AND claim = $3 AND changed_at = $4 AND next_due_at = $5;

-- db/report: importedReport
SELECT r.report_id, r.question_id, r.dashboard_id, r.frequency, r.hour, r.recipients AS addresses, r.unsubscribed AS parted, r.is_paused, r.owner_id, r.owner,
  r.next_due_at, r.last_sent_at, nullif(r.last_failure, '') AS last_failure, r.ended_at, r.ended_reason, r.created_at, r.changed_at FROM reports r WHERE r.company_id = $1 AND r.report_id = $2::uuid FOR UPDATE;

-- db/report: lockAnyReport
SELECT r.report_id, r.question_id, r.dashboard_id, r.frequency, r.hour, r.recipients AS addresses, r.unsubscribed AS parted, r.is_paused, r.owner_id, r.owner,
  r.next_due_at, r.last_sent_at, nullif(r.last_failure, '') AS last_failure, r.ended_at, r.ended_reason, r.created_at, r.changed_at FROM reports r WHERE r.company_id = $1 AND r.report_id = $2::uuid FOR UPDATE;

-- db/report: pendingReports
SELECT DISTINCT r.company_id
FROM reports r
WHERE ($1::bigint[] IS NULL OR r.company_id = ANY($1)) AND r.next_due_at <= $2 AND (r.claimed_until IS NULL OR r.claimed_until <= $2)
LIMIT 1000;

-- db/signin: authenticateSession
SELECT u.user_id, u.email, u.permissions, k.scopes AS key_scopes, COALESCE(k.is_documents_only, false) AS documents_only,
       c.company_id, c.external_id, c.name, c.billing_day, c.time_zone, c.country_code, COALESCE(s.scopes, u.permissions) AS scopes, s.expires_at, COALESCE(s.access_key_id, '') AS access_key_id,
       array_agg(g.group_id ORDER BY g.group_id) FILTER (WHERE g.group_id IS NOT NULL) AS groups,
       array_agg(g.group_id ORDER BY g.group_id) FILTER (WHERE g.hide_tariff_details) AS masked
FROM web_sessions s
JOIN users u ON u.company_id = s.company_id AND u.user_id = s.user_id
JOIN companies c ON c.company_id = s.company_id
LEFT JOIN access_keys k ON k.company_id = s.company_id AND k.access_key_id = s.access_key_id
LEFT JOIN access_tokens t ON t.company_id = s.company_id AND t.token_hash = s.token_hash
LEFT JOIN user_groups ug ON ug.company_id = u.company_id AND ug.user_id = u.user_id
LEFT JOIN groups g ON g.company_id = ug.company_id AND g.group_id = ug.group_id
WHERE s.company_id = $1 AND s.session_hash = $2 AND s.expires_at > $3 AND s.ended_at IS NULL AND NOT u.disabled
  AND (s.access_key_id IS NULL OR (k.revoked_at IS NULL AND k.expires_at > $3))
  AND (s.token_hash IS NULL OR (t.revoked_at IS NULL AND t.expires_at > $3))
GROUP BY s.company_id, s.session_hash, u.company_id, u.user_id, c.company_id, k.company_id, k.access_key_id;

-- db/signin: endInvitations
DELETE FROM user_invitations WHERE company_id = $1 AND ($2 = '' OR user_id IN (SELECT user_id FROM users WHERE company_id = $1 AND email = $2));

-- db/signin: endLinks
DELETE FROM login_links WHERE company_id = $1 AND ($2 = '' OR user_id IN (SELECT user_id FROM users WHERE company_id = $1 AND email = $2));

-- db/silence: countActive
SELECT count(*)
FROM silences n
JOIN companies own ON own.company_id = n.company_id
WHERE n.company_id = $1 AND n.ends_at > $2;

-- db/silence: silenceAlerts
UPDATE alert_log e SET silence_id = m.silence_id
FROM (
  SELECT l.entry_id, min(n.silence_id) AS silence_id
  FROM alert_log l
  LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
  JOIN silences n ON n.company_id = $1 AND n.silence_id = ANY($3)
    AND (n.alert_ids = '{}' OR l.alert_id = ANY(n.alert_ids))
    AND (n.group_ids = '{}' OR n.group_ids && ARRAY[l.group_id, l.target_group_id, s.group_id])
    AND (n.physical_ids = '{}' OR s.physical_id = ANY(n.physical_ids))
    AND (n.tag_names = '{}' OR EXISTS (
      SELECT FROM subscriber_tags t WHERE t.company_id = $1 AND t.subscriber_key = l.subscriber_key AND t.tag_name = ANY(n.tag_names)))
  WHERE l.company_id = $1 AND l.notification_id = $2
  GROUP BY l.entry_id
) m
WHERE e.company_id = $1 AND e.entry_id = m.entry_id;

-- db/silence: silenceConditionEntries
UPDATE condition_log e SET silence_id = m.silence_id
FROM (
  SELECT l.entry_id, min(n.silence_id) AS silence_id
  FROM condition_log l
  LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
  JOIN silences n ON n.company_id = $1 AND n.silence_id = ANY($3)
    AND (n.alert_ids = '{}' OR l.alert_id = ANY(n.alert_ids))
    AND (n.group_ids = '{}' OR n.group_ids && ARRAY[l.group_id, l.target_group_id, s.group_id])
    AND (n.physical_ids = '{}' OR s.physical_id = ANY(n.physical_ids))
    AND (n.tag_names = '{}' OR EXISTS (
      SELECT FROM subscriber_tags t WHERE t.company_id = $1 AND t.subscriber_key = l.subscriber_key AND t.tag_name = ANY(n.tag_names)))
  WHERE l.company_id = $1 AND l.notification_id = $2
  GROUP BY l.entry_id
) m
WHERE e.company_id = $1 AND e.entry_id = m.entry_id;

-- db/silence: silencesAt
SELECT n.silence_id, n.reason, n.alert_ids AS alerts, n.group_ids AS wanted, n.tag_names AS tags, n.physical_ids AS physicals,
  n.starts_at, n.ends_at, n.weekly AS windows, n.created_by, n.created_at, own.time_zone, own.billing_day
FROM silences n
JOIN companies own ON own.company_id = n.company_id
WHERE n.company_id = $1 AND n.starts_at <= $2 AND n.ends_at > $2
ORDER BY n.silence_id;

-- db/silence: unsilencedAlerts
SELECT EXISTS (SELECT FROM alert_log l WHERE l.company_id = $1 AND l.notification_id = $2 AND l.silence_id IS NULL);

-- db/silence: unsilencedConditionEntries
SELECT EXISTS (SELECT FROM condition_log l WHERE l.company_id = $1 AND l.notification_id = $2 AND l.silence_id IS NULL);

-- db/source: findRejects
SELECT r.digest::text AS id, s.name AS source_name, r.reason, r.field, r.payload, r.is_record, r.times, r.first_at, r.last_at
FROM source_rejects r
JOIN sources s ON s.company_id = r.company_id AND s.source_id = r.source_id
WHERE r.company_id = $1 AND s.company_id = $1 AND r.digest = ANY($2::uuid[]);

-- db/source: nextRejects
SELECT r.digest::text AS id, s.name AS source_name, r.reason, r.field, r.payload, r.is_record, r.times, r.first_at, r.last_at
FROM source_rejects r
JOIN sources s ON s.company_id = r.company_id AND s.source_id = r.source_id
WHERE r.company_id = $1 AND s.company_id = $1 AND r.source_id = $2 AND r.is_record AND r.digest > $3::uuid
ORDER BY r.digest
LIMIT $4;

-- db/sqlrole: beyond
WITH own AS (
  SELECT c.oid, c.relkind FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')
)
SELECT 'read or write ' || o.oid::regclass AS may FROM own o
WHERE o.relkind IN ('r', 'p', 'v', 'm', 'f') AND (has_table_privilege($1, o.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
  OR has_any_column_privilege($1, o.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))
UNION ALL
SELECT 'use ' || o.oid::regclass FROM own o WHERE CASE o.relkind WHEN 'S' THEN has_sequence_privilege($1, o.oid, 'USAGE, SELECT, UPDATE') ELSE false END
UNION ALL
SELECT 'call ' || p.oid::regprocedure FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND has_function_privilege($1, p.oid, 'EXECUTE')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e')
UNION ALL
SELECT 'create objects in the schema ' || n.nspname FROM pg_namespace n
WHERE n.nspname IN ('public', 'analyst', 'analyst_login') AND has_schema_privilege($1, n.oid, 'CREATE')
UNION ALL
SELECT 'create temporary tables or schemas in the database' WHERE has_database_privilege($1, current_database(), 'TEMPORARY, CREATE')
LIMIT 5;

-- db/upstream: claimUpstream
UPDATE upstreams u SET claim = u.claim + 1, claimed_until = $5
WHERE u.company_id = $1 AND u.upstream_id = $4 AND u.paused_at IS NULL AND (u.claimed_until IS NULL OR u.claimed_until <= $2 OR u.claimed_until > $3) AND ((u.due_at <= $2 OR u.due_at > $3) OR u.is_written_through AND (u.writes_due_at IS NULL OR u.writes_due_at <= $2 OR u.writes_due_at > $3) AND EXISTS (
  SELECT FROM upstream_writes w WHERE w.company_id = $1 AND w.upstream_id = u.upstream_id AND w.sent_at IS NULL AND w.refused_at IS NULL))
RETURNING u.upstream_id, u.name, u.base_url, u.source, u.labels, u.is_written_through, u.days, u.currency, u.is_copying_alerts, u.is_copying_recipients,
  u.created_at, u.paused_at, u.due_at, u.claimed_until, u.last_synced_at, u.last_swept_at, u.data_complete_until, u.progress,
  u.last_error, u.failed_at, u.subscribers, u.missing, u.records, u.refused, u.lowered, u.refusals,
  u.held_removals, u.held_at, u.confirmed_removals, u.confirmed_at, u.write_error, u.writes_due_at, u.key, u.claim, u.sweep, u.attempts, u.is_sweep_requested, u.cursor, NOT (u.due_at <= $2 OR u.due_at > $3) AS is_writing;

-- db/upstream: dueUpstreams
SELECT u.company_id, u.upstream_id FROM upstreams u
WHERE ($1::bigint[] IS NULL OR u.company_id = ANY($1)) AND u.paused_at IS NULL AND (u.claimed_until IS NULL OR u.claimed_until <= $2 OR u.claimed_until > $3) AND ((u.due_at <= $2 OR u.due_at > $3) OR u.is_written_through AND (u.writes_due_at IS NULL OR u.writes_due_at <= $2 OR u.writes_due_at > $3) AND EXISTS (
  SELECT FROM upstream_writes w WHERE w.company_id = u.company_id AND w.upstream_id = u.upstream_id AND w.sent_at IS NULL AND w.refused_at IS NULL))
ORDER BY u.due_at
LIMIT 1000;

-- db/upstream: failPass
UPDATE upstreams SET attempts = attempts + 1, last_error = $9, failed_at = $7::timestamptz,
  claimed_until = NULL, progress = $4, records = records + $5, due_at = CASE WHEN requested_at > $6::timestamptz THEN $7::timestamptz ELSE $8::timestamptz END,
  requested_at = CASE WHEN requested_at > $6::timestamptz THEN requested_at END
WHERE company_id = $1 AND upstream_id = $2 AND claim = $3;

-- db/upstream: insertWrites
INSERT INTO upstream_writes AS w (company_id, upstream_id, physical_id, tag_name, nickname, is_attached)
SELECT DISTINCT ON (l.physical_id, l.tag_name) o.company_id, o.upstream_id, l.physical_id, l.tag_name, l.nickname, l.is_attached
FROM unnest($2::text[], $3::text[], $4::text[], $5::boolean[]) AS l(physical_id, tag_name, nickname, is_attached)
JOIN upstream_subscribers o ON o.company_id = $1 AND o.physical_id = l.physical_id
JOIN upstreams u ON u.company_id = $1 AND u.upstream_id = o.upstream_id AND u.is_written_through
WHERE o.company_id = $1 AND u.company_id = $1
ORDER BY l.physical_id, l.tag_name
ON CONFLICT (company_id, physical_id, tag_name) DO UPDATE SET upstream_id = excluded.upstream_id, nickname = excluded.nickname, is_attached = excluded.is_attached,
  version = w.version + 1, sent_at = NULL, refused_at = NULL, refusal = NULL;

-- db/upstream: listCarriers
SELECT s.physical_id
FROM subscriber_tags st
JOIN subscribers s ON s.company_id = st.company_id AND s.key = st.subscriber_key
JOIN upstream_subscribers o ON o.company_id = s.company_id AND o.physical_id = s.physical_id
WHERE st.company_id = $1 AND s.company_id = $1 AND o.company_id = $1 AND o.upstream_id = $2 AND o.last_sweep >= $3
  AND NOT EXISTS (
    SELECT FROM upstream_writes w
    WHERE w.company_id = $1 AND w.physical_id = s.physical_id AND w.tag_name = st.tag_name AND w.is_attached AND w.refused_at IS NULL) AND st.tag_name = $4 ORDER BY s.physical_id;

-- db/upstream: listTags
SELECT DISTINCT st.tag_name
FROM subscriber_tags st
JOIN subscribers s ON s.company_id = st.company_id AND s.key = st.subscriber_key
JOIN upstream_subscribers o ON o.company_id = s.company_id AND o.physical_id = s.physical_id
WHERE st.company_id = $1 AND s.company_id = $1 AND o.company_id = $1 AND o.upstream_id = $2 AND o.last_sweep >= $3
  AND NOT EXISTS (
    SELECT FROM upstream_writes w
    WHERE w.company_id = $1 AND w.physical_id = s.physical_id AND w.tag_name = st.tag_name AND w.is_attached AND w.refused_at IS NULL);

-- db/upstream: succeedPass
UPDATE upstreams SET attempts = 0, last_error = NULL, failed_at = NULL, last_synced_at = $6::timestamptz, data_complete_until = $9, cursor = '',
  held_removals = CASE WHEN $10 THEN nullif($15::bigint, 0) ELSE held_removals END,
  held_at = CASE WHEN NOT $10 THEN held_at WHEN $15::bigint > 0 THEN COALESCE(held_at, $7::timestamptz) END,
  confirmed_removals = CASE WHEN NOT $10 OR confirmed_at > $16::timestamptz AND $15::bigint > 0 THEN confirmed_removals END,
  confirmed_at = CASE WHEN NOT $10 OR confirmed_at > $16::timestamptz AND $15::bigint > 0 THEN confirmed_at END,
  is_sweep_requested = is_sweep_requested AND (requested_at > $6::timestamptz OR NOT $10),
  last_swept_at = CASE WHEN $10 THEN $6::timestamptz ELSE last_swept_at END, sweep = CASE WHEN $10 THEN $11::bigint ELSE sweep END,
  refused = CASE WHEN $10 OR $12::bigint > 0 THEN $12::bigint ELSE refused END, refusals = CASE WHEN $10 OR $12::bigint > 0 THEN $13::text[] ELSE refusals END,
  lowered = CASE WHEN $10 THEN $14::bigint ELSE greatest(lowered, $14::bigint) END,
  claimed_until = NULL, progress = $4, records = records + $5, due_at = CASE WHEN requested_at > $6::timestamptz THEN $7::timestamptz ELSE $8::timestamptz END,
  requested_at = CASE WHEN requested_at > $6::timestamptz THEN requested_at END
WHERE company_id = $1 AND upstream_id = $2 AND claim = $3;

-- db/usage: adoptMoves
WITH adopted AS (
  DELETE FROM usage_moves WHERE company_id = $1 RETURNING since
), used AS (
  SELECT d.subscriber_key AS key, min(d.day) AS since
  FROM adopted a
  JOIN subscriber_days d ON d.company_id = $1 AND d.day >= a.since
  GROUP BY d.subscriber_key
), marked AS (
  INSERT INTO subscriber_moves AS w (company_id, subscriber_key, since)
  SELECT own.company_id, u.key, u.since
  FROM companies own
  CROSS JOIN used u
  WHERE own.company_id = $1
  ORDER BY u.key
  ON CONFLICT (company_id, subscriber_key) DO UPDATE SET since = least(w.since, excluded.since)
), noted AS (
  INSERT INTO company_moves AS w (company_id, since)
  SELECT own.company_id, min(u.since)
  FROM companies own
  CROSS JOIN used u
  WHERE own.company_id = $1
  GROUP BY own.company_id
  ON CONFLICT (company_id) DO UPDATE SET since = least(w.since, excluded.since)
)
SELECT FROM companies WHERE company_id = $1;

-- db/usage: attachSessions
WITH found AS (
  SELECT q.identity, q.generation, s.key
  FROM sessions q
  CROSS JOIN LATERAL (
SELECT coalesce(
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = q.physical_id AND q.physical_id <> ''),
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.imsi = q.imsi AND q.imsi <> '' AND s.imsi <> ''
   ORDER BY s.is_active DESC, s.connection_date DESC, s.key DESC LIMIT 1),
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.subscriber_id = q.msisdn AND q.msisdn <> ''
   ORDER BY s.is_active DESC, s.connection_date DESC, s.key DESC LIMIT 1)) AS key) s
  WHERE q.company_id = $1 AND q.subscriber_key IS NULL AND s.key IS NOT NULL
)
UPDATE sessions n SET subscriber_key = f.key
FROM found f
WHERE n.company_id = $1 AND n.identity = f.identity AND n.generation = f.generation
RETURNING n.subscriber_key;

-- db/usage: attachValues
UPDATE session_values v SET subscriber_key = f.subscriber_key, place = f.place
FROM (
  SELECT u.place AS was, n.subscriber_key, l.last + row_number() OVER (ORDER BY u.place) AS place
  FROM session_values u
  JOIN (SELECT DISTINCT s.identity, s.subscriber_key FROM sessions s WHERE s.company_id = $1 AND s.subscriber_key = ANY($2)) n ON n.identity = u.identity
  CROSS JOIN (
  SELECT greatest(
    (SELECT max(v.place) FROM session_values v WHERE v.company_id = $1),
    (SELECT k.place FROM condition_learned k WHERE k.company_id = $1), 0) AS last) l
  WHERE u.company_id = $1 AND u.subscriber_key IS NULL
) f
WHERE v.company_id = $1 AND v.place = f.was;

-- db/usage: enterMany
WITH line AS MATERIALIZED (
  SELECT l.*, coalesce(nullif(($17::bigint[])[l.place], 0), s.key) AS key
  FROM (
    SELECT *
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::inet[]) WITH ORDINALITY
    AS l(identity, physical_id, session_id, record_id, ip_address, place)
  ) l
  LEFT JOIN LATERAL (
    SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = l.physical_id OFFSET 0
  ) s ON true
), registered AS (
  INSERT INTO usage_ids (company_id, identity, digest)
  SELECT own.company_id, l.identity, ($16::bigint[])[l.place]
  FROM companies own
  CROSS JOIN line l
  WHERE own.company_id = $1
  ON CONFLICT (company_id, identity) DO NOTHING
  RETURNING identity
), fresh AS MATERIALIZED (
  SELECT l.* FROM line l WHERE (l.identity IN (SELECT r.identity FROM registered r)) IS TRUE
), entered AS (
  INSERT INTO usage_records (company_id, identity, subscriber_key, session_id, record_id, ip_address, started_at, ended_at,
  mobile_originated, mobile_terminated, sequence, protocol, source)
  SELECT own.company_id, l.identity, l.key, l.session_id, l.record_id, l.ip_address,
  to_timestamp(($7::bigint[])[l.place] / 1e6::float8), to_timestamp(($8::bigint[])[l.place] / 1e6::float8),
  ($9::bigint[])[l.place], ($10::bigint[])[l.place], ($11::integer[])[l.place],
  ($12::text[])[($13::integer[])[l.place]], ($14::text[])[($15::integer[])[l.place]]
  FROM companies own
  CROSS JOIN fresh l
  WHERE own.company_id = $1 AND l.key IS NOT NULL
  RETURNING 1
)
SELECT c.company_id, c.external_id, c.name, c.billing_day, c.time_zone, f.places, f.keys
FROM companies c
CROSS JOIN (SELECT array_agg(l.place) AS places, array_agg(coalesce(l.key, 0)) AS keys FROM fresh l) f
CROSS JOIN (SELECT count(*) FROM entered) e
WHERE c.company_id = $1 AND f.places IS NOT NULL
FOR NO KEY UPDATE OF c;

-- db/usage: enterOne
WITH line AS MATERIALIZED (
  SELECT l.*, coalesce(nullif(($17::bigint[])[l.place], 0), s.key) AS key
  FROM (
    SELECT *
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::inet[]) WITH ORDINALITY
    AS l(identity, physical_id, session_id, record_id, ip_address, place) LIMIT 1
  ) l
  LEFT JOIN LATERAL (
    SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = l.physical_id OFFSET 0
  ) s ON true
), registered AS (
  INSERT INTO usage_ids (company_id, identity, digest)
  SELECT own.company_id, l.identity, ($16::bigint[])[l.place]
  FROM companies own
  CROSS JOIN line l
  WHERE own.company_id = $1
  ON CONFLICT (company_id, identity) DO NOTHING
  RETURNING identity
), fresh AS MATERIALIZED (
  SELECT l.* FROM line l WHERE (l.identity IN (SELECT r.identity FROM registered r)) IS TRUE
), entered AS (
  INSERT INTO usage_records (company_id, identity, subscriber_key, session_id, record_id, ip_address, started_at, ended_at,
  mobile_originated, mobile_terminated, sequence, protocol, source)
  SELECT own.company_id, l.identity, l.key, l.session_id, l.record_id, l.ip_address,
  to_timestamp(($7::bigint[])[l.place] / 1e6::float8), to_timestamp(($8::bigint[])[l.place] / 1e6::float8),
  ($9::bigint[])[l.place], ($10::bigint[])[l.place], ($11::integer[])[l.place],
  ($12::text[])[($13::integer[])[l.place]], ($14::text[])[($15::integer[])[l.place]]
  FROM companies own
  CROSS JOIN fresh l
  WHERE own.company_id = $1 AND l.key IS NOT NULL
  RETURNING 1
)
SELECT c.company_id, c.external_id, c.name, c.billing_day, c.time_zone, f.places, f.keys
FROM companies c
CROSS JOIN (SELECT array_agg(l.place) AS places, array_agg(coalesce(l.key, 0)) AS keys FROM fresh l) f
CROSS JOIN (SELECT count(*) FROM entered) e
WHERE c.company_id = $1 AND f.places IS NOT NULL
FOR NO KEY UPDATE OF c;

-- db/usage: enterRecords
INSERT INTO usage_records (company_id, identity, subscriber_key, session_id, record_id, ip_address, started_at, ended_at,
  mobile_originated, mobile_terminated, sequence, protocol, source)
SELECT own.company_id, l.identity, ($3::bigint[])[l.place], l.session_id, l.record_id, l.ip_address,
  to_timestamp(($7::bigint[])[l.place] / 1e6::float8), to_timestamp(($8::bigint[])[l.place] / 1e6::float8),
  ($9::bigint[])[l.place], ($10::bigint[])[l.place], ($11::integer[])[l.place],
  ($12::text[])[($13::integer[])[l.place]], ($14::text[])[($15::integer[])[l.place]]
FROM companies own
CROSS JOIN unnest($2::uuid[], $4::text[], $5::text[], $6::inet[]) WITH ORDINALITY AS l(identity, session_id, record_id, ip_address, place)
WHERE own.company_id = $1;

-- db/usage: findNamed
SELECT coalesce(array_agg(coalesce(s.key, 0) ORDER BY q.place), '{}'),
  coalesce(array_agg(s.key IS NOT NULL AND NOT ($5::boolean[])[q.place] AND (
    q.physical_id <> '' AND o.physical_id <> q.physical_id OR q.imsi <> '' AND o.imsi <> '' AND o.imsi <> q.imsi
    OR q.msisdn <> '' AND o.subscriber_id <> q.msisdn) ORDER BY q.place), '{}')
FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS q(physical_id, imsi, msisdn, place)
CROSS JOIN LATERAL (
SELECT coalesce(
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = q.physical_id AND q.physical_id <> ''),
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.imsi = q.imsi AND q.imsi <> '' AND s.imsi <> ''
   ORDER BY s.is_active DESC, s.connection_date DESC, s.key DESC LIMIT 1),
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.subscriber_id = q.msisdn AND q.msisdn <> ''
   ORDER BY s.is_active DESC, s.connection_date DESC, s.key DESC LIMIT 1)) AS key) s
LEFT JOIN LATERAL (
  SELECT o.physical_id, o.imsi, o.subscriber_id FROM subscribers o WHERE o.company_id = $1 AND o.key = s.key OFFSET 0
) o ON true;

-- db/usage: holdRecords
INSERT INTO usage_quarantine (company_id, identity, physical_id, session_id, record_id, ip_address, started_at, ended_at,
  mobile_originated, mobile_terminated, sequence, protocol, source, imsi, msisdn)
SELECT own.company_id, l.identity, l.physical_id, l.session_id, l.record_id, l.ip_address,
  to_timestamp(($7::bigint[])[l.place] / 1e6::float8), to_timestamp(($8::bigint[])[l.place] / 1e6::float8),
  ($9::bigint[])[l.place], ($10::bigint[])[l.place], ($11::integer[])[l.place],
  ($12::text[])[($13::integer[])[l.place]], ($14::text[])[($15::integer[])[l.place]], ($16::text[])[l.place], ($17::text[])[l.place]
FROM companies own
CROSS JOIN unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::inet[]) WITH ORDINALITY
AS l(identity, physical_id, session_id, record_id, ip_address, place)
WHERE own.company_id = $1;

-- db/usage: misplacedDays
WITH 
span AS (
  SELECT m.subscriber_key, coalesce(m.group_id, 0) AS group_id, coalesce(lead(m.since) OVER w, 'infinity') AS until,
    CASE WHEN row_number() OVER w = 1 THEN '-infinity' ELSE m.since END AS since
  FROM group_memberships m
  JOIN (
    SELECT k.subscriber_key, min(k.since) AS since
    FROM group_memberships k
    WHERE k.company_id = $1 AND k.group_id IS NOT NULL AND k.subscriber_key = ANY($4::bigint[])
    GROUP BY k.subscriber_key
  ) known ON known.subscriber_key = m.subscriber_key AND known.since <= m.since
  WHERE m.company_id = $1 AND m.subscriber_key = ANY($4)
  WINDOW w AS (PARTITION BY m.subscriber_key ORDER BY m.since)
), booked AS (
  SELECT on_day AS began, n.subscriber_key, min(d.group_id) AS group_id, count(*) AS parts
  FROM unnest($4::bigint[]) AS n(subscriber_key)
  CROSS JOIN generate_series($2::timestamptz, $3::timestamptz - interval '24 hours', interval '24 hours') AS on_day
  CROSS JOIN LATERAL (
    SELECT d.group_id
    FROM subscriber_days d
    WHERE d.company_id = $1 AND d.day = (on_day AT TIME ZONE 'UTC')::date AND d.subscriber_key = n.subscriber_key
    OFFSET 0
  ) d
  GROUP BY on_day, n.subscriber_key
), placed AS (
  SELECT b.*, count(DISTINCT s.group_id) AS groups, coalesce(min(s.group_id), 0) AS belongs_to
  FROM booked b
  LEFT JOIN span s ON s.subscriber_key = b.subscriber_key AND s.since < b.began + interval '24 hours' AND s.until > b.began
  GROUP BY b.began, b.subscriber_key, b.group_id, b.parts
)
SELECT (began AT TIME ZONE 'UTC')::date - DATE 'epoch' AS day, subscriber_key, group_id, belongs_to, parts > 1 OR groups > 1 AS is_shared
FROM placed
WHERE parts > 1 OR groups > 1 OR group_id <> belongs_to
ORDER BY day, subscriber_key;

-- db/usage: noteMovedUsage
WITH used AS (
  WITH RECURSIVE period AS (
    SELECT min(p.period_start) AS began FROM subscriber_periods p WHERE p.company_id = $1
    UNION ALL
    SELECT (SELECT min(p.period_start) FROM subscriber_periods p WHERE p.company_id = $1 AND p.period_start > period.began)
    FROM period
    WHERE period.began IS NOT NULL
  ), moved AS (
    SELECT s.key, CASE WHEN line.since > known.since THEN line.since ELSE '-infinity' END AS since
    FROM (
      SELECT l.physical_id, min(l.since) AS since
      FROM unnest($2::text[], $3::timestamptz[]) AS l(physical_id, since)
      GROUP BY l.physical_id
    ) line
    JOIN subscribers s ON s.company_id = $1 AND s.physical_id = line.physical_id
    CROSS JOIN LATERAL (
      SELECT min(m.since) AS since
      FROM group_memberships m
      WHERE m.company_id = $1 AND m.subscriber_key = s.key AND m.group_id IS NOT NULL
    ) known
  )
  SELECT m.key, (greatest(m.since, min(u.period_start)) AT TIME ZONE 'UTC')::date AS since
  FROM moved m
  CROSS JOIN period
  CROSS JOIN LATERAL (
    SELECT u.period_start, u.subscriber_key, u.last_seen
    FROM subscriber_periods u
    WHERE u.company_id = $1 AND u.period_start = period.began AND u.subscriber_key >= m.key
    ORDER BY u.subscriber_key
    LIMIT 1
  ) u
  WHERE u.subscriber_key = m.key AND u.last_seen >= date_trunc('second', m.since)
  GROUP BY m.key, m.since
), marked AS (
  INSERT INTO subscriber_moves AS w (company_id, subscriber_key, since)
  SELECT own.company_id, u.key, u.since
  FROM companies own
  CROSS JOIN used u
  WHERE own.company_id = $1
  ORDER BY u.key
  ON CONFLICT (company_id, subscriber_key) DO UPDATE SET since = least(w.since, excluded.since)
), noted AS (
  INSERT INTO company_moves AS w (company_id, since)
  SELECT own.company_id, min(u.since)
  FROM companies own
  CROSS JOIN used u
  WHERE own.company_id = $1
  GROUP BY own.company_id
  ON CONFLICT (company_id) DO UPDATE SET since = least(w.since, excluded.since)
)
SELECT FROM companies WHERE company_id = $1;

-- db/usage: readBook
SELECT g.keys, g.since, g.groups, b.places, b.began, b.opened, EXISTS (SELECT FROM alert_thresholds t WHERE t.company_id = $1) OR EXISTS (SELECT FROM live_followers WHERE company_id = $1 AND expires_at > now()),
  (SELECT max(m.month) FROM usage_months m WHERE m.company_id = $1)
FROM (
  SELECT coalesce(array_agg(m.subscriber_key), '{}') AS keys, coalesce(array_agg((date_part('epoch', m.since) * 1000000)::bigint), '{}') AS since,
    coalesce(array_agg(coalesce(m.group_id, 0)), '{}') AS groups
  FROM group_memberships m
  WHERE m.company_id = $1 AND m.subscriber_key = ($2::bigint[])[1]
) g
CROSS JOIN (
  SELECT coalesce(array_agg(n.place), '{}') AS places, coalesce(array_agg((date_part('epoch', s.began_at) * 1000000)::bigint), '{}') AS began,
    coalesce(array_agg(s.is_opened), '{}') AS opened
  FROM (
    SELECT * FROM unnest($3::bigint[], $4::text[]) WITH ORDINALITY AS n(subscriber_key, session_id, place) LIMIT 1
  ) n
  CROSS JOIN LATERAL (
    SELECT s.began_at, s.is_opened
    FROM usage_sessions s
    WHERE s.company_id = $1 AND s.subscriber_key = n.subscriber_key AND s.session_id = n.session_id
    OFFSET 0
  ) s
) b;

-- db/usage: readBooks
SELECT g.keys, g.since, g.groups, b.places, b.began, b.opened, EXISTS (SELECT FROM alert_thresholds t WHERE t.company_id = $1) OR EXISTS (SELECT FROM live_followers WHERE company_id = $1 AND expires_at > now()),
  (SELECT max(m.month) FROM usage_months m WHERE m.company_id = $1)
FROM (
  SELECT coalesce(array_agg(m.subscriber_key), '{}') AS keys, coalesce(array_agg((date_part('epoch', m.since) * 1000000)::bigint), '{}') AS since,
    coalesce(array_agg(coalesce(m.group_id, 0)), '{}') AS groups
  FROM group_memberships m
  WHERE m.company_id = $1 AND m.subscriber_key = ANY($2::bigint[])
) g
CROSS JOIN (
  SELECT coalesce(array_agg(n.place), '{}') AS places, coalesce(array_agg((date_part('epoch', s.began_at) * 1000000)::bigint), '{}') AS began,
    coalesce(array_agg(s.is_opened), '{}') AS opened
  FROM (
    SELECT * FROM unnest($3::bigint[], $4::text[]) WITH ORDINALITY AS n(subscriber_key, session_id, place)
  ) n
  CROSS JOIN LATERAL (
    SELECT s.began_at, s.is_opened
    FROM usage_sessions s
    WHERE s.company_id = $1 AND s.subscriber_key = n.subscriber_key AND s.session_id = n.session_id
    OFFSET 0
  ) s
) b;

-- db/usage: releaseUsage
WITH ready AS (
  SELECT q.company_id, q.identity, s.key AS subscriber_key
  FROM usage_quarantine q
  CROSS JOIN LATERAL (
SELECT coalesce(
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = q.physical_id AND q.physical_id <> ''),
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.imsi = q.imsi AND q.imsi <> '' AND s.imsi <> ''
   ORDER BY s.is_active DESC, s.connection_date DESC, s.key DESC LIMIT 1),
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.subscriber_id = q.msisdn AND q.msisdn <> ''
   ORDER BY s.is_active DESC, s.connection_date DESC, s.key DESC LIMIT 1)) AS key) s
  WHERE q.company_id = $1 AND q.started_at >= (SELECT l.first_month FROM usage_ledger l) AND s.key IS NOT NULL
  ORDER BY q.identity
  LIMIT $2
)
DELETE FROM usage_quarantine q
USING ready r
WHERE q.company_id = $1 AND r.company_id = q.company_id AND r.identity = q.identity
RETURNING q.identity, r.subscriber_key, q.physical_id, q.started_at, q.ended_at, q.mobile_originated, q.mobile_terminated,
  q.sequence, coalesce(host(q.ip_address), '') AS address, q.protocol, q.session_id, q.source, q.record_id;

-- db/usage: reportedByHour
SELECT '' AS physical_id, '' AS subscriber_id, floor(extract(epoch FROM r.started_at) / 3600)::bigint AS hour,
  sum(r.mobile_originated)::bigint AS mobile_originated, sum(r.mobile_terminated)::bigint AS mobile_terminated, count(*) AS records
FROM usage_records r
WHERE r.company_id = $1 AND r.started_at >= $2 AND r.started_at < $3 AND r.source = $4
GROUP BY 3;

-- db/usage: reportedBySubscriber
SELECT s.physical_id, s.subscriber_id, 0 AS hour,
  sum(r.mobile_originated)::bigint AS mobile_originated, sum(r.mobile_terminated)::bigint AS mobile_terminated, count(*) AS records
FROM usage_records r
JOIN subscribers s ON s.company_id = $1 AND s.key = r.subscriber_key
WHERE r.company_id = $1 AND r.started_at >= $2 AND r.started_at < $3 AND r.source = $4
GROUP BY s.physical_id, s.subscriber_id;

-- db/usage: reportedHours
SELECT s.physical_id, s.subscriber_id, floor(extract(epoch FROM r.started_at) / 3600)::bigint AS hour,
  sum(r.mobile_originated)::bigint AS mobile_originated, sum(r.mobile_terminated)::bigint AS mobile_terminated, count(*) AS records
FROM usage_records r
JOIN subscribers s ON s.company_id = $1 AND s.key = r.subscriber_key
WHERE r.company_id = $1 AND r.started_at >= $2 AND r.started_at < $3 AND r.source = $4 AND s.physical_id = ANY($5)
GROUP BY s.physical_id, s.subscriber_id, 3;

-- db/usage: seenInSessions
INSERT INTO subscriber_seen AS k (company_id, subscriber_key, last_seen_at)
  SELECT n.company_id, n.subscriber_key, max(n.as_of)
  FROM sessions n
  WHERE n.company_id = $1 AND n.subscriber_key = ANY($2::bigint[])
  GROUP BY n.company_id, n.subscriber_key
  ORDER BY n.subscriber_key
  ON CONFLICT (company_id, subscriber_key) DO UPDATE SET last_seen_at = excluded.last_seen_at
  WHERE k.last_seen_at < excluded.last_seen_at;

-- db/usage: sessionsByIdentity
SELECT 
n.identity AS id, n.generation, n.subscriber_key, n.source, n.nas, n.session_id, n.physical_id, n.imsi, n.msisdn,
n.began_at, n.as_of, n.reported_at, n.interval_seconds, n.ended_at, n.cause, n.mobile_originated, n.mobile_terminated,
n.reports, n.booked, n.is_transferring, n.decreased, n.clock_off, n.apn, coalesce(host(n.ip_address), '') AS address,
coalesce(text(n.ipv6_prefix), '') AS prefix, n.imei, n.rat_type, n.visited_network,
n.latest_begin AS latest, n.session_seconds, n.has_start, n.dating, n.charging_id, n.other_sources AS others, n.cell
FROM sessions n
WHERE n.company_id = $1 AND n.identity = ANY($2::uuid[])
ORDER BY n.identity, n.generation;

-- db/usage: sessionsByName
SELECT 
n.identity AS id, n.generation, n.subscriber_key, n.source, n.nas, n.session_id, n.physical_id, n.imsi, n.msisdn,
n.began_at, n.as_of, n.reported_at, n.interval_seconds, n.ended_at, n.cause, n.mobile_originated, n.mobile_terminated,
n.reports, n.booked, n.is_transferring, n.decreased, n.clock_off, n.apn, coalesce(host(n.ip_address), '') AS address,
coalesce(text(n.ipv6_prefix), '') AS prefix, n.imei, n.rat_type, n.visited_network,
n.latest_begin AS latest, n.session_seconds, n.has_start, n.dating, n.charging_id, n.other_sources AS others, n.cell,
  ARRAY(SELECT k.name::text FROM session_names k WHERE k.company_id = $1 AND k.identity = n.identity) AS names
FROM sessions n
WHERE n.company_id = $1
  AND n.identity = ANY($2::uuid[] || ARRAY(SELECT s.identity FROM session_names s WHERE s.company_id = $1 AND s.name = ANY($2::uuid[])))
ORDER BY n.identity, n.generation;

-- db/usage: storeSessionValues
INSERT INTO session_values (company_id, place, subscriber_key, identity, as_of, apn, imei, address, network, protocol)
SELECT own.company_id, l.last + n.place, n.subscriber_key, n.identity, n.as_of, n.apn, n.imei, n.address, n.network, n.protocol
FROM companies own
CROSS JOIN (
  SELECT greatest(
    (SELECT max(v.place) FROM session_values v WHERE v.company_id = $1),
    (SELECT k.place FROM condition_learned k WHERE k.company_id = $1), 0) AS last) l
CROSS JOIN unnest($2::bigint[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]) WITH ORDINALITY
  AS n(subscriber_key, identity, as_of, apn, imei, address, network, protocol, place)
WHERE own.company_id = $1;

-- db/usage: storeSessions
WITH named AS (
  INSERT INTO session_names (company_id, name, identity)
  SELECT own.company_id, k.name, k.identity
  FROM companies own
  CROSS JOIN unnest($37::uuid[], $38::uuid[]) AS k(name, identity)
  WHERE own.company_id = $1
  ORDER BY k.name
  ON CONFLICT (company_id, name) DO UPDATE SET identity = excluded.identity
), stored AS (
INSERT INTO sessions (company_id, identity, generation, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn,
  began_at, as_of, reported_at, interval_seconds, ended_at, cause, mobile_originated, mobile_terminated,
  reports, booked, is_transferring, decreased, clock_off, apn, ip_address, ipv6_prefix, imei, rat_type, visited_network,
  latest_begin, session_seconds, has_start, dating, charging_id, other_sources, cell)
SELECT own.company_id, n.identity, n.generation, n.subscriber_key, n.source, n.nas, n.session_id, n.physical_id, n.imsi, n.msisdn,
  n.began_at, n.as_of, n.reported_at, n.interval_seconds, n.ended_at, n.cause, n.mobile_originated, n.mobile_terminated,
  n.reports, n.booked, n.is_transferring, n.decreased, n.clock_off, n.apn, n.ip_address, n.ipv6_prefix, n.imei, n.rat_type, n.visited_network,
  n.latest_begin, n.session_seconds, n.has_start, n.dating, n.charging_id, n.other_sources::text[], n.cell
FROM companies own
CROSS JOIN unnest($2::uuid[], $3::int[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
  $11::timestamptz[], $12::timestamptz[], $13::timestamptz[], $14::int[], $15::timestamptz[], $16::text[], $17::bigint[], $18::bigint[],
  $19::bigint[], $20::int[], $21::boolean[], $22::boolean[], $23::boolean[], $24::text[], $25::inet[], $26::cidr[],
  $27::text[], $28::text[], $29::text[], $30::timestamptz[], $31::bigint[], $32::boolean[], $33::smallint[], $34::text[], $35::text[], $36::text[])
  AS n(identity, generation, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn,
    began_at, as_of, reported_at, interval_seconds, ended_at, cause, mobile_originated, mobile_terminated,
    reports, booked, is_transferring, decreased, clock_off, apn, ip_address, ipv6_prefix, imei, rat_type, visited_network,
    latest_begin, session_seconds, has_start, dating, charging_id, other_sources, cell)
WHERE own.company_id = $1
ON CONFLICT (company_id, identity, generation) DO UPDATE
SET subscriber_key = excluded.subscriber_key, began_at = excluded.began_at, as_of = excluded.as_of, reported_at = excluded.reported_at,
  interval_seconds = excluded.interval_seconds, ended_at = excluded.ended_at, cause = excluded.cause,
  mobile_originated = excluded.mobile_originated, mobile_terminated = excluded.mobile_terminated, reports = excluded.reports,
  booked = excluded.booked, is_transferring = excluded.is_transferring, decreased = excluded.decreased, clock_off = excluded.clock_off,
  apn = excluded.apn, ip_address = excluded.ip_address, ipv6_prefix = excluded.ipv6_prefix, imei = excluded.imei,
  rat_type = excluded.rat_type, visited_network = excluded.visited_network, latest_begin = excluded.latest_begin,
  session_seconds = excluded.session_seconds, has_start = excluded.has_start, dating = excluded.dating,
  charging_id = excluded.charging_id, other_sources = excluded.other_sources, cell = excluded.cell
), seen AS (
  INSERT INTO subscriber_seen AS k (company_id, subscriber_key, last_seen_at)
  SELECT own.company_id, n.subscriber_key, max(n.as_of)
  FROM companies own
  CROSS JOIN unnest($4::bigint[], $12::timestamptz[]) AS n(subscriber_key, as_of)
  WHERE own.company_id = $1 AND n.subscriber_key IS NOT NULL
  GROUP BY own.company_id, n.subscriber_key
  ORDER BY n.subscriber_key
  ON CONFLICT (company_id, subscriber_key) DO UPDATE SET last_seen_at = excluded.last_seen_at
  WHERE k.last_seen_at < excluded.last_seen_at
)
SELECT 1 FROM companies own WHERE own.company_id = $1;

-- db/usage: writeGrouped
WITH days AS (
  INSERT INTO subscriber_days AS d (company_id, day, subscriber_key, group_id, mobile_originated, mobile_terminated, sessions, last_seen, cells,
    ip_address, ip_originated, ip_terminated, ip_last_seen)
  SELECT own.company_id, DATE 'epoch' + ($3::integer[])[n.place], ($4::bigint[])[n.place], ($5::bigint[])[n.place],
    ($6::bigint[])[n.place], ($7::bigint[])[n.place], ($8::bigint[])[n.place], to_timestamp(($9::bigint[])[n.place]),
    ($10::bigint[])[coalesce(($11::integer[])[n.place - 1], 0) + 1:($11::integer[])[n.place]],
    n.ip_address, ($12::bigint[])[n.place], ($13::bigint[])[n.place], to_timestamp(($14::bigint[])[n.place])
  FROM companies own
  CROSS JOIN unnest($2::inet[]) WITH ORDINALITY AS n(ip_address, place)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, day, subscriber_key, group_id) DO UPDATE
  SET mobile_originated = d.mobile_originated + excluded.mobile_originated,
    mobile_terminated = d.mobile_terminated + excluded.mobile_terminated,
    sessions = d.sessions + excluded.sessions,
    last_seen = greatest(d.last_seen, excluded.last_seen),
    cells = CASE WHEN cardinality(d.cells) / 160 = (cardinality(d.cells) + cardinality(excluded.cells)) / 160
      THEN d.cells || excluded.cells
      ELSE usage_compact(d.cells || excluded.cells) END,
    ip_address = coalesce(d.ip_address, excluded.ip_address),
    ip_originated = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_originated ELSE d.ip_originated + excluded.ip_originated END,
    ip_terminated = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_terminated ELSE d.ip_terminated + excluded.ip_terminated END,
    ip_last_seen = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_last_seen ELSE greatest(d.ip_last_seen, excluded.ip_last_seen) END,
    ip_differs = d.ip_address <> excluded.ip_address
  RETURNING day, subscriber_key, group_id, ip_differs
), hours AS (
  INSERT INTO company_hours AS h (company_id, hour, protocol, mobile_originated, mobile_terminated)
  SELECT own.company_id, n.hour, n.protocol, n.originated, n.terminated
  FROM companies own
  CROSS JOIN unnest($15::timestamptz[], $16::text[], $17::bigint[], $18::bigint[]) AS n(hour, protocol, originated, terminated)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, hour, protocol) DO UPDATE
  SET mobile_originated = h.mobile_originated + excluded.mobile_originated,
    mobile_terminated = h.mobile_terminated + excluded.mobile_terminated
), sources AS (
  INSERT INTO usage_sources AS s (company_id, source, complete_until)
  SELECT own.company_id, n.source, n.complete_until
  FROM companies own
  CROSS JOIN unnest($19::text[], $20::timestamptz[]) AS n(source, complete_until)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, source) DO UPDATE SET complete_until = excluded.complete_until
  WHERE excluded.complete_until > s.complete_until
), subscriber_totals AS (
  INSERT INTO subscriber_periods AS p (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated, last_seen)
  SELECT own.company_id, to_timestamp(n.start), n.id, n.originated, n.terminated, to_timestamp(n.last_seen)
  FROM companies own
  CROSS JOIN unnest($21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[]) AS n(start, id, originated, terminated, last_seen)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, period_start, subscriber_key) DO UPDATE
  SET mobile_originated = p.mobile_originated + excluded.mobile_originated,
    mobile_terminated = p.mobile_terminated + excluded.mobile_terminated,
    last_seen = greatest(p.last_seen, excluded.last_seen)
  RETURNING period_start, subscriber_key AS id, mobile_originated + mobile_terminated AS bytes
), seen AS (
  INSERT INTO subscriber_seen AS k (company_id, subscriber_key, last_seen_at)
  SELECT own.company_id, n.id, to_timestamp(max(n.last_seen))
  FROM companies own
  CROSS JOIN unnest($22::bigint[], $25::bigint[]) AS n(id, last_seen)
  WHERE own.company_id = $1
  GROUP BY own.company_id, n.id
  ORDER BY n.id
  ON CONFLICT (company_id, subscriber_key) DO UPDATE SET last_seen_at = excluded.last_seen_at
  WHERE k.last_seen_at < excluded.last_seen_at
), hours_of_groups AS (
  INSERT INTO group_hours AS h (company_id, group_id, hour, protocol, mobile_originated, mobile_terminated)
  SELECT own.company_id, n.group_id, n.hour, n.protocol, n.originated, n.terminated
  FROM companies own
  CROSS JOIN unnest($26::bigint[], $27::timestamptz[], $28::text[], $29::bigint[], $30::bigint[]) AS n(group_id, hour, protocol, originated, terminated)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, group_id, hour, protocol) DO UPDATE
  SET mobile_originated = h.mobile_originated + excluded.mobile_originated,
    mobile_terminated = h.mobile_terminated + excluded.mobile_terminated
), group_totals AS (
  INSERT INTO group_periods AS p (company_id, period_start, group_id, mobile_originated, mobile_terminated)
  SELECT own.company_id, to_timestamp(n.start), n.id, n.originated, n.terminated
  FROM companies own
  CROSS JOIN unnest($31::bigint[], $32::bigint[], $33::bigint[], $34::bigint[]) AS n(start, id, originated, terminated)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, period_start, group_id) DO UPDATE
  SET mobile_originated = p.mobile_originated + excluded.mobile_originated,
    mobile_terminated = p.mobile_terminated + excluded.mobile_terminated
  RETURNING period_start, group_id AS id, mobile_originated + mobile_terminated AS bytes
)
SELECT 'subscribers' AS total, period_start AS began, array_agg(id) AS ids, array_agg(bytes) AS numbers FROM subscriber_totals GROUP BY period_start
UNION ALL
SELECT 'days', day::timestamp AT TIME ZONE 'UTC', array_agg(subscriber_key), array_agg(group_id)
FROM companies own
CROSS JOIN days
WHERE own.company_id = $1 AND ip_differs
GROUP BY day
UNION ALL
SELECT 'groups', period_start, array_agg(id), array_agg(bytes) FROM group_totals GROUP BY period_start;

-- db/usage: writeSessions
WITH days AS (
  INSERT INTO subscriber_days AS d (company_id, day, subscriber_key, group_id, mobile_originated, mobile_terminated, sessions, last_seen, cells,
    ip_address, ip_originated, ip_terminated, ip_last_seen)
  SELECT own.company_id, DATE 'epoch' + ($3::integer[])[n.place], ($4::bigint[])[n.place], ($5::bigint[])[n.place],
    ($6::bigint[])[n.place], ($7::bigint[])[n.place], ($8::bigint[])[n.place], to_timestamp(($9::bigint[])[n.place]),
    ($10::bigint[])[coalesce(($11::integer[])[n.place - 1], 0) + 1:($11::integer[])[n.place]],
    n.ip_address, ($12::bigint[])[n.place], ($13::bigint[])[n.place], to_timestamp(($14::bigint[])[n.place])
  FROM companies own
  CROSS JOIN unnest($2::inet[]) WITH ORDINALITY AS n(ip_address, place)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, day, subscriber_key, group_id) DO UPDATE
  SET mobile_originated = d.mobile_originated + excluded.mobile_originated,
    mobile_terminated = d.mobile_terminated + excluded.mobile_terminated,
    sessions = d.sessions + excluded.sessions,
    last_seen = greatest(d.last_seen, excluded.last_seen),
    cells = CASE WHEN cardinality(d.cells) / 160 = (cardinality(d.cells) + cardinality(excluded.cells)) / 160
      THEN d.cells || excluded.cells
      ELSE usage_compact(d.cells || excluded.cells) END,
    ip_address = coalesce(d.ip_address, excluded.ip_address),
    ip_originated = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_originated ELSE d.ip_originated + excluded.ip_originated END,
    ip_terminated = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_terminated ELSE d.ip_terminated + excluded.ip_terminated END,
    ip_last_seen = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_last_seen ELSE greatest(d.ip_last_seen, excluded.ip_last_seen) END,
    ip_differs = d.ip_address <> excluded.ip_address
  RETURNING day, subscriber_key, group_id, ip_differs
), hours AS (
  INSERT INTO company_hours AS h (company_id, hour, protocol, mobile_originated, mobile_terminated)
  SELECT own.company_id, n.hour, n.protocol, n.originated, n.terminated
  FROM companies own
  CROSS JOIN unnest($15::timestamptz[], $16::text[], $17::bigint[], $18::bigint[]) AS n(hour, protocol, originated, terminated)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, hour, protocol) DO UPDATE
  SET mobile_originated = h.mobile_originated + excluded.mobile_originated,
    mobile_terminated = h.mobile_terminated + excluded.mobile_terminated
), sources AS (
  INSERT INTO usage_sources AS s (company_id, source, complete_until)
  SELECT own.company_id, n.source, n.complete_until
  FROM companies own
  CROSS JOIN unnest($19::text[], $20::timestamptz[]) AS n(source, complete_until)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, source) DO UPDATE SET complete_until = excluded.complete_until
  WHERE excluded.complete_until > s.complete_until
), subscriber_totals AS (
  INSERT INTO subscriber_periods AS p (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated, last_seen)
  SELECT own.company_id, to_timestamp(n.start), n.id, n.originated, n.terminated, to_timestamp(n.last_seen)
  FROM companies own
  CROSS JOIN unnest($21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[]) AS n(start, id, originated, terminated, last_seen)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, period_start, subscriber_key) DO UPDATE
  SET mobile_originated = p.mobile_originated + excluded.mobile_originated,
    mobile_terminated = p.mobile_terminated + excluded.mobile_terminated,
    last_seen = greatest(p.last_seen, excluded.last_seen)
  RETURNING period_start, subscriber_key AS id, mobile_originated + mobile_terminated AS bytes
), seen AS (
  INSERT INTO subscriber_seen AS k (company_id, subscriber_key, last_seen_at)
  SELECT own.company_id, n.id, to_timestamp(max(n.last_seen))
  FROM companies own
  CROSS JOIN unnest($22::bigint[], $25::bigint[]) AS n(id, last_seen)
  WHERE own.company_id = $1
  GROUP BY own.company_id, n.id
  ORDER BY n.id
  ON CONFLICT (company_id, subscriber_key) DO UPDATE SET last_seen_at = excluded.last_seen_at
  WHERE k.last_seen_at < excluded.last_seen_at
), hours_of_groups AS (
  INSERT INTO group_hours AS h (company_id, group_id, hour, protocol, mobile_originated, mobile_terminated)
  SELECT own.company_id, n.group_id, n.hour, n.protocol, n.originated, n.terminated
  FROM companies own
  CROSS JOIN unnest($26::bigint[], $27::timestamptz[], $28::text[], $29::bigint[], $30::bigint[]) AS n(group_id, hour, protocol, originated, terminated)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, group_id, hour, protocol) DO UPDATE
  SET mobile_originated = h.mobile_originated + excluded.mobile_originated,
    mobile_terminated = h.mobile_terminated + excluded.mobile_terminated
), group_totals AS (
  INSERT INTO group_periods AS p (company_id, period_start, group_id, mobile_originated, mobile_terminated)
  SELECT own.company_id, to_timestamp(n.start), n.id, n.originated, n.terminated
  FROM companies own
  CROSS JOIN unnest($31::bigint[], $32::bigint[], $33::bigint[], $34::bigint[]) AS n(start, id, originated, terminated)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, period_start, group_id) DO UPDATE
  SET mobile_originated = p.mobile_originated + excluded.mobile_originated,
    mobile_terminated = p.mobile_terminated + excluded.mobile_terminated
  RETURNING period_start, group_id AS id, mobile_originated + mobile_terminated AS bytes
), new_sessions AS (
  INSERT INTO usage_sessions (company_id, subscriber_key, session_id, began_at, is_opened)
  SELECT own.company_id, n.subscriber_key, n.session_id, to_timestamp(n.began_at / 1e6::float8), n.is_opened
  FROM companies own
  CROSS JOIN unnest($35::bigint[], $36::text[], $37::bigint[], $38::boolean[]) AS n(subscriber_key, session_id, began_at, is_opened)
  WHERE own.company_id = $1
), begun AS (
  INSERT INTO company_sessions AS h (company_id, hour, sessions)
  SELECT own.company_id, n.hour, n.sessions
  FROM companies own
  CROSS JOIN unnest($39::timestamptz[], $40::bigint[]) AS n(hour, sessions)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, hour) DO UPDATE SET sessions = h.sessions + excluded.sessions
), begun_of_groups AS (
  INSERT INTO group_sessions AS h (company_id, group_id, hour, sessions)
  SELECT own.company_id, n.group_id, n.hour, n.sessions
  FROM companies own
  CROSS JOIN unnest($41::bigint[], $42::timestamptz[], $43::bigint[]) AS n(group_id, hour, sessions)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, group_id, hour) DO UPDATE SET sessions = h.sessions + excluded.sessions
)
SELECT 'subscribers' AS total, period_start AS began, array_agg(id) AS ids, array_agg(bytes) AS numbers FROM subscriber_totals GROUP BY period_start
UNION ALL
SELECT 'days', day::timestamp AT TIME ZONE 'UTC', array_agg(subscriber_key), array_agg(group_id)
FROM companies own
CROSS JOIN days
WHERE own.company_id = $1 AND ip_differs
GROUP BY day
UNION ALL
SELECT 'groups', period_start, array_agg(id), array_agg(bytes) FROM group_totals GROUP BY period_start;

-- db/usage: writeTotals
WITH days AS (
  INSERT INTO subscriber_days AS d (company_id, day, subscriber_key, group_id, mobile_originated, mobile_terminated, sessions, last_seen, cells,
    ip_address, ip_originated, ip_terminated, ip_last_seen)
  SELECT own.company_id, DATE 'epoch' + ($3::integer[])[n.place], ($4::bigint[])[n.place], ($5::bigint[])[n.place],
    ($6::bigint[])[n.place], ($7::bigint[])[n.place], ($8::bigint[])[n.place], to_timestamp(($9::bigint[])[n.place]),
    ($10::bigint[])[coalesce(($11::integer[])[n.place - 1], 0) + 1:($11::integer[])[n.place]],
    n.ip_address, ($12::bigint[])[n.place], ($13::bigint[])[n.place], to_timestamp(($14::bigint[])[n.place])
  FROM companies own
  CROSS JOIN unnest($2::inet[]) WITH ORDINALITY AS n(ip_address, place)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, day, subscriber_key, group_id) DO UPDATE
  SET mobile_originated = d.mobile_originated + excluded.mobile_originated,
    mobile_terminated = d.mobile_terminated + excluded.mobile_terminated,
    sessions = d.sessions + excluded.sessions,
    last_seen = greatest(d.last_seen, excluded.last_seen),
    cells = CASE WHEN cardinality(d.cells) / 160 = (cardinality(d.cells) + cardinality(excluded.cells)) / 160
      THEN d.cells || excluded.cells
      ELSE usage_compact(d.cells || excluded.cells) END,
    ip_address = coalesce(d.ip_address, excluded.ip_address),
    ip_originated = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_originated ELSE d.ip_originated + excluded.ip_originated END,
    ip_terminated = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_terminated ELSE d.ip_terminated + excluded.ip_terminated END,
    ip_last_seen = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_last_seen ELSE greatest(d.ip_last_seen, excluded.ip_last_seen) END,
    ip_differs = d.ip_address <> excluded.ip_address
  RETURNING day, subscriber_key, group_id, ip_differs
), hours AS (
  INSERT INTO company_hours AS h (company_id, hour, protocol, mobile_originated, mobile_terminated)
  SELECT own.company_id, n.hour, n.protocol, n.originated, n.terminated
  FROM companies own
  CROSS JOIN unnest($15::timestamptz[], $16::text[], $17::bigint[], $18::bigint[]) AS n(hour, protocol, originated, terminated)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, hour, protocol) DO UPDATE
  SET mobile_originated = h.mobile_originated + excluded.mobile_originated,
    mobile_terminated = h.mobile_terminated + excluded.mobile_terminated
), sources AS (
  INSERT INTO usage_sources AS s (company_id, source, complete_until)
  SELECT own.company_id, n.source, n.complete_until
  FROM companies own
  CROSS JOIN unnest($19::text[], $20::timestamptz[]) AS n(source, complete_until)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, source) DO UPDATE SET complete_until = excluded.complete_until
  WHERE excluded.complete_until > s.complete_until
), subscriber_totals AS (
  INSERT INTO subscriber_periods AS p (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated, last_seen)
  SELECT own.company_id, to_timestamp(n.start), n.id, n.originated, n.terminated, to_timestamp(n.last_seen)
  FROM companies own
  CROSS JOIN unnest($21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[]) AS n(start, id, originated, terminated, last_seen)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, period_start, subscriber_key) DO UPDATE
  SET mobile_originated = p.mobile_originated + excluded.mobile_originated,
    mobile_terminated = p.mobile_terminated + excluded.mobile_terminated,
    last_seen = greatest(p.last_seen, excluded.last_seen)
  RETURNING period_start, subscriber_key AS id, mobile_originated + mobile_terminated AS bytes
), seen AS (
  INSERT INTO subscriber_seen AS k (company_id, subscriber_key, last_seen_at)
  SELECT own.company_id, n.id, to_timestamp(max(n.last_seen))
  FROM companies own
  CROSS JOIN unnest($22::bigint[], $25::bigint[]) AS n(id, last_seen)
  WHERE own.company_id = $1
  GROUP BY own.company_id, n.id
  ORDER BY n.id
  ON CONFLICT (company_id, subscriber_key) DO UPDATE SET last_seen_at = excluded.last_seen_at
  WHERE k.last_seen_at < excluded.last_seen_at
)
SELECT 'subscribers' AS total, period_start AS began, array_agg(id) AS ids, array_agg(bytes) AS numbers FROM subscriber_totals GROUP BY period_start
UNION ALL
SELECT 'days', day::timestamp AT TIME ZONE 'UTC', array_agg(subscriber_key), array_agg(group_id)
FROM companies own
CROSS JOIN days
WHERE own.company_id = $1 AND ip_differs
GROUP BY day;

-- db/volume: bookedMany
WITH moved AS (
  SELECT w.rule_type, w.target_id, t.key AS subscriber_key, NULL::bigint AS group_id, t.before, t.after
  FROM (
    SELECT * FROM unnest($7::bigint[], $8::bigint[], $9::bigint[]) AS t(key, before, after)
  ) t
  CROSS JOIN LATERAL (SELECT s.group_id FROM subscribers s WHERE s.company_id = $1 AND s.key = t.key OFFSET 0) s
  CROSS JOIN LATERAL (VALUES ('sim', t.key), ('company', 0), ('groupfptp', s.group_id)) AS w(rule_type, target_id)
  UNION ALL
  (SELECT 'grouppr', id, NULL, id, before, after
  FROM unnest($10::bigint[], $11::bigint[], $12::bigint[]) AS t(id, before, after))
), crossed AS (
  SELECT t.rule_type, m.subscriber_key, m.group_id, CASE WHEN t.rule_type LIKE 'group%' THEN t.target_id END AS target_group_id,
    m.after AS usage, $4::timestamptz AS period_start, $5::timestamptz AS period_end, $6::boolean AS late,
    t.alert_id, t.boundary, t.revision, t.threshold
  FROM moved m
  CROSS JOIN LATERAL (
    SELECT t.alert_id, t.boundary, t.rule_type, t.target_id, t.threshold, t.revision
    FROM alert_thresholds t
    WHERE t.company_id = $1 AND t.rule_type = m.rule_type AND t.target_id = m.target_id
      AND t.threshold >= m.before AND t.threshold < m.after
    OFFSET 0
  ) t
  JOIN alerts a ON a.company_id = $1 AND a.alert_id = t.alert_id AND a.date_created < $5
), logged AS (
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, group_id, target_group_id,
  period_start, period_end, threshold, usage, late, notification_id, date_created)
SELECT own.company_id, c.alert_id, c.rule_type, COALESCE(target.subscriber_id, c.target_group_id::text, ''), c.boundary, c.revision,
  c.subscriber_key, c.group_id, c.target_group_id, c.period_start, c.period_end, c.threshold, c.usage, c.late, $2::uuid, $3
FROM companies own
CROSS JOIN crossed c
LEFT JOIN subscribers target ON c.rule_type = 'sim' AND target.company_id = own.company_id AND target.key = c.subscriber_key
WHERE own.company_id = $1
ORDER BY c.alert_id, c.boundary, c.subscriber_key, c.group_id
ON CONFLICT DO NOTHING
RETURNING entry_id
)
SELECT (SELECT count(*) FROM logged) AS fired, EXISTS (SELECT FROM live_followers WHERE company_id = $1 AND expires_at > now()) AS followed
FROM companies own
WHERE own.company_id = $1;

-- db/volume: bookedOne
WITH moved AS (
  SELECT w.rule_type, w.target_id, t.key AS subscriber_key, NULL::bigint AS group_id, t.before, t.after
  FROM (
    SELECT * FROM unnest($7::bigint[], $8::bigint[], $9::bigint[]) AS t(key, before, after) LIMIT 1
  ) t
  CROSS JOIN LATERAL (SELECT s.group_id FROM subscribers s WHERE s.company_id = $1 AND s.key = t.key OFFSET 0) s
  CROSS JOIN LATERAL (VALUES ('sim', t.key), ('company', 0), ('groupfptp', s.group_id)) AS w(rule_type, target_id)
  UNION ALL
  (SELECT 'grouppr', id, NULL, id, before, after
  FROM unnest($10::bigint[], $11::bigint[], $12::bigint[]) AS t(id, before, after) LIMIT 1)
), crossed AS (
  SELECT t.rule_type, m.subscriber_key, m.group_id, CASE WHEN t.rule_type LIKE 'group%' THEN t.target_id END AS target_group_id,
    m.after AS usage, $4::timestamptz AS period_start, $5::timestamptz AS period_end, $6::boolean AS late,
    t.alert_id, t.boundary, t.revision, t.threshold
  FROM moved m
  CROSS JOIN LATERAL (
    SELECT t.alert_id, t.boundary, t.rule_type, t.target_id, t.threshold, t.revision
    FROM alert_thresholds t
    WHERE t.company_id = $1 AND t.rule_type = m.rule_type AND t.target_id = m.target_id
      AND t.threshold >= m.before AND t.threshold < m.after
    OFFSET 0
  ) t
  JOIN alerts a ON a.company_id = $1 AND a.alert_id = t.alert_id AND a.date_created < $5
), logged AS (
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, group_id, target_group_id,
  period_start, period_end, threshold, usage, late, notification_id, date_created)
SELECT own.company_id, c.alert_id, c.rule_type, COALESCE(target.subscriber_id, c.target_group_id::text, ''), c.boundary, c.revision,
  c.subscriber_key, c.group_id, c.target_group_id, c.period_start, c.period_end, c.threshold, c.usage, c.late, $2::uuid, $3
FROM companies own
CROSS JOIN crossed c
LEFT JOIN subscribers target ON c.rule_type = 'sim' AND target.company_id = own.company_id AND target.key = c.subscriber_key
WHERE own.company_id = $1
ORDER BY c.alert_id, c.boundary, c.subscriber_key, c.group_id
ON CONFLICT DO NOTHING
RETURNING entry_id
)
SELECT (SELECT count(*) FROM logged) AS fired, EXISTS (SELECT FROM live_followers WHERE company_id = $1 AND expires_at > now()) AS followed
FROM companies own
WHERE own.company_id = $1;

-- db/volume: deliveriesOfNotifications
SELECT d.notification_id, d.recipient_id, d.email, d.mail_id, d.entries AS chosen,
  CASE WHEN d.mail_id IS NOT NULL THEN (CASE m.state WHEN 'sent' THEN 'delivered' ELSE m.state END) WHEN d.suppressed THEN 'suppressed' ELSE 'waiting' END AS state,
  COALESCE(m.attempts, 0) AS attempts, d.created_at, CASE WHEN m.state = 'queued' THEN m.due_at END AS next_attempt_at, m.finished_at, COALESCE(m.last_error, '') AS last_error
FROM alert_deliveries d
LEFT JOIN mails m ON m.company_id = $1 AND m.mail_id = d.mail_id
WHERE d.company_id = $1 AND d.notification_id = ANY($2::uuid[])
ORDER BY d.email, d.recipient_id;

-- db/volume: entriesOfSubject
SELECT l.entry_id, l.alert_id, l.rule_type, l.target, l.limit_boundary, l.subscriber_key, l.group_id, l.target_group_id,
  l.period_start, l.period_end, l.threshold, l.usage, l.late AS is_late, l.silence_id, l.notification_id, l.date_created
FROM alert_thresholds t
JOIN alert_log l ON l.company_id = $1 AND l.alert_id = t.alert_id AND l.limit_boundary = t.boundary AND l.revision = t.revision
WHERE t.company_id = $1 AND t.alert_id = $2 AND l.period_start = $3 AND (l.subscriber_key = $4 OR l.group_id = $5);

-- db/volume: findGroupIDs
SELECT g.group_id FROM groups g WHERE g.company_id = $1 AND ($2::bigint[] IS NULL OR g.group_id = ANY($2)) AND g.group_id = ANY($3);

-- db/volume: fireAlerts
WITH crossed AS (
  SELECT u.subscriber_key, NULL::bigint AS group_id, t.target_id AS target_group_id, t.rule_type, u.mobile_originated + u.mobile_terminated AS usage, p.period_start, p.period_end, false AS late,
    t.alert_id, t.boundary, t.revision, t.threshold
  FROM unnest($4::timestamptz[], $5::timestamptz[]) AS p(period_start, period_end)
  JOIN alert_thresholds t ON t.company_id = $1 AND t.rule_type = 'groupfptp'
  JOIN subscribers s ON s.company_id = $1 AND s.group_id = t.target_id
  JOIN subscriber_periods u ON u.company_id = $1 AND u.period_start = p.period_start AND u.subscriber_key = s.key
  WHERE u.mobile_originated + u.mobile_terminated > t.threshold AND t.alert_id = ANY($6::bigint[])
  UNION ALL
  SELECT u.subscriber_key, NULL, NULL, t.rule_type, u.mobile_originated + u.mobile_terminated AS usage, p.period_start, p.period_end, false AS late,
    t.alert_id, t.boundary, t.revision, t.threshold
  FROM unnest($4::timestamptz[], $5::timestamptz[]) AS p(period_start, period_end)
  JOIN alert_thresholds t ON t.company_id = $1 AND t.rule_type = 'sim'
  JOIN subscriber_periods u ON u.company_id = $1 AND u.period_start = p.period_start AND u.subscriber_key = t.target_id
  WHERE u.mobile_originated + u.mobile_terminated > t.threshold AND t.alert_id = ANY($6)
  UNION ALL
  SELECT u.subscriber_key, NULL, NULL, t.rule_type, u.mobile_originated + u.mobile_terminated AS usage, p.period_start, p.period_end, false AS late,
    t.alert_id, t.boundary, t.revision, t.threshold
  FROM unnest($4::timestamptz[], $5::timestamptz[]) AS p(period_start, period_end)
  JOIN alert_thresholds t ON t.company_id = $1 AND t.rule_type = 'company'
  JOIN subscriber_periods u ON u.company_id = $1 AND u.period_start = p.period_start
  WHERE u.mobile_originated + u.mobile_terminated > t.threshold AND t.alert_id = ANY($6)
  UNION ALL
  SELECT NULL, u.group_id, t.target_id, t.rule_type, u.mobile_originated + u.mobile_terminated AS usage, p.period_start, p.period_end, false AS late,
    t.alert_id, t.boundary, t.revision, t.threshold
  FROM unnest($4::timestamptz[], $5::timestamptz[]) AS p(period_start, period_end)
  JOIN alert_thresholds t ON t.company_id = $1 AND t.rule_type = 'grouppr'
  JOIN group_periods u ON u.company_id = $1 AND u.period_start = p.period_start AND u.group_id = t.target_id
  WHERE u.mobile_originated + u.mobile_terminated > t.threshold AND t.alert_id = ANY($6)
), logged AS (
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, group_id, target_group_id,
  period_start, period_end, threshold, usage, late, notification_id, date_created)
SELECT own.company_id, c.alert_id, c.rule_type, COALESCE(target.subscriber_id, c.target_group_id::text, ''), c.boundary, c.revision,
  c.subscriber_key, c.group_id, c.target_group_id, c.period_start, c.period_end, c.threshold, c.usage, c.late, $2::uuid, $3
FROM companies own
CROSS JOIN crossed c
LEFT JOIN subscribers target ON c.rule_type = 'sim' AND target.company_id = own.company_id AND target.key = c.subscriber_key
WHERE own.company_id = $1
ORDER BY c.alert_id, c.boundary, c.subscriber_key, c.group_id
ON CONFLICT DO NOTHING
RETURNING entry_id
)
SELECT (SELECT count(*) FROM logged) AS fired, EXISTS (SELECT FROM live_followers WHERE company_id = $1 AND expires_at > now()) AS followed
FROM companies own
WHERE own.company_id = $1;

-- db/volume: fireMembers
WITH crossed AS (
  SELECT u.subscriber_key, NULL::bigint AS group_id, t.target_id AS target_group_id, t.rule_type, u.mobile_originated + u.mobile_terminated AS usage, p.period_start, p.period_end, false AS late,
    t.alert_id, t.boundary, t.revision, t.threshold
  FROM unnest($4::timestamptz[], $5::timestamptz[]) AS p(period_start, period_end)
  JOIN alert_thresholds t ON t.company_id = $1 AND t.rule_type = 'groupfptp'
  JOIN subscribers s ON s.company_id = $1 AND s.group_id = t.target_id
  JOIN subscriber_periods u ON u.company_id = $1 AND u.period_start = p.period_start AND u.subscriber_key = s.key
  WHERE u.mobile_originated + u.mobile_terminated > t.threshold AND s.physical_id = ANY($6::text[])
), logged AS (
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, group_id, target_group_id,
  period_start, period_end, threshold, usage, late, notification_id, date_created)
SELECT own.company_id, c.alert_id, c.rule_type, COALESCE(target.subscriber_id, c.target_group_id::text, ''), c.boundary, c.revision,
  c.subscriber_key, c.group_id, c.target_group_id, c.period_start, c.period_end, c.threshold, c.usage, c.late, $2::uuid, $3
FROM companies own
CROSS JOIN crossed c
LEFT JOIN subscribers target ON c.rule_type = 'sim' AND target.company_id = own.company_id AND target.key = c.subscriber_key
WHERE own.company_id = $1
ORDER BY c.alert_id, c.boundary, c.subscriber_key, c.group_id
ON CONFLICT DO NOTHING
RETURNING entry_id
)
SELECT (SELECT count(*) FROM logged) AS fired, EXISTS (SELECT FROM live_followers WHERE company_id = $1 AND expires_at > now()) AS followed
FROM companies own
WHERE own.company_id = $1;

-- db/volume: firedByAlert
SELECT a.alert_id AS parent, count(DISTINCT l.subject_id) AS number
FROM alerts a
JOIN alert_thresholds lower ON lower.company_id = a.company_id AND lower.alert_id = a.alert_id AND lower.boundary = 'lower'
JOIN alert_thresholds upper ON upper.company_id = a.company_id AND upper.alert_id = a.alert_id AND upper.boundary = 'upper'
LEFT JOIN subscribers s ON s.company_id = a.company_id AND s.key = a.subscriber_key
JOIN alert_thresholds t ON t.company_id = $1 AND t.alert_id = a.alert_id
JOIN alert_log l ON l.company_id = $1 AND l.alert_id = a.alert_id AND l.limit_boundary = t.boundary
  AND l.revision = t.revision AND l.period_start = $3
WHERE a.company_id = $1 AND ($2::bigint[] IS NULL OR COALESCE(a.group_id, s.group_id) = ANY($2)) AND a.alert_id = ANY($4)
GROUP BY a.alert_id;

-- db/volume: previewGroup
WITH period AS (
  SELECT *
  FROM unnest($2::timestamptz[], $3::timestamptz[], $10::timestamptz[], $11::timestamptz[]) AS p(period_start, period_end, hours_from, hours_until)
), edge AS (
  SELECT e.period_start, r.subscriber_key, r.started_at, date_trunc('hour', r.started_at, 'UTC') AS hour,
    r.mobile_originated + r.mobile_terminated AS bytes
  FROM unnest($12::timestamptz[], $13::timestamptz[], $14::timestamptz[]) AS e(period_start, since, until)
  JOIN usage_records r ON r.company_id = $1 AND r.started_at >= e.since AND r.started_at < e.until
), 
span AS (
  SELECT m.subscriber_key, coalesce(m.group_id, 0) AS group_id, coalesce(lead(m.since) OVER w, 'infinity') AS until,
    CASE WHEN row_number() OVER w = 1 THEN '-infinity' ELSE m.since END AS since
  FROM group_memberships m
  JOIN (
    SELECT k.subscriber_key, min(k.since) AS since
    FROM group_memberships k
    WHERE k.company_id = $1 AND k.group_id IS NOT NULL AND k.subscriber_key IN (SELECT subscriber_key FROM edge)
    GROUP BY k.subscriber_key
  ) known ON known.subscriber_key = m.subscriber_key AND known.since <= m.since
  WHERE m.company_id = $1 AND m.subscriber_key IN (SELECT subscriber_key FROM edge)
  WINDOW w AS (PARTITION BY m.subscriber_key ORDER BY m.since)
), candidate AS (
  SELECT p.*, NULL::bigint AS subscriber_key, u.group_id
  FROM period p
  JOIN group_periods u ON u.company_id = $1 AND u.period_start = p.period_start AND u.group_id = $9
  WHERE u.mobile_originated + u.mobile_terminated > $4 AND $8::bigint IS NULL
), hourly AS (
  SELECT c.*, h.hour, h.mobile_originated + h.mobile_terminated AS bytes
  FROM candidate c
  JOIN group_hours h ON h.company_id = $1 AND h.group_id = c.group_id
    AND h.hour >= c.hours_from AND h.hour < c.hours_until
  UNION ALL
  SELECT c.*, e.hour, e.bytes
  FROM candidate c
  JOIN edge e ON e.period_start = c.period_start
  JOIN span s ON s.subscriber_key = e.subscriber_key AND s.group_id = c.group_id AND e.started_at >= s.since AND e.started_at < s.until
), running AS (
  SELECT h.period_start, h.period_end, h.subscriber_key, h.group_id, h.hour,
    sum(sum(h.bytes)) OVER (PARTITION BY h.period_start, h.subscriber_key ORDER BY h.hour)::bigint AS usage
  FROM hourly h
  GROUP BY h.period_start, h.period_end, h.subscriber_key, h.group_id, h.hour
), crossed AS (
  SELECT DISTINCT ON (r.period_start, r.subscriber_key, b.boundary) b.boundary, r.subscriber_key, r.group_id, r.period_start, r.period_end, r.hour AS at, r.usage
  FROM running r
  CROSS JOIN (VALUES ('lower', $4::bigint), ('upper', $5::bigint)) AS b(boundary, threshold)
  WHERE r.usage > b.threshold
  ORDER BY r.period_start, r.subscriber_key, b.boundary, r.hour
), fired AS (
  SELECT * FROM crossed WHERE at >= $6 AND at < $7
)
SELECT f.*, count(*) OVER () AS total, (SELECT count(DISTINCT subscriber_key) + count(DISTINCT group_id) FROM fired) AS subjects
FROM fired f
ORDER BY f.at, f.subscriber_key, f.boundary
LIMIT 100;

-- db/volume: previewSubscribers
WITH period AS (
  SELECT *
  FROM unnest($2::timestamptz[], $3::timestamptz[], $10::timestamptz[], $11::timestamptz[]) AS p(period_start, period_end, hours_from, hours_until)
), edge AS (
  SELECT e.period_start, r.subscriber_key, r.started_at, date_trunc('hour', r.started_at, 'UTC') AS hour,
    r.mobile_originated + r.mobile_terminated AS bytes
  FROM unnest($12::timestamptz[], $13::timestamptz[], $14::timestamptz[]) AS e(period_start, since, until)
  JOIN usage_records r ON r.company_id = $1 AND r.started_at >= e.since AND r.started_at < e.until
), candidate AS (
  SELECT p.*, u.subscriber_key, NULL::bigint AS group_id
  FROM period p
  JOIN subscriber_periods u ON u.company_id = $1 AND u.period_start = p.period_start
  JOIN subscribers s ON s.company_id = $1 AND s.key = u.subscriber_key
  WHERE u.mobile_originated + u.mobile_terminated > $4 AND (s.key = $8 OR s.group_id = $9 OR COALESCE($8, $9) IS NULL)
  ORDER BY p.period_start, u.subscriber_key
  LIMIT 5000
), hourly AS (
  SELECT c.*, (d.day + make_interval(hours => cell.hour)) AT TIME ZONE 'UTC' AS hour,
    cell.mobile_originated + cell.mobile_terminated AS bytes
  FROM candidate c
  CROSS JOIN LATERAL generate_series((c.period_start AT TIME ZONE 'UTC')::date, (c.period_end AT TIME ZONE 'UTC')::date, interval '1 day') AS on_day
  JOIN subscriber_days d ON d.company_id = $1 AND d.day = on_day::date AND d.subscriber_key = c.subscriber_key
  CROSS JOIN LATERAL usage_cells(d.cells) AS cell
  WHERE (d.day + make_interval(hours => cell.hour)) AT TIME ZONE 'UTC' >= c.hours_from
    AND (d.day + make_interval(hours => cell.hour)) AT TIME ZONE 'UTC' < c.hours_until
  UNION ALL
  SELECT c.*, e.hour, e.bytes
  FROM candidate c
  JOIN edge e ON e.period_start = c.period_start AND e.subscriber_key = c.subscriber_key
), running AS (
  SELECT h.period_start, h.period_end, h.subscriber_key, h.group_id, h.hour,
    sum(sum(h.bytes)) OVER (PARTITION BY h.period_start, h.subscriber_key ORDER BY h.hour)::bigint AS usage
  FROM hourly h
  GROUP BY h.period_start, h.period_end, h.subscriber_key, h.group_id, h.hour
), crossed AS (
  SELECT DISTINCT ON (r.period_start, r.subscriber_key, b.boundary) b.boundary, r.subscriber_key, r.group_id, r.period_start, r.period_end, r.hour AS at, r.usage
  FROM running r
  CROSS JOIN (VALUES ('lower', $4::bigint), ('upper', $5::bigint)) AS b(boundary, threshold)
  WHERE r.usage > b.threshold
  ORDER BY r.period_start, r.subscriber_key, b.boundary, r.hour
), fired AS (
  SELECT * FROM crossed WHERE at >= $6 AND at < $7
)
SELECT f.*, count(*) OVER () AS total, (SELECT count(DISTINCT subscriber_key) + count(DISTINCT group_id) FROM fired) AS subjects
FROM fired f
ORDER BY f.at, f.subscriber_key, f.boundary
LIMIT 100;

-- db/volume: queueConditionEntries
INSERT INTO alert_deliveries (company_id, notification_id, recipient_id, email, created_at, suppressed, silenced, entries)
SELECT r.company_id, $2, r.recipient_id, r.email, $3, r.suppressed_since IS NOT NULL OR NOT COALESCE(c.is_left, $4), NOT COALESCE(c.is_left, $4), c.entries
FROM alert_recipients r
CROSS JOIN LATERAL (
  SELECT array_agg(l.entry_id) AS entries, bool_or(l.silence_id IS NULL) AS is_left
  FROM condition_log l
  LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
  WHERE (r.alert_ids <> '{}' OR r.group_ids <> '{}') AND l.company_id = $1 AND l.notification_id = $2
    AND (r.alert_ids = '{}' OR l.alert_id = 0 OR l.alert_id = ANY(r.alert_ids))
    AND (r.group_ids = '{}' OR r.group_ids && ARRAY[l.group_id, l.target_group_id, s.group_id])
) c
WHERE r.company_id = $1 AND (NOT (r.alert_ids <> '{}' OR r.group_ids <> '{}') OR c.entries IS NOT NULL)
RETURNING recipient_id, suppressed;

-- db/volume: queueDeliveries
INSERT INTO alert_deliveries (company_id, notification_id, recipient_id, email, created_at, suppressed, silenced, entries)
SELECT r.company_id, $2, r.recipient_id, r.email, $3, r.suppressed_since IS NOT NULL OR NOT COALESCE(c.is_left, $4), NOT COALESCE(c.is_left, $4), c.entries
FROM alert_recipients r
CROSS JOIN LATERAL (
  SELECT array_agg(l.entry_id) AS entries, bool_or(l.silence_id IS NULL) AS is_left
  FROM alert_log l
  LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
  WHERE (r.alert_ids <> '{}' OR r.group_ids <> '{}') AND l.company_id = $1 AND l.notification_id = $2
    AND (r.alert_ids = '{}' OR l.alert_id = 0 OR l.alert_id = ANY(r.alert_ids))
    AND (r.group_ids = '{}' OR r.group_ids && ARRAY[l.group_id, l.target_group_id, s.group_id])
) c
WHERE r.company_id = $1 AND (NOT (r.alert_ids <> '{}' OR r.group_ids <> '{}') OR c.entries IS NOT NULL)
RETURNING recipient_id, suppressed;

-- db/volume: sameAlerts
SELECT DISTINCT a.alert_id, a.rule_type, a.target_id, lower.threshold AS lower_threshold, upper.threshold AS upper_threshold
FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) AS wanted(rule_type, target_id, lower_threshold, upper_threshold)
JOIN alerts a ON a.company_id = $1 AND a.rule_type = wanted.rule_type AND a.target_id = wanted.target_id
JOIN alert_thresholds lower ON lower.company_id = a.company_id AND lower.alert_id = a.alert_id AND lower.boundary = 'lower'
JOIN alert_thresholds upper ON upper.company_id = a.company_id AND upper.alert_id = a.alert_id AND upper.boundary = 'upper'
LEFT JOIN subscribers s ON s.company_id = a.company_id AND s.key = a.subscriber_key
WHERE lower.threshold = wanted.lower_threshold AND upper.threshold = wanted.upper_threshold;

-- db/volume: subjectsOfAlerts
WITH watched AS (
  SELECT subject.*
  FROM unnest($4::bigint[]) AS wanted(alert_id)
  CROSS JOIN LATERAL (
    SELECT a.alert_id, a.subscriber_key, NULL::bigint AS group_id, COALESCE(p.mobile_originated + p.mobile_terminated, 0) AS usage
    FROM alerts a
    LEFT JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.subscriber_key = a.subscriber_key
    WHERE a.company_id = $1 AND a.alert_id = wanted.alert_id AND a.rule_type = 'sim'
    UNION ALL
    SELECT a.alert_id, p.subscriber_key, NULL, p.mobile_originated + p.mobile_terminated
    FROM alerts a
    JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3
    WHERE a.company_id = $1 AND a.alert_id = wanted.alert_id AND a.rule_type = 'company'
    UNION ALL
    SELECT a.alert_id, p.subscriber_key, NULL, p.mobile_originated + p.mobile_terminated
    FROM alerts a
    JOIN subscribers m ON m.company_id = $1 AND m.group_id = a.group_id
    JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.subscriber_key = m.key
    WHERE a.company_id = $1 AND a.alert_id = wanted.alert_id AND a.rule_type = 'groupfptp'
    UNION ALL
    SELECT a.alert_id, NULL, a.group_id, COALESCE(p.mobile_originated + p.mobile_terminated, 0)
    FROM alerts a
    LEFT JOIN group_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.group_id = a.group_id
    WHERE a.company_id = $1 AND a.alert_id = wanted.alert_id AND a.rule_type = 'grouppr'
    ORDER BY usage DESC, subscriber_key
    LIMIT $5 OFFSET $6
  ) subject
)
SELECT a.alert_id, a.rule_type, COALESCE(s.subscriber_id, a.group_id::text, '') AS target, a.subscriber_key, a.group_id,
  lower.threshold AS lower_threshold, upper.threshold AS upper_threshold, a.date_created, a.name, a.description, w.subscriber_key AS subject_subscriber, w.group_id AS subject_group, w.usage,
  l.date_created AS lower_since, u.date_created AS upper_since
FROM watched w
JOIN alerts a ON a.company_id = $1 AND a.alert_id = w.alert_id
JOIN alert_thresholds lower ON lower.company_id = a.company_id AND lower.alert_id = a.alert_id AND lower.boundary = 'lower'
JOIN alert_thresholds upper ON upper.company_id = a.company_id AND upper.alert_id = a.alert_id AND upper.boundary = 'upper'
LEFT JOIN subscribers s ON s.company_id = a.company_id AND s.key = a.subscriber_key
LEFT JOIN alert_log l ON l.company_id = $1 AND l.alert_id = a.alert_id AND l.limit_boundary = 'lower'
  AND l.revision = lower.revision AND l.period_start = $3 AND l.subject_id = COALESCE(w.subscriber_key, w.group_id)
LEFT JOIN alert_log u ON u.company_id = $1 AND u.alert_id = a.alert_id AND u.limit_boundary = 'upper'
  AND u.revision = upper.revision AND u.period_start = $3 AND u.subject_id = COALESCE(w.subscriber_key, w.group_id)
WHERE a.company_id = $1 AND ($2::bigint[] IS NULL OR COALESCE(a.group_id, s.group_id) = ANY($2))
ORDER BY w.usage DESC, w.subscriber_key;

-- db/volume: watchingSubscribers
WITH watched AS (
  SELECT watching.alert_id, m.key AS subscriber_key, NULL::bigint AS group_id, COALESCE(p.mobile_originated + p.mobile_terminated, 0) AS usage
  FROM subscribers m
  CROSS JOIN LATERAL (
    SELECT a.alert_id
    FROM alerts a
    WHERE a.company_id = $1 AND (a.rule_type = 'sim' AND a.target_id = m.key OR a.rule_type = 'groupfptp' AND a.target_id = m.group_id
      OR a.rule_type = 'company' AND a.target_id = 0 AND $2::bigint[] IS NULL)
    ORDER BY a.alert_id LIMIT 100
  ) watching
  LEFT JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.subscriber_key = m.key
  WHERE m.company_id = $1 AND m.key = ANY($4)
)
SELECT a.alert_id, a.rule_type, COALESCE(s.subscriber_id, a.group_id::text, '') AS target, a.subscriber_key, a.group_id,
  lower.threshold AS lower_threshold, upper.threshold AS upper_threshold, a.date_created, a.name, a.description, w.subscriber_key AS subject_subscriber, w.group_id AS subject_group, w.usage,
  l.date_created AS lower_since, u.date_created AS upper_since
FROM watched w
JOIN alerts a ON a.company_id = $1 AND a.alert_id = w.alert_id
JOIN alert_thresholds lower ON lower.company_id = a.company_id AND lower.alert_id = a.alert_id AND lower.boundary = 'lower'
JOIN alert_thresholds upper ON upper.company_id = a.company_id AND upper.alert_id = a.alert_id AND upper.boundary = 'upper'
LEFT JOIN subscribers s ON s.company_id = a.company_id AND s.key = a.subscriber_key
LEFT JOIN alert_log l ON l.company_id = $1 AND l.alert_id = a.alert_id AND l.limit_boundary = 'lower'
  AND l.revision = lower.revision AND l.period_start = $3 AND l.subject_id = COALESCE(w.subscriber_key, w.group_id)
LEFT JOIN alert_log u ON u.company_id = $1 AND u.alert_id = a.alert_id AND u.limit_boundary = 'upper'
  AND u.revision = upper.revision AND u.period_start = $3 AND u.subject_id = COALESCE(w.subscriber_key, w.group_id)
WHERE a.company_id = $1 AND ($2::bigint[] IS NULL OR COALESCE(a.group_id, s.group_id) = ANY($2))
ORDER BY a.alert_id;

-- db/webhook: changedByKey
SELECT s.physical_id, s.group_id, ARRAY(SELECT t.tag_name FROM subscriber_tags t WHERE t.company_id = $1 AND t.subscriber_key = s.key) AS tags
FROM subscribers s
WHERE s.company_id = $1 AND s.key = ANY($2)
ORDER BY s.physical_id;

-- db/webhook: changedByName
SELECT s.physical_id, s.group_id, ARRAY(SELECT t.tag_name FROM subscriber_tags t WHERE t.company_id = $1 AND t.subscriber_key = s.key) AS tags
FROM subscribers s
WHERE s.company_id = $1 AND s.physical_id = ANY($2)
ORDER BY s.physical_id;

-- db/webhook: claimMessages
WITH busy AS (
  SELECT c.message_id FROM webhooks w
  JOIN webhook_messages c ON c.company_id = w.company_id AND c.message_id = ANY(w.claimed)
  WHERE w.company_id = $1 AND w.webhook_id = $5 AND c.claimed_until > $2 AND c.claimed_until <= $4
), taken AS (
  UPDATE webhook_messages c SET attempts = c.attempts + 1, due_at = $4, claimed_until = $4
  WHERE c.company_id = $1 AND c.message_id IN (
    (SELECT m.message_id FROM webhook_messages m WHERE m.company_id = $1 AND m.webhook_id = $5 AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $3) AND m.retry_at IS NULL ORDER BY m.message_id LIMIT $6)
    UNION ALL
    (SELECT m.message_id FROM webhook_messages m WHERE m.company_id = $1 AND m.webhook_id = $5 AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $3) AND m.retry_at <= $2 ORDER BY m.retry_at LIMIT $6)
    UNION ALL
    (SELECT m.message_id FROM webhook_messages m WHERE m.company_id = $1 AND m.webhook_id = $5 AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $3) AND m.retry_at > $3 ORDER BY m.retry_at LIMIT $6)
    LIMIT GREATEST(0, LEAST($6, $7 - (SELECT count(*) FROM busy))))
  RETURNING c.message_id, c.attempts, c.event
), noted AS (
  UPDATE webhooks SET claimed = ARRAY(SELECT message_id FROM busy UNION ALL SELECT message_id FROM taken)
  WHERE company_id = $1 AND webhook_id = $5 AND EXISTS (SELECT FROM taken)
)
SELECT message_id, attempts, event FROM taken;

-- db/webhook: conditionEntries
SELECT l.entry_id, l.alert_id, l.kind, l.state, l.rule_type, l.target, l.subscriber_key, l.group_id, l.target_group_id, l.source, l.since, l.bound, l.value,
  l.trait, l.before, l.after, l.resolves, l.date_created, s.physical_id, s.subscriber_id, s.nickname, s.group_id AS member_of, g.name AS group_name, ARRAY(SELECT t.tag_name FROM subscriber_tags t WHERE t.company_id = $1 AND t.subscriber_key = s.key) AS tags
FROM condition_log l
LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
LEFT JOIN groups g ON g.company_id = $1 AND g.group_id = COALESCE(l.group_id, l.target_group_id, s.group_id)
WHERE l.company_id = $1 AND l.notification_id = $2 AND l.entry_id > $3 AND l.silence_id IS NULL
ORDER BY l.entry_id
LIMIT $4;

-- db/webhook: findMessages
SELECT m.message_id AS delivery_id, m.webhook_id, w.name AS webhook_name, m.event_type, m.state, m.attempts, m.created_at,
  CASE WHEN m.state = 'queued' AND isfinite(m.due_at) THEN m.due_at END AS next_attempt_at, m.finished_at, m.last_status, m.last_answer, m.last_error,
  m.event, w.format
FROM webhook_messages m
JOIN webhooks w ON w.company_id = m.company_id AND w.webhook_id = m.webhook_id
WHERE m.company_id = $1 AND w.company_id = $1 AND NOT w.is_provider AND ($2::bigint[] IS NULL OR w.groups <@ $2) AND m.message_id = ANY($3::uuid[]);

-- db/webhook: lockDue
SELECT w.webhook_id, w.url AS address, w.format, w.secret, w.previous_secret, w.previous_until, w.failing_since IS NOT NULL AS failing,
  w.is_provider, (SELECT count(*) FROM webhook_messages c
   WHERE c.company_id = $1 AND c.message_id = ANY(w.claimed) AND c.claimed_until > $2 AND c.claimed_until <= $4) AS busy
FROM webhooks w
WHERE w.company_id = $1 AND (NOT w.is_provider OR $5) AND w.disabled_at IS NULL AND (w.paused_until IS NULL OR w.paused_until <= $2 OR w.paused_until > $3)
  AND (w.groups IS NULL OR EXISTS (SELECT FROM users u WHERE u.user_id = w.user_id AND NOT u.disabled AND u.company_id = $1))
  AND (EXISTS (SELECT FROM webhook_messages m WHERE m.webhook_id = w.webhook_id AND m.retry_at IS NULL AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $3) AND m.company_id = $1)
    OR EXISTS (SELECT FROM webhook_messages m WHERE m.webhook_id = w.webhook_id AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $3) AND m.company_id = $1 AND m.retry_at <= $2)
    OR EXISTS (SELECT FROM webhook_messages m WHERE m.webhook_id = w.webhook_id AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $3) AND m.company_id = $1 AND m.retry_at > $3))
ORDER BY busy, random()
FOR NO KEY UPDATE OF w SKIP LOCKED;

-- db/webhook: lockProvider
SELECT w.webhook_id, w.name, w.url AS address, w.format, w.event_types AS types, w.alert_ids AS alerts, w.group_ids AS wanted,
  w.tag_names AS tags, w.created_at, w.disabled_at, w.disabled_reason, w.failing_since, w.paused_until, w.previous_until FROM webhooks w WHERE w.company_id = $1 AND w.is_provider FOR NO KEY UPDATE;

-- db/webhook: pendingMessages
SELECT DISTINCT w.company_id
FROM webhooks w
WHERE ($1::bigint[] IS NULL OR w.company_id = ANY($1)) AND w.disabled_at IS NULL AND (w.paused_until IS NULL OR w.paused_until <= $2 OR w.paused_until > $3)
  AND (w.groups IS NULL OR EXISTS (SELECT FROM users u WHERE u.user_id = w.user_id AND NOT u.disabled AND u.company_id = w.company_id))
  AND (EXISTS (SELECT FROM webhook_messages m WHERE m.webhook_id = w.webhook_id AND m.retry_at IS NULL AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $3) AND m.company_id = w.company_id)
    OR EXISTS (SELECT FROM webhook_messages m WHERE m.webhook_id = w.webhook_id AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $3) AND m.company_id = w.company_id AND m.retry_at <= $2)
    OR EXISTS (SELECT FROM webhook_messages m WHERE m.webhook_id = w.webhook_id AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $3) AND m.company_id = w.company_id AND m.retry_at > $3))
LIMIT 1000;

-- db/webhook: replayMessage
UPDATE webhook_messages
SET state = 'queued', attempts = 0, due_at = '-infinity', retry_at = NULL, finished_at = NULL
WHERE company_id = $1 AND message_id = $2 AND (state <> 'queued' OR claimed_until IS NULL);

-- db/webhook: replaySince
UPDATE webhook_messages
SET state = 'queued', attempts = 0, due_at = '-infinity', retry_at = NULL, finished_at = NULL
WHERE company_id = $1 AND webhook_id = $2 AND message_id IN (
  SELECT m.message_id FROM webhook_messages m
  WHERE m.company_id = $1 AND m.webhook_id = $2 AND m.state <> 'queued' AND m.created_at >= $3
  ORDER BY m.created_at, m.message_id
  LIMIT $4);

-- db/webhook: volumeEntries
SELECT l.entry_id, l.alert_id, l.rule_type, l.limit_boundary, l.threshold, l.usage, l.late, l.period_start, l.period_end, l.date_created,
  l.group_id, l.target_group_id, s.physical_id, s.subscriber_id, s.nickname, s.group_id AS member_of, g.name AS group_name, ARRAY(SELECT t.tag_name FROM subscriber_tags t WHERE t.company_id = $1 AND t.subscriber_key = s.key) AS tags
FROM alert_log l
LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
LEFT JOIN groups g ON g.company_id = $1 AND g.group_id = COALESCE(l.group_id, l.target_group_id, s.group_id)
WHERE l.company_id = $1 AND l.notification_id = $2 AND l.entry_id > $3 AND l.silence_id IS NULL
ORDER BY l.entry_id
LIMIT $4;
