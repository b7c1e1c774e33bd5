-- +goose Up

-- Questions that are answered on a schedule and sent by mail.
CREATE TABLE reports (
  company_id    bigint NOT NULL,
  report_id     uuid NOT NULL,
  question_id   uuid NOT NULL,
  frequency     text COLLATE "C" NOT NULL,
  hour          integer NOT NULL,
  recipients    text[] NOT NULL,
  -- Those that got a mail and wanted no more. They stay when they are no recipients.
  unsubscribed  text[] NOT NULL DEFAULT '{}',
  is_paused     boolean NOT NULL,
  -- The user, and the e-mail address at the time; 0 for a user that is not known here.
  owner_id      bigint NOT NULL,
  owner         text COLLATE "C" NOT NULL,
  -- NULL while it is paused or has ended.
  next_due_at   timestamptz,
  -- The number of the last claim, and until when no other worker claims it.
  claim         bigint NOT NULL DEFAULT 0,
  claimed_until timestamptz,
  failures      integer NOT NULL DEFAULT 0,
  last_failure  text NOT NULL DEFAULT '',
  last_sent_at  timestamptz,
  ended_at      timestamptz,
  ended_reason  text COLLATE "C",
  created_at    timestamptz NOT NULL,
  changed_at    timestamptz NOT NULL,
  PRIMARY KEY (company_id, report_id)
);
SELECT simgraph_distribute('reports');
CREATE INDEX reports_owner ON reports (company_id, owner_id);
CREATE INDEX reports_due ON reports (company_id, next_due_at) WHERE next_due_at IS NOT NULL;

-- The answers of reports, which their mails are written from. They go with the mails.
CREATE TABLE report_issues (
  company_id bigint NOT NULL,
  report_id  uuid NOT NULL,
  due_at     timestamptz NOT NULL,
  content    text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, report_id, due_at)
);
SELECT simgraph_distribute('report_issues');

ALTER TABLE mails ADD COLUMN report_id uuid;
ALTER TABLE mails ADD COLUMN report_due_at timestamptz;
CREATE INDEX mails_report ON mails (company_id, report_id, report_due_at) WHERE report_id IS NOT NULL;
ALTER TABLE mails DROP CONSTRAINT mails_kind_check;
ALTER TABLE mails ADD CONSTRAINT mails_kind_check CHECK (kind IN ('alerts', 'test', 'webhook', 'invitation', 'report')) NOT VALID;

-- +goose Down
DELETE FROM mails WHERE kind = 'report';
ALTER TABLE mails DROP CONSTRAINT mails_kind_check;
ALTER TABLE mails ADD CONSTRAINT mails_kind_check CHECK (kind IN ('alerts', 'test', 'webhook', 'invitation')) NOT VALID;
DROP INDEX mails_report;
ALTER TABLE mails DROP COLUMN report_id;
ALTER TABLE mails DROP COLUMN report_due_at;
DROP TABLE report_issues;
DROP TABLE reports;
