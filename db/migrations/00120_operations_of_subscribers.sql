-- +goose Up

-- What operations changed of a subscriber. No column of it changes while an operation
-- runs, so that rows are still updated in place.
CREATE INDEX operation_rows_of_subscriber ON operation_rows (company_id, physical_id);

-- +goose Down
DROP INDEX operation_rows_of_subscriber;
