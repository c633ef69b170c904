/** What a provider was asked for, day by day, over all orgs: what its bill should say. Calls by an org's own key are not in it. */
import type { MayLackCalls } from "../../base/operation/incomplete-since.ts";
import type { ClickHouse } from "../clickhouse/client.ts";
import type { WaitForInserts } from "../clickhouse/inserted-until.ts";

/** A day (UTC), an endpoint, and the model's name there. */
export interface ProviderUsageRow {
  readonly day: string;
  readonly endpointId: string;
  readonly upstreamModel: string;
  readonly requests: number;
  /** Whole prompts, cached parts included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** What the calls cost their orgs; calls of test keys as shown. */
  readonly costMicroUsd: number;
  /** Calls that used tokens at no price. */
  readonly unpriced: number;
  /** Calls whose tokens the gateway estimated. */
  readonly estimated: number;
}

interface ProviderUsageDeps {
  readonly clickhouse: Pick<ClickHouse, "rows">;
  readonly waitForInserts: WaitForInserts;
}

/** More than any provider has endpoints and days in one bill. */
const MOST_ROWS = 50_000;

/** @param until exclusive @throws WeirError `analytics_unavailable` */
export type ProviderUsage = (
  provider: string,
  from: string,
  until: string,
) => Promise<MayLackCalls & { readonly rows: readonly ProviderUsageRow[] }>;

export const providerUsage =
  ({ clickhouse, waitForInserts }: ProviderUsageDeps): ProviderUsage =>
  async (provider, from, until) => {
    const missingSinceMs = await waitForInserts();
    const rows = await clickhouse.rows<ProviderUsageRow>(
      `SELECT toString(toDate(ts, 'UTC')) AS day, endpoint_id AS endpointId, upstream_model AS upstreamModel,
         count() AS requests, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
         sum(cache_read_tokens) AS cacheReadTokens, sum(cache_write_tokens) AS cacheWriteTokens,
         sum(cost_micro) AS costMicroUsd,
         countIf(cost_micro = 0 AND input_tokens + output_tokens > 0) AS unpriced,
         countIf(usage_source = 'estimated') AS estimated
       FROM requests
       WHERE provider = {provider:String} AND NOT byok
         AND ts >= toDateTime64({from:String}, 3, 'UTC') AND ts < toDateTime64({until:String}, 3, 'UTC')
       GROUP BY day, endpoint_id, upstream_model
       ORDER BY day, endpoint_id, upstream_model LIMIT ${MOST_ROWS}`,
      { provider, from: `${from} 00:00:00`, until: `${until} 00:00:00` },
    );
    return { rows, missingSinceMs };
  };
