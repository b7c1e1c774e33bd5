-- +goose Up

-- cursor is where a pass stands that has not ended: one that is interrupted goes on from
-- there. Where nicknames and tags are written through, labels are theirs as well: what is
-- edited there comes with a sweep. A sweep that would make many subscribers inactive keeps held_removals of them until
-- a person confirms as many. Edits of nicknames and tags that are written through wait in
-- upstream_writes; where the other server cannot be written to, writes_due_at is when that is
-- tried again.
ALTER TABLE upstreams
  ADD COLUMN cursor text NOT NULL DEFAULT '',
  ADD COLUMN held_removals bigint,
  ADD COLUMN held_at timestamptz,
  ADD COLUMN confirmed_removals bigint,
  ADD COLUMN confirmed_at timestamptz,
  ADD COLUMN write_attempts integer NOT NULL DEFAULT 0,
  ADD COLUMN writes_due_at timestamptz,
  ADD COLUMN write_error text,
  ADD COLUMN is_written_through boolean NOT NULL DEFAULT false;

-- The newest edit here of a nickname (tag_name is '') or of a tag, until the pass ends that
-- follows its sending: what that pass reads may be older. version tells edits apart.
CREATE TABLE upstream_writes (
  company_id  bigint NOT NULL,
  upstream_id bigint NOT NULL,
  physical_id text COLLATE "C" NOT NULL,
  tag_name    text COLLATE "C" NOT NULL,
  nickname    text COLLATE "C" NOT NULL,
  is_attached boolean NOT NULL,
  version     bigint NOT NULL DEFAULT 1,
  sent_at     timestamptz,
  refused_at  timestamptz,
  refusal     text,
  PRIMARY KEY (company_id, physical_id, tag_name),
  CHECK (sent_at IS NULL OR refused_at IS NULL),
  CHECK ((refusal IS NULL) = (refused_at IS NULL))
);
SELECT simgraph_distribute('upstream_writes');
CREATE INDEX upstream_writes_waiting ON upstream_writes (company_id, upstream_id, physical_id, tag_name) WHERE sent_at IS NULL AND refused_at IS NULL;

-- Alerts that were deleted or changed here: sweeps do not bring so many copies of them again.
-- last_sweep is the last sweep that found them on the other server.
CREATE TABLE upstream_deleted_alerts (
  company_id      bigint NOT NULL,
  upstream_id     bigint NOT NULL,
  rule_type       text COLLATE "C" NOT NULL,
  target          text COLLATE "C" NOT NULL,
  lower_threshold bigint NOT NULL,
  upper_threshold bigint NOT NULL,
  copies          integer NOT NULL,
  last_sweep      bigint NOT NULL,
  PRIMARY KEY (company_id, upstream_id, rule_type, target, lower_threshold, upper_threshold)
);
SELECT simgraph_distribute('upstream_deleted_alerts');

-- +goose Down
DROP TABLE upstream_deleted_alerts, upstream_writes;
ALTER TABLE upstreams
  DROP COLUMN cursor, DROP COLUMN held_removals, DROP COLUMN held_at, DROP COLUMN confirmed_removals, DROP COLUMN confirmed_at,
  DROP COLUMN write_attempts, DROP COLUMN writes_due_at, DROP COLUMN write_error, DROP COLUMN is_written_through;
