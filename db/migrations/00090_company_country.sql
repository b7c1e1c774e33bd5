-- +goose Up

-- The country whose national numbers are read as MSISDNs, by ISO 3166-1; '' for none.
ALTER TABLE companies ADD COLUMN country_code text COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE companies DROP COLUMN country_code;
