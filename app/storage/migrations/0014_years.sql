-- What would read whole tables in a data folder of many years.

-- The attachments that are still named, asked at every start.
CREATE INDEX messages_with_attachments ON messages (attachments) WHERE attachments <> '[]';

-- Searches for one or two letters: the trigrams of the search index miss them at the end of a text.
CREATE INDEX messages_by_end ON messages (lower(substr(content, -2)));

-- The tabs and models that occur among the receipts, and the newest receipts of one.
CREATE INDEX receipts_by_tab ON receipts (tab, at);
CREATE INDEX receipts_by_model ON receipts (model, at);
