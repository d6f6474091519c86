-- What is asked of the answer that a conversation waits for: who goes on with it must ask the same.
ALTER TABLE sessions ADD COLUMN asked TEXT; -- JSON: a schema, and the rules of checks
