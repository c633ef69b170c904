-- Roll-ups are kept for good. A TTL can be removed only where there is one.
-- Only if: SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = 'usage_hourly' AND position(engine_full, ' TTL ') > 0
ALTER TABLE usage_hourly REMOVE TTL;

-- Only if: SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = 'attempts_hourly' AND position(engine_full, ' TTL ') > 0
ALTER TABLE attempts_hourly REMOVE TTL;

-- Of streams only: the first byte of a whole answer comes with its last token, and all of its tokens come at once.
-- The rows of an insertion are one batch: its name need not be summed up.
ALTER TABLE usage_hourly_view MODIFY QUERY
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
    quantilesTDigestIfState(0.5, 0.95, 0.99)(ttft_ms, toUInt8(stream AND ttft_ms > 0)) AS ttft,
    quantilesTDigestState(0.5, 0.95, 0.99)(duration_ms) AS duration,
    map(toString(any(spool_run)), max(spool_batch)) AS batches
FROM requests
WHERE NOT spool_repaired
GROUP BY org_id, hour, project_id, key_id, model, provider, byok, app_id, environment;

-- An org's own key that is wrong or used up is no failure of the endpoint.
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
    ) AS tpot,
    map(toString(any(spool_run)), max(spool_batch)) AS batches
FROM requests
ARRAY JOIN attempt_rows AS try
WHERE NOT spool_repaired
GROUP BY endpoint_id, hour, provider, model, environment;
