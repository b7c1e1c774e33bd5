-- +goose Up

-- Sessions that network elements report by counters. A generation is a span in
-- which the counter of the network element did not begin anew. The row has the
-- highest reading: what was booked of the generation adds up to that.
CREATE TABLE sessions (
  company_id        bigint NOT NULL,
  -- A hash of source, subscriber and session id: see domain.IdentifySession.
  identity          uuid NOT NULL,
  generation        integer NOT NULL,
  -- NULL as long as the subscriber is not known.
  subscriber_key    bigint,
  source            text COLLATE "C" NOT NULL,
  nas               text COLLATE "C" NOT NULL,
  session_id        text COLLATE "C" NOT NULL,
  -- How the source names the subscriber; '' where it does not use that.
  physical_id       text COLLATE "C" NOT NULL,
  imsi              text COLLATE "C" NOT NULL,
  msisdn            text COLLATE "C" NOT NULL,
  began_at          timestamptz NOT NULL,
  -- When the counter was read last, by the network element.
  as_of             timestamptz NOT NULL,
  -- When the last report arrived, and how long after the one before, in seconds.
  reported_at       timestamptz NOT NULL,
  interval_seconds  integer NOT NULL,
  ended_at          timestamptz,
  cause             text COLLATE "C" NOT NULL,
  mobile_originated bigint NOT NULL,
  mobile_terminated bigint NOT NULL,
  reports           bigint NOT NULL,
  -- How many records of the ledger it has given.
  booked            integer NOT NULL,
  is_transferring   boolean NOT NULL,
  -- A later reading was below an earlier one: bytes are missing.
  decreased         boolean NOT NULL,
  -- The clock of the network element was not believable.
  clock_off         boolean NOT NULL,
  apn               text COLLATE "C" NOT NULL,
  ip_address        inet,
  ipv6_prefix       cidr,
  imei              text COLLATE "C" NOT NULL,
  rat_type          text COLLATE "C" NOT NULL,
  visited_network   text COLLATE "C" NOT NULL,
  PRIMARY KEY (company_id, identity, generation)
) WITH (fillfactor = 70);
SELECT simgraph_distribute('sessions');
CREATE INDEX sessions_subscriber ON sessions (company_id, subscriber_key, began_at DESC);
CREATE INDEX sessions_newest ON sessions (company_id, began_at DESC, identity, generation);
-- What is open is looked at again and again, to find what is silent.
CREATE INDEX sessions_open ON sessions (company_id, subscriber_key) WHERE ended_at IS NULL;
CREATE INDEX sessions_unknown ON sessions (company_id, began_at) WHERE subscriber_key IS NULL;

-- Network elements name subscribers by IMSI or MSISDN: a record that waits for
-- its subscriber may have no physical id.
ALTER TABLE usage_quarantine
  ADD COLUMN imsi text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN msisdn text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX subscribers_imsi ON subscribers (company_id, imsi) WHERE imsi <> '';

-- Whether sessions decide if it is online; without them an import does.
ALTER TABLE subscribers ADD COLUMN has_feed boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE subscribers DROP COLUMN has_feed;
DROP INDEX subscribers_imsi;
DELETE FROM usage_quarantine WHERE physical_id = '';
ALTER TABLE usage_quarantine DROP COLUMN imsi, DROP COLUMN msisdn;
DROP TABLE sessions;
