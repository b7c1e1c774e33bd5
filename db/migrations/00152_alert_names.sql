-- +goose Up

-- What people call alerts, and what they are for.
ALTER TABLE alerts ADD COLUMN name text COLLATE "C", ADD COLUMN description text;
ALTER TABLE condition_alerts ADD COLUMN name text COLLATE "C", ADD COLUMN description text;

-- +goose Down
ALTER TABLE condition_alerts DROP COLUMN name, DROP COLUMN description;
ALTER TABLE alerts DROP COLUMN name, DROP COLUMN description;
