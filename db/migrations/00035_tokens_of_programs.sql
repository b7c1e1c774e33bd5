-- +goose Up

-- Whether a program got the token by itself: by an access key, which those of before
-- name, or by an assertion of its issuer.
ALTER TABLE access_tokens ADD COLUMN of_program boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE access_tokens DROP COLUMN of_program;
