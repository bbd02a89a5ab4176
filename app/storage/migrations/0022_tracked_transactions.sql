-- What is known of each signed transaction that was sent: from, to, value, and its receipt once it is in a block.
ALTER TABLE rpc_calls ADD COLUMN tracked TEXT NOT NULL DEFAULT '{}';
