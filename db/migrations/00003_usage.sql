-- +goose Up

-- Every record that ever came in, by the hash of its source and id. The ledger
-- is partitioned by time, so its own key cannot tell that the same id came
-- with another time; this one can, also between concurrent writers.
CREATE TABLE usage_ids (
  company_id bigint NOT NULL,
  identity   uuid NOT NULL,
  -- A hash of everything else in the record: a duplicate has the same.
  digest     bigint NOT NULL,
  PRIMARY KEY (company_id, identity)
);
SELECT simgraph_distribute('usage_ids');

-- The ledger, one partition a month (UTC). All totals are pure functions of it.
CREATE TABLE usage_records (
  company_id        bigint NOT NULL,
  started_at        timestamptz NOT NULL,
  identity          uuid NOT NULL,
  subscriber_key    bigint NOT NULL,
  ended_at          timestamptz NOT NULL,
  mobile_originated bigint NOT NULL,
  mobile_terminated bigint NOT NULL,
  sequence          integer NOT NULL,
  ip_address        inet,
  protocol          text COLLATE "C" NOT NULL,
  session_id        text COLLATE "C" NOT NULL,
  source            text COLLATE "C" NOT NULL,
  -- '' where the source gave none.
  record_id         text COLLATE "C" NOT NULL,
  PRIMARY KEY (company_id, started_at, identity)
) PARTITION BY RANGE (started_at);
SELECT simgraph_distribute('usage_records');

-- Records of subscribers that are not known yet.
CREATE TABLE usage_quarantine (
  company_id        bigint NOT NULL,
  identity          uuid NOT NULL,
  physical_id       text COLLATE "C" NOT NULL,
  started_at        timestamptz NOT NULL,
  ended_at          timestamptz NOT NULL,
  mobile_originated bigint NOT NULL,
  mobile_terminated bigint NOT NULL,
  sequence          integer NOT NULL,
  ip_address        inet,
  protocol          text COLLATE "C" NOT NULL,
  session_id        text COLLATE "C" NOT NULL,
  source            text COLLATE "C" NOT NULL,
  record_id         text COLLATE "C" NOT NULL,
  PRIMARY KEY (company_id, identity)
);
SELECT simgraph_distribute('usage_quarantine');
CREATE INDEX usage_quarantine_subscriber ON usage_quarantine (company_id, physical_id);

-- How far the usage of each source is known.
CREATE TABLE usage_sources (
  company_id     bigint NOT NULL,
  source         text COLLATE "C" NOT NULL,
  complete_until timestamptz NOT NULL,
  PRIMARY KEY (company_id, source)
);
SELECT simgraph_distribute('usage_sources');

-- The network protocols of a company, numbered for the cells of
-- subscriber_days. 0 is no protocol.
CREATE TABLE usage_protocols (
  company_id  bigint NOT NULL,
  protocol_id smallint NOT NULL,
  name        text COLLATE "C" NOT NULL,
  PRIMARY KEY (company_id, protocol_id),
  UNIQUE (company_id, name)
);
SELECT simgraph_distribute('usage_protocols');

-- When each session began: with its record 0 (is_opened), or with the earliest
-- that came as long as that one did not.
CREATE TABLE usage_sessions (
  company_id     bigint NOT NULL,
  subscriber_key bigint NOT NULL,
  session_id     text COLLATE "C" NOT NULL,
  began_at       timestamptz NOT NULL,
  is_opened      boolean NOT NULL,
  -- What began_at was before the last change, which RETURNING cannot tell.
  began_before   timestamptz,
  PRIMARY KEY (company_id, subscriber_key, session_id)
);
SELECT simgraph_distribute('usage_sessions');

CREATE TABLE company_hours (
  company_id        bigint NOT NULL,
  hour              timestamptz NOT NULL,
  protocol          text COLLATE "C" NOT NULL,
  mobile_originated bigint NOT NULL,
  mobile_terminated bigint NOT NULL,
  PRIMARY KEY (company_id, hour, protocol)
);
SELECT simgraph_distribute('company_hours');

CREATE TABLE company_sessions (
  company_id bigint NOT NULL,
  hour       timestamptz NOT NULL,
  sessions   bigint NOT NULL,
  PRIMARY KEY (company_id, hour)
);
SELECT simgraph_distribute('company_sessions');

-- Usage by the group of the subscriber at the time of usage.
CREATE TABLE group_hours (
  company_id        bigint NOT NULL,
  group_id          bigint NOT NULL,
  hour              timestamptz NOT NULL,
  protocol          text COLLATE "C" NOT NULL,
  mobile_originated bigint NOT NULL,
  mobile_terminated bigint NOT NULL,
  PRIMARY KEY (company_id, group_id, hour, protocol)
);
SELECT simgraph_distribute('group_hours');

CREATE TABLE group_sessions (
  company_id bigint NOT NULL,
  group_id   bigint NOT NULL,
  hour       timestamptz NOT NULL,
  sessions   bigint NOT NULL,
  PRIMARY KEY (company_id, group_id, hour)
);
SELECT simgraph_distribute('group_sessions');

-- A UTC day of a subscriber within a group (0: none). The totals stand before
-- the cells, so that reading them alone stops there.
CREATE TABLE subscriber_days (
  company_id        bigint NOT NULL,
  day               date NOT NULL,
  subscriber_key    bigint NOT NULL,
  group_id          bigint NOT NULL,
  mobile_originated bigint NOT NULL,
  mobile_terminated bigint NOT NULL,
  sessions          bigint NOT NULL,
  last_seen         timestamptz NOT NULL,
  -- Usage by hour and protocol, packed: see usage_cells.
  cells             bigint[] NOT NULL,
  PRIMARY KEY (company_id, day, subscriber_key, group_id)
) WITH (fillfactor = 80);
SELECT simgraph_distribute('subscriber_days');

-- Usage by IP address and UTC day; usage without an address has no row.
CREATE TABLE ip_days (
  company_id        bigint NOT NULL,
  day               date NOT NULL,
  subscriber_key    bigint NOT NULL,
  group_id          bigint NOT NULL,
  ip_address        inet NOT NULL,
  mobile_originated bigint NOT NULL,
  mobile_terminated bigint NOT NULL,
  last_seen         timestamptz NOT NULL,
  PRIMARY KEY (company_id, day, subscriber_key, group_id, ip_address)
) WITH (fillfactor = 90);
SELECT simgraph_distribute('ip_days');

-- The billing period that began at period_start.
CREATE TABLE subscriber_periods (
  company_id        bigint NOT NULL,
  period_start      timestamptz NOT NULL,
  subscriber_key    bigint NOT NULL,
  mobile_originated bigint NOT NULL,
  mobile_terminated bigint NOT NULL,
  last_seen         timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (company_id, period_start, subscriber_key)
) WITH (fillfactor = 80);
SELECT simgraph_distribute('subscriber_periods');

CREATE TABLE group_periods (
  company_id        bigint NOT NULL,
  period_start      timestamptz NOT NULL,
  group_id          bigint NOT NULL,
  mobile_originated bigint NOT NULL,
  mobile_terminated bigint NOT NULL,
  PRIMARY KEY (company_id, period_start, group_id)
);
SELECT simgraph_distribute('group_periods');

-- Companies in which subscribers with usage were put into another group from
-- a day in the past on: their totals by group wait to be settled.
CREATE TABLE usage_moves (
  company_id bigint NOT NULL PRIMARY KEY,
  since      date NOT NULL
);
SELECT simgraph_distribute('usage_moves');

-- Who was ever in a group.
CREATE INDEX group_memberships_group ON group_memberships (company_id, group_id, subscriber_key);

-- usage_cells unpacks the cells of a day: five numbers each, of which the first
-- is the hour of the day plus 24 times the protocol, and last_seen is in
-- seconds of the Unix epoch. The same hour and protocol may come repeatedly:
-- their numbers add up. Cells of protocol 0 count sessions only.
-- +goose StatementBegin
CREATE FUNCTION usage_cells(cells bigint[])
RETURNS TABLE (hour integer, protocol_id smallint, mobile_originated bigint, mobile_terminated bigint, last_seen bigint, sessions bigint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (cells[i] % 24)::integer, (cells[i] / 24)::smallint, cells[i + 1], cells[i + 2], cells[i + 3], cells[i + 4]
  FROM generate_series(1, cardinality(cells), 5) AS i
$$;
-- +goose StatementEnd

-- usage_compact adds up the cells of the same hour and protocol, and leaves out
-- where no session is left.
-- +goose StatementBegin
CREATE FUNCTION usage_compact(cells bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(part ORDER BY slot, place), '{}')
  FROM (
    SELECT cells[i] AS slot, sum(cells[i + 1])::bigint AS originated, sum(cells[i + 2])::bigint AS terminated,
      max(cells[i + 3]) AS last_seen, sum(cells[i + 4])::bigint AS sessions
    FROM generate_series(1, cardinality(cells), 5) AS i
    GROUP BY cells[i]
    HAVING cells[i] >= 24 OR sum(cells[i + 4]) <> 0
  ) AS cell
  CROSS JOIN LATERAL unnest(ARRAY[slot, originated, terminated, cell.last_seen, cell.sessions]) WITH ORDINALITY AS p(part, place)
$$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION usage_compact, usage_cells;
DROP INDEX group_memberships_group;
DROP TABLE usage_moves, group_periods, subscriber_periods, ip_days, subscriber_days, group_sessions, group_hours, company_sessions,
  company_hours, usage_sessions, usage_protocols, usage_sources, usage_quarantine, usage_records, usage_ids;
