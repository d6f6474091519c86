-- Which answers were held against something that was asked of them; and a kind of attempt that older programs do not know:
-- `adjusted`, the same deployment asked for what it says that it can take.

-- Of several answers by one deployment to one request the first alone, and those to repairs. What was asked of answers before
-- this step nobody knows: they are not judged, save the repairs that helped by what was said of them then.
ALTER TABLE attempts ADD COLUMN judged INTEGER NOT NULL DEFAULT 0;
UPDATE attempts SET judged = 1 WHERE kind = 'repair' AND class IS NULL AND given_up IS NULL;

-- Counters never fall: what was counted as a repair that helped stays one.
INSERT INTO answer_totals
SELECT provider, model, credential, 'helped', attempts FROM attempt_totals WHERE kind = 'repair' AND result = 'answered';
