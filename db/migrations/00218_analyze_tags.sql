-- +goose Up

-- Fills the statistics of the names of tags. Citus analyzes in no transaction that has made some.
ANALYZE subscriber_tags;

-- +goose Down
SELECT 1;
