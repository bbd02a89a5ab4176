-- Pictures: one row for each that was asked for, from before the call on. The bytes are files in the folder `images`.
-- `call_id` is the intent of the paid call; pictures of one call share it, `place` counts them from 0. A batch is what
-- one press of the button asked for, in one call or in several.
CREATE TABLE images (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    call_id TEXT NOT NULL,
    place INTEGER NOT NULL DEFAULT 0,
    batch_id TEXT NOT NULL DEFAULT '',
    number INTEGER NOT NULL DEFAULT 1,
    total INTEGER NOT NULL DEFAULT 1,
    -- "generate", "edit", "upscale", "background" or "import"
    kind TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    prompt TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',
    model_name TEXT NOT NULL DEFAULT '',
    account_id TEXT NOT NULL DEFAULT '',
    -- The form as it was, to run it again.
    options TEXT NOT NULL DEFAULT '{}',
    source_id TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'sending',
    file TEXT NOT NULL DEFAULT '',
    form TEXT NOT NULL DEFAULT '',
    width INTEGER NOT NULL DEFAULT 0,
    height INTEGER NOT NULL DEFAULT 0,
    size_bytes INTEGER NOT NULL DEFAULT 0,
    seed INTEGER,
    blurred INTEGER NOT NULL DEFAULT 0,
    enhanced_prompt TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    trashed_at INTEGER,
    starred INTEGER NOT NULL DEFAULT 0,
    exchange_id TEXT NOT NULL DEFAULT '',
    request_id TEXT NOT NULL DEFAULT '',
    estimate_usd TEXT,
    cost_usd TEXT,
    charged INTEGER NOT NULL DEFAULT 1,
    duration_s REAL NOT NULL DEFAULT 0,
    note TEXT NOT NULL DEFAULT ''
);

CREATE INDEX images_by_time ON images (trashed_at, created_at DESC);
CREATE INDEX images_by_call ON images (call_id);

-- What stands in the form, so that nothing typed is lost.
CREATE TABLE image_desk (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
