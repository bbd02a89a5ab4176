-- How often a request to a node was sent until its answer came.
ALTER TABLE rpc_calls ADD COLUMN attempts INTEGER NOT NULL DEFAULT 1;
