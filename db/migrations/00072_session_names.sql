-- +goose Up

-- What reports of a session may know it by beside its identity, which is that of its
-- first: see domain.UsageRecord.Names. A name is of one session at a time.
CREATE TABLE session_names (
  company_id bigint NOT NULL,
  name       uuid NOT NULL,
  identity   uuid NOT NULL,
  PRIMARY KEY (company_id, name)
);
SELECT simgraph_distribute('session_names');
CREATE INDEX session_names_identity ON session_names (company_id, identity);

ALTER TABLE sessions
  -- What the gateway charges by; '' as long as that is not reported.
  ADD COLUMN charging_id text COLLATE "C" NOT NULL DEFAULT '',
  -- The sources that report it beside the first.
  ADD COLUMN other_sources text[] COLLATE "C" NOT NULL DEFAULT '{}';

CREATE INDEX sessions_decreased ON sessions (company_id, source, nas) WHERE decreased;

-- +goose Down
DROP INDEX sessions_decreased;
ALTER TABLE sessions DROP COLUMN charging_id, DROP COLUMN other_sources;
DROP TABLE session_names;
