-- +goose Up

-- An address is unique within a company, and user_lookup only numbers users: that an
-- address is taken in one company is nothing that another may learn of, or prevent.
ALTER TABLE user_lookup DROP CONSTRAINT user_lookup_pkey;
ALTER TABLE user_lookup ADD CONSTRAINT user_lookup_pkey PRIMARY KEY (email, company_id);

-- +goose Down
-- This fails while two companies have a user of the same address.
ALTER TABLE user_lookup DROP CONSTRAINT user_lookup_pkey;
ALTER TABLE user_lookup ADD CONSTRAINT user_lookup_pkey PRIMARY KEY (email);
