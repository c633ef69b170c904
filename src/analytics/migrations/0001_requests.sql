-- One row a call. docs/analytics.md says what each column means.
CREATE TABLE IF NOT EXISTS requests
(
    request_id String CODEC(ZSTD(1)),
    ts DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    org_id String CODEC(ZSTD(1)),
    project_id String CODEC(ZSTD(1)),
    key_id String CODEC(ZSTD(1)),
    environment LowCardinality(String),
    cell LowCardinality(String),
    dialect_in LowCardinality(String),
    model LowCardinality(String),
    provider LowCardinality(String),
    endpoint_id LowCardinality(String),
    upstream_model LowCardinality(String),
    region LowCardinality(String),
    status LowCardinality(String),
    http_status UInt16,
    error_code LowCardinality(String),
    stop_reason LowCardinality(String),
    attempts UInt8,
    input_tokens UInt32,
    output_tokens UInt32,
    cache_read_tokens UInt32,
    cache_write_tokens UInt32,
    reasoning_tokens UInt32,
    usage_source LowCardinality(String),
    cost_micro Int64,
    charged Bool,
    price_version_id LowCardinality(String),
    cost_lines Nested
    (
        kind LowCardinality(String),
        units UInt64,
        unit_price_nano UInt64,
        micro_usd Int64
    ),
    ttft_ms UInt32,
    upstream_ttft_ms UInt32,
    duration_ms UInt32,
    gw_overhead_ms Float64 CODEC(ZSTD(1)),
    bytes_in UInt64,
    bytes_out UInt64,
    stream Bool,
    byok Bool,
    zdr Bool,
    tool_calls UInt16,
    has_images Bool,
    has_tools Bool,
    has_schema Bool,
    app_id String CODEC(ZSTD(1)),
    user_hash String CODEC(ZSTD(1)),
    tags Map(LowCardinality(String), String),
    user_agent String CODEC(ZSTD(1)),
    client_ip_prefix String CODEC(ZSTD(1)),
    route_trace String CODEC(ZSTD(1)),
    warnings Array(LowCardinality(String)),
    payload_state LowCardinality(String),
    retention_days UInt16,
    attempt_rows Nested
    (
        attempt UInt8,
        ts DateTime64(3, 'UTC'),
        provider LowCardinality(String),
        endpoint_id LowCardinality(String),
        pool_id LowCardinality(String),
        key_hint LowCardinality(String),
        outcome LowCardinality(String),
        http_status UInt16,
        error_class LowCardinality(String),
        upstream_code LowCardinality(String),
        upstream_message String,
        ttft_ms UInt32,
        duration_ms UInt32,
        output_tokens UInt32
    ),
    INDEX request_id_index request_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(ts)
ORDER BY (org_id, ts, request_id)
TTL toDateTime(ts) + INTERVAL 400 DAY DELETE
SETTINGS
    -- Blocks whose tokens are remembered: a batch that comes again is known by its token.
    non_replicated_deduplication_window = 10000,
    -- Old months go as files are deleted, not row by row.
    ttl_only_drop_parts = 1,
    -- The outbox forgets a row once it is acknowledged, so it must then stand on the disk.
    fsync_after_insert = 1,
    fsync_part_directory = 1;

-- What was asked and answered, redacted. A table of its own: it lives as long as each org wants, not as its record.
CREATE TABLE IF NOT EXISTS payloads
(
    org_id String CODEC(ZSTD(1)),
    ts DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    request_id String CODEC(ZSTD(1)),
    expires_at DateTime('UTC') CODEC(Delta, ZSTD(1)),
    request String CODEC(ZSTD(3)),
    response String CODEC(ZSTD(3)),
    INDEX request_id_index request_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = MergeTree
-- By the day on which it ends: whatever the retention, a whole partition expires at once and is dropped.
PARTITION BY toDate(expires_at)
ORDER BY (org_id, ts, request_id)
TTL expires_at DELETE
SETTINGS
    non_replicated_deduplication_window = 10000,
    ttl_only_drop_parts = 1,
    fsync_after_insert = 1,
    fsync_part_directory = 1;
