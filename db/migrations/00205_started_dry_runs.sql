-- +goose Up

-- A dry run that a person starts becomes an operation once, within the company.
ALTER TABLE operations ADD COLUMN dry_run_of uuid;
CREATE UNIQUE INDEX operations_dry_run_of ON operations (company_id, dry_run_of) WHERE dry_run_of IS NOT NULL;

-- What the dry run showed of the row: nothing else becomes of it. NULL is a row of an
-- operation that was no dry run before.
ALTER TABLE operation_rows ADD COLUMN shown json;

-- +goose Down
ALTER TABLE operation_rows DROP COLUMN shown;
ALTER TABLE operations DROP COLUMN dry_run_of;
