-- What decided about a call, and what it asked for: a draft of a policy can be run over it again.
ALTER TABLE requests
    ADD COLUMN IF NOT EXISTS policy LowCardinality(String) AFTER has_schema,
    ADD COLUMN IF NOT EXISTS policy_version UInt32 AFTER policy,
    ADD COLUMN IF NOT EXISTS rule LowCardinality(String) AFTER policy_version,
    ADD COLUMN IF NOT EXISTS canary LowCardinality(String) AFTER rule,
    ADD COLUMN IF NOT EXISTS experiment LowCardinality(String) AFTER canary,
    ADD COLUMN IF NOT EXISTS arm LowCardinality(String) AFTER experiment,
    ADD COLUMN IF NOT EXISTS max_tokens UInt32 AFTER arm,
    ADD COLUMN IF NOT EXISTS parallel_tools Bool AFTER max_tokens,
    ADD COLUMN IF NOT EXISTS has_audio Bool AFTER parallel_tools,
    ADD COLUMN IF NOT EXISTS route_options String CODEC(ZSTD(1)) AFTER has_audio,
    ADD COLUMN IF NOT EXISTS session_hash String CODEC(ZSTD(1)) AFTER route_options;

-- Attempts that were given up on: the client left, or another endpoint was faster. They tell nothing of uptime.
ALTER TABLE attempts_hourly
    ADD COLUMN IF NOT EXISTS cancelled SimpleAggregateFunction(sum, UInt64) AFTER down;

-- An org's own key that is wrong or used up is no failure of the endpoint; a whole answer has no first token, and all of its
-- tokens come at once. One statement: no row is missed between.
ALTER TABLE attempts_hourly_view MODIFY QUERY
SELECT
    try.endpoint_id AS endpoint_id,
    toStartOfHour(toDateTime(try.ts, 'UTC'), 'UTC') AS hour,
    try.provider AS provider,
    model,
    environment,
    count() AS attempts,
    countIf(try.outcome = 'ok') AS ok,
    countIf(
        try.error_class IN ('server', 'network', 'timeout', 'protocol')
        OR (try.error_class IN ('capacity', 'auth') AND NOT startsWith(try.pool_id, 'byok_'))
    ) AS down,
    countIf(try.outcome = 'cancelled') AS cancelled,
    sum(toUInt64(try.output_tokens)) AS output_tokens,
    quantilesTDigestIfState(0.5, 0.95)(try.ttft_ms, toUInt8(stream AND try.ttft_ms > 0)) AS ttft,
    quantilesTDigestIfState(0.5, 0.95)
    (
        toFloat32((toInt64(try.duration_ms) - toInt64(try.ttft_ms)) / greatest(toInt64(try.output_tokens) - 1, 1)),
        toUInt8(stream AND try.ttft_ms > 0 AND try.output_tokens > 1 AND try.duration_ms >= try.ttft_ms)
    ) AS tpot
FROM requests
ARRAY JOIN attempt_rows AS try
GROUP BY endpoint_id, hour, provider, model, environment;
