-- +goose Up

-- An operation may create the subscribers that do not exist, and undoing it removes them.
-- Creates is set for one that does.
ALTER TABLE operations
  ADD COLUMN creates boolean NOT NULL DEFAULT false,
  ADD COLUMN created integer NOT NULL DEFAULT 0,
  ADD COLUMN removed integer NOT NULL DEFAULT 0;
ALTER TABLE operation_rows DROP CONSTRAINT operation_rows_outcome_check;
ALTER TABLE operation_rows ADD CONSTRAINT operation_rows_outcome_check
  CHECK (outcome IN ('PENDING', 'CREATED', 'CHANGED', 'UNCHANGED', 'REMOVED', 'FAILED', 'SKIPPED')) NOT VALID;

-- +goose Down
DELETE FROM operation_rows WHERE outcome IN ('CREATED', 'REMOVED');
ALTER TABLE operation_rows DROP CONSTRAINT operation_rows_outcome_check;
ALTER TABLE operation_rows ADD CONSTRAINT operation_rows_outcome_check
  CHECK (outcome IN ('PENDING', 'CHANGED', 'UNCHANGED', 'FAILED', 'SKIPPED')) NOT VALID;
ALTER TABLE operations
  DROP COLUMN creates,
  DROP COLUMN created,
  DROP COLUMN removed;
