-- +goose Up

-- DROP TABLE of a month fails while a view depends on it: versions before 00010 drop
-- months by their own clock and flags, and a hand may err. simgraph drops the view with
-- the month.
-- +goose StatementBegin
DO $$
DECLARE
  month text;
BEGIN
  FOR month IN SELECT c.relname FROM pg_class c
    WHERE pg_table_is_visible(c.oid) AND c.relkind = 'r' AND c.relname ~ '^usage_records_[0-9]{4}_[0-9]{2}$'
  LOOP
    EXECUTE format('CREATE OR REPLACE VIEW %I AS SELECT true AS is_kept FROM %I', month || '_fence', month);
  END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down

-- +goose StatementBegin
DO $$
DECLARE
  fence text;
BEGIN
  FOR fence IN SELECT c.relname FROM pg_class c
    WHERE pg_table_is_visible(c.oid) AND c.relkind = 'v' AND c.relname ~ '^usage_records_[0-9]{4}_[0-9]{2}_fence$'
  LOOP
    EXECUTE format('DROP VIEW %I', fence);
  END LOOP;
END $$;
-- +goose StatementEnd
