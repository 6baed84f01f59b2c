-- Whether nobody knows when the steps of an import were: its log holds no times, and those of its events only keep them in order. Of imports from before
-- this column it is so where of several steps none is known to have taken any time.
ALTER TABLE sessions ADD COLUMN times_unknown INTEGER NOT NULL DEFAULT 0;

UPDATE sessions
SET times_unknown = 1
WHERE kind = 'imported' AND (SELECT count(*) > 1 AND max(duration_ns) = 0 FROM steps WHERE session = sessions.id);
