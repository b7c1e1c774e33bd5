-- +goose Up

-- Subscribers with usage that were put into another group from a day in the
-- past on: that usage still counts for the groups of before.
CREATE TABLE subscriber_moves (
  company_id     bigint NOT NULL,
  subscriber_key bigint NOT NULL,
  since          date NOT NULL,
  PRIMARY KEY (company_id, subscriber_key)
);
SELECT simgraph_distribute('subscriber_moves');

-- Companies that have such subscribers, or had them: the billing periods of the
-- groups whose usage has changed by then are not summed up yet.
CREATE TABLE company_moves (
  company_id bigint NOT NULL PRIMARY KEY,
  since      date NOT NULL,
  groups     bigint[] NOT NULL DEFAULT '{}'
);
SELECT simgraph_distribute('company_moves');

-- +goose Down
INSERT INTO usage_moves AS w (company_id, since)
SELECT company_id, since FROM company_moves
ON CONFLICT (company_id) DO UPDATE SET since = least(w.since, excluded.since);
DROP TABLE company_moves, subscriber_moves;
