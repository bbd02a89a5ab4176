-- How sure the cost of a spoken part is: "stated", "estimated", "at most" (cut off, or nobody knows), "none" (refused).
ALTER TABLE take_parts ADD COLUMN cost_source TEXT NOT NULL DEFAULT 'estimated';
