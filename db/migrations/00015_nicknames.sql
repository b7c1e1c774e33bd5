-- +goose Up

-- Nicknames are kept in NFC, as tags are, and names hold no characters that are
-- not seen: bidirectional controls and those without width.
UPDATE subscribers
SET nickname = normalize(translate(nickname, U&'\061C\200B\200C\200D\200E\200F\202A\202B\202C\202D\202E\2060\2066\2067\2068\2069\FEFF', ''), NFC)
WHERE nickname IS NOT NFC NORMALIZED
   OR nickname <> translate(nickname, U&'\061C\200B\200C\200D\200E\200F\202A\202B\202C\202D\202E\2060\2066\2067\2068\2069\FEFF', '');

UPDATE groups
SET name = translate(name, U&'\061C\200B\200C\200D\200E\200F\202A\202B\202C\202D\202E\2060\2066\2067\2068\2069\FEFF', '')
WHERE name <> translate(name, U&'\061C\200B\200C\200D\200E\200F\202A\202B\202C\202D\202E\2060\2066\2067\2068\2069\FEFF', '')
  AND btrim(translate(name, U&'\061C\200B\200C\200D\200E\200F\202A\202B\202C\202D\202E\2060\2066\2067\2068\2069\FEFF', '')) <> '';

-- +goose Down

-- The names as they were before are not kept: versions before this one take the
-- new ones.
SELECT 1;
