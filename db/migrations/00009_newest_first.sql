-- +goose Up

-- Lists that begin with the newest, whose ties stand in rising order of
-- physicalId: where a whole fleet was activated on one day, all of that day
-- would be sorted for every page.
CREATE INDEX subscribers_newest_connection ON subscribers (company_id, connection_date DESC, physical_id);
CREATE INDEX subscribers_latest_expiry ON subscribers (company_id, expiry_date DESC, physical_id);
CREATE INDEX subscribers_latest_termination ON subscribers (company_id, terminate_date DESC NULLS LAST, physical_id);

-- +goose Down
DROP INDEX subscribers_newest_connection;
DROP INDEX subscribers_latest_expiry;
DROP INDEX subscribers_latest_termination;
