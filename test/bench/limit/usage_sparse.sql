SELECT json_build_object('data', json_build_object('company', json_build_object('usage', json_build_object(
  'series', (
    SELECT json_agg(json_build_object('start', to_char(h.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
      'mobileOriginated', h.mobile_originated::text, 'mobileTerminated', h.mobile_terminated::text) ORDER BY h.hour)
    FROM (
      SELECT h.hour, sum(h.mobile_originated) AS mobile_originated, sum(h.mobile_terminated) AS mobile_terminated
      FROM company_hours h WHERE h.company_id = $1 AND h.hour >= $2 AND h.hour < $3 GROUP BY h.hour
    ) AS h
    WHERE h.mobile_originated > 0 OR h.mobile_terminated > 0),
  'topSubscribers', (
    SELECT json_agg(json_build_object('total', p.bytes::text, 'subscriber', json_build_object('physicalId', s.physical_id, 'nickname', s.nickname))
      ORDER BY p.bytes DESC, p.subscriber_key)
    FROM (
      SELECT p.subscriber_key, p.mobile_originated + p.mobile_terminated AS bytes FROM subscriber_periods p
      WHERE p.company_id = $1 AND p.period_start = $2
      ORDER BY p.magnitude DESC, p.mobile_originated + p.mobile_terminated DESC, p.subscriber_key LIMIT 10
    ) AS p
    JOIN subscribers s ON s.company_id = $1 AND s.key = p.subscriber_key))))), NULL::bigint
