-- One request to a blockchain node: what was asked, under which idempotency key, what came back and what it cost.
CREATE TABLE rpc_calls (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    network TEXT NOT NULL,
    -- The items as JSON text, without signed payloads.
    items TEXT NOT NULL,
    batch INTEGER NOT NULL DEFAULT 0,
    -- The same request sent several times shares the digest of its bytes; they are its runs.
    digest TEXT NOT NULL,
    idempotency_key TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'open',
    replayed INTEGER NOT NULL DEFAULT 0,
    status INTEGER,
    estimate_credits INTEGER NOT NULL DEFAULT 0,
    credits INTEGER,
    cost_usd TEXT,
    errors INTEGER NOT NULL DEFAULT 0,
    request_id TEXT NOT NULL DEFAULT '',
    exchange_id TEXT NOT NULL DEFAULT '',
    duration_s REAL,
    headers TEXT NOT NULL DEFAULT '{}',
    -- The hash of each signed transaction that was sent, computed here.
    transactions TEXT NOT NULL DEFAULT '{}',
    note TEXT NOT NULL DEFAULT '',
    trashed_at INTEGER,
    -- What a search looks at: methods, network, parameters, in lower case.
    words TEXT NOT NULL
);

CREATE INDEX rpc_calls_by_time ON rpc_calls (trashed_at, seq);
CREATE INDEX rpc_calls_by_digest ON rpc_calls (account_id, digest, seq);
CREATE INDEX rpc_calls_by_key ON rpc_calls (account_id, idempotency_key, seq) WHERE idempotency_key <> '';
CREATE INDEX rpc_calls_open ON rpc_calls (state) WHERE state = 'open';

-- The answer's body, compressed, apart from the list that is read often.
CREATE TABLE rpc_answers (
    call_id TEXT PRIMARY KEY REFERENCES rpc_calls (id) ON DELETE CASCADE,
    body BLOB NOT NULL,
    size_bytes INTEGER NOT NULL
);
