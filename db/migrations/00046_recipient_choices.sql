-- +goose Up

-- The alerts and groups that a recipient chose; it is notified of all where it chose none.
ALTER TABLE alert_recipients
  ADD COLUMN alert_ids bigint[] NOT NULL DEFAULT '{}',
  ADD COLUMN group_ids bigint[] NOT NULL DEFAULT '{}';

-- Which entries of the notification the recipient chose; NULL for all.
ALTER TABLE alert_deliveries ADD COLUMN entries bigint[];

-- +goose Down
DELETE FROM alert_deliveries WHERE entries IS NOT NULL AND mail_id IS NULL;
ALTER TABLE alert_deliveries DROP COLUMN entries;
ALTER TABLE alert_recipients DROP COLUMN alert_ids, DROP COLUMN group_ids;
