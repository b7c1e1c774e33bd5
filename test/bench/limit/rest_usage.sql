SELECT json_build_object('content', json_build_array(json_build_object(
  'mobileTerminated', coalesce(json_object_agg(h.key, h.mobile_terminated::text ORDER BY h.key) FILTER (WHERE h.mobile_terminated > 0), '{}'),
  'mobileOriginated', coalesce(json_object_agg(h.key, h.mobile_originated::text ORDER BY h.key) FILTER (WHERE h.mobile_originated > 0), '{}')))), NULL::bigint
FROM (
  SELECT to_char(h.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"') AS key,
    sum(h.mobile_originated) AS mobile_originated, sum(h.mobile_terminated) AS mobile_terminated
  FROM company_hours h WHERE h.company_id = $1 AND h.hour >= $2::timestamptz AND h.hour < $3::timestamptz GROUP BY h.hour
) AS h
