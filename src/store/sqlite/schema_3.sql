-- What was used, what is under way, and how tokens are estimated.

-- How many stated waits in a row were obeyed in vain.
ALTER TABLE cooldowns ADD COLUMN obeyed INTEGER NOT NULL DEFAULT 0;

-- When the first of these waits was stated.
ALTER TABLE cooldowns ADD COLUMN obeyed_since INTEGER;

CREATE TABLE meters (
    provider TEXT NOT NULL, -- the scope, in which '' means "any"
    account TEXT NOT NULL,
    credential TEXT NOT NULL,
    model TEXT NOT NULL,
    region TEXT NOT NULL,
    dimension TEXT NOT NULL,
    version INTEGER NOT NULL,
    unit TEXT, -- none for what only answers can tell
    clock TEXT NOT NULL, -- when it comes back: 'rolling 1m', 'midnight America/Los_Angeles'
    started INTEGER NOT NULL, -- of the window under way
    used REAL NOT NULL, -- in the window under way
    before REAL NOT NULL, -- what of the windows before still counted at its start, for rolling ones
    counted INTEGER NOT NULL, -- when it was counted last
    resets_at INTEGER, -- by the provider's word
    limit_value REAL, -- by the provider's word
    limit_at INTEGER,
    limit_source TEXT,
    PRIMARY KEY (provider, account, credential, model, region, dimension)
) STRICT, WITHOUT ROWID;

-- A request under way; it counts until it is removed or its time is over.
CREATE TABLE flights (
    request_id TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    account TEXT NOT NULL,
    credential TEXT NOT NULL,
    model TEXT NOT NULL,
    region TEXT NOT NULL,
    requests REAL NOT NULL, -- what it is expected to use
    input_tokens REAL NOT NULL,
    output_tokens REAL NOT NULL,
    usd REAL NOT NULL,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE estimates (
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    factor REAL NOT NULL, -- reported tokens of a prompt for each estimated one
    output REAL NOT NULL, -- mean length of an answer in tokens
    samples INTEGER NOT NULL,
    PRIMARY KEY (provider, model)
) STRICT, WITHOUT ROWID;

CREATE VIEW usage AS
SELECT provider || iif(model = '', '', '/' || model) || iif(credential = '', '', '@' || credential) AS scope,
       account, region, dimension, round(used, 3) AS used, round(before, 3) AS before, unit, clock,
       strftime('%Y-%m-%dT%H:%M:%fZ', started / 1000.0, 'unixepoch') AS started,
       strftime('%Y-%m-%dT%H:%M:%fZ', resets_at / 1000.0, 'unixepoch') AS resets_at,
       limit_value, limit_source, strftime('%Y-%m-%dT%H:%M:%fZ', limit_at / 1000.0, 'unixepoch') AS limit_at
FROM meters;
