-- Projects: a place for chats, and what new chats in them begin with. `place` orders the list, the smaller the higher.
-- A project in the trash keeps its chats: they stand in the list without it until it is restored or deleted for good.
CREATE TABLE projects (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    color TEXT NOT NULL DEFAULT '',
    place INTEGER NOT NULL DEFAULT 0,
    folded INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    trashed_at INTEGER,
    instructions TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',
    character_slug TEXT,
    character_name TEXT,
    options TEXT NOT NULL DEFAULT '{}',
    -- What its calls may cost altogether; NULL for no limit.
    limit_usd TEXT
);

ALTER TABLE chats ADD COLUMN project_id TEXT REFERENCES projects (id) ON DELETE SET NULL;
CREATE INDEX chats_by_project ON chats (project_id) WHERE project_id IS NOT NULL;

-- Whose limit a call counted against; it stays when the chat moves on or the project is deleted.
ALTER TABLE receipts ADD COLUMN project_id TEXT NOT NULL DEFAULT '';
CREATE INDEX receipts_by_project ON receipts (project_id) WHERE project_id <> '';
