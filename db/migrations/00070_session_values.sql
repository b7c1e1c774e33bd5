-- +goose Up

-- What reports stated of sessions that those before did not, in the order in which they
-- were booked: alerts on changes and their previews go through the same. '' is what a
-- report did not state, or what the session had already.
CREATE TABLE session_values (
  company_id     bigint NOT NULL,
  place          bigint NOT NULL,
  -- NULL as long as the subscriber is not known.
  subscriber_key bigint,
  identity       uuid NOT NULL,
  as_of          timestamptz NOT NULL,
  apn            text COLLATE "C" NOT NULL,
  imei           text COLLATE "C" NOT NULL,
  address        text COLLATE "C" NOT NULL,
  network        text COLLATE "C" NOT NULL,
  protocol       text COLLATE "C" NOT NULL,
  PRIMARY KEY (company_id, place)
);
SELECT simgraph_distribute('session_values');
CREATE INDEX session_values_subscriber ON session_values (company_id, subscriber_key, place);
CREATE INDEX session_values_unknown ON session_values (company_id, identity) WHERE subscriber_key IS NULL;

-- Up to which place of session_values a company's alerts on changes have come. Whoever
-- goes on locks the row.
CREATE TABLE condition_learned (
  company_id bigint NOT NULL PRIMARY KEY,
  place      bigint NOT NULL
);
SELECT simgraph_distribute('condition_learned');

-- Of the sessions that there are, what they had last.
INSERT INTO session_values (company_id, place, subscriber_key, identity, as_of, apn, imei, address, network, protocol)
SELECT n.company_id, row_number() OVER (PARTITION BY n.company_id ORDER BY n.as_of, n.identity, n.generation), n.subscriber_key, n.identity, n.as_of,
  n.apn, n.imei, coalesce(host(n.ip_address), text(n.ipv6_prefix), ''), n.visited_network, n.rat_type
FROM sessions n;
INSERT INTO condition_learned (company_id, place)
SELECT v.company_id, max(v.place)
FROM session_values v
WHERE EXISTS (SELECT FROM condition_values k WHERE k.company_id = v.company_id)
GROUP BY v.company_id;

-- The version before writes what was reported last, and this one does not.
ALTER TABLE condition_values ALTER COLUMN reported SET DEFAULT '';

-- +goose Down
ALTER TABLE condition_values ALTER COLUMN reported DROP DEFAULT;
DROP TABLE condition_learned, session_values;
