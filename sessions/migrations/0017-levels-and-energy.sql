-- What is recorded of every step took the trainer, of steps that were not captured, measured when a capture ended: the record of a step, and telling
-- its phases apart. NULL where nobody measured.
ALTER TABLE captures ADD COLUMN record_ns REAL;
ALTER TABLE captures ADD COLUMN phases_ns REAL;
-- What the processors use, all programs together, as the kernel's powercap files (RAPL) tell: on average since the sample before, and since sampling
-- began. NULL where the system does not tell, or nobody looked.
ALTER TABLE device_samples ADD COLUMN cpu_power_w REAL;
ALTER TABLE device_samples ADD COLUMN cpu_energy_j REAL;
