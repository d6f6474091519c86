-- What came of answers, and verdicts that are kept to be compared with.

-- Attempts that are counted in `attempt_totals`, once more by what is said of their answer.
CREATE TABLE answer_totals (
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    credential TEXT NOT NULL,
    what TEXT NOT NULL, -- whole: it came back whole; invalid and the rule that found it so; json and where it stood
    attempts INTEGER NOT NULL,
    PRIMARY KEY (provider, model, credential, what)
) STRICT, WITHOUT ROWID;

-- Those that were counted before there was this table, as far as the log still has them. A step can only repeat which of
-- them came back whole; the rule itself is `came_whole` in src/domain/defect.rs, and a test holds this against it.
INSERT INTO answer_totals
SELECT provider, model, credential, 'whole', count(*) FROM attempts
WHERE place <= (SELECT upto FROM counted WHERE log = 'attempts') AND given_up IS NULL
  AND (class IS NULL OR (class = 'invalid_output' AND status IS NULL)
       OR (status BETWEEN 200 AND 299 AND class NOT IN ('network', 'timeout')))
GROUP BY provider, model, credential
UNION ALL
SELECT provider, model, credential, 'invalid ' || ifnull(rule, ''), count(*) FROM attempts
WHERE place <= (SELECT upto FROM counted WHERE log = 'attempts') AND given_up IS NULL
  AND (class = 'invalid_output' OR (class IS NOT NULL AND rule GLOB 'answer.*'))
GROUP BY provider, model, credential, rule;

-- Verdicts on one input, with which later ones are compared. Nothing of the input or the rest of the answer is kept.
CREATE TABLE baselines (
    name TEXT NOT NULL,
    input TEXT NOT NULL, -- a salted digest of the request
    field TEXT NOT NULL, -- a JSON pointer into the answer
    value TEXT NOT NULL, -- JSON
    runs INTEGER NOT NULL, -- of which it was made
    at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    deployment TEXT NOT NULL,
    PRIMARY KEY (name, input, field)
) STRICT, WITHOUT ROWID;
