-- What came of answers.

-- Attempts that are counted in `attempt_totals`, once more by what is said of their answer.
CREATE TABLE answer_totals (
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    credential TEXT NOT NULL,
    what TEXT NOT NULL, -- whole: it came back whole; or invalid and the rule that found it so
    attempts INTEGER NOT NULL,
    PRIMARY KEY (provider, model, credential, what)
) STRICT, WITHOUT ROWID;

-- Those that were counted before there was this table, as far as the log still has them.
INSERT INTO answer_totals
SELECT provider, model, credential, 'whole', count(*) FROM attempts
WHERE place <= (SELECT upto FROM counted WHERE log = 'attempts') AND given_up IS NULL
  AND (class IS NULL OR class = 'invalid_output' OR (status BETWEEN 200 AND 299 AND class NOT IN ('network', 'timeout')))
GROUP BY provider, model, credential
UNION ALL
SELECT provider, model, credential, 'invalid ' || ifnull(rule, ''), count(*) FROM attempts
WHERE place <= (SELECT upto FROM counted WHERE log = 'attempts') AND given_up IS NULL AND class = 'invalid_output'
GROUP BY provider, model, credential, rule;
