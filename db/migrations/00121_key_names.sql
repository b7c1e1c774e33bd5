-- +goose Up

-- What a key is for, in words, and which key it took over from.
ALTER TABLE access_keys
  ADD COLUMN name text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN purpose text NOT NULL DEFAULT '',
  ADD COLUMN rotated_from text COLLATE "C";

-- +goose Down
ALTER TABLE access_keys DROP COLUMN name, DROP COLUMN purpose, DROP COLUMN rotated_from;
