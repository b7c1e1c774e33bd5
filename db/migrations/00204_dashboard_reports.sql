-- +goose Up
-- A report sends a question or a dashboard.
ALTER TABLE reports ALTER COLUMN question_id DROP NOT NULL;
ALTER TABLE reports ADD COLUMN dashboard_id uuid;

-- Answers that wait have one section.
UPDATE report_issues SET content = (content::jsonb || jsonb_build_object(
  'QuestionID', content::jsonb -> 'Question' -> 'QuestionID', 'Name', content::jsonb -> 'Question' -> 'Name', 'Description', content::jsonb -> 'Question' -> 'Description',
  'Sections', jsonb_build_array(jsonb_build_object('Question', content::jsonb -> 'Question', 'Group', content::jsonb -> 'Group', 'Answer', content::jsonb -> 'Answer'))))::text;

-- +goose Down
DELETE FROM mails WHERE kind = 'report' AND state = 'queued';
DELETE FROM report_issues WHERE content LIKE '%"Sections"%';
DELETE FROM reports WHERE question_id IS NULL;
ALTER TABLE reports DROP COLUMN dashboard_id;
ALTER TABLE reports ALTER COLUMN question_id SET NOT NULL;
