-- +goose Up

-- The fixed IP address of a subscriber, as domain.NewFixedIPAddress writes it: RADIUS finds
-- it by that where a request names it by nothing else.
ALTER TABLE subscribers ADD COLUMN fixed_ip_address text COLLATE "C";
CREATE UNIQUE INDEX subscribers_fixed_ip_address ON subscribers (company_id, fixed_ip_address) WHERE fixed_ip_address IS NOT NULL;

-- +goose Down
DROP INDEX subscribers_fixed_ip_address;
ALTER TABLE subscribers DROP COLUMN fixed_ip_address;
