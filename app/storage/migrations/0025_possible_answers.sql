-- The answers that may not have been charged: few, and looked for with each list of chats.
CREATE INDEX messages_possible ON messages (chat_id) WHERE instr(usage, '"cost_source":"possible"') > 0;
