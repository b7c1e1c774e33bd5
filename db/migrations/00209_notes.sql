-- +goose Up

-- Notes that people pin to a moment: about a group, about a subscriber, or about the company.
CREATE TABLE notes (
  company_id   bigint NOT NULL,
  note_id      uuid NOT NULL,
  text         text NOT NULL,
  starts_at    timestamptz NOT NULL,
  -- NULL for a moment alone.
  ends_at      timestamptz CHECK (ends_at > starts_at),
  group_id     bigint,
  physical_id  text COLLATE "C",
  -- The user, and the e-mail address at the time; 0 for a user that is not known here.
  owner_id     bigint NOT NULL,
  owner        text COLLATE "C" NOT NULL,
  created_at   timestamptz NOT NULL,
  changed_at   timestamptz NOT NULL,
  PRIMARY KEY (company_id, note_id)
);
SELECT simgraph_distribute('notes');
CREATE INDEX notes_starts ON notes (company_id, starts_at, note_id);

-- +goose Down
DROP TABLE notes;
