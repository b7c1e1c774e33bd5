-- +goose Up

-- Where the audit log of a company begins when its oldest entries were removed:
-- the last of them. The chain of hashes goes on from there.
CREATE TABLE audit_anchors (
  company_id bigint NOT NULL PRIMARY KEY,
  sequence   bigint NOT NULL,
  hash       bytea NOT NULL
);
SELECT simgraph_distribute('audit_anchors');

-- +goose Down
DROP TABLE audit_anchors;
