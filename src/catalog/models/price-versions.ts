/**
 * Price history: each set of prices an endpoint ever had is a version, kept for good, so that any charge can be checked
 * against its prices. A version's id is derived from the endpoint and the prices (`pv_` and 26 characters), so that all
 * processes of an installation give the same prices the same id, whenever each of them reads the catalog.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { contentId, lastBits } from "../../base/ids.ts";
import type { UnitPrices } from "../../base/money.ts";
import type { RowVersions, Store } from "../../store/store.ts";

/** Prices without a version id; nano-USD per unit. */
export type PriceTable = Omit<UnitPrices, "version">;

export interface PricedEndpoint {
  readonly endpointId: string;
  /** As charged, markup included. */
  readonly prices: PriceTable;
  readonly listPrices: PriceTable;
  readonly markupBps: number;
}

export interface PriceVersion extends PricedEndpoint {
  readonly version: string;
  /** When it became current, milliseconds since 1970. */
  readonly fromMs: number;
  /** Distinguishes versions of the same millisecond. */
  readonly serial: number;
}

export interface CurrentVersion {
  readonly version: string;
  /** When it replaced an earlier version; undefined for the endpoint's first. */
  readonly changedMs: number | undefined;
}

export interface PriceVersions {
  /**
   * The current version of each endpoint, by endpoint id. Prices that differ from the last known ones add a span to the
   * history; prices that return get the id they had. Versions of release 0.1 keep their own ids until the prices
   * change. Resolves once durable.
   * @param beside runs in the same act: what it puts is committed with the versions, or not at all. It gets the
   *   endpoints that had no version before
   */
  assign(
    endpoints: readonly PricedEndpoint[],
    beside?: (added: ReadonlySet<string>) => void,
  ): Promise<ReadonlyMap<string, CurrentVersion>>;
  /** The versions of an endpoint, newest first. @param most so many; every one unless given */
  history(endpointId: string, most?: number): PriceVersion[];
}

/** Version 1 had no serial: the ids were ULIDs, whose last ten bits count up within a millisecond. */
const ROWS: RowVersions<PriceVersion> = {
  version: 2,
  upgrade(row) {
    const earlier = row as Omit<PriceVersion, "serial">;
    return { ...earlier, serial: lastBits(earlier.version) };
  },
};

/** Keeps the history in the store: one row per version, keyed `[endpoint id, 1, 2, …]`. */
export function storedPriceVersions(store: Store, clock: Clock): PriceVersions {
  const table = store.table("price_versions", ROWS);
  const newestFirst = (endpointId: string, limit?: number) =>
    table.range({
      start: [endpointId, Number.MAX_SAFE_INTEGER],
      end: [endpointId, 0],
      reverse: true,
      ...(limit === undefined ? {} : { limit }),
    });
  return {
    assign: (endpoints, beside = () => {}) =>
      store.act(() => {
        const current = new Map<string, CurrentVersion>();
        const added = new Set<string>();
        let serial = 0;
        for (const endpoint of endpoints) {
          const [last] = newestFirst(endpoint.endpointId, 1);
          let number = last === undefined ? 0 : Number((last.key as [string, number])[1]);
          let row = last?.value;
          if (row === undefined || !isSamePrice(row, endpoint)) {
            if (row === undefined) added.add(endpoint.endpointId);
            row = { ...endpoint, version: versionOf(endpoint), fromMs: clock.now(), serial: serial++ };
            table.put([endpoint.endpointId, ++number], row);
          }
          current.set(endpoint.endpointId, {
            version: row.version,
            changedMs: number === 1 ? undefined : row.fromMs,
          });
        }
        beside(added);
        return current;
      }),
    history: (endpointId, most) => [...newestFirst(endpointId, most)].map(({ value }) => value),
  };
}

/** Prices that are one number each: all but the tables. */
export type SinglePrice = Exclude<keyof PriceTable, "tiers" | "serverTools">;

/** A price that is not here would change without a version. New ones stand at the end: fingerprints of before are in this order. */
const FIELDS = Object.keys({
  input: true,
  output: true,
  cacheRead: true,
  cacheWrite: true,
  reasoning: true,
  request: true,
  image: true,
  cacheWrite1h: true,
  searchUnit: true,
} satisfies Record<SinglePrice, true>) as SinglePrice[];

/** The version that these prices will have, where they follow those of `before`. */
export const versionAfter = (
  before: PricedEndpoint & { readonly version: string },
  endpoint: PricedEndpoint,
): string => (isSamePrice(before, endpoint) ? before.version : versionOf(endpoint));

export const isSamePrice = (a: PricedEndpoint, b: PricedEndpoint): boolean =>
  fingerprint(a) === fingerprint(b);

/** Same length and alphabet as a ULID. */
function versionOf(endpoint: PricedEndpoint): string {
  const content = `${endpoint.endpointId};${fingerprint(endpoint)}`;
  return contentId("pv", createHash("sha256").update(content).digest());
}

/** Equal if and only if all prices and the markup are equal. */
function fingerprint(p: PricedEndpoint): string {
  const of = (prices: PriceTable) =>
    FIELDS.map((field) => prices[field] ?? "").join(",") + extraPrices(prices);
  return `${of(p.prices)};${of(p.listPrices)};${p.markupBps}`;
}

/** Empty without such prices: versions of before tiers and tools had prices stay what they are. */
function extraPrices({ tiers, serverTools }: PriceTable): string {
  if (tiers === undefined && serverTools === undefined) return "";
  const tools = sorted(serverTools ?? {});
  const all = sorted(tiers ?? {}).map(([tier, prices]) => [tier, sorted(prices as object)]);
  return `,${JSON.stringify([all, tools])}`;
}

const sorted = (prices: object): [string, unknown][] =>
  Object.entries(prices).sort(([a], [b]) => (a < b ? -1 : 1));
