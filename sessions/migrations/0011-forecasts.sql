-- What was foretold, to be held against what happened. Kept apart from events: a forecast is made before its session exists.
-- Steps that were timed, by a look before a run or by a run: how long a step of such settings takes on this machine.
CREATE TABLE timed_steps (
    id            INTEGER PRIMARY KEY,
    setting       TEXT    NOT NULL,  -- equal for settings and machines of which a step takes equally long
    at_unix_ms    INTEGER NOT NULL,
    session       INTEGER NOT NULL,  -- of the run; 0: of a look
    steps         INTEGER NOT NULL,
    ms            REAL    NOT NULL,  -- mean
    low_ms        REAL    NOT NULL,
    high_ms       REAL    NOT NULL,
    validation_ms REAL
);
CREATE INDEX timed_steps_by_setting ON timed_steps (setting, at_unix_ms);

-- Of a run, when it began; and what it took, when it had made all its steps with the settings it began with.
CREATE TABLE forecasts (
    session          INTEGER PRIMARY KEY,
    source           TEXT    NOT NULL,
    seconds          REAL    NOT NULL,
    low              REAL    NOT NULL,
    high             REAL    NOT NULL,
    measured_seconds REAL
);

-- Of one change, found again beside the experiment that asks the same (experiments.question).
CREATE TABLE predictions (
    question   TEXT    NOT NULL,
    at_unix_ms INTEGER NOT NULL,
    setting    TEXT    NOT NULL,  -- key=value
    ratio      REAL    NOT NULL,  -- time per token now, divided by that with the change
    ms         REAL    NOT NULL,  -- of a step with the change
    basis      TEXT    NOT NULL,
    PRIMARY KEY (question, at_unix_ms)
) WITHOUT ROWID;
