-- +goose Up

-- The cell, or the area of cells, that serves the device: see domain.RadioCell. '' for what is
-- not reported.
ALTER TABLE sessions ADD COLUMN cell text COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE sessions DROP COLUMN cell;
