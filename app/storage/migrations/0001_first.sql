-- Times are whole microseconds since 1970 UTC, money is a decimal number as text, JSON is text.
-- Messages are a tree inside their chat; chats.head_id names the leaf that is on screen.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE chats (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0,
    trashed_at INTEGER,
    account_id TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',
    character_slug TEXT,
    character_name TEXT,
    options TEXT NOT NULL DEFAULT '{}',
    draft TEXT NOT NULL DEFAULT '',
    head_id TEXT,
    -- The next three sum up the messages, so that the list of chats never reads them.
    preview TEXT NOT NULL DEFAULT '',
    message_count INTEGER NOT NULL DEFAULT 0,
    cost_usd TEXT NOT NULL DEFAULT '0'
);

CREATE INDEX chats_by_time ON chats (trashed_at, pinned DESC, updated_at DESC);

CREATE TABLE messages (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    -- No cascade: a chat of 5,000 turns is 5,000 deep, and SQLite stops at 1,000.
    parent_id TEXT REFERENCES messages (id) DEFERRABLE INITIALLY DEFERRED,
    role TEXT NOT NULL,
    content TEXT NOT NULL DEFAULT '',
    reasoning TEXT NOT NULL DEFAULT '',
    sources TEXT NOT NULL DEFAULT '[]',
    state TEXT NOT NULL DEFAULT 'complete',
    error TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',
    exchange_id TEXT,
    usage TEXT NOT NULL DEFAULT '{}',
    cost_usd TEXT,
    created_at INTEGER NOT NULL,
    thinking_s REAL
);

CREATE INDEX messages_by_chat ON messages (chat_id, seq);
CREATE INDEX messages_by_parent ON messages (parent_id);
CREATE INDEX messages_unfinished ON messages (state) WHERE state = 'streaming';

CREATE TABLE receipts (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    tab TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL DEFAULT '',
    units TEXT NOT NULL DEFAULT '{}',
    cost_usd TEXT,
    cost_source TEXT NOT NULL DEFAULT 'none',
    balance_after TEXT,
    request_id TEXT NOT NULL DEFAULT '',
    headroom TEXT NOT NULL DEFAULT '{}',
    duration_s REAL NOT NULL DEFAULT 0,
    outcome TEXT NOT NULL DEFAULT 'unknown',
    charged INTEGER NOT NULL DEFAULT 1
);

CREATE INDEX receipts_by_time ON receipts (at);
CREATE INDEX receipts_by_account ON receipts (account_id, at);

CREATE TABLE catalogue (
    account_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    saved_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account_id, kind, key)
) WITHOUT ROWID;
