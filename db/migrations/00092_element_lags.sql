-- +goose Up

-- How far the reports of a network element lag behind what they speak of, in seconds: the
-- least of the hour that began last, and of the hour before it. NULL before the first.
ALTER TABLE feed_watermarks
  ADD COLUMN lag_began_at timestamptz,
  ADD COLUMN least_lag bigint,
  ADD COLUMN lag_before bigint;

-- +goose Down
ALTER TABLE feed_watermarks DROP COLUMN lag_began_at, DROP COLUMN least_lag, DROP COLUMN lag_before;
