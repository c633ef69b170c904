-- Which batch brought a row: a batch whose insertion may have failed half way is looked up, and completed.
ALTER TABLE requests
    ADD COLUMN IF NOT EXISTS spool_run LowCardinality(String),
    ADD COLUMN IF NOT EXISTS spool_batch UInt64 CODEC(ZSTD(1)),
    -- Inserted again, after it had been lost: the roll-ups get such a row by a statement of its own.
    ADD COLUMN IF NOT EXISTS spool_repaired Bool;

-- The greatest batch that is in, for each run of a spool: what a batch adds is in the same part as its number.
ALTER TABLE usage_hourly
    ADD COLUMN IF NOT EXISTS batches SimpleAggregateFunction(maxMap, Map(String, UInt64));
ALTER TABLE attempts_hourly
    ADD COLUMN IF NOT EXISTS batches SimpleAggregateFunction(maxMap, Map(String, UInt64));
