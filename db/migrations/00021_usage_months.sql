-- +goose Up

-- Usage of a whole company by IP address and calendar month (UTC): what
-- subscriber_days and ip_days have of months that are over, added up. A month counts
-- only while usage_months has it as ready.
CREATE TABLE ip_months (
  company_id        bigint NOT NULL,
  month             date NOT NULL,
  ip_address        inet NOT NULL,
  mobile_originated bigint NOT NULL,
  mobile_terminated bigint NOT NULL,
  last_seen         timestamptz NOT NULL,
  PRIMARY KEY (company_id, month, ip_address)
);
SELECT simgraph_distribute('ip_months');

-- Months that are being added up, and those that are. A booking into a month removes
-- it here.
CREATE TABLE usage_months (
  company_id bigint NOT NULL,
  month      date NOT NULL,
  -- Who adds it up: an earlier one must not finish it.
  run        uuid NOT NULL,
  is_ready   boolean NOT NULL,
  PRIMARY KEY (company_id, month)
);
SELECT simgraph_distribute('usage_months');

-- Changes of the network state touch no index: with room in the page they touch none
-- of the thirteen.
ALTER TABLE subscribers SET (fillfactor = 85);

-- +goose Down
ALTER TABLE subscribers RESET (fillfactor);
DROP TABLE usage_months, ip_months;
