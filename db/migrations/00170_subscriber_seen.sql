-- +goose Up

-- When each subscriber was seen last: the end of its last usage, or the last report of a
-- session. One that was never seen has no row. No index but the key has last_seen_at, so
-- that rows are updated in place.
CREATE TABLE subscriber_seen (
  company_id     bigint NOT NULL,
  subscriber_key bigint NOT NULL,
  last_seen_at   timestamptz NOT NULL,
  PRIMARY KEY (company_id, subscriber_key)
) WITH (fillfactor = 70);
SELECT simgraph_distribute('subscriber_seen');

-- Of each subscriber it reads the newest periods and sessions alone, as alerts on silence do.
INSERT INTO subscriber_seen (company_id, subscriber_key, last_seen_at)
SELECT seen.company_id, seen.key, seen.at
FROM (
  SELECT s.company_id, s.key, greatest((
    SELECT max(u.last_seen)
    FROM (
      SELECT p.last_seen FROM subscriber_periods p
      WHERE p.company_id = s.company_id AND p.subscriber_key = s.key
      ORDER BY p.period_start DESC
      LIMIT 3
    ) u
  ), (
    SELECT max(r.as_of)
    FROM (
      SELECT n.as_of FROM sessions n
      WHERE n.company_id = s.company_id AND n.subscriber_key = s.key
      ORDER BY n.began_at DESC
      LIMIT 20
    ) r
  )) AS at
  FROM subscribers s
) seen
WHERE seen.at > '-infinity';

-- +goose Down
DROP TABLE subscriber_seen;
