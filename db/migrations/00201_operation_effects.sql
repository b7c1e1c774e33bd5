-- +goose Up

-- What an operation sets off beside its changes: of a dry run what a run would. NULL is an
-- operation that began before this was noted.
ALTER TABLE operations
  ADD COLUMN fired      integer,
  ADD COLUMN mailed     bigint[],
  ADD COLUMN messages   integer,
  ADD COLUMN commands   integer,
  -- The silence that ends with it.
  ADD COLUMN silence_id bigint;

-- +goose Down
ALTER TABLE operations
  DROP COLUMN fired,
  DROP COLUMN mailed,
  DROP COLUMN messages,
  DROP COLUMN commands,
  DROP COLUMN silence_id;
