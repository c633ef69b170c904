-- One row a copy of a call that was sent to a policy's shadow endpoint. docs/analytics.md says what each column means.
CREATE TABLE IF NOT EXISTS shadow_runs
(
    org_id String CODEC(ZSTD(1)),
    ts DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    request_id String CODEC(ZSTD(1)),
    shadow_request_id String CODEC(ZSTD(1)),
    policy LowCardinality(String),
    policy_version UInt32,
    primary_endpoint LowCardinality(String),
    shadow_endpoint LowCardinality(String),
    bill LowCardinality(String),
    charged Bool,
    primary_status LowCardinality(String),
    shadow_status LowCardinality(String),
    shadow_error_class LowCardinality(String),
    primary_cost_micro Int64,
    shadow_cost_micro Int64,
    primary_ttft_ms UInt32,
    shadow_ttft_ms UInt32,
    primary_stop_reason LowCardinality(String),
    shadow_stop_reason LowCardinality(String),
    stop_mismatch Bool,
    primary_output_tokens UInt32,
    shadow_output_tokens UInt32
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(ts)
ORDER BY (org_id, policy, ts, request_id)
TTL toDateTime(ts) + INTERVAL 400 DAY DELETE
SETTINGS
    non_replicated_deduplication_window = 10000,
    ttl_only_drop_parts = 1,
    fsync_after_insert = 1,
    fsync_part_directory = 1;
