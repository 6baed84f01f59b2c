-- At what clock the processors ran and how hot they were; NULL where the system does not tell, or nobody looked.
ALTER TABLE device_samples ADD COLUMN cpu_clock_mhz REAL;
ALTER TABLE device_samples ADD COLUMN cpu_temperature_c REAL;
