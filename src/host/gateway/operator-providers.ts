/** What the operator's view of providers asks of other rooms: health, keys, and what refusals mean. */
import type { RefusedAttempts } from "../../analytics/usage/provider-refusals.ts";
import type { Endpoint, ProviderKey } from "../../base/endpoint.ts";
import type {
  KeyRest,
  OperatorProviderDeps,
  ProviderRefusal,
} from "../../catalog/operator/provider-operations.ts";
import { TABLE } from "../../inference/upstream/refusals/table.ts";
import { isUnmatched } from "../../inference/upstream/refusals/unmatched.ts";
import type { Health } from "../../routing/health/health.ts";
import type { House } from "./house.ts";

type Rooms = Pick<House, "analytics" | "ground" | "people" | "routing">;

export const operatorProviderDeps = (
  { analytics, ground, people, routing: { health } }: Rooms,
  cell: string,
): OperatorProviderDeps => ({
  catalog: ground.catalog,
  clock: ground.clock,
  healthOf: (endpoint) => health.live(endpoint),
  downSinceMs: (endpoint) => health.outage(endpoint)?.sinceMs,
  restOf: (endpoint, key) => restOf(health, endpoint, key),
  orgKeysOf: (providerId) => people.account.ownKeys.countOf(providerId),
  refusals: async () => {
    const rows = await analytics.providerRefusals();
    return rows && refusalsOf(rows);
  },
  cell,
});

function restOf(health: Health, endpoint: Endpoint, key: ProviderKey): KeyRest | undefined {
  const cooling = health.cooling(endpoint, key);
  if (cooling === undefined) return undefined;
  const { refusedForMs = 0, outForMs, isForbidden } = cooling;
  const why = refusedForMs > 0 ? "refused" : isForbidden ? "forbidden" : "capacity";
  return { why, forMs: Math.max(refusedForMs, outForMs) };
}

const MEANINGS: ReadonlyMap<string, string> = new Map(TABLE.map(({ id, meaning }) => [id, meaning]));

/** One for each provider, meaning and status, the most frequent first: rows of one meaning tell an operator the same. */
export function refusalsOf(rows: readonly RefusedAttempts[]): ProviderRefusal[] {
  const found = new Map<string, ProviderRefusal>();
  for (const row of rows) {
    const isWordless = row.refusal === "" && !isUnmatched(row);
    const meaning = MEANINGS.get(row.refusal) ?? (isWordless ? "fault" : "unmatched");
    const key = [row.provider, meaning, row.httpStatus, row.errorClass].join(" ");
    const known = found.get(key);
    const isNewer = known === undefined || row.lastMs > known.lastMs;
    found.set(key, {
      provider: row.provider,
      meaning,
      httpStatus: row.httpStatus,
      errorClass: row.errorClass,
      attempts: row.attempts + (known?.attempts ?? 0),
      ownKey: row.ownKey + (known?.ownKey ?? 0),
      row: isNewer ? row.refusal : known.row,
      lastMs: isNewer ? row.lastMs : known.lastMs,
      lastCode: isNewer ? row.upstreamCode : known.lastCode,
    });
  }
  return [...found.values()].sort((a, b) => b.attempts - a.attempts);
}
