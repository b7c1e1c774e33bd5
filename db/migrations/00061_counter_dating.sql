-- +goose Up

-- What tells a report that is late from one of another generation, whatever the clocks
-- of network elements do. Sessions from before have none of it: only their bytes count.
ALTER TABLE sessions
  -- The latest begin that a report states; NULL for none. began_at has the earliest.
  ADD COLUMN latest_begin timestamptz,
  -- The longest session time that was reported; 0 for none.
  ADD COLUMN session_seconds bigint NOT NULL DEFAULT 0,
  ADD COLUMN has_start boolean NOT NULL DEFAULT false,
  -- How far the worst of the times is believed: see domain.Dating.
  ADD COLUMN dating smallint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE sessions DROP COLUMN latest_begin, DROP COLUMN session_seconds, DROP COLUMN has_start, DROP COLUMN dating;
