-- Which earlier session a ladder goes on with (0: none). Until now where it had begun was told as "session 3" in resumed_from, and nowhere else: it is
-- read here, once, and never again. What is no such sentence stays as it is.
ALTER TABLE sessions ADD COLUMN goes_on_with INTEGER NOT NULL DEFAULT 0;
-- What its tensors were expected to take at the most when it began, of the settings it began with; 0: nobody said, or nobody kept it.
ALTER TABLE sessions ADD COLUMN predicted_bytes INTEGER NOT NULL DEFAULT 0;

UPDATE sessions
SET goes_on_with = CAST(substr(resumed_from, 9) AS INTEGER), resumed_from = ''
WHERE kind = 'ladder' AND resumed_from GLOB 'session [1-9]*' AND resumed_from = 'session ' || CAST(substr(resumed_from, 9) AS INTEGER);
