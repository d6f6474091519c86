-- The alarm: what was raised and told.

-- One row for each kind and subject: the latest time that it was so.
CREATE TABLE alarms (
    kind TEXT NOT NULL, -- exhausted, hold, budget or forecast
    subject TEXT NOT NULL, -- the ladder, the hold, the allowance
    open INTEGER NOT NULL, -- whether it holds, or its end is still to be told
    raised_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL, -- when a request met it last
    count INTEGER NOT NULL, -- requests that met it
    calm_since INTEGER, -- since when it looks over
    healed_at INTEGER,
    flaps INTEGER NOT NULL, -- how often in a row it came back soon after its end
    told_at INTEGER,
    told_over_at INTEGER,
    part_of TEXT, -- the ladder with which it is told
    until INTEGER, -- when it is over although nobody looks
    summary TEXT NOT NULL,
    text TEXT NOT NULL,
    details TEXT NOT NULL, -- JSON
    PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX open_alarms ON alarms (kind, subject) WHERE open = 1;

-- Messages, one row for each sink, until they are delivered or given up, and a while longer.
CREATE TABLE letters (
    place INTEGER PRIMARY KEY,
    id TEXT NOT NULL, -- the same for all sinks and tries
    sink TEXT NOT NULL, -- command or webhook
    event TEXT NOT NULL, -- raised, reminder, healed or passed
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL, -- JSON
    tries INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    lease_holder TEXT,
    lease_until INTEGER,
    end TEXT, -- delivered or given_up
    ended_at INTEGER,
    error TEXT, -- what the latest try met
    UNIQUE (id, sink)
) STRICT;

CREATE INDEX waiting_letters ON letters (due_at) WHERE end IS NULL;

CREATE VIEW alarm AS
SELECT a.kind, a.subject, iif(a.healed_at IS NULL, 'raised', 'healed') AS state,
       strftime('%Y-%m-%dT%H:%M:%fZ', a.raised_at / 1000.0, 'unixepoch') AS raised_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', a.healed_at / 1000.0, 'unixepoch') AS healed_at,
       a.count,
       strftime('%Y-%m-%dT%H:%M:%fZ', a.told_at / 1000.0, 'unixepoch') AS told_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', a.told_over_at / 1000.0, 'unixepoch') AS told_over_at,
       a.part_of, a.summary,
       (SELECT count(*) FROM letters AS l WHERE l.kind = a.kind AND l.subject = a.subject AND l.end IS NULL) AS waiting,
       (SELECT l.error FROM letters AS l WHERE l.kind = a.kind AND l.subject = a.subject AND l.error IS NOT NULL
        ORDER BY l.place DESC LIMIT 1) AS last_error
FROM alarms AS a;

CREATE VIEW outbox AS
SELECT place, id, sink, event, kind, subject,
       strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS at, tries,
       strftime('%Y-%m-%dT%H:%M:%fZ', due_at / 1000.0, 'unixepoch') AS due_at,
       lease_holder, strftime('%Y-%m-%dT%H:%M:%fZ', lease_until / 1000.0, 'unixepoch') AS lease_until,
       ifnull(end, 'waiting') AS state,
       strftime('%Y-%m-%dT%H:%M:%fZ', ended_at / 1000.0, 'unixepoch') AS ended_at, error
FROM letters;

-- What the log has forgotten, for counters that never fall.

-- Attempts that are counted: all up to a place, and those after it that are gone.
CREATE TABLE attempt_totals (
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    credential TEXT NOT NULL,
    kind TEXT NOT NULL,
    result TEXT NOT NULL, -- answered, given_up or the class of the failure
    attempts INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    nano_usd INTEGER NOT NULL, -- whole billionths, so that the order of adding makes no difference
    PRIMARY KEY (provider, model, credential, kind, result)
) STRICT, WITHOUT ROWID;

-- The same of requests that ended.
CREATE TABLE request_totals (
    ladder TEXT NOT NULL,
    outcome TEXT NOT NULL,
    step INTEGER NOT NULL, -- that answered; -1 when none did
    requests INTEGER NOT NULL,
    PRIMARY KEY (ladder, outcome, step)
) STRICT, WITHOUT ROWID;

-- How long they took.
CREATE TABLE time_totals (
    what TEXT NOT NULL, -- ttft or attempt of a deployment that answered, request of a ladder
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    credential TEXT NOT NULL,
    ladder TEXT NOT NULL,
    bound_us INTEGER NOT NULL, -- took at most this and longer than the bound before; 0 is longer than any bound
    times INTEGER NOT NULL,
    sum_us INTEGER NOT NULL,
    PRIMARY KEY (what, provider, model, credential, ladder, bound_us)
) STRICT, WITHOUT ROWID;

-- Retries that were asked for and stand in `retries` no longer.
CREATE TABLE retry_totals (
    granted INTEGER PRIMARY KEY,
    retries INTEGER NOT NULL
) STRICT;

-- How far the log is counted.
CREATE TABLE counted (
    log TEXT PRIMARY KEY, -- attempts or requests
    upto INTEGER NOT NULL, -- every row with a place up to this is in the totals
    last INTEGER NOT NULL -- the newest place that there was when rows were deleted: it is not given again
) STRICT, WITHOUT ROWID;

INSERT INTO counted (log, upto, last) VALUES ('attempts', 0, 0), ('requests', 0, 0);
