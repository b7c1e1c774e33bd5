-- +goose Up

-- Network elements state whole seconds, in which more than one value of a trait may come.
ALTER TABLE condition_log DROP CONSTRAINT condition_log_once;
ALTER TABLE condition_log ADD CONSTRAINT condition_log_once
  UNIQUE (company_id, alert_id, revision, subject_id, source, nas, trait, since, state, after);

-- +goose Down
ALTER TABLE condition_log DROP CONSTRAINT condition_log_once;
DELETE FROM condition_log WHERE EXISTS (
  SELECT FROM condition_log o
  WHERE o.company_id = condition_log.company_id AND o.alert_id = condition_log.alert_id AND o.revision = condition_log.revision
    AND o.subject_id = condition_log.subject_id AND o.source = condition_log.source AND o.nas = condition_log.nas AND o.trait = condition_log.trait
    AND o.since = condition_log.since AND o.state = condition_log.state AND o.entry_id < condition_log.entry_id);
ALTER TABLE condition_log ADD CONSTRAINT condition_log_once UNIQUE (company_id, alert_id, revision, subject_id, source, nas, trait, since, state);
