-- What the receipts of a month add up to, by local day, tab and kind: the totals of years are read from here. A month is
-- added up when its totals are first asked for, and forgotten when one of its receipts comes, changes or goes.
CREATE TABLE receipt_months (
    zone TEXT NOT NULL,
    month TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    past_at INTEGER NOT NULL,
    sums TEXT NOT NULL,
    PRIMARY KEY (zone, month)
) WITHOUT ROWID;

CREATE TRIGGER receipt_months_insert AFTER INSERT ON receipts BEGIN
    DELETE FROM receipt_months WHERE first_at <= new.at AND past_at > new.at;
END;

CREATE TRIGGER receipt_months_delete AFTER DELETE ON receipts BEGIN
    DELETE FROM receipt_months WHERE first_at <= old.at AND past_at > old.at;
END;

CREATE TRIGGER receipt_months_update AFTER UPDATE ON receipts BEGIN
    DELETE FROM receipt_months
    WHERE (first_at <= new.at AND past_at > new.at) OR (first_at <= old.at AND past_at > old.at);
END;
