-- +goose Up

-- Since when a mail server refuses the mail without saying whether the address or
-- the sender is the reason; NULL while it does not.
ALTER TABLE mails ADD COLUMN refused_since timestamptz;

-- +goose Down
ALTER TABLE mails DROP COLUMN refused_since;
