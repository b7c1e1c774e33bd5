-- +goose Up

-- Whether an attempt was made to send the command before its message was made anew: it
-- may have arrived.
ALTER TABLE commands ADD COLUMN was_sent boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE commands DROP COLUMN was_sent;
