-- +goose Up

-- For the list of what was sent, which begins with the newest.
CREATE INDEX mails_newest ON mails (company_id, created_at DESC, mail_id DESC);

-- +goose Down
DROP INDEX mails_newest;
