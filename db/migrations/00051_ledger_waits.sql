-- +goose Up

-- How long servers were seen to run, in microseconds: what housekeeping waits by. No
-- clock that is set forward or back changes it.
ALTER TABLE usage_ledger ADD COLUMN waited bigint NOT NULL DEFAULT 0;

-- What waited was when each step was taken; the times beside are for people.
ALTER TABLE usage_ledger_months
  ADD COLUMN announced_waited bigint,
  ADD COLUMN detached_waited  bigint,
  ADD COLUMN due_waited       bigint,
  ADD COLUMN dropped_waited   bigint;

-- +goose Down
ALTER TABLE usage_ledger_months
  DROP COLUMN announced_waited,
  DROP COLUMN detached_waited,
  DROP COLUMN due_waited,
  DROP COLUMN dropped_waited;
ALTER TABLE usage_ledger DROP COLUMN waited;
