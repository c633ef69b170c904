-- The ledgers of orgs, where an installation has several cells. One row an entry, in no partitions: of rows with the same org and
-- number one is left when their parts are merged, also where their times differ. Money records: kept for good.
CREATE TABLE IF NOT EXISTS ledger
(
    org_id String CODEC(ZSTD(1)),
    seq UInt64 CODEC(Delta, ZSTD(1)),
    kind LowCardinality(String),
    amount_micro Int64 CODEC(ZSTD(1)),
    balance_micro Int64 CODEC(Delta, ZSTD(1)),
    ts DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    request_id String CODEC(ZSTD(1)),
    ref_type LowCardinality(String),
    ref_id String CODEC(ZSTD(1)),
    -- Nearly all entries are settles: the others are found without reading those between them.
    INDEX kind_index kind TYPE set(16) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (org_id, seq)
SETTINGS
    non_replicated_deduplication_window = 10000,
    fsync_after_insert = 1,
    fsync_part_directory = 1;
