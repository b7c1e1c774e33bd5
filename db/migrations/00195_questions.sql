-- +goose Up

-- Questions about usage that people keep. One that is not shared is its owner's alone.
CREATE TABLE questions (
  company_id   bigint NOT NULL,
  question_id  uuid NOT NULL,
  name         text COLLATE "C" NOT NULL,
  description  text,
  folder       text COLLATE "C",
  -- The user, and the e-mail address at the time; 0 for a user that is not known here.
  owner_id     bigint NOT NULL,
  owner        text COLLATE "C" NOT NULL,
  is_shared    boolean NOT NULL,
  version      integer NOT NULL,
  measure      text COLLATE "C" NOT NULL,
  step         text COLLATE "C" NOT NULL,
  split        text COLLATE "C",
  chart        text COLLATE "C" NOT NULL,
  span         text COLLATE "C" NOT NULL,
  -- The days of the span DAYS, of the zone of the company, as 2026-11-01.
  first_day    text COLLATE "C",
  last_day     text COLLATE "C",
  compare      text COLLATE "C",
  -- Whose usage it is about; all are NULL for the company.
  group_id     bigint,
  tag_name     text COLLATE "C",
  physical_id  text COLLATE "C",
  created_at   timestamptz NOT NULL,
  changed_at   timestamptz NOT NULL,
  PRIMARY KEY (company_id, question_id)
);
SELECT simgraph_distribute('questions');
CREATE INDEX questions_owner ON questions (company_id, owner_id);

-- +goose Down
DROP TABLE questions;
