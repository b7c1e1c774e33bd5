-- +goose Up

-- How long data is kept that is deleted by its age, and was: the newest setting of
-- a name that took effect holds, and before the first all is kept for ever. Usage
-- records have usage_ledger.
CREATE TABLE retentions (
  name             text COLLATE "C" NOT NULL,
  -- Counts the settings of a name from 1.
  revision         integer NOT NULL,
  -- In days or months, by name; 0 stands for ever.
  kept             integer NOT NULL CHECK (kept >= 0),
  set_at           timestamptz NOT NULL,
  set_by           text NOT NULL,
  -- A shorter retention than before is announced first.
  announced_at     timestamptz,
  -- What usage_ledger.waited was then: no clock that is set changes the wait.
  announced_waited bigint,
  effective_at     timestamptz,
  -- When another was set before it took effect.
  withdrawn_at     timestamptz,
  PRIMARY KEY (name, revision),
  CHECK (effective_at IS NULL OR withdrawn_at IS NULL)
);
SELECT simgraph_reference('retentions');

-- +goose Down
DROP TABLE retentions;
