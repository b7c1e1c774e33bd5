-- +goose Up

-- Lists of open sessions, the newest first, beside millions that have ended.
CREATE INDEX sessions_state ON sessions (company_id, (ended_at IS NULL), began_at DESC);

-- What came from a network element, by what became of it. Each instance adds what
-- it has counted from time to time: a crash loses some seconds of the counts.
CREATE TABLE feed_packets (
  company_id bigint NOT NULL,
  source     text COLLATE "C" NOT NULL,
  nas        text COLLATE "C" NOT NULL,
  result     text COLLATE "C" NOT NULL,
  packets    bigint NOT NULL,
  last_at    timestamptz NOT NULL,
  PRIMARY KEY (company_id, source, nas, result)
);
SELECT simgraph_distribute('feed_packets');

-- Usage that waits is listed by what names its subscriber.
CREATE INDEX usage_quarantine_names ON usage_quarantine (company_id, physical_id, imsi, msisdn, source);
DROP INDEX usage_quarantine_subscriber;

-- +goose Down
CREATE INDEX usage_quarantine_subscriber ON usage_quarantine (company_id, physical_id);
DROP INDEX usage_quarantine_names;
DROP TABLE feed_packets;
DROP INDEX sessions_state;
