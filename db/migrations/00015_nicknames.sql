-- +goose Up

-- Nicknames are kept in NFC, as tags are. Characters that are not seen, which names
-- must not have any more, stay until somebody edits the name.
UPDATE subscribers SET nickname = normalize(nickname, NFC) WHERE nickname IS NOT NFC NORMALIZED;

-- +goose Down

-- The names as they were before are not kept: versions before this one take the
-- new ones.
SELECT 1;
