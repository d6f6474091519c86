-- Where the JSON of an answer stood in its text: whole, fenced or surrounded. NULL where none was asked for.
ALTER TABLE attempts ADD COLUMN extracted TEXT;
