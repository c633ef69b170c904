-- What is recorded here as applied is never applied again, also after a power failure.
ALTER TABLE migrations MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

-- Sums by the tags of calls, one row a tag and value: a call has at most 32 tags. Without the other keys of usage, so that a
-- value costs a row a day, however many keys and models it was called with; such a filter reads the records, as parts of days do.
CREATE TABLE IF NOT EXISTS usage_tags_daily
(
    org_id String,
    tag LowCardinality(String),
    day DateTime('UTC'),
    value String,
    environment LowCardinality(String),
    requests SimpleAggregateFunction(sum, UInt64),
    ok SimpleAggregateFunction(sum, UInt64),
    errors SimpleAggregateFunction(sum, UInt64),
    input_tokens SimpleAggregateFunction(sum, UInt64),
    output_tokens SimpleAggregateFunction(sum, UInt64),
    cache_read_tokens SimpleAggregateFunction(sum, UInt64),
    cache_write_tokens SimpleAggregateFunction(sum, UInt64),
    reasoning_tokens SimpleAggregateFunction(sum, UInt64),
    cost_micro SimpleAggregateFunction(sum, Int64),
    batches SimpleAggregateFunction(maxMap, Map(String, UInt64))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (org_id, tag, day, value, environment)
SETTINGS
    non_replicated_deduplication_window = 10000,
    ttl_only_drop_parts = 1,
    fsync_after_insert = 1,
    fsync_part_directory = 1;

-- With which batch of each run the view begins, while the records of before are summed up (rollup-fill.ts).
CREATE TABLE IF NOT EXISTS usage_tags_daily_first
(
    run String,
    batch SimpleAggregateFunction(min, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY run;

CREATE MATERIALIZED VIEW IF NOT EXISTS usage_tags_daily_first_view TO usage_tags_daily_first AS
SELECT arrayJoin(mapKeys(batches)) AS run, min(batches[run]) AS batch
FROM usage_tags_daily
GROUP BY run;

-- The rows of an insertion are one batch: its name need not be summed up.
CREATE MATERIALIZED VIEW IF NOT EXISTS usage_tags_daily_view TO usage_tags_daily AS
SELECT
    org_id,
    tag,
    toStartOfDay(toDateTime(ts, 'UTC'), 'UTC') AS day,
    value,
    environment,
    count() AS requests,
    countIf(status = 'ok') AS ok,
    countIf(status IN ('error', 'rejected')) AS errors,
    sum(toUInt64(requests.input_tokens)) AS input_tokens,
    sum(toUInt64(requests.output_tokens)) AS output_tokens,
    sum(toUInt64(requests.cache_read_tokens)) AS cache_read_tokens,
    sum(toUInt64(requests.cache_write_tokens)) AS cache_write_tokens,
    sum(toUInt64(requests.reasoning_tokens)) AS reasoning_tokens,
    sumIf(requests.cost_micro, charged) AS cost_micro,
    map(toString(any(spool_run)), max(spool_batch)) AS batches
FROM requests
ARRAY JOIN mapKeys(tags) AS tag, mapValues(tags) AS value
WHERE NOT spool_repaired
GROUP BY org_id, tag, day, value, environment;
