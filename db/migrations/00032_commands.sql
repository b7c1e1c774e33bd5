-- +goose Up

-- The endpoint that gets the commands of its company is a webhook too, but no list of
-- webhooks has it.
ALTER TABLE webhooks ADD COLUMN is_provider boolean NOT NULL DEFAULT false;
CREATE UNIQUE INDEX webhooks_provider ON webhooks (company_id) WHERE is_provider;

-- What carriers are asked to do, written with the change of the subscriber. sequence
-- rises with every command of a subscriber. The oldest one of a subscriber that is
-- requested has the message of webhook_messages with its id; the next gets one when
-- that is delivered, given up or replaced. event is the body of the message.
CREATE TABLE commands (
  company_id     bigint NOT NULL,
  command_id     uuid NOT NULL,
  subscriber_key bigint NOT NULL,
  sequence       bigint NOT NULL,
  kind           text COLLATE "C" NOT NULL CHECK (kind IN ('bar', 'unbar', 'activate', 'deactivate', 'terminate')),
  state          text COLLATE "C" NOT NULL DEFAULT 'requested'
    CHECK (state IN ('requested', 'accepted', 'done', 'failed', 'superseded', 'cancelled')),
  reason         text NOT NULL DEFAULT '',
  operation_id   uuid,
  event          text NOT NULL,
  requested_at   timestamptz NOT NULL,
  changed_at     timestamptz NOT NULL,
  PRIMARY KEY (company_id, command_id)
);
SELECT simgraph_distribute('commands');
CREATE UNIQUE INDEX commands_of_subscriber ON commands (company_id, subscriber_key, sequence);
CREATE INDEX commands_newest ON commands (company_id, requested_at DESC, command_id DESC);
CREATE INDEX commands_in_state ON commands (company_id, state, requested_at DESC, command_id DESC);
CREATE INDEX commands_of_operation ON commands (company_id, operation_id) WHERE operation_id IS NOT NULL;
CREATE INDEX commands_changed ON commands (company_id, changed_at);

-- +goose Down
DROP TABLE commands;
DELETE FROM webhook_messages WHERE event_type = 'command.requested';
DELETE FROM webhooks WHERE is_provider;
DROP INDEX webhooks_provider;
ALTER TABLE webhooks DROP COLUMN is_provider;
