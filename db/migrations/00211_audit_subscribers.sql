-- +goose Up

-- The subscribers that an entry is about beside its subject, such as those that a tag was put
-- on, so that it is found by them; NULL for none. The hash of the entry leaves them out.
ALTER TABLE audit_log ADD COLUMN physical_ids text[] COLLATE "C";
CREATE INDEX audit_log_subscribers ON audit_log USING gin (physical_ids) WHERE physical_ids IS NOT NULL;

-- +goose Down
DROP INDEX audit_log_subscribers;
ALTER TABLE audit_log DROP COLUMN physical_ids;
