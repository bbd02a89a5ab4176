-- What was first measured of each model's enclave, by host; and the evidence of sealed chats, which goes with its chat.
CREATE TABLE enclaves (
    host TEXT NOT NULL,
    model TEXT NOT NULL,
    measurements TEXT NOT NULL,
    first_seen INTEGER NOT NULL,
    PRIMARY KEY (host, model)
) WITHOUT ROWID;

CREATE TABLE sealed_evidence (
    seq INTEGER PRIMARY KEY,
    chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    nonce TEXT NOT NULL,
    evidence TEXT NOT NULL,
    UNIQUE (chat_id, nonce)
);
