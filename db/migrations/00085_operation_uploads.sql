-- +goose Up

-- Uploads whose rows are still written to operation_rows, which belong to no operation yet.
-- One that has written nothing for ten minutes is over, and is removed with its rows.
CREATE TABLE operation_uploads (
  company_id   bigint NOT NULL,
  operation_id uuid NOT NULL,
  written_at   timestamptz NOT NULL,
  PRIMARY KEY (company_id, operation_id)
);
SELECT simgraph_distribute('operation_uploads');

-- +goose Down
DROP TABLE operation_uploads;
