-- +goose Up

-- How the records of senders are read: a line for each version of a profile, as JSON.
CREATE TABLE source_profiles (
  company_id bigint NOT NULL,
  name       text COLLATE "C" NOT NULL,
  version    integer NOT NULL,
  spec       text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, name, version)
);
SELECT simgraph_distribute('source_profiles');

-- What posts records to an address of its own. Secrets are sealed: see internal/seal.
CREATE TABLE sources (
  company_id       bigint NOT NULL,
  source_id        text COLLATE "C" NOT NULL,
  name             text COLLATE "C" NOT NULL,
  profile          text COLLATE "C" NOT NULL,
  authentication   text COLLATE "C" NOT NULL CHECK (authentication IN ('basic', 'bearer', 'signature')),
  signature_header text COLLATE "C" NOT NULL,
  secret           bytea NOT NULL,
  previous_secret  bytea,
  previous_until   timestamptz,
  created_at       timestamptz NOT NULL,
  paused_at        timestamptz,
  received_at      timestamptz,
  accepted         bigint NOT NULL DEFAULT 0,
  duplicates       bigint NOT NULL DEFAULT 0,
  waiting          bigint NOT NULL DEFAULT 0,
  rejected         bigint NOT NULL DEFAULT 0,
  skipped          bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, source_id),
  UNIQUE (company_id, name),
  CHECK ((previous_secret IS NULL) = (previous_until IS NULL))
);
SELECT simgraph_distribute('sources');

-- Records that could not be used. They were acknowledged, so that senders go on.
CREATE TABLE source_rejects (
  company_id bigint NOT NULL,
  source_id  text COLLATE "C" NOT NULL,
  digest     uuid NOT NULL,
  reason     text NOT NULL,
  field      text NOT NULL,
  payload    text NOT NULL,
  is_record  boolean NOT NULL,
  times      bigint NOT NULL,
  first_at   timestamptz NOT NULL,
  last_at    timestamptz NOT NULL,
  PRIMARY KEY (company_id, digest)
);
SELECT simgraph_distribute('source_rejects');
CREATE INDEX source_rejects_newest ON source_rejects (company_id, source_id, last_at DESC, digest);
CREATE INDEX source_rejects_replay ON source_rejects (company_id, source_id, digest) WHERE is_record;

-- +goose Down
DROP TABLE source_rejects, sources, source_profiles;
