-- The piece of work that sent a request, such as watching a chain: its equal requests are one row of the list.
ALTER TABLE rpc_calls ADD COLUMN job_id TEXT NOT NULL DEFAULT '';
CREATE INDEX rpc_calls_by_job ON rpc_calls (job_id, digest, seq) WHERE job_id <> '';
