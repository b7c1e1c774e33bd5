-- +goose Up

-- What the usage ledger of all companies keeps; one row.
CREATE TABLE usage_ledger (
  only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- Usage before it may lack records: it is neither booked nor derived again.
  -- It moves forward when a month is detached. 1970 stands for all there was.
  first_month timestamptz NOT NULL DEFAULT '1970-01-01 00:00:00+00',
  -- In months; NULL until it is set.
  retention   integer CHECK (retention BETWEEN 3 AND 1200)
);
SELECT simgraph_reference('usage_ledger');

-- Months of the ledger that are announced to be detached, are detached, or were
-- dropped.
CREATE TABLE usage_ledger_months (
  month        timestamptz PRIMARY KEY,
  announced_at timestamptz NOT NULL,
  detached_at  timestamptz,
  due_at       timestamptz,
  dropped_at   timestamptz
);
SELECT simgraph_reference('usage_ledger_months');

-- A month that has totals, but no partition any more, was dropped: the ledger
-- begins after the last of those.
-- +goose StatementBegin
DO $$
DECLARE
  booked timestamptz;
  first_month timestamptz := '1970-01-01 00:00:00+00';
BEGIN
  FOR booked IN SELECT DISTINCT date_trunc('month', h.hour, 'UTC') FROM company_hours h ORDER BY 1 DESC LOOP
    IF to_regclass('usage_records_' || to_char(booked AT TIME ZONE 'UTC', 'YYYY_MM')) IS NULL THEN
      first_month := (booked AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
      EXIT;
    END IF;
  END LOOP;
  INSERT INTO usage_ledger (first_month) VALUES (first_month);
END $$;
-- +goose StatementEnd

-- +goose Down

-- The version before knows no detached months: they go back into the ledger.
-- +goose StatementBegin
DO $$
DECLARE
  m record;
  name text;
BEGIN
  FOR m IN SELECT month, dropped_at FROM usage_ledger_months WHERE detached_at IS NOT NULL LOOP
    name := 'usage_records_' || to_char(m.month AT TIME ZONE 'UTC', 'YYYY_MM');
    IF to_regclass(name) IS NULL THEN
      CONTINUE;
    END IF;
    IF m.dropped_at IS NOT NULL THEN
      EXECUTE format('DROP TABLE %I', name);
    ELSE
      EXECUTE format('ALTER TABLE usage_records ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, m.month,
        (m.month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC');
    END IF;
  END LOOP;
END $$;
-- +goose StatementEnd
DROP TABLE usage_ledger_months, usage_ledger;
