-- What ran in captured steps: a row a capture, and beneath it a row a kind of operation, by what took the most time of its own.
CREATE TABLE captures (
    session     INTEGER NOT NULL,
    at_ns       INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    step        INTEGER NOT NULL,  -- the last that was captured
    duration_ns INTEGER NOT NULL,
    first_step  INTEGER NOT NULL,
    steps       INTEGER NOT NULL,
    operations  REAL,              -- launches of work a step
    left_out    INTEGER NOT NULL,  -- kinds of operations that have no row
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE captured_operations (
    session  INTEGER NOT NULL,
    at_ns    INTEGER NOT NULL,     -- with session and seq: the capture
    seq      INTEGER NOT NULL,
    position INTEGER NOT NULL,     -- from 0
    name     TEXT    NOT NULL,
    kind     TEXT    NOT NULL,
    phase    TEXT    NOT NULL,
    role     TEXT    NOT NULL,
    ours     INTEGER NOT NULL,
    runs     INTEGER NOT NULL,
    launches INTEGER NOT NULL,
    total_ns INTEGER NOT NULL,
    self_ns  INTEGER NOT NULL,
    PRIMARY KEY (session, at_ns, seq, position)
) WITHOUT ROWID;
