/**
 * Converts listed prices, in USD, to integer nano-USD per unit, and checks which prices a task needs: a missing price
 * must never make anything free.
 */
import type { Task } from "../endpoint.ts";
import { nanoFromUsdPerMillion, withMarkup } from "../money.ts";
import type { PriceTable } from "./price-versions.ts";
import type { PriceEntry } from "./schema.ts";

/** Prices from an instant on. */
export interface DatedPrices {
  /** Milliseconds since 1970. */
  readonly fromMs: number;
  /** As charged, markup included. */
  readonly prices: PriceTable;
  readonly listPrices: PriceTable;
}

export interface PriceFault {
  /** Absent where the fault concerns the price as a whole. */
  readonly key?: string;
  readonly message: string;
}

type Kind = "input" | "output" | "search_unit";

const UNITS: Readonly<Record<Kind, string>> = {
  input: "input tokens",
  output: "output tokens",
  search_unit: "search units",
};

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
    faults.push({ key, message: `a price of 0 gives ${UNITS[key]} away; add free: true if that is meant` });
  }
  return faults;
}

/** Integer nano-USD per unit; keys absent from the file stay absent. */
export function listPriceTable(price: PriceEntry): PriceTable {
  return Object.freeze({
    input: nanoFromUsdPerMillion(price.input ?? 0),
    output: nanoFromUsdPerMillion(price.output ?? 0),
    ...given("cacheRead", price.cache_read),
    ...given("cacheWrite", price.cache_write),
    ...given("cacheWrite1h", price.cache_write_1h),
    ...given("reasoning", price.reasoning),
    ...given("request", price.request, 1_000_000),
    ...given("image", price.image, 1_000_000),
    ...given("searchUnit", price.search_unit, 1_000),
  });
}

type Optional = Exclude<keyof PriceTable, "input" | "output">;

/** @param factor converts the listed unit to a million. */
const given = (key: Optional, usd: number | undefined, factor = 1): Partial<PriceTable> =>
  usd === undefined ? {} : { [key]: nanoFromUsdPerMillion(usd * factor) };

/** Applies the markup to every price, rounded half up to the nano-USD. */
export function markedUp(list: PriceTable, markupBps: number): PriceTable {
  const charged = Object.entries(list).map(([key, nano]) => [key, withMarkup(nano, markupBps)]);
  return Object.freeze(Object.fromEntries(charged) as unknown as PriceTable);
}
