/**
 * The history of prices: each set of prices an endpoint ever had is a version (`pv_` + ULID), kept for good, so that
 * any charge can be checked against the prices it was made from. Unchanged prices keep their version over restarts.
 */
import type { Clock } from "../clock.ts";
import { newId } from "../ids.ts";
import type { UnitPrices } from "../money.ts";
import type { Store } from "../store/store.ts";

/** Prices before they have a version; nano-USD a unit. */
export type PriceTable = Omit<UnitPrices, "version">;

export interface PricedEndpoint {
  readonly endpointId: string;
  /** As charged. */
  readonly prices: PriceTable;
  readonly listPrices: PriceTable;
  readonly markupBps: number;
}

export interface PriceVersion extends PricedEndpoint {
  readonly version: string;
  /** When it came into force, milliseconds since 1970. */
  readonly fromMs: number;
}

export interface CurrentVersion {
  readonly version: string;
  /** When it replaced another; undefined while the endpoint has had no other. */
  readonly changedMs: number | undefined;
}

export interface PriceVersions {
  /**
   * The version in force for each endpoint, by endpoint id; prices that differ from the last known get a new one,
   * also when they return to an earlier level (a version stands for a span of time). Durable once resolved.
   */
  assign(endpoints: readonly PricedEndpoint[]): Promise<ReadonlyMap<string, CurrentVersion>>;
  /** Every version of an endpoint, newest first. */
  history(endpointId: string): PriceVersion[];
}

/** Keeps the history in the store: one row a version, keyed `[endpoint id, 1, 2, …]`. */
export function storedPriceVersions(store: Store, clock: Clock): PriceVersions {
  const table = store.table<PriceVersion>("price_versions");
  const newestFirst = (endpointId: string, limit?: number) =>
    table.range({
      start: [endpointId, Number.MAX_SAFE_INTEGER],
      end: [endpointId, 0],
      reverse: true,
      ...(limit === undefined ? {} : { limit }),
    });
  return {
    assign: (endpoints) =>
      store.act(() => {
        const current = new Map<string, CurrentVersion>();
        for (const endpoint of endpoints) {
          const [last] = newestFirst(endpoint.endpointId, 1);
          const number = last === undefined ? 0 : Number((last.key as [string, number])[1]);
          let row = last?.value;
          if (row === undefined || fingerprint(row) !== fingerprint(endpoint)) {
            const nowMs = clock.now();
            row = { ...endpoint, version: newId("pv", nowMs), fromMs: nowMs };
            table.put([endpoint.endpointId, number + 1], row);
            current.set(endpoint.endpointId, {
              version: row.version,
              changedMs: number === 0 ? undefined : nowMs,
            });
          } else {
            current.set(endpoint.endpointId, {
              version: row.version,
              changedMs: number === 1 ? undefined : row.fromMs,
            });
          }
        }
        return current;
      }),
    history: (endpointId) => [...newestFirst(endpointId)].map(({ value }) => value),
  };
}

const FIELDS = [
  ...(["input", "output", "cacheRead", "cacheWrite", "reasoning"] as const),
  ...(["request", "image", "cacheWrite1h", "searchUnit"] as const),
];

/** Equal exactly when every price and the markup are. */
function fingerprint(p: PricedEndpoint): string {
  const of = (prices: PriceTable) => FIELDS.map((field) => prices[field] ?? "").join(",");
  return `${of(p.prices)};${of(p.listPrices)};${p.markupBps}`;
}
