-- How long a checkpoint of these settings takes to be written: a forecast counts those that are planned, as it counts validations.
ALTER TABLE timed_steps ADD COLUMN checkpoint_ms REAL;
