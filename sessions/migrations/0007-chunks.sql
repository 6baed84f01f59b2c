-- Bulk data beside the events: immutable blocks, each one blob packed with zstd (whose frame carries a checksum of the content). A lane is
-- one stream of one kind in one session; it sums up its blocks, so that nobody reads blobs to know what there is. No block of a lane is longer
-- than longest_ns, which bounds how far before a range of time one that reaches into it can begin.
CREATE TABLE chunk_lanes (
    id           INTEGER PRIMARY KEY,
    session      INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    lane         INTEGER NOT NULL,
    chunks       INTEGER NOT NULL,
    records      INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,
    packed_bytes INTEGER NOT NULL,
    begin_ns     INTEGER NOT NULL,
    end_ns       INTEGER NOT NULL,
    longest_ns   INTEGER NOT NULL,
    UNIQUE (session, kind, lane)
);
CREATE TABLE chunks (
    id       INTEGER PRIMARY KEY,
    lane     INTEGER NOT NULL,  -- chunk_lanes.id
    begin_ns INTEGER NOT NULL,
    seq      INTEGER NOT NULL,  -- orders blocks that begin at the same instant
    end_ns   INTEGER NOT NULL,
    records  INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,  -- unpacked
    packed   BLOB    NOT NULL,
    UNIQUE (lane, begin_ns, seq)
);
