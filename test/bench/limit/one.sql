SELECT json_build_object('data', json_build_object('subscriber', json_build_object(
  'physicalId', s.physical_id, 'subscriberId', s.subscriber_id, 'nickname', s.nickname, 'operatorName', o.name, 'isActive', s.is_active,
  'connectionDate', to_char(s.connection_date AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
  'dataUsage', coalesce(p.mobile_originated + p.mobile_terminated, 0)::text,
  'group', CASE WHEN g.group_id IS NOT NULL THEN json_build_object('groupId', g.group_id, 'name', g.name) END,
  'tags', (SELECT coalesce(json_agg(json_build_object('name', t.tag_name) ORDER BY t.tag_name), '[]')
    FROM subscriber_tags t WHERE t.company_id = $1 AND t.subscriber_key = s.key)))), NULL::bigint
FROM subscribers s
JOIN operators o ON o.code = s.operator_code
LEFT JOIN groups g ON g.company_id = $1 AND g.group_id = s.group_id
LEFT JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $2::timestamptz AND p.subscriber_key = s.key
WHERE s.company_id = $1 AND s.physical_id = $3
