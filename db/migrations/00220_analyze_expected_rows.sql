-- +goose Up

-- Has the planner expect what 00219 sets. Citus analyzes in no transaction that has set some.
ANALYZE;

-- +goose Down
SELECT 1;
