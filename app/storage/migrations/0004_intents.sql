-- A paid call, on disk before it is sent. `seq` is the order in which they were meant.
CREATE TABLE intents (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    account_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    request TEXT NOT NULL DEFAULT '{}',
    idempotency_key TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'intended',
    reference TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    exchange_id TEXT NOT NULL DEFAULT '',
    -- 1 when the person has been told of an end that nobody knows.
    told INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX intents_by_kind ON intents (kind, seq);
CREATE INDEX intents_open ON intents (state, seq) WHERE state IN ('intended', 'sent', 'unknown');
