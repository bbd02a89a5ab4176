-- What was spoken. A take's sound is one file for each part in the folder `speech/<id>`; `text` is what was said, `start`
-- and `finish` the characters of it that a part says. `options` are the knobs as they were sent.
CREATE TABLE takes (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL DEFAULT '',
    text TEXT NOT NULL,
    account_id TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL,
    voice TEXT NOT NULL,
    voice_name TEXT NOT NULL DEFAULT '',
    format TEXT NOT NULL DEFAULT '',
    options TEXT NOT NULL DEFAULT '{}',
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    trashed_at INTEGER,
    starred INTEGER NOT NULL DEFAULT 0,
    -- Takes of one audition have the same word here.
    audition TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'planned',
    duration_s REAL NOT NULL DEFAULT 0,
    size_bytes INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX takes_by_time ON takes (trashed_at, created_at DESC);

CREATE TABLE take_parts (
    take_id TEXT NOT NULL REFERENCES takes (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    finish INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'planned',
    file TEXT NOT NULL DEFAULT '',
    kind TEXT NOT NULL DEFAULT '',
    size_bytes INTEGER NOT NULL DEFAULT 0,
    duration_s REAL NOT NULL DEFAULT 0,
    rate_hz INTEGER NOT NULL DEFAULT 0,
    first_sound_s REAL,
    exchange_id TEXT NOT NULL DEFAULT '',
    request_id TEXT NOT NULL DEFAULT '',
    cost_usd TEXT,
    charged INTEGER NOT NULL DEFAULT 1,
    note TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (take_id, number)
) WITHOUT ROWID;

-- Voices of one's own. The service lists none and deletes none: this is the only shelf. The sample lies in the folder
-- `voices`, so that an expired handle is made anew with one press.
CREATE TABLE cloned_voices (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    account_id TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL,
    handle TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL,
    sample TEXT NOT NULL,
    sample_s REAL NOT NULL DEFAULT 0,
    consent_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    cloned_at INTEGER,
    used_at INTEGER,
    expires_at INTEGER,
    trashed_at INTEGER
);

-- What a person did with a voice of a model: loved it, used it, listened to its sample (which is kept for good).
CREATE TABLE voice_marks (
    model TEXT NOT NULL,
    voice TEXT NOT NULL,
    favourite INTEGER NOT NULL DEFAULT 0,
    used_at INTEGER,
    sample TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (model, voice)
) WITHOUT ROWID;

-- What is being written and with which knobs, saved at every pause: one row for each key.
CREATE TABLE speech_desk (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
