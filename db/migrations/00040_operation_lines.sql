-- +goose Up

-- Where a row begins in the CSV file that it came from; NULL where it came from none.
ALTER TABLE operation_rows ADD COLUMN line integer;

-- +goose Down
ALTER TABLE operation_rows DROP COLUMN line;
