-- Conversations that a person named, and the journal of the tools that were run for them.

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    holder TEXT NOT NULL, -- who may write: one process at a time
    ladder TEXT, -- with what it goes on
    system TEXT,
    tools TEXT NOT NULL, -- JSON list of names
    told INTEGER NOT NULL DEFAULT 0 -- how many turns the user was told
) STRICT;

CREATE INDEX sessions_by_use ON sessions (updated_at);

CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    place INTEGER NOT NULL, -- counted from 0
    message TEXT NOT NULL, -- JSON, in the form that `chat --messages` reads
    author TEXT, -- provider/model
    request_id TEXT,
    at INTEGER NOT NULL,
    UNIQUE (session, place)
) STRICT;

-- One row for each call of a tool, written before the command is begun and again once its result is known.
CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    version INTEGER NOT NULL, -- grows with every change
    place INTEGER NOT NULL, -- the turn that made it
    position INTEGER NOT NULL, -- which of its calls
    call_id TEXT NOT NULL, -- the provider's
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL, -- JSON
    effect TEXT NOT NULL, -- pure or side_effecting
    idempotency_key TEXT NOT NULL,
    state TEXT NOT NULL, -- started, done, unknown or again
    ending TEXT, -- ok, failed, refused, declined, timed_out or told
    result TEXT, -- what the model is told
    tries INTEGER NOT NULL, -- how often the command was begun
    started_at INTEGER,
    ended_at INTEGER,
    UNIQUE (session, fingerprint)
) STRICT;

CREATE VIEW conversation AS
SELECT t.session, t.place, json_extract(t.message, '$.role') AS role, t.author, t.request_id,
       strftime('%Y-%m-%dT%H:%M:%fZ', t.at / 1000.0, 'unixepoch') AS at, t.message
FROM turns AS t ORDER BY t.session, t.place;

CREATE VIEW calls AS
SELECT session, place, position, tool, effect, state, ending, tries, idempotency_key, arguments,
       strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') AS started_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', ended_at / 1000.0, 'unixepoch') AS ended_at, fingerprint, result
FROM journal ORDER BY session, place, position;
