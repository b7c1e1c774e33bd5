-- +goose Up

-- The usage of a day under its first address stands beside its sums; ip_days
-- has what was under others, and what versions before this one have counted.
-- Both count. Constant defaults leave the rows as they are.
ALTER TABLE subscriber_days
  ADD COLUMN ip_address inet,
  ADD COLUMN ip_originated bigint NOT NULL DEFAULT 0,
  ADD COLUMN ip_terminated bigint NOT NULL DEFAULT 0,
  ADD COLUMN ip_last_seen timestamptz,
  -- The last usage was under another address, which RETURNING cannot tell.
  ADD COLUMN ip_differs boolean;

-- +goose Down
INSERT INTO ip_days AS d (company_id, day, subscriber_key, group_id, ip_address, mobile_originated, mobile_terminated, last_seen)
SELECT company_id, day, subscriber_key, group_id, ip_address, ip_originated, ip_terminated, ip_last_seen
FROM subscriber_days
WHERE ip_address IS NOT NULL
ON CONFLICT (company_id, day, subscriber_key, group_id, ip_address) DO UPDATE
SET mobile_originated = d.mobile_originated + excluded.mobile_originated,
  mobile_terminated = d.mobile_terminated + excluded.mobile_terminated,
  last_seen = greatest(d.last_seen, excluded.last_seen);
ALTER TABLE subscriber_days
  DROP COLUMN ip_address, DROP COLUMN ip_originated, DROP COLUMN ip_terminated, DROP COLUMN ip_last_seen, DROP COLUMN ip_differs;
