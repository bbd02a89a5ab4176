-- Recordings and files, and the texts made of them. `sound_path` is what is played; for a recording it is a file name in
-- the folder of recordings, for a file of the person's own the whole path. `document` holds the segments and words as
-- edited, `received` the answer as it came. `search_text` is title and text in folded case.
CREATE TABLE transcripts (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL,
    sound_path TEXT NOT NULL DEFAULT '',
    size_bytes INTEGER NOT NULL DEFAULT 0,
    duration_s REAL,
    file_hash TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    trashed_at INTEGER,
    account_id TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    problem TEXT NOT NULL DEFAULT '{}',
    model TEXT NOT NULL DEFAULT '',
    options TEXT NOT NULL DEFAULT '{}',
    treatment TEXT NOT NULL DEFAULT '',
    batch INTEGER NOT NULL DEFAULT 0,
    marks TEXT NOT NULL DEFAULT '[]',
    receipt TEXT NOT NULL DEFAULT '{}',
    cost_usd TEXT,
    word_count INTEGER NOT NULL DEFAULT 0,
    preview TEXT NOT NULL DEFAULT '',
    document TEXT NOT NULL DEFAULT '',
    received TEXT NOT NULL DEFAULT '',
    search_text TEXT NOT NULL DEFAULT ''
);

CREATE INDEX transcripts_by_time ON transcripts (trashed_at, created_at DESC);

-- What a recording that was cut is sent as. A part that was paid for keeps its answer, whatever becomes of the others.
CREATE TABLE transcript_parts (
    transcript_id TEXT NOT NULL REFERENCES transcripts (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    path TEXT NOT NULL,
    start_s REAL NOT NULL,
    end_s REAL NOT NULL,
    received TEXT NOT NULL DEFAULT '',
    cost_usd TEXT,
    PRIMARY KEY (transcript_id, number)
) WITHOUT ROWID;
