-- All that was said with a failure that no rule knows, so that it can be looked at again. It goes with its attempt.
CREATE TABLE evidence (
    place INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    position INTEGER NOT NULL, -- of the attempt within the request
    headers TEXT NOT NULL, -- lines of `name: value`
    body TEXT NOT NULL,
    log TEXT NOT NULL,
    UNIQUE (request_id, position)
) STRICT;

CREATE TRIGGER evidence_goes_with_its_attempt AFTER DELETE ON attempts BEGIN
    DELETE FROM evidence WHERE request_id = old.request_id AND position = old.position;
END;
