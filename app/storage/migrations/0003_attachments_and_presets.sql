-- What goes along with a message, and with a draft that is not sent yet: a JSON list, one object for each attachment.
-- The bytes are files named by their SHA-256 in the folder `attachments`, kept once however often they are attached.

ALTER TABLE messages ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';
ALTER TABLE chats ADD COLUMN draft_attachments TEXT NOT NULL DEFAULT '[]';

-- Named things to begin with: kind "prompt" (a system prompt) or "preset" (model, character and options).
CREATE TABLE presets (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL DEFAULT '{}',
    changed_at INTEGER NOT NULL,
    UNIQUE (kind, name)
);
