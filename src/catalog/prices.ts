/**
 * Prices as a file lists them, in USD, to integer nano-USD a unit, and what must be priced for which task: nothing is
 * ever given away because a price is missing.
 */
import type { Task } from "../endpoint.ts";
import { nanoFromUsdPerMillion, withMarkup } from "../money.ts";
import type { PriceTable } from "./price-versions.ts";
import type { PriceEntry } from "./schema.ts";

export interface PriceFault {
  /** Absent where the fault is of the price as a whole. */
  readonly key?: string;
  readonly message: string;
}

type Kind = "input" | "output" | "search_unit";

const UNITS: Readonly<Record<Kind, string>> = {
  input: "input tokens",
  output: "output tokens",
  search_unit: "search units",
};

/** What is missing from a price, or given away without a word that it is meant. */
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
  // An embedding has no output tokens: a zero there gives nothing away.
  const counted: Kind[] = task === "generate" ? ["input", "output"] : ["input", "search_unit"];
  for (const key of counted) {
    if (price[key] !== 0 || price.free) continue;
    faults.push({ key, message: `a price of 0 gives ${UNITS[key]} away; add free: true if that is meant` });
  }
  return faults;
}

/** Integer nano-USD a unit; absent where the file has none. */
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

/** @param factor from the unit that the price is listed for to a million. */
const given = (key: Optional, usd: number | undefined, factor = 1): Partial<PriceTable> =>
  usd === undefined ? {} : { [key]: nanoFromUsdPerMillion(usd * factor) };

/** Every price of the table with a markup, rounded half up to the nano. */
export function markedUp(list: PriceTable, markupBps: number): PriceTable {
  const charged = Object.entries(list).map(([key, nano]) => [key, withMarkup(nano, markupBps)]);
  return Object.freeze(Object.fromEntries(charged) as unknown as PriceTable);
}
