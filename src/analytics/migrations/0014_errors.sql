-- What the client was told where a call failed or was refused: the words, and what they say as JSON. Empty where there was no error.
ALTER TABLE requests
    ADD COLUMN IF NOT EXISTS error_message String CODEC(ZSTD(1)) AFTER error_code,
    ADD COLUMN IF NOT EXISTS error_details String CODEC(ZSTD(1)) AFTER error_message;
