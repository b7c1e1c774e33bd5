-- +goose Up

-- Links that their user asked for by mail.
ALTER TABLE login_links ADD COLUMN requested boolean NOT NULL DEFAULT false;

ALTER TABLE mails DROP CONSTRAINT mails_kind_check;
ALTER TABLE mails ADD CONSTRAINT mails_kind_check CHECK (kind IN ('alerts', 'test', 'webhook', 'invitation', 'report', 'link')) NOT VALID;

-- +goose Down
DELETE FROM mails WHERE kind = 'link';
ALTER TABLE mails DROP CONSTRAINT mails_kind_check;
ALTER TABLE mails ADD CONSTRAINT mails_kind_check CHECK (kind IN ('alerts', 'test', 'webhook', 'invitation', 'report')) NOT VALID;
DELETE FROM login_links WHERE requested;
ALTER TABLE login_links DROP COLUMN requested;
