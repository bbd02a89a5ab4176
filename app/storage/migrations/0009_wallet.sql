-- What a call was expected to cost before it was sent, beside what it did cost.
ALTER TABLE receipts ADD COLUMN estimate_usd TEXT;

-- What wallets signed, and when: messages for sign-ins, payments, documents that were signed elsewhere.
CREATE TABLE signatures (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    address TEXT NOT NULL,
    kind TEXT NOT NULL,
    host TEXT NOT NULL DEFAULT '',
    document TEXT NOT NULL
);

CREATE INDEX signatures_by_time ON signatures (at);
