-- Sums by hour, for usage: 100 million requests are a few thousand rows here.
CREATE TABLE IF NOT EXISTS usage_hourly
(
    org_id String,
    hour DateTime('UTC'),
    project_id String,
    key_id String,
    model LowCardinality(String),
    provider LowCardinality(String),
    byok Bool,
    app_id String,
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
    ttft AggregateFunction(quantilesTDigestIf(0.5, 0.95, 0.99), UInt32, UInt8),
    duration AggregateFunction(quantilesTDigest(0.5, 0.95, 0.99), UInt32)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (org_id, hour, project_id, key_id, model, provider, byok, app_id, environment)
TTL hour + INTERVAL 1100 DAY DELETE
SETTINGS
    non_replicated_deduplication_window = 10000,
    ttl_only_drop_parts = 1,
    fsync_after_insert = 1,
    fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS usage_hourly_view TO usage_hourly AS
SELECT
    org_id,
    toStartOfHour(toDateTime(ts, 'UTC'), 'UTC') AS hour,
    project_id,
    key_id,
    model,
    provider,
    byok,
    app_id,
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
    quantilesTDigestIfState(0.5, 0.95, 0.99)(ttft_ms, toUInt8(ttft_ms > 0)) AS ttft,
    quantilesTDigestState(0.5, 0.95, 0.99)(duration_ms) AS duration
FROM requests
GROUP BY org_id, hour, project_id, key_id, model, provider, byok, app_id, environment;

-- How endpoints do, over all orgs: what the catalog shows and routing may read.
CREATE TABLE IF NOT EXISTS attempts_hourly
(
    endpoint_id LowCardinality(String),
    hour DateTime('UTC'),
    provider LowCardinality(String),
    model LowCardinality(String),
    environment LowCardinality(String),
    attempts SimpleAggregateFunction(sum, UInt64),
    ok SimpleAggregateFunction(sum, UInt64),
    -- Failures that are the endpoint's own.
    down SimpleAggregateFunction(sum, UInt64),
    output_tokens SimpleAggregateFunction(sum, UInt64),
    ttft AggregateFunction(quantilesTDigestIf(0.5, 0.95), UInt32, UInt8),
    -- Milliseconds an output token, after the first.
    tpot AggregateFunction(quantilesTDigestIf(0.5, 0.95), Float32, UInt8)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (endpoint_id, hour, provider, model, environment)
TTL hour + INTERVAL 400 DAY DELETE
SETTINGS
    non_replicated_deduplication_window = 10000,
    ttl_only_drop_parts = 1,
    fsync_after_insert = 1,
    fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS attempts_hourly_view TO attempts_hourly AS
SELECT
    try.endpoint_id AS endpoint_id,
    toStartOfHour(toDateTime(try.ts, 'UTC'), 'UTC') AS hour,
    try.provider AS provider,
    model,
    environment,
    count() AS attempts,
    countIf(try.outcome = 'ok') AS ok,
    countIf(try.error_class IN ('capacity', 'auth', 'server', 'network', 'timeout', 'protocol')) AS down,
    sum(toUInt64(try.output_tokens)) AS output_tokens,
    quantilesTDigestIfState(0.5, 0.95)(try.ttft_ms, toUInt8(try.ttft_ms > 0)) AS ttft,
    quantilesTDigestIfState(0.5, 0.95)
    (
        toFloat32((toInt64(try.duration_ms) - toInt64(try.ttft_ms)) / greatest(toInt64(try.output_tokens) - 1, 1)),
        toUInt8(try.ttft_ms > 0 AND try.output_tokens > 1 AND try.duration_ms >= try.ttft_ms)
    ) AS tpot
FROM requests
ARRAY JOIN attempt_rows AS try
GROUP BY endpoint_id, hour, provider, model, environment;

-- One row an attempt, for analysts: nothing is stored twice.
CREATE VIEW IF NOT EXISTS attempts AS
SELECT
    org_id,
    request_id,
    project_id,
    key_id,
    model,
    environment,
    try.attempt AS attempt,
    try.ts AS ts,
    try.provider AS provider,
    try.endpoint_id AS endpoint_id,
    try.pool_id AS pool_id,
    try.key_hint AS key_hint,
    try.outcome AS outcome,
    try.http_status AS http_status,
    try.error_class AS error_class,
    try.upstream_code AS upstream_code,
    try.upstream_message AS upstream_message,
    try.ttft_ms AS ttft_ms,
    try.duration_ms AS duration_ms,
    try.output_tokens AS output_tokens
FROM requests
ARRAY JOIN attempt_rows AS try;
