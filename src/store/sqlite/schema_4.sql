-- Retries paid from a budget, answers that are kept, what was learned of models, and ladders that open themselves.

-- not_run, may_have_run or ran: whether the provider may have done the work.
ALTER TABLE attempts ADD COLUMN execution TEXT NOT NULL DEFAULT 'may_have_run';

-- Why it was given up before its end; such an attempt says nothing of the deployment.
ALTER TABLE attempts ADD COLUMN given_up TEXT;

-- The latest attempts at one deployment, without walking through those at the others.
CREATE INDEX attempts_by_deployment ON attempts (provider, model, credential, started_at) WHERE given_up IS NULL;

-- How many retries the request would have made if the budget had allowed them.
ALTER TABLE requests ADD COLUMN retries_denied INTEGER NOT NULL DEFAULT 0;

-- Until when a request under an id that its user chose may be under way; its process is dead after that.
ALTER TABLE requests ADD COLUMN claimed_until INTEGER;

-- Every retry that was asked for: the budget counts those that were granted.
CREATE TABLE retries (
    place INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    granted INTEGER NOT NULL
) STRICT;

CREATE INDEX retries_by_grant ON retries (granted, at);

DROP INDEX retries_by_time;

-- The answer of a request, where answers are kept. It goes with its request.
CREATE TABLE answers (
    request_id TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    reasoning TEXT NOT NULL,
    tool_calls TEXT, -- JSON
    parsed TEXT, -- JSON
    finish TEXT
) STRICT, WITHOUT ROWID;

CREATE TRIGGER answers_go_with_their_request AFTER DELETE ON requests BEGIN
    DELETE FROM answers WHERE request_id = old.id;
END;

-- What a refusal taught of a model, until it is looked at again.
CREATE TABLE findings (
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    what TEXT NOT NULL, -- what it lacks: images, tools, json_schema, …; or window
    tokens INTEGER, -- of a window
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    evidence TEXT NOT NULL,
    request_id TEXT,
    PRIMARY KEY (provider, model, what)
) STRICT, WITHOUT ROWID;

-- Who served which beginning of a prompt last, by a salted digest of it.
CREATE TABLE prefixes (
    prefix TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    credential TEXT NOT NULL,
    at INTEGER NOT NULL,
    input_tokens INTEGER,
    cached_tokens INTEGER,
    PRIMARY KEY (prefix, provider, model, credential)
) STRICT, WITHOUT ROWID;

CREATE INDEX prefixes_by_time ON prefixes (at);

-- Ladders that fell through, one request after the other.
CREATE TABLE cascades (
    ladder TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    state TEXT NOT NULL, -- closed, open or recovering
    streak INTEGER NOT NULL, -- exhausted requests in a row
    opens INTEGER NOT NULL, -- in a row
    slots INTEGER NOT NULL, -- requests that may go at the same time while it recovers
    leases TEXT NOT NULL, -- those that do: holder and time, with blanks between them
    since INTEGER NOT NULL,
    until INTEGER NOT NULL, -- when one request may look; while closed, the latest that fell through
    failed TEXT NOT NULL, -- JSON: the steps that were asked in vain and could be asked again at once
    evidence TEXT NOT NULL,
    request_id TEXT
) STRICT, WITHOUT ROWID;
