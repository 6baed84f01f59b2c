-- How long a step waited for the other workers of its run; 0 with one worker, and in steps that were stored before this was measured.
ALTER TABLE steps ADD COLUMN waiting_ns INTEGER NOT NULL DEFAULT 0;
