-- +goose Up

-- Pieces of the names of subscribers, for searches by like. It needs the extension
-- pg_trgm, which comes with PostgreSQL's contrib and which the owner of a database may
-- create since version 13. Where it is missing or may not be created, searches read
-- the whole fleet.
-- +goose StatementBegin
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
    OR NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') THEN
    RETURN;
  END IF;
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX subscribers_texts ON subscribers USING gin (
    physical_id COLLATE "default" gin_trgm_ops, subscriber_id COLLATE "default" gin_trgm_ops,
    nickname COLLATE "default" gin_trgm_ops, imsi COLLATE "default" gin_trgm_ops
  ) WITH (gin_pending_list_limit = 256);
EXCEPTION
  WHEN insufficient_privilege OR undefined_object OR undefined_file THEN
    RAISE NOTICE 'no index for searches of subscribers: %', SQLERRM;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP INDEX IF EXISTS subscribers_texts;
