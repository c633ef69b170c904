/**
 * Converts listed prices, in USD, to integer nano-USD per unit, and checks which prices a task needs: a missing price
 * must never make anything free.
 */
import type { Provider, Task } from "../../base/endpoint.ts";
import { nanoFromUsdPerMillion, type TokenPrices, withMarkup } from "../../base/money.ts";
import type { PricedEndpoint, PriceTable } from "./price-versions.ts";
import type { PriceEntry, TierPriceEntry } from "./schema.ts";

/** Prices from an instant on. */
export interface DatedPrices extends Pick<PricedEndpoint, "prices" | "listPrices"> {
  /** Milliseconds since 1970. */
  readonly fromMs: number;
}

export interface PriceFault {
  /** Absent where the fault concerns the price as a whole. */
  readonly key?: readonly string[];
  readonly message: string;
}

type Kind = "input" | "output" | "search_unit";

const UNITS: Readonly<Record<Kind, string>> = {
  input: "input tokens",
  output: "output tokens",
  search_unit: "search units",
};

const givenAway = (kind: Kind): string =>
  `a price of 0 gives ${UNITS[kind]} away; add free: true if that is meant`;

/** Without a price of their own these tokens count as others, which are usually cheaper. */
const DEARER = ["cache_write", "cache_write_1h", "reasoning"] as const;

/** Prices that are missing, or zero without `free: true`. */
export function priceFaults(task: Task, price: PriceEntry): PriceFault[] {
  const faults: PriceFault[] = [];
  const needed: Kind[] = task === "generate" ? ["input", "output"] : task === "embed" ? ["input"] : [];
  for (const key of needed) {
    if (price[key] === undefined) faults.push({ message: `a model that is asked to ${task} needs ${key}` });
  }
  if (task === "rerank" && price.input === undefined && price.search_unit === undefined) {
    faults.push({
      message: "a reranker needs search_unit (USD per 1,000), input (USD per million), or both",
    });
  }
  // An embedding has no output tokens, so an output price of zero is correct.
  const counted: Kind[] = task === "generate" ? ["input", "output"] : ["input", "search_unit"];
  for (const key of counted) {
    if (price[key] !== 0 || price.free) continue;
    faults.push({ key: [key], message: givenAway(key) });
  }
  for (const [tier, prices] of Object.entries(price.tiers ?? {})) {
    for (const key of ["input", "output"] as const) {
      if (prices[key] !== 0 || price.free) continue;
      faults.push({ key: ["tiers", tier, key], message: givenAway(key) });
    }
    for (const key of DEARER) {
      if (price[key] === undefined || prices[key] !== undefined) continue;
      const why = "so a tier needs it too: it would be charged as cheaper tokens";
      faults.push({ key: ["tiers", tier], message: `the standard price has ${key}, ${why}` });
    }
  }
  return faults;
}

/**
 * Integer nano-USD per unit; keys absent from the file stay absent.
 * @param defaults of the provider, for tools that the price does not name
 */
export function listPriceTable(price: PriceEntry, defaults: ToolPrices = {}): PriceTable {
  const { tiers } = price;
  return Object.freeze({
    ...tokenPrices({ ...price, input: price.input ?? 0, output: price.output ?? 0 }),
    ...given("request", price.request, 1_000_000),
    ...given("image", price.image, 1_000_000),
    ...given("searchUnit", price.search_unit, 1_000),
    ...(tiers !== undefined && { tiers: Object.freeze(mapped(tiers, tokenPrices)) }),
    ...serverToolPrices({ ...defaults, ...price.server_tools }),
  });
}

const tokenPrices = (price: TierPriceEntry): TokenPrices =>
  Object.freeze({
    input: nanoFromUsdPerMillion(price.input),
    output: nanoFromUsdPerMillion(price.output),
    ...given("cacheRead", price.cache_read),
    ...given("cacheWrite", price.cache_write),
    ...given("cacheWrite1h", price.cache_write_1h),
    ...given("reasoning", price.reasoning),
  });

function serverToolPrices(usdPerThousand: ToolPrices): Pick<PriceTable, "serverTools"> {
  if (Object.keys(usdPerThousand).length === 0) return {};
  const nanos = mapped(usdPerThousand, (usd) => nanoFromUsdPerMillion((usd ?? 0) * 1_000));
  return { serverTools: Object.freeze(nanos) };
}

function mapped<T, R>(all: Readonly<Record<string, T>>, act: (value: T) => R): Readonly<Record<string, R>> {
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, act(value)]));
}

/** USD per 1,000 uses. */
type ToolPrices = NonNullable<Provider["serverTools"]>;

type Optional = Exclude<keyof PriceTable, "input" | "output" | "tiers" | "serverTools">;

/** @param factor converts the listed unit to a million. */
const given = (key: Optional, usd: number | undefined, factor = 1): Partial<PriceTable> =>
  usd === undefined ? {} : { [key]: nanoFromUsdPerMillion(usd * factor) };

/** Applies the markup to every price, rounded half up to the nano-USD. */
export function markedUp({ tiers, serverTools, ...list }: PriceTable, markupBps: number): PriceTable {
  const charged = (prices: object) =>
    mapped(prices as Readonly<Record<string, number>>, (nano) => withMarkup(nano, markupBps));
  return Object.freeze({
    ...charged(list),
    ...(tiers && { tiers: Object.freeze(mapped(tiers, (prices) => Object.freeze(charged(prices)))) }),
    ...(serverTools && { serverTools: Object.freeze(charged(serverTools)) }),
  } as unknown as PriceTable);
}
