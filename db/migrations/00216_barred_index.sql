-- +goose Up

-- Those that are barred are few, and the overview counts them each minute.
CREATE INDEX subscribers_barred ON subscribers (company_id, physical_id) WHERE is_barred;

-- +goose Down
DROP INDEX subscribers_barred;
