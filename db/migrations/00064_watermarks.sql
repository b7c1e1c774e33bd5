-- +goose Up

-- Until when the usage of each network element is known: the newest time that its
-- reports speak of, also those of zero bytes. nas is '' for cumulative reports without one.
CREATE TABLE feed_watermarks (
  company_id     bigint NOT NULL,
  source         text COLLATE "C" NOT NULL,
  nas            text COLLATE "C" NOT NULL,
  complete_until timestamptz NOT NULL,
  -- When the last report arrived, and the last that was late; since when such have come
  -- without a pause.
  reported_at    timestamptz NOT NULL,
  lagged_at      timestamptz,
  lagging_since  timestamptz,
  PRIMARY KEY (company_id, source, nas)
) WITH (fillfactor = 50);
SELECT simgraph_distribute('feed_watermarks');

INSERT INTO feed_watermarks (company_id, source, nas, complete_until, reported_at)
SELECT p.company_id, p.source, p.nas, max(p.last_at), max(p.last_at)
FROM feed_packets p
WHERE p.nas <> '' AND p.result IN ('booked', 'nothing_new', 'quarantined')
GROUP BY p.company_id, p.source, p.nas;

-- Silences of sources name the network element.
ALTER TABLE condition_log ADD COLUMN nas text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE condition_log DROP CONSTRAINT condition_log_once;
ALTER TABLE condition_log ADD CONSTRAINT condition_log_once UNIQUE (company_id, alert_id, revision, subject_id, source, nas, trait, since, state);

-- What was looked up is looked up again, with the network element.
TRUNCATE condition_sources;
ALTER TABLE condition_sources ADD COLUMN nas text COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE condition_sources DROP COLUMN nas;
ALTER TABLE condition_log DROP CONSTRAINT condition_log_once;
DELETE FROM condition_log WHERE nas <> '';
ALTER TABLE condition_log ADD CONSTRAINT condition_log_once UNIQUE (company_id, alert_id, revision, subject_id, source, trait, since, state);
ALTER TABLE condition_log DROP COLUMN nas;
DROP TABLE feed_watermarks;
