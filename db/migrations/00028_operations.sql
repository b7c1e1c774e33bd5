-- +goose Up

-- Changes of many subscribers at once. While one is CHECKING or RUNNING, a worker
-- takes its rows after position, a chunk in each transaction. To take one moves due_at
-- ahead, so that of a worker that died comes back.
CREATE TABLE operations (
  company_id    bigint NOT NULL,
  operation_id  uuid NOT NULL,
  state         text NOT NULL CHECK (state IN ('CHECKING', 'CHECKED', 'REJECTED', 'RUNNING', 'DONE', 'CANCELLED')),
  is_dry_run    boolean NOT NULL,
  error_policy  text NOT NULL CHECK (error_policy IN ('REJECT_EVERYTHING', 'REJECT_FAILED_ROWS', 'IGNORE_FAILED')),
  undo_of       uuid,
  change        json NOT NULL,
  -- What its user needs, also when a chunk runs.
  permissions   text[] NOT NULL,
  -- The groups that its user saw; NULL is the whole company.
  groups        bigint[],
  digest        text NOT NULL,
  total         integer NOT NULL,
  done          integer NOT NULL DEFAULT 0,
  changed       integer NOT NULL DEFAULT 0,
  failed        integer NOT NULL DEFAULT 0,
  skipped       integer NOT NULL DEFAULT 0,
  position      integer NOT NULL DEFAULT 0,
  attempts      integer NOT NULL DEFAULT 0,
  due_at        timestamptz NOT NULL DEFAULT now(),
  started_at    timestamptz NOT NULL,
  ended_at      timestamptz,
  user_id       bigint NOT NULL,
  actor         text COLLATE "C" NOT NULL,
  access_key_id text COLLATE "C" NOT NULL,
  door          text COLLATE "C" NOT NULL,
  address       text COLLATE "C" NOT NULL,
  request_id    text COLLATE "C" NOT NULL,
  PRIMARY KEY (company_id, operation_id),
  CHECK ((ended_at IS NULL) = (state IN ('CHECKING', 'RUNNING')))
) WITH (fillfactor = 50);
SELECT simgraph_distribute('operations');
CREATE INDEX operations_active ON operations (company_id, operation_id) WHERE ended_at IS NULL;

-- The subscribers of an operation as they were selected at its start, with what
-- became of each.
CREATE TABLE operation_rows (
  company_id   bigint NOT NULL,
  operation_id uuid NOT NULL,
  position     integer NOT NULL,
  physical_id  text COLLATE "C" NOT NULL,
  -- The changes of this row alone; of an operation that undoes, what is taken back.
  wanted       json,
  outcome      text NOT NULL DEFAULT 'PENDING' CHECK (outcome IN ('PENDING', 'CHANGED', 'UNCHANGED', 'FAILED', 'SKIPPED')),
  code         text COLLATE "C",
  message      text,
  changes      json,
  PRIMARY KEY (company_id, operation_id, position)
) WITH (fillfactor = 50);
SELECT simgraph_distribute('operation_rows');

-- +goose Down
DROP TABLE operation_rows, operations;
