-- +goose Up

-- When a record was put aside. Of those that are there it is the time of this migration.
ALTER TABLE usage_quarantine ADD COLUMN held_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX usage_quarantine_held ON usage_quarantine (company_id, held_at);

-- When all conditions of the company were evaluated last without a failure; before the
-- first time, since when they wait.
ALTER TABLE condition_turns ADD COLUMN evaluated_at timestamptz NOT NULL DEFAULT now();

-- +goose Down
ALTER TABLE condition_turns DROP COLUMN evaluated_at;
DROP INDEX usage_quarantine_held;
ALTER TABLE usage_quarantine DROP COLUMN held_at;
