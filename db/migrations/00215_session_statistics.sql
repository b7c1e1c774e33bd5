-- +goose Up

-- Until it knows that a device has few sessions, the planner reads all of them in their order
-- instead of by sessions_imei. Citus analyzes in no transaction that has made an index.
ANALYZE sessions;

-- +goose Down
SELECT 1;
