-- +goose Up

-- Alerts on sources that are silent: bound is in minutes, also in the log, which had hours.
ALTER TABLE condition_alerts DROP CONSTRAINT condition_alerts_kind_check;
ALTER TABLE condition_alerts ADD CONSTRAINT condition_alerts_kind_check CHECK (kind IN ('silent', 'storm', 'forecast', 'change', 'source'));

-- +goose Down
DELETE FROM condition_alerts WHERE kind = 'source';
ALTER TABLE condition_alerts DROP CONSTRAINT condition_alerts_kind_check;
ALTER TABLE condition_alerts ADD CONSTRAINT condition_alerts_kind_check CHECK (kind IN ('silent', 'storm', 'forecast', 'change'));
