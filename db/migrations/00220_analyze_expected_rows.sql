-- +goose Up

-- Has the planner expect what 00219 sets. Citus analyzes in no transaction that has set some. Of an
-- empty table statistics would do harm: plans for no row would be kept while the first rows come.
-- +goose StatementBegin
DO $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT c.oid::regclass AS name
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'company_id' AND NOT a.attisdropped
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND NOT c.relispartition AND c.reltuples > 0
  LOOP
    EXECUTE format('ANALYZE %s', t.name);
  END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 1;
