-- What may have been charged counts until it is known: a receipt whose cost is "possible" holds the most it can be.
UPDATE receipts SET cost_usd = estimate_usd, cost_source = 'possible'
WHERE cost_usd IS NULL AND estimate_usd IS NOT NULL AND outcome IN ('unknown', 'cut', 'stopped');

-- Calls that left and have not ended: looked for at every start.
CREATE INDEX receipts_open ON receipts (id) WHERE outcome = 'open';
CREATE INDEX receipts_possible ON receipts (account_id) WHERE cost_source = 'possible';

-- The sums of a month name what of them is only possible.
DELETE FROM receipt_months;
