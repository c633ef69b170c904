-- When a call was settled: the order of the tail, which can be resumed after any of its calls.
ALTER TABLE requests
    ADD COLUMN IF NOT EXISTS settled_at DateTime64(6, 'UTC') DEFAULT toDateTime64(ts, 6, 'UTC') + toIntervalMillisecond(duration_ms) CODEC(Delta, ZSTD(1)) AFTER duration_ms,
    ADD INDEX IF NOT EXISTS settled_at_index settled_at TYPE minmax GRANULARITY 1;
