-- How many workers trained a run together and how long they took to add up so many bytes before its first step (a JSON array of [bytes, seconds]), and whether
-- an experiment or a study also took one look when its budget was spent. 0 workers: not said, as in sessions from before these columns. Experiments
-- from before were judged by the look after every pair alone.
ALTER TABLE sessions ADD COLUMN workers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN link TEXT NOT NULL DEFAULT '[]';
ALTER TABLE experiments ADD COLUMN final_look INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN final_look INTEGER NOT NULL DEFAULT 0;
