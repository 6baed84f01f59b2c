-- What an event's sentence is about, as data: the error's code and its subject; '' where there is none.
ALTER TABLE states ADD COLUMN code TEXT NOT NULL DEFAULT '';
ALTER TABLE states ADD COLUMN subject_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE states ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE switches_refused ADD COLUMN code TEXT NOT NULL DEFAULT '';
ALTER TABLE switches_refused ADD COLUMN subject_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE switches_refused ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE log_lines ADD COLUMN code TEXT NOT NULL DEFAULT '';
ALTER TABLE log_lines ADD COLUMN subject_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE log_lines ADD COLUMN subject TEXT NOT NULL DEFAULT '';
-- What a session is a record of: a run, an experiment, an imported trace. Where there is no configuration or no machine, the JSON is null.
ALTER TABLE sessions ADD COLUMN kind TEXT NOT NULL DEFAULT 'run';
