-- +goose Up

-- usage_magnitude tells bytes apart by doublings.
-- +goose StatementBegin
CREATE FUNCTION usage_magnitude(bytes bigint) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT floor(ln(greatest(bytes, 1)::double precision) / ln(2::double precision))::smallint
$$;
-- +goose StatementEnd

-- Who used the most in a period. An index on the bytes themselves would change
-- with every record; the magnitude changes with each doubling in a period, so
-- nearly all updates stay off the index (HOT).
ALTER TABLE subscriber_periods
  ADD COLUMN magnitude smallint GENERATED ALWAYS AS (usage_magnitude(mobile_originated + mobile_terminated)) STORED;
CREATE INDEX subscriber_periods_magnitude ON subscriber_periods (company_id, period_start, magnitude DESC);

-- +goose Down
ALTER TABLE subscriber_periods DROP COLUMN magnitude;
DROP FUNCTION usage_magnitude;
