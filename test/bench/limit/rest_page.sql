SELECT json_build_object('content', json_agg(json_build_object(
  'physicalId', s.physical_id, 'subscriberId', s.subscriber_id, 'dataNumber', s.data_number, 'imsi', s.imsi, 'nickname', s.nickname,
  'operatorName', o.name, 'operatorCode', s.operator_code, 'tariffName', s.tariff_name, 'lineRental', t.line_rental,
  'connectionDate', to_char(s.connection_date AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
  'expiryDate', to_char(s.expiry_date AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'contractLength', s.contract_length,
  'isBarred', s.is_barred, 'isActive', s.is_active, 'terminateDate', to_char(s.terminate_date AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
  'groupId', s.group_id, 'subscriberType', s.subscriber_type,
  'networkState', json_build_object('isTransferring', s.is_transferring, 'isOnline', s.is_online),
  'dataUsage', coalesce(p.mobile_originated + p.mobile_terminated, 0)) ORDER BY s.physical_id)),
  (SELECT count(*) FROM subscribers s WHERE s.company_id = $1)
FROM (SELECT * FROM subscribers s WHERE s.company_id = $1 ORDER BY s.physical_id LIMIT 100) AS s
JOIN operators o ON o.code = s.operator_code
JOIN tariffs t ON t.company_id = $1 AND t.name = s.tariff_name
LEFT JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $2::timestamptz AND p.subscriber_key = s.key
