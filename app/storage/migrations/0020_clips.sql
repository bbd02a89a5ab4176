-- What is spoken is a clip, on the screen and here.
ALTER TABLE takes RENAME TO clips;
ALTER TABLE take_parts RENAME TO clip_parts;
ALTER TABLE clip_parts RENAME COLUMN take_id TO clip_id;
DROP INDEX takes_by_time;
CREATE INDEX clips_by_time ON clips (trashed_at, created_at DESC);
