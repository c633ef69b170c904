/**
 * Money is integers: nano-USD per unit for prices, micro-USD for every amount. No float ever holds an amount. Rounding
 * happens once per cost line, half up to the micro-USD (specification, "Usage and cost objects").
 */
import { fail } from "./errors.ts";

export type CostKind =
  | "input"
  | "cache_read"
  | "cache_write"
  | "output"
  | "reasoning"
  | "request"
  | "image"
  | "search_unit"
  /** Uses of a tool that the provider runs: its own web search, code execution, … */
  | "server_tool"
  /** The only line where an org's own provider key answered. */
  | "byok_fee";

/** One line of a charge; also its wire shape. */
export interface CostLine {
  readonly kind: CostKind;
  readonly units: number;
  readonly unit_price_nano: number;
  readonly micro_usd: number;
  /** Name of the tool; only of a line of kind `server_tool`. */
  readonly tool?: string;
  /** Name of the tier whose price it is; absent: the standard price. */
  readonly tier?: string;
}

/** A whole charge; also its wire shape. `total_micro_usd` is the sum of the lines. */
export interface Cost {
  readonly total_micro_usd: number;
  readonly lines: readonly CostLine[];
  readonly price_version: string;
}

/** Prices of tokens, integer nano-USD per token. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  /** Absent where the endpoint has no cache price: cached tokens then cost `input`. */
  readonly cacheRead?: number;
  /** Cache entries kept for five minutes, where the provider distinguishes durations. */
  readonly cacheWrite?: number;
  /** Cache entries kept for an hour; absent where they cost the same. */
  readonly cacheWrite1h?: number;
  /** Absent where reasoning is priced as output. */
  readonly reasoning?: number;
}

/** Prices of an endpoint as charged (markup included), integer nano-USD per unit. */
export interface UnitPrices extends TokenPrices {
  /** `pv_` + ULID; changes whenever any price does. */
  readonly version: string;
  readonly request?: number;
  readonly image?: number;
  readonly searchUnit?: number;
  /** Prices of tokens at a tier, by its name: `priority`, `flex`, `fast`, `us`; of several together, `fast+us`. */
  readonly tiers?: Readonly<Record<string, TokenPrices>>;
  /** Per use of a tool that the provider runs, by its name: `web_search`. */
  readonly serverTools?: Readonly<Record<string, number>>;
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * `units × unitPriceNano` in micro-USD, rounded half up.
 * @throws WeirError `internal` when an argument is not a safe non-negative integer or the amount is not safe.
 */
export function lineMicroUsd(units: number, unitPriceNano: number): number {
  if (!isAmount(units) || !isAmount(unitPriceNano)) {
    throw fail("internal", `not a countable amount: ${units} × ${unitPriceNano}`);
  }
  const nano = units * unitPriceNano;
  if (nano < Number.MAX_SAFE_INTEGER - 1000) return Math.floor((nano + 500) / 1000);
  const micro = (BigInt(units) * BigInt(unitPriceNano) + 500n) / 1000n;
  if (micro > SAFE) throw fail("internal", "amount out of range");
  return Number(micro);
}

/** Undefined where there are no units. @param tier name of the tier whose price it is; empty: the standard price */
export function lineOf(
  kind: CostKind,
  units: number,
  unitPriceNano: number,
  tier = "",
): CostLine | undefined {
  if (units === 0) return undefined;
  const line = { kind, units, unit_price_nano: unitPriceNano, micro_usd: lineMicroUsd(units, unitPriceNano) };
  return tier === "" ? line : { ...line, tier };
}

/**
 * Converts USD per million units (as in price lists) to integer nano-USD per unit, half up; a price above zero stays
 * above zero.
 */
export function nanoFromUsdPerMillion(usd: number): number {
  if (!(usd >= 0) || usd > 1e9) throw fail("internal", `not a price: ${usd}`);
  if (usd === 0) return 0;
  // Through a decimal string: 0.1 × 1000 and 1.005 × 1000 are not exact in binary. Below 1e-6 the string has an exponent.
  return usd < 1e-6 ? 1 : Math.max(1, Math.round(Number(`${usd}e3`)));
}

/** Converts nano-USD per unit back to USD per million units, for catalog answers. */
export const usdPerMillionFromNano = (nano: number): number => Number(`${nano}e-3`);

/** Price with a markup in basis points, rounded half up to the nano. */
export const withMarkup = (nano: number, markupBps: number): number =>
  Number((BigInt(nano) * BigInt(10_000 + markupBps) + 5000n) / 10_000n);

/** A micro-USD amount as a decimal string with two to six fractional digits: 25000000 → "25.00". */
export function usdString(microUsd: number): string {
  const sign = microUsd < 0 ? "-" : "";
  const abs = Math.abs(microUsd);
  const fraction = String(abs % 1_000_000)
    .padStart(6, "0")
    .replace(/0{1,4}$/, "");
  return `${sign}${Math.floor(abs / 1_000_000)}.${fraction}`;
}

export const isAmount = (n: number): boolean => Number.isSafeInteger(n) && n >= 0;

/** @throws Error for what no hold or charge may be: negative, or no whole number of micro-USD */
export function assertAmount(microUsd: number): void {
  if (!isAmount(microUsd)) throw new Error(`not an amount: ${microUsd}`);
}
