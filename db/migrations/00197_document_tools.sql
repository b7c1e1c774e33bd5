-- +goose Up

-- Trusted documents of a company that are tools for agents; '' for those that are none.
ALTER TABLE trusted_documents
  ADD COLUMN tool_name        text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN tool_description text NOT NULL DEFAULT '';
CREATE INDEX trusted_documents_tool ON trusted_documents (company_id, tool_name) WHERE tool_name <> '';

-- +goose Down
DROP INDEX trusted_documents_tool;
ALTER TABLE trusted_documents DROP COLUMN tool_name, DROP COLUMN tool_description;
