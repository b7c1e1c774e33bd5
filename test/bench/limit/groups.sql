SELECT json_build_object('data', json_build_object('groups', json_build_object('nodes', json_agg(json_build_object(
  'groupId', g.group_id, 'name', g.name, 'subscribers', json_build_object('nodes', (
    SELECT coalesce(json_agg(json_build_object(
      'physicalId', s.physical_id, 'nickname', s.nickname,
      'tags', (SELECT coalesce(json_agg(json_build_object('name', t.tag_name) ORDER BY t.tag_name), '[]')
        FROM subscriber_tags t WHERE t.company_id = $1 AND t.subscriber_key = s.key),
      'usage', json_build_object('totals', (
        SELECT json_build_object('mobileOriginated', coalesce(sum(d.mobile_originated), 0)::text, 'mobileTerminated', coalesce(sum(d.mobile_terminated), 0)::text)
        FROM subscriber_days d WHERE d.company_id = $1 AND d.day = ANY($2::date[]) AND d.subscriber_key = s.key))
      ) ORDER BY s.physical_id), '[]')
    FROM (
      SELECT * FROM subscribers s WHERE s.company_id = $1 AND s.group_id = g.group_id ORDER BY s.physical_id LIMIT 20
    ) AS s))) ORDER BY g.group_id)))), NULL::bigint
FROM (SELECT * FROM groups g WHERE g.company_id = $1 ORDER BY g.group_id LIMIT 20) AS g
