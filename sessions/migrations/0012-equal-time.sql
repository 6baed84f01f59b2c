-- What both sides of an experiment had learnt after equally long training, over several seeds.
ALTER TABLE judgements ADD COLUMN equal_seconds REAL NOT NULL DEFAULT 0;  -- 0: not asked
ALTER TABLE judgements ADD COLUMN equal_seeds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE judgements ADD COLUMN equal_loss_a REAL;
ALTER TABLE judgements ADD COLUMN equal_loss_b REAL;
ALTER TABLE judgements ADD COLUMN equal_difference REAL;  -- mean of b - a
ALTER TABLE judgements ADD COLUMN equal_low REAL;
ALTER TABLE judgements ADD COLUMN equal_high REAL;
ALTER TABLE judgements ADD COLUMN equal_steps_a REAL;
ALTER TABLE judgements ADD COLUMN equal_steps_b REAL;
