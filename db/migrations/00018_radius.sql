-- +goose Up

-- What may send accounting over RADIUS. The secret is sealed: see domain.Seal.
CREATE TABLE radius_clients (
  company_id bigint NOT NULL,
  name       text COLLATE "C" NOT NULL,
  network    cidr NOT NULL,
  secret     bytea NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, name)
);
SELECT simgraph_distribute('radius_clients');

-- Why requests of a network element could not be used. They were answered.
CREATE TABLE feed_rejects (
  company_id bigint NOT NULL,
  source     text COLLATE "C" NOT NULL,
  nas        text COLLATE "C" NOT NULL,
  reason     text COLLATE "C" NOT NULL,
  requests   bigint NOT NULL,
  first_at   timestamptz NOT NULL,
  last_at    timestamptz NOT NULL,
  example    text NOT NULL,
  PRIMARY KEY (company_id, source, nas, reason)
);
SELECT simgraph_distribute('feed_rejects');

-- +goose Down
DROP TABLE feed_rejects, radius_clients;
