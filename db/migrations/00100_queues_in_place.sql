-- +goose Up

-- Claiming a message moves due_at and claimed_until, which no index has, so that the row
-- is updated in place. retry_at is due_at of a message that is sent again, and stays while
-- that is claimed. claimed has the messages of an endpoint that were claimed last.
ALTER TABLE webhook_messages ADD COLUMN retry_at timestamptz;
UPDATE webhook_messages SET retry_at = due_at WHERE state = 'queued' AND attempts > 0;
ALTER TABLE webhooks ADD COLUMN claimed uuid[] NOT NULL DEFAULT '{}';
CREATE INDEX webhook_messages_new ON webhook_messages (company_id, webhook_id, message_id) WHERE state = 'queued' AND retry_at IS NULL;
CREATE INDEX webhook_messages_again ON webhook_messages (company_id, webhook_id, retry_at) WHERE state = 'queued' AND retry_at IS NOT NULL;
DROP INDEX webhook_messages_due;
DROP INDEX webhook_messages_claimed;
-- Recipients get few mails an hour: those that wait are read.
CREATE INDEX mails_queued ON mails (company_id, mail_id) WHERE state = 'queued';
DROP INDEX mails_due;

-- Old rows are vacuumed while they are few.
ALTER TABLE webhook_messages SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);
ALTER TABLE webhooks SET (fillfactor = 50);
ALTER TABLE commands SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);
ALTER TABLE mails SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);

-- +goose Down
ALTER TABLE mails RESET (fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_cost_delay);
ALTER TABLE commands RESET (fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_cost_delay);
ALTER TABLE webhooks RESET (fillfactor);
ALTER TABLE webhook_messages RESET (fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_cost_delay);
CREATE INDEX mails_due ON mails (company_id, due_at) WHERE state = 'queued';
DROP INDEX mails_queued;
CREATE INDEX webhook_messages_due ON webhook_messages (company_id, webhook_id, due_at) WHERE state = 'queued';
CREATE INDEX webhook_messages_claimed ON webhook_messages (company_id, webhook_id, claimed_until) WHERE claimed_until IS NOT NULL;
DROP INDEX webhook_messages_again;
DROP INDEX webhook_messages_new;
ALTER TABLE webhooks DROP COLUMN claimed;
ALTER TABLE webhook_messages DROP COLUMN retry_at;
