-- Whether a call was a stream: the first content of a whole answer tells nothing of first tokens.
ALTER TABLE shadow_runs
    ADD COLUMN IF NOT EXISTS stream Bool DEFAULT true;
