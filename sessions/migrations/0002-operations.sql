-- How many operations a step ran; NULL where nobody counted.
ALTER TABLE steps ADD COLUMN operations REAL;
