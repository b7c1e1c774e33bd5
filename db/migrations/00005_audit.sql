-- +goose Up

-- Where the audit log of a company ends: whoever writes an entry holds this row
-- until it commits, so the entries of a company have an order without gaps.
CREATE TABLE audit_heads (
  company_id bigint NOT NULL PRIMARY KEY,
  sequence   bigint NOT NULL,
  hash       bytea NOT NULL
) WITH (fillfactor = 50);
SELECT simgraph_distribute('audit_heads');

-- Who did what. hash is the SHA-256 over the hash before it, the sequence and
-- everything else in the row: see domain.AuditEntry.
CREATE TABLE audit_log (
  company_id    bigint NOT NULL,
  sequence      bigint NOT NULL,
  at            timestamptz NOT NULL,
  action        text COLLATE "C" NOT NULL,
  subject_type  text COLLATE "C" NOT NULL,
  subject_id    text COLLATE "C" NOT NULL,
  changes       json NOT NULL,
  user_id       bigint NOT NULL,
  actor         text COLLATE "C" NOT NULL,
  access_key_id text COLLATE "C" NOT NULL,
  door          text COLLATE "C" NOT NULL,
  address       text COLLATE "C" NOT NULL,
  request_id    text COLLATE "C" NOT NULL,
  hash          bytea NOT NULL,
  PRIMARY KEY (company_id, sequence)
);
SELECT simgraph_distribute('audit_log');
CREATE INDEX audit_log_subject ON audit_log (company_id, subject_type, subject_id, sequence);

-- Entries are added and read, nothing else, also by the owner of the table.
REVOKE UPDATE, DELETE, TRUNCATE ON audit_log FROM CURRENT_USER;

-- +goose Down
DROP TABLE audit_log, audit_heads;
