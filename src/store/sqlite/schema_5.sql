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
