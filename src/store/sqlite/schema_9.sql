-- Verdicts that nobody compares with any more are forgotten.
ALTER TABLE baselines ADD COLUMN compared_at INTEGER NOT NULL DEFAULT 0; -- by when it was last compared with, or kept
UPDATE baselines SET compared_at = at;
CREATE INDEX baselines_by_use ON baselines (compared_at);
