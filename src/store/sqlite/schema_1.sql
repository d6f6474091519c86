-- Times are whole milliseconds since 1970 UTC, lengths of time microseconds. In a scope '' means "any".
-- The views `holds` and `log` at the end show the same as text.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (key, value) VALUES ('salt', lower(hex(randomblob(16)))), ('last_hold_id', 0);

CREATE TABLE cooldowns (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    provider TEXT NOT NULL,
    account TEXT NOT NULL,
    credential TEXT NOT NULL,
    model TEXT NOT NULL,
    region TEXT NOT NULL,
    dimension TEXT NOT NULL,
    class TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    provenance TEXT NOT NULL,
    streak INTEGER NOT NULL,
    evidence TEXT NOT NULL,
    request_id TEXT,
    UNIQUE (provider, account, credential, model, region, dimension)
) STRICT;

CREATE TABLE quarantines (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    provider TEXT NOT NULL,
    account TEXT NOT NULL,
    credential TEXT NOT NULL,
    model TEXT NOT NULL,
    region TEXT NOT NULL,
    dimension TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    provenance TEXT NOT NULL,
    probe_at INTEGER,
    streak INTEGER NOT NULL,
    lease_holder TEXT,
    lease_until INTEGER,
    evidence TEXT NOT NULL,
    request_id TEXT,
    UNIQUE (provider, account, credential, model, region, dimension)
) STRICT;

CREATE TABLE circuits (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    provider TEXT NOT NULL,
    account TEXT NOT NULL,
    credential TEXT NOT NULL,
    model TEXT NOT NULL,
    region TEXT NOT NULL,
    family TEXT NOT NULL,
    state TEXT NOT NULL,
    class TEXT NOT NULL,
    consecutive INTEGER NOT NULL,
    recent TEXT NOT NULL, -- the times of the latest failures, oldest first, with blanks between them
    opened_at INTEGER,
    retry_at INTEGER,
    opens INTEGER NOT NULL,
    lease_holder TEXT,
    lease_until INTEGER,
    provenance TEXT NOT NULL,
    fingerprint TEXT,
    last_failure INTEGER NOT NULL,
    evidence TEXT NOT NULL,
    request_id TEXT,
    UNIQUE (provider, account, credential, model, region, family)
) STRICT;

CREATE TABLE requests (
    place INTEGER PRIMARY KEY, -- grows when the request ends, so that a follower sees each end once
    id TEXT NOT NULL UNIQUE,
    ladder TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    latency_us INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    provider TEXT, -- who answered
    model TEXT,
    credential TEXT,
    step INTEGER,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cached_tokens INTEGER,
    cost_usd REAL,
    retry_at INTEGER,
    error TEXT
) STRICT;

CREATE INDEX requests_by_time ON requests (started_at);

CREATE TABLE attempts (
    place INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    position INTEGER NOT NULL, -- within the request, from 0
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    credential TEXT NOT NULL,
    account TEXT NOT NULL,
    step INTEGER NOT NULL,
    kind TEXT NOT NULL,
    class TEXT, -- none when it was answered
    scope TEXT,
    dimension TEXT,
    status INTEGER,
    rule TEXT,
    evidence TEXT,
    started_at INTEGER NOT NULL,
    ttft_us INTEGER,
    latency_us INTEGER NOT NULL,
    held_until INTEGER,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cached_tokens INTEGER,
    cost_usd REAL,
    UNIQUE (request_id, position)
) STRICT;

CREATE INDEX attempts_by_time ON attempts (started_at);
CREATE INDEX attempts_by_class ON attempts (class, started_at) WHERE class IS NOT NULL;
CREATE INDEX retries_by_time ON attempts (started_at) WHERE kind = 'retry';

CREATE TABLE deployments (
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    credential TEXT NOT NULL,
    account TEXT NOT NULL,
    last_success INTEGER,
    last_failure INTEGER,
    PRIMARY KEY (provider, model, credential)
) STRICT, WITHOUT ROWID;

CREATE VIEW holds AS
WITH every (kind, id, version, provider, account, credential, model, region, what, state, class, since, until, probe_at,
            provenance, evidence, request_id) AS (
    SELECT 'cooldown', id, version, provider, account, credential, model, region, dimension, 'set', class, since, until,
           NULL, provenance, evidence, request_id FROM cooldowns
    UNION ALL
    SELECT 'quarantine', id, version, provider, account, credential, model, region, dimension, 'set', 'quota_exhausted',
           since, until, probe_at, provenance, evidence, request_id FROM quarantines
    UNION ALL
    SELECT 'circuit', id, version, provider, account, credential, model, region, family, state, class, opened_at,
           retry_at, retry_at, provenance, evidence, request_id FROM circuits
)
SELECT kind, id,
       provider || iif(model = '', '', '/' || model) || iif(credential = '', '', '@' || credential) AS scope,
       account, region, what, state, class,
       strftime('%Y-%m-%dT%H:%M:%fZ', since / 1000.0, 'unixepoch') AS since,
       strftime('%Y-%m-%dT%H:%M:%fZ', until / 1000.0, 'unixepoch') AS until,
       strftime('%Y-%m-%dT%H:%M:%fZ', probe_at / 1000.0, 'unixepoch') AS probe_at,
       provenance, evidence, request_id, version
FROM every;

CREATE VIEW log AS
SELECT r.place, r.id AS request_id, r.ladder, r.outcome, a.position,
       a.provider || '/' || a.model || iif(a.credential = '', '', '@' || a.credential) AS deployment,
       a.kind, ifnull(a.class, 'answered') AS class, a.scope, a.dimension, a.status, a.rule,
       strftime('%Y-%m-%dT%H:%M:%fZ', a.started_at / 1000.0, 'unixepoch') AS started_at,
       a.ttft_us / 1e6 AS ttft_s, a.latency_us / 1e6 AS latency_s,
       strftime('%Y-%m-%dT%H:%M:%fZ', a.held_until / 1000.0, 'unixepoch') AS held_until,
       a.evidence, r.error
FROM requests AS r LEFT JOIN attempts AS a ON a.request_id = r.id
ORDER BY r.place, a.position;
