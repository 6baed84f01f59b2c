-- Version 1 of the session database. Later versions are migrations/0002-what.sql and so on: this file is never edited again
-- once a release carries it. Applied inside one transaction together with application_id and user_version.
--
-- Every event is one row in the table of its kind, keyed by (session, time, order of arrival): rows are appended in key order,
-- and the whole stream is a merge of these tables. An unknown number is NULL. *_ns are nanoseconds since the session began.

CREATE TABLE sessions (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: the lock of a session is the byte of this number
    name              TEXT    NOT NULL,
    notes             TEXT    NOT NULL,
    tags              TEXT    NOT NULL,                   -- JSON array of strings
    state             TEXT    NOT NULL,                   -- "interrupted" is never stored: it is "running" with a free lock
    why               TEXT    NOT NULL,
    started_unix_ms   INTEGER NOT NULL,
    ended_unix_ms     INTEGER NOT NULL DEFAULT 0,
    deleted_unix_ms   INTEGER NOT NULL DEFAULT 0,
    config            TEXT    NOT NULL,                   -- JSON, everything
    machine           TEXT    NOT NULL,                   -- JSON
    vocabulary        INTEGER NOT NULL,
    parameters        INTEGER NOT NULL,
    train_tokens      INTEGER NOT NULL,
    validation_tokens INTEGER NOT NULL,
    first_step        INTEGER NOT NULL,
    resumed_from      TEXT    NOT NULL,
    step_ns_median    REAL,                               -- written at the end, so that a list of long sessions is quick;
    step_tokens_median REAL                               -- NULL = not ended cleanly, worked out from the steps
);

-- The same configuration flat, for "what differs between these sessions".
CREATE TABLE config (
    session  INTEGER NOT NULL,
    key      TEXT    NOT NULL,
    position INTEGER NOT NULL,
    value    TEXT    NOT NULL,
    PRIMARY KEY (session, key)
) WITHOUT ROWID;

CREATE TABLE steps (
    session         INTEGER NOT NULL,
    at_ns           INTEGER NOT NULL,
    seq             INTEGER NOT NULL,
    step            INTEGER NOT NULL,
    duration_ns     INTEGER NOT NULL,
    loss            REAL,
    learning_rate   REAL,
    gradient_norm   REAL,
    loss_scale      REAL,
    skipped         INTEGER NOT NULL,
    tokens          INTEGER NOT NULL,
    batch_ns        INTEGER NOT NULL,
    copy_ns         INTEGER NOT NULL,
    forward_ns      INTEGER NOT NULL,
    backward_ns     INTEGER NOT NULL,
    clip_ns         INTEGER NOT NULL,
    optimizer_ns    INTEGER NOT NULL,
    resident_bytes  INTEGER NOT NULL,
    allocated_bytes INTEGER NOT NULL,
    page_faults     INTEGER NOT NULL,
    disturbed       INTEGER NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE validations (
    session     INTEGER NOT NULL,
    at_ns       INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    step        INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    loss        REAL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

-- The value columns have no type: an integer, a real number and a word each stay what they are.
CREATE TABLE switches_applied (
    session    INTEGER NOT NULL,
    at_ns      INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    step       INTEGER NOT NULL,
    switch     TEXT    NOT NULL,
    from_value,
    to_value,
    note       TEXT    NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE switches_refused (
    session INTEGER NOT NULL,
    at_ns   INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    switch  TEXT    NOT NULL,
    value,
    why     TEXT    NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE device_samples (
    session           INTEGER NOT NULL,
    at_ns             INTEGER NOT NULL,
    seq               INTEGER NOT NULL,
    cpu_pct           REAL,
    resident_bytes    INTEGER NOT NULL,
    available_bytes   INTEGER NOT NULL,
    gpu_pct           REAL,
    gpu_memory_bytes  REAL,
    gpu_power_w       REAL,
    gpu_temperature_c REAL,
    gpu_clock_mhz     REAL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE log_lines (
    session INTEGER NOT NULL,
    at_ns   INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    level   TEXT    NOT NULL,
    text    TEXT    NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE states (
    session INTEGER NOT NULL,
    at_ns   INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    state   TEXT    NOT NULL,
    why     TEXT    NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE checkpoints (
    session     INTEGER NOT NULL,
    at_ns       INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    step        INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    path        TEXT    NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE texts (
    session  INTEGER NOT NULL,
    at_ns    INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    step     INTEGER NOT NULL,
    prompt   TEXT    NOT NULL,
    text     TEXT    NOT NULL,
    complete INTEGER NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE preparations (
    session  INTEGER NOT NULL,
    at_ns    INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    what     TEXT    NOT NULL,
    fraction REAL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE recorder_waits (
    session   INTEGER NOT NULL,
    at_ns     INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    waited_ns INTEGER NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;
