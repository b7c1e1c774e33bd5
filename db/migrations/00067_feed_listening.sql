-- +goose Up

-- How long after one another a network element reported of a session, by steps of
-- domain.IntervalStep. Older gaps weigh less: gaps is what was left of them at counted_at.
CREATE TABLE feed_gaps (
  company_id bigint NOT NULL,
  source     text COLLATE "C" NOT NULL,
  nas        text COLLATE "C" NOT NULL,
  seconds    integer NOT NULL,
  gaps       double precision NOT NULL,
  first_at   timestamptz NOT NULL,
  counted_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, source, nas, seconds)
) WITH (fillfactor = 70);
SELECT simgraph_distribute('feed_gaps');

-- Since when there has been no long pause: of packets of a network element, or, with
-- nas '', of listening to the source. What is silent is silent since then at most.
CREATE TABLE feed_listening (
  company_id bigint NOT NULL,
  source     text COLLATE "C" NOT NULL,
  nas        text COLLATE "C" NOT NULL,
  seen_at    timestamptz NOT NULL,
  since      timestamptz NOT NULL,
  PRIMARY KEY (company_id, source, nas)
) WITH (fillfactor = 70);
SELECT simgraph_distribute('feed_listening');

-- +goose Down
DROP TABLE feed_listening, feed_gaps;
