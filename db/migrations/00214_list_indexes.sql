-- +goose Up

-- Entries of the log by the subscriber that they are about, and by their usage, in both
-- directions. The log gets a row when an alert fires, so that bookings do not pay for them.
CREATE INDEX alert_log_subscriber ON alert_log (company_id, subscriber_key) WHERE subscriber_key IS NOT NULL;
CREATE INDEX alert_log_usage ON alert_log (company_id, usage DESC NULLS LAST);

-- Sessions by the device. Reports of a session do not change it, so that they still update its
-- row in place.
CREATE INDEX sessions_imei ON sessions (company_id, (nullif(imei, '')));

-- +goose Down
DROP INDEX sessions_imei;
DROP INDEX alert_log_usage;
DROP INDEX alert_log_subscriber;
