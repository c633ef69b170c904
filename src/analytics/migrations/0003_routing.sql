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
