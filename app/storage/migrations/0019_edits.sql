-- The turn of a chat that is being put in other words, and the words so far: they are kept like a draft, beside it.
ALTER TABLE chats ADD COLUMN edited_id TEXT NOT NULL DEFAULT '';
ALTER TABLE chats ADD COLUMN edit_text TEXT NOT NULL DEFAULT '';
ALTER TABLE chats ADD COLUMN edit_attachments TEXT NOT NULL DEFAULT '[]';
