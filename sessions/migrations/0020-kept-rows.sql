-- Which earlier session of the same ladder measured a row (0: its own did) and by which versions, where these were others; whether it was left out for
-- want of time; and whether the winner of a search computes the same as the settings that were there ('': nobody asked). Until now the row's sentence
-- alone said so: it is read here, once, and never again. What is no such sentence stays as it is.
ALTER TABLE study_rows ADD COLUMN kept_session INTEGER NOT NULL DEFAULT 0;
ALTER TABLE study_rows ADD COLUMN kept_versions TEXT NOT NULL DEFAULT '';
ALTER TABLE study_rows ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE study_rows ADD COLUMN arithmetic TEXT NOT NULL DEFAULT '';

UPDATE study_rows SET waits = 1 WHERE state = 'skipped' AND why GLOB 'Not measured: *A larger budget measures it.';

UPDATE study_rows SET arithmetic = 'same' WHERE why GLOB '*It computes the same as the present settings, up to rounding.';
UPDATE study_rows SET arithmetic = 'other' WHERE why GLOB '*Other arithmetic than the present settings: the loss may move.';

-- "Measured in session 3 by another version (Stepscope 0.9). Too few pairs.": 20 characters stand before the number, what is behind it remains for the
-- next two steps, and only the row's own words after them.
UPDATE study_rows
SET kept_session = CAST(substr(why, 21) AS INTEGER), why = substr(why, 21 + length(CAST(substr(why, 21) AS INTEGER)))
WHERE why GLOB 'Measured in session [1-9]*'
  AND (substr(why, 21 + length(CAST(substr(why, 21) AS INTEGER))) GLOB '.*'
    OR substr(why, 21 + length(CAST(substr(why, 21) AS INTEGER))) GLOB ' by another version (*).*');
UPDATE study_rows
SET kept_versions = substr(why, 22, instr(why, ').') - 22), why = substr(why, instr(why, ').') + 1)
WHERE kept_session > 0 AND why GLOB ' by another version (*';
UPDATE study_rows SET why = substr(why, CASE WHEN why GLOB '. *' THEN 3 ELSE 2 END) WHERE kept_session > 0;
