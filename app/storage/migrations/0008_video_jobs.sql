-- One film that was ordered, from before it is sent. Its file lies in the folder `videos` under the name in `file`, which
-- is fixed when the job is made, so that a fetch that was broken off ends in the same place.
CREATE TABLE video_jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    -- The order in which waiting jobs are sent and the list is shown; the larger, the later.
    place INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    model TEXT NOT NULL,
    model_name TEXT NOT NULL DEFAULT '',
    prompt TEXT NOT NULL DEFAULT '',
    -- What was filled in: everything but the prompt, by the words of the form.
    form TEXT NOT NULL DEFAULT '{}',
    state TEXT NOT NULL DEFAULT 'waiting',
    -- The service's own last word for the state.
    told TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    -- 1 while nothing more happens by itself until a person says so.
    held INTEGER NOT NULL DEFAULT 0,
    quote_usd TEXT,
    intent_id TEXT NOT NULL DEFAULT '',
    exchange_id TEXT NOT NULL DEFAULT '',
    request_id TEXT NOT NULL DEFAULT '',
    queue_id TEXT NOT NULL DEFAULT '',
    download_url TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    queued_at INTEGER,
    ready_at INTEGER,
    ended_at INTEGER,
    average_s REAL,
    -- How often what came was no film.
    bad_films INTEGER NOT NULL DEFAULT 0,
    file TEXT NOT NULL,
    size_bytes INTEGER NOT NULL DEFAULT 0,
    duration_s REAL NOT NULL DEFAULT 0,
    width INTEGER NOT NULL DEFAULT 0,
    height INTEGER NOT NULL DEFAULT 0,
    clean_after INTEGER NOT NULL DEFAULT 0,
    -- 1 while the service still has the film.
    remote_copy INTEGER NOT NULL DEFAULT 0,
    charged INTEGER NOT NULL DEFAULT 1,
    refunded INTEGER,
    trashed_at INTEGER
);

CREATE INDEX video_jobs_by_place ON video_jobs (trashed_at, place DESC);
CREATE INDEX video_jobs_open ON video_jobs (state, place) WHERE state IN ('waiting', 'sending', 'running', 'ready');

-- What is being filled in, saved at every pause: one row for each key.
CREATE TABLE video_desk (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
