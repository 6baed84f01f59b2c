-- Studies: tables of many measurements made one after the other, a ladder or a search for the fastest settings. The newest row of each number is
-- how it stands.
CREATE TABLE studies (
    session       INTEGER NOT NULL,
    at_ns         INTEGER NOT NULL,
    seq           INTEGER NOT NULL,
    kind          TEXT    NOT NULL,  -- ladder or tune
    title         TEXT    NOT NULL,
    source        TEXT    NOT NULL,  -- YAML of a ladder
    unit          TEXT    NOT NULL,
    config        TEXT    NOT NULL,  -- JSON, everything
    question      TEXT    NOT NULL,
    budget_s      REAL    NOT NULL,
    delta         REAL    NOT NULL,
    alpha         REAL    NOT NULL,
    seed          INTEGER NOT NULL,
    legs          INTEGER NOT NULL,
    leave_one_out INTEGER NOT NULL,
    pairs         INTEGER NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE study_rows (
    session      INTEGER NOT NULL,
    at_ns        INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    row          INTEGER NOT NULL,
    role         TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    settings     TEXT    NOT NULL,
    reported     TEXT    NOT NULL,
    why          TEXT    NOT NULL,
    outcome      TEXT    NOT NULL,
    ratio        REAL,
    low          REAL,
    high         REAL,
    total        REAL,
    total_low    REAL,
    total_high   REAL,
    step_ms      REAL,
    tokens_per_s REAL,
    peak_bytes   REAL,
    operations   REAL,
    loss         REAL,
    floor        REAL,
    pairs        INTEGER NOT NULL,
    seconds      REAL    NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;
