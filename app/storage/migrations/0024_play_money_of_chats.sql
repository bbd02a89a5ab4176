-- How much of a chat's cost was play money: the two are never added up.
ALTER TABLE chats ADD COLUMN play_usd TEXT;
-- A chat of one account spent one kind of money.
UPDATE chats SET play_usd = cost_usd WHERE EXISTS (
    SELECT 1 FROM messages WHERE chat_id = chats.id AND json_valid(usage) AND json_extract(usage, '$.sandbox') = 1
) AND NOT EXISTS (
    SELECT 1 FROM messages WHERE chat_id = chats.id AND json_valid(usage) AND json_extract(usage, '$.sandbox') = 0
);
