-- +goose Up

-- Distributes a table by company, beside the table companies, where that is
-- distributed. Where Citus was installed later, simgraph migrate distribute does it.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION simgraph_distribute(name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  is_distributed boolean := false;
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    EXECUTE 'SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = ''companies''::regclass AND partmethod = ''h'')'
      INTO is_distributed;
  END IF;
  IF is_distributed THEN
    EXECUTE format('SELECT create_distributed_table(%L, %L, colocate_with => %L)', name, 'company_id', 'companies');
  END IF;
END $$;
-- +goose StatementEnd

-- Copies a small shared table to every node where companies are distributed.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION simgraph_reference(name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  is_distributed boolean := false;
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    EXECUTE 'SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = ''companies''::regclass AND partmethod = ''h'')'
      INTO is_distributed;
  END IF;
  IF is_distributed THEN
    EXECUTE format('SELECT create_reference_table(%L)', name);
  END IF;
END $$;
-- +goose StatementEnd

-- Returns the companies by the node of Citus that has their rows, with the
-- installation as company 0; without Citus one row, whose NULL stands for all.
-- +goose StatementBegin
CREATE FUNCTION simgraph_nodes() RETURNS TABLE (node integer, companies bigint[]) LANGUAGE plpgsql STABLE AS $$
DECLARE
  known bigint[];
  is_distributed boolean := false;
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    EXECUTE 'SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = ''companies''::regclass AND partmethod = ''h'')'
      INTO is_distributed;
  END IF;
  IF NOT is_distributed THEN
    RETURN QUERY SELECT 0, NULL::bigint[];
    RETURN;
  END IF;
  SELECT array_agg(l.company_id) INTO known FROM company_lookup l;
  RETURN QUERY EXECUTE '
    SELECT p.groupid, array_agg(c.company_id ORDER BY c.company_id)
    FROM unnest(0::bigint || $1) AS c (company_id)
    JOIN pg_dist_placement p ON p.shardid = get_shard_id_for_distribution_column(''companies'', c.company_id)
    GROUP BY p.groupid
    ORDER BY p.groupid' USING known;
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION simgraph_nodes;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION simgraph_distribute(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    EXECUTE format('SELECT create_distributed_table(%L, %L)', name, 'company_id');
  END IF;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION simgraph_reference(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    EXECUTE format('SELECT create_reference_table(%L)', name);
  END IF;
END $$;
-- +goose StatementEnd
