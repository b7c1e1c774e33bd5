-- +goose Up

-- Sessions of browsers. The cookie holds the secret, the table its SHA-256. A
-- session ends with the access key or token that it was begun with. scopes are
-- the most that it may do; without them that is what its user may do.
CREATE TABLE web_sessions (
  company_id    bigint NOT NULL,
  session_hash  bytea NOT NULL,
  user_id       bigint NOT NULL,
  way           text COLLATE "C" NOT NULL,
  access_key_id text COLLATE "C",
  token_hash    bytea,
  scopes        text[],
  created_at    timestamptz NOT NULL,
  used_at       timestamptz NOT NULL,
  -- Without use the session ends at expires_at, which use puts off up to ends_at.
  expires_at    timestamptz NOT NULL,
  ends_at       timestamptz NOT NULL,
  ended_at      timestamptz,
  -- Of sessions by OpenID Connect: whose, and when the provider is asked again.
  issuer        text COLLATE "C",
  subject       text COLLATE "C",
  refresh_token bytea,
  check_at      timestamptz,
  PRIMARY KEY (company_id, session_hash),
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, user_id) ON DELETE CASCADE
);
SELECT simgraph_distribute('web_sessions');
CREATE INDEX web_sessions_user ON web_sessions (company_id, user_id, used_at);
CREATE INDEX web_sessions_check ON web_sessions (company_id, check_at) WHERE check_at IS NOT NULL AND ended_at IS NULL;

-- Links that sign in once.
CREATE TABLE login_links (
  company_id bigint NOT NULL,
  link_hash  bytea NOT NULL,
  user_id    bigint NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, link_hash),
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, user_id) ON DELETE CASCADE
);
SELECT simgraph_distribute('login_links');
CREATE INDEX login_links_user ON login_links (company_id, user_id);

-- Who a user is at an identity provider. An e-mail address is no identity.
CREATE TABLE user_identities (
  company_id bigint NOT NULL,
  issuer     text COLLATE "C" NOT NULL,
  subject    text COLLATE "C" NOT NULL,
  user_id    bigint NOT NULL,
  created_at timestamptz NOT NULL,
  login_at   timestamptz NOT NULL,
  PRIMARY KEY (company_id, issuer, subject),
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, user_id) ON DELETE CASCADE
);
SELECT simgraph_distribute('user_identities');
CREATE INDEX user_identities_user ON user_identities (company_id, user_id);

-- States of logins and ids of assertions, which are good for one use.
CREATE TABLE spent_tokens (
  company_id bigint NOT NULL,
  digest     bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, digest)
);
SELECT simgraph_distribute('spent_tokens');
CREATE INDEX spent_tokens_expiry ON spent_tokens (company_id, expires_at);

-- +goose Down
DROP TABLE spent_tokens, user_identities, login_links, web_sessions;
