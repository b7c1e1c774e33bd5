-- +goose Up

-- A lookup table: an e-mail names one user over all companies. Lower case.
CREATE TABLE user_lookup (
  email      text COLLATE "C" PRIMARY KEY,
  company_id bigint NOT NULL,
  user_id    bigint GENERATED ALWAYS AS IDENTITY UNIQUE
);
SELECT simgraph_reference('user_lookup');

CREATE TABLE users (
  company_id  bigint NOT NULL,
  user_id     bigint NOT NULL,
  email       text COLLATE "C" NOT NULL,
  permissions text[] NOT NULL,
  disabled    boolean NOT NULL DEFAULT false,
  PRIMARY KEY (company_id, user_id),
  UNIQUE (company_id, email)
);
SELECT simgraph_distribute('users');

CREATE TABLE user_groups (
  company_id bigint NOT NULL,
  user_id    bigint NOT NULL,
  group_id   bigint NOT NULL,
  PRIMARY KEY (company_id, user_id, group_id),
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, user_id),
  FOREIGN KEY (company_id, group_id) REFERENCES groups (company_id, group_id)
);
SELECT simgraph_distribute('user_groups');
CREATE INDEX user_groups_group ON user_groups (company_id, group_id);

-- Key ids and tokens begin with the number of their company, so that
-- authentication reads one tenant. Both are stored as SHA-256 of 256 random
-- bits, which needs no slow hash.
CREATE TABLE access_keys (
  company_id    bigint NOT NULL,
  access_key_id text COLLATE "C" NOT NULL,
  user_id       bigint NOT NULL,
  secret_hash   bytea NOT NULL,
  scopes        text[] NOT NULL,
  created_at    timestamptz NOT NULL,
  expires_at    timestamptz NOT NULL,
  revoked_at    timestamptz,
  last_used_at  timestamptz,
  PRIMARY KEY (company_id, access_key_id),
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, user_id)
);
SELECT simgraph_distribute('access_keys');

CREATE TABLE access_tokens (
  company_id    bigint NOT NULL,
  token_hash    bytea NOT NULL,
  user_id       bigint NOT NULL,
  access_key_id text COLLATE "C",
  scopes        text[] NOT NULL,
  expires_at    timestamptz NOT NULL,
  revoked_at    timestamptz,
  PRIMARY KEY (company_id, token_hash),
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, user_id),
  FOREIGN KEY (company_id, access_key_id) REFERENCES access_keys (company_id, access_key_id)
);
SELECT simgraph_distribute('access_tokens');
CREATE INDEX access_tokens_expiry ON access_tokens (company_id, expires_at);

-- +goose Down
DROP TABLE access_tokens, access_keys, user_groups, users, user_lookup;
