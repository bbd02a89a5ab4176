-- What a message must carry back to the service unchanged: tool calls, signed thoughts, the call that it answers.

ALTER TABLE messages ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
