-- +goose Up

-- Sets of coordinates of the schema that operations use together, by a hash of them. They
-- go when no operation has used them for as long as counts are kept.
CREATE TABLE field_sets (
  company_id  bigint NOT NULL,
  set_id      text COLLATE "C" NOT NULL,
  coordinates text[] COLLATE "C" NOT NULL,
  last_day    date NOT NULL,
  PRIMARY KEY (company_id, set_id)
);
SELECT simgraph_distribute('field_sets');

-- How many operations of a client used a set in a day (UTC).
CREATE TABLE field_uses (
  company_id bigint NOT NULL,
  day        date NOT NULL,
  client     text COLLATE "C" NOT NULL,
  version    text COLLATE "C" NOT NULL,
  operation  text COLLATE "C" NOT NULL,
  set_id     text COLLATE "C" NOT NULL,
  uses       bigint NOT NULL,
  PRIMARY KEY (company_id, day, client, version, operation, set_id),
  FOREIGN KEY (company_id, set_id) REFERENCES field_sets (company_id, set_id)
);
SELECT simgraph_distribute('field_uses');

-- +goose Down
DROP TABLE field_uses;
DROP TABLE field_sets;
