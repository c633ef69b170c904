-- The row of the table of refusals that the provider's answer to an attempt matched; empty where none did.
ALTER TABLE requests
    ADD COLUMN IF NOT EXISTS `attempt_rows.refusal` Array(LowCardinality(String)) AFTER `attempt_rows.upstream_code`;

CREATE OR REPLACE VIEW attempts AS
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
    try.refusal AS refusal,
    try.upstream_message AS upstream_message,
    try.ttft_ms AS ttft_ms,
    try.duration_ms AS duration_ms,
    try.output_tokens AS output_tokens
FROM requests
ARRAY JOIN attempt_rows AS try;
