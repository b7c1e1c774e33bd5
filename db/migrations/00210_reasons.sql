-- +goose Up

-- Why somebody changed something, in words; empty where no reason was given. The hash of an
-- entry of the audit log covers it: see domain.AuditEntry.
ALTER TABLE audit_log ADD COLUMN reason text NOT NULL DEFAULT '';
ALTER TABLE operations ADD COLUMN reason text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE audit_log DROP COLUMN reason;
ALTER TABLE operations DROP COLUMN reason;
