-- +goose Up

-- How far the rebuild of a company has come that runs or was interrupted: the totals of
-- the days before reached agree with the ledger, of which so many were set right.
CREATE TABLE usage_rebuilds (
  company_id bigint NOT NULL PRIMARY KEY,
  reached    timestamptz NOT NULL,
  set_right  bigint NOT NULL
);
SELECT simgraph_distribute('usage_rebuilds');

-- +goose Down
DROP TABLE usage_rebuilds;
