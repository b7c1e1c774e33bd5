SELECT json_build_object('data', json_build_object('subscribers', json_build_object('nodes', json_agg(json_build_object(
  'physicalId', s.physical_id, 'subscriberId', s.subscriber_id, 'dataNumber', s.data_number, 'imsi', s.imsi, 'nickname', s.nickname,
  'operatorName', o.name, 'operatorCode', s.operator_code, 'tariffName', s.tariff_name, 'lineRental', t.line_rental,
  'connectionDate', to_char(s.connection_date AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
  'isActive', s.is_active, 'isBarred', s.is_barred,
  'group', CASE WHEN g.group_id IS NOT NULL THEN json_build_object('groupId', g.group_id, 'name', g.name) END,
  'tags', (SELECT coalesce(json_agg(json_build_object('name', t.tag_name) ORDER BY t.tag_name), '[]')
    FROM subscriber_tags t WHERE t.company_id = $1 AND t.subscriber_key = s.key),
  'networkState', json_build_object('isOnline', s.is_online, 'isTransferring', s.is_transferring)
) ORDER BY s.connection_date DESC, s.physical_id)))), NULL::bigint
FROM (
  SELECT * FROM subscribers s WHERE s.company_id = $1 AND s.is_active ORDER BY s.connection_date DESC, s.physical_id LIMIT 100
) AS s
JOIN operators o ON o.code = s.operator_code
JOIN tariffs t ON t.company_id = $1 AND t.name = s.tariff_name
LEFT JOIN groups g ON g.company_id = $1 AND g.group_id = s.group_id
