-- +goose Up
-- A report sends a question or a dashboard.
ALTER TABLE reports ALTER COLUMN question_id DROP NOT NULL;
ALTER TABLE reports ADD COLUMN dashboard_id uuid;

-- Answers that wait have one section. jsonb_build_object would say it shorter, but is stable,
-- which Citus refuses of a column.
UPDATE report_issues SET content = (content::jsonb
  || jsonb_set_lax('{}', '{QuestionID}', content::jsonb #> '{Question,QuestionID}')
  || jsonb_set_lax('{}', '{Name}', content::jsonb #> '{Question,Name}')
  || jsonb_set_lax('{}', '{Description}', content::jsonb #> '{Question,Description}')
  || jsonb_set_lax('{}', '{Sections}', jsonb_set_lax(jsonb_set_lax(jsonb_set_lax('[{}]',
       '{0,Question}', content::jsonb -> 'Question'), '{0,Group}', content::jsonb -> 'Group'), '{0,Answer}', content::jsonb -> 'Answer')))::text;

-- +goose Down
DELETE FROM mails WHERE kind = 'report' AND state = 'queued';
DELETE FROM report_issues WHERE content LIKE '%"Sections"%';
DELETE FROM reports WHERE question_id IS NULL;
ALTER TABLE reports DROP COLUMN dashboard_id;
ALTER TABLE reports ALTER COLUMN question_id SET NOT NULL;
