-- In which share of the periods of a control group's quota the run's threads were stopped. NULL: no quota, or a session from before this column.
ALTER TABLE device_samples ADD COLUMN throttled_pct REAL;
