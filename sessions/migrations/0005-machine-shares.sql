-- What other processes took of the processors, and what the host of a virtual machine gave to others; NULL where nobody looked.
ALTER TABLE device_samples ADD COLUMN others_pct REAL;
ALTER TABLE device_samples ADD COLUMN steal_pct REAL;
