-- +goose Up

-- Most tags are of a few subscribers. The planner begins with these only where it knows that they
-- are few: without, it looked for them in the whole fleet.
CREATE STATISTICS subscriber_tags_names (mcv) ON company_id, tag_name FROM subscriber_tags;
ALTER STATISTICS subscriber_tags_names SET STATISTICS 1000;

-- +goose Down
DROP STATISTICS subscriber_tags_names;
