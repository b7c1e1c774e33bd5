-- +goose Up

-- A plan that is kept serves all companies, and expects the average rows of one. Beside many small
-- companies that is next to none: it reads all rows of a large company instead of looking up the
-- few that are asked for. simgraph_expect_rows has the planner expect ten thousand rows of a company
-- in a table, or in the parts of it that Citus distributes. Call it for each new table of companies,
-- in the migration after: Citus sets it by other connections.
-- The ledger and its totals have many more rows, and are read by spans of time.
-- +goose StatementBegin
CREATE FUNCTION simgraph_alter_parts(name regclass, command text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  is_distributed boolean := false;
  failure text;
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    EXECUTE 'SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1)' INTO is_distributed USING name;
  END IF;
  IF is_distributed THEN
    EXECUTE 'SELECT min(result) FILTER (WHERE NOT success) FROM run_command_on_placements($1, $2)' INTO failure USING name, command;
    IF failure IS NOT NULL THEN
      RAISE EXCEPTION 'a part of %: %', name, failure;
    END IF;
  ELSE
    EXECUTE format(command, name);
  END IF;
END $$;

CREATE FUNCTION simgraph_expect_rows(name regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM simgraph_alter_parts(name, 'ALTER TABLE %s ALTER company_id SET (n_distinct = -0.0001)');
END $$;

DO $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT c.oid::regclass AS name
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'company_id' AND NOT a.attisdropped
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND NOT c.relispartition
      AND c.relname NOT IN ('company_lookup', 'usage_ids', 'usage_sessions', 'subscriber_days', 'group_hours', 'group_sessions', 'company_hours', 'company_sessions',
        'ip_days', 'ip_months')
  LOOP
    PERFORM simgraph_expect_rows(t.name);
  END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
DO $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT a.attrelid::regclass AS name
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND NOT c.relispartition AND a.attname = 'company_id'
  LOOP
    PERFORM simgraph_alter_parts(t.name, 'ALTER TABLE %s ALTER company_id RESET (n_distinct)');
  END LOOP;
END $$;
-- +goose StatementEnd
DROP FUNCTION simgraph_expect_rows(regclass);
DROP FUNCTION simgraph_alter_parts(regclass, text);
