-- Other processes that compute on the run's GPU, and in how much of the second before kernels of theirs ran. NULL: no GPU, a driver that does not tell,
-- or a session from before these columns.
ALTER TABLE device_samples ADD COLUMN gpu_other_processes REAL;
ALTER TABLE device_samples ADD COLUMN gpu_others_busy_pct REAL;
