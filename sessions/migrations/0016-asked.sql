-- What an experiment began from and was asked for beside times, so that the same can be asked again. Sessions from before have their checkpoint in
-- sessions.resumed_from.
ALTER TABLE experiments ADD COLUMN from_checkpoint TEXT NOT NULL DEFAULT '';
ALTER TABLE experiments ADD COLUMN from_weights TEXT NOT NULL DEFAULT '';
ALTER TABLE experiments ADD COLUMN captures INTEGER NOT NULL DEFAULT 1;  -- of some steps of both, behind the timing
ALTER TABLE experiments ADD COLUMN loss_seconds REAL NOT NULL DEFAULT 0;  -- of training, for losses at equal time; 0: not asked
ALTER TABLE experiments ADD COLUMN loss_seeds INTEGER NOT NULL DEFAULT 0;
