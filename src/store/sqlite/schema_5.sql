-- The alarm: what was raised and told.

-- What the log has forgotten, for counters that never fall.
