-- The most bytes that tensors held at a time during a step, on the device of the model; NULL where nobody looked.
ALTER TABLE steps ADD COLUMN peak_bytes REAL;
