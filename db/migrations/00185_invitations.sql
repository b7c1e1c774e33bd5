-- +goose Up

-- When a user last began a session of the page; null for never.
ALTER TABLE users ADD COLUMN signed_in_at timestamptz;
-- Where a session was begun from.
ALTER TABLE web_sessions ADD COLUMN address text NOT NULL DEFAULT '';
-- Links of an invitation end together, when one of them is used.
ALTER TABLE login_links ADD COLUMN invited boolean NOT NULL DEFAULT false;

-- Users who were asked to sign in and have not yet. The mail names its invitation, and
-- gets a link of its own when it is sent: no code is stored.
CREATE TABLE user_invitations (
  company_id bigint NOT NULL,
  user_id    bigint NOT NULL,
  mail_id    uuid,
  invited_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, user_id),
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, user_id) ON DELETE CASCADE
);
SELECT simgraph_distribute('user_invitations');

ALTER TABLE mails DROP CONSTRAINT mails_kind_check;
ALTER TABLE mails ADD CONSTRAINT mails_kind_check CHECK (kind IN ('alerts', 'test', 'webhook', 'invitation')) NOT VALID;

-- +goose Down
DELETE FROM mails WHERE kind = 'invitation';
ALTER TABLE mails DROP CONSTRAINT mails_kind_check;
ALTER TABLE mails ADD CONSTRAINT mails_kind_check CHECK (kind IN ('alerts', 'test', 'webhook')) NOT VALID;
DROP TABLE user_invitations;
ALTER TABLE login_links DROP COLUMN invited;
ALTER TABLE web_sessions DROP COLUMN address;
ALTER TABLE users DROP COLUMN signed_in_at;
