-- Experiments that take turns between two arms: what was asked, each block of steps, and what the pairs of blocks said after each pair.
-- The last judgement of a session (over = 1) is its answer.
CREATE TABLE experiments (
    session    INTEGER NOT NULL,
    at_ns      INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    step       INTEGER NOT NULL,
    config_a   TEXT    NOT NULL,  -- JSON, everything
    config_b   TEXT    NOT NULL,
    question   TEXT    NOT NULL,  -- equal for the same question on the same machine
    same       INTEGER NOT NULL,
    seed       INTEGER NOT NULL,
    budget_s   REAL    NOT NULL,
    delta      REAL    NOT NULL,
    alpha      REAL    NOT NULL,
    swapped    INTEGER NOT NULL,
    comparison TEXT    NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;
CREATE INDEX experiments_by_question ON experiments (question);

CREATE TABLE blocks (
    session     INTEGER NOT NULL,
    at_ns       INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    step        INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    pair        INTEGER NOT NULL,  -- -1: of the pilot
    arm         TEXT    NOT NULL,  -- A or B
    second      INTEGER NOT NULL,
    rebuild     INTEGER NOT NULL,
    warm_up     INTEGER NOT NULL,
    steps       INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    turn_ns     INTEGER NOT NULL,
    median_ns   INTEGER NOT NULL,
    slowest_ns  INTEGER NOT NULL,
    loss        REAL,
    others      REAL,
    steal_pct   REAL,
    page_faults INTEGER NOT NULL,
    peak_bytes  REAL,
    operations  REAL,
    joules      REAL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;

CREATE TABLE judgements (
    session         INTEGER NOT NULL,
    at_ns           INTEGER NOT NULL,
    seq             INTEGER NOT NULL,
    step            INTEGER NOT NULL,
    over            INTEGER NOT NULL,
    pair            INTEGER NOT NULL,
    difference      REAL,
    same_arm        REAL,
    same_arm_turned INTEGER NOT NULL,
    rebuild         INTEGER NOT NULL,
    discarded       INTEGER NOT NULL,
    outcome         TEXT    NOT NULL,
    reason          TEXT    NOT NULL,
    why             TEXT    NOT NULL,
    ratio           REAL,
    low             REAL,
    high            REAL,
    floor           REAL,
    rare_slow_steps INTEGER NOT NULL,
    pairs           INTEGER NOT NULL,
    left_out        INTEGER NOT NULL,
    rebuilds        INTEGER NOT NULL,
    seconds_to_go   REAL,
    seconds         REAL    NOT NULL,
    pilot_variance  REAL,
    pilot_mad       REAL,
    others_limit    REAL,
    pilot_pairs     INTEGER NOT NULL,
    pairs_a_rebuild INTEGER NOT NULL,
    PRIMARY KEY (session, at_ns, seq)
) WITHOUT ROWID;
