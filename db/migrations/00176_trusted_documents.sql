-- +goose Up

-- Operations that clients send by the SHA-256 of their text. Those of company 0 are for all
-- companies.
CREATE TABLE trusted_documents (
  company_id  bigint NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  name        text COLLATE "C" NOT NULL,
  kind        text COLLATE "C" NOT NULL CHECK (kind IN ('QUERY', 'MUTATION', 'SUBSCRIPTION')),
  body        text NOT NULL,
  cost        bigint NOT NULL,
  created_by  text NOT NULL,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (company_id, document_id)
);
SELECT simgraph_distribute('trusted_documents');

-- Whether tokens of the key run trusted documents alone.
ALTER TABLE access_keys ADD COLUMN is_documents_only boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE access_keys DROP COLUMN is_documents_only;
DROP TABLE trusted_documents;
