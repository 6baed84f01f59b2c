-- A random name of this database: its sessions' checkpoints lie in a folder of this name, so that those of a database which was moved
-- away, and whose session numbers began at 1 as well, are never taken for this one's.
CREATE TABLE identity (id TEXT NOT NULL);
INSERT INTO identity (id) VALUES (lower(hex(randomblob(8))));
