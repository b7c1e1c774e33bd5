-- +goose Up

-- When a subscriber was seen last, without a look at each period. No column of it changes
-- when usage is booked, so that rows are still updated in place.
CREATE INDEX subscriber_periods_of_subscriber ON subscriber_periods (company_id, subscriber_key, period_start DESC);

-- +goose Down
DROP INDEX subscriber_periods_of_subscriber;
