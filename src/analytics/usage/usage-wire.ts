/** What questions about usage have in common: the range that they ask for, and the sums that answers give. */

import { z } from "zod";
import { fail } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { DAY_MS } from "../../base/time.ts";
import { instant } from "../requests/request-filters.ts";
import { type Period, SUMS } from "./usage-sums.ts";

const RANGES = { "24h": DAY_MS, "7d": 7 * DAY_MS, "30d": 30 * DAY_MS, "90d": 90 * DAY_MS } as const;
const MAX_RANGE_MS = 400 * DAY_MS;

/** Query parameters of a range. */
export const RANGE_FIELDS = {
  range: z
    .enum(["24h", "7d", "30d", "90d", "custom"])
    .default("24h")
    .describe("How far back from now; with `custom`, from `from` on."),
  from: instant.optional().describe("With range=custom: first instant."),
  to: instant.optional().describe("With range=custom: first instant after it; now unless given."),
};

const rangeQuery = z.object(RANGE_FIELDS);
export type RangeQuery = z.output<typeof rangeQuery>;

/** @throws WeirError 400 for a range that is not one */
export function periodOf(q: RangeQuery, nowMs: number): Period {
  if (q.range !== "custom") {
    for (const name of ["from", "to"] as const) {
      if (q[name] !== undefined) {
        throw fail("invalid_value", `\`${name}\` goes with range=custom.`, { param: `/${name}` });
      }
    }
    return { fromMs: nowMs - RANGES[q.range], toMs: nowMs };
  }
  if (q.from === undefined) throw fail("invalid_value", "range=custom needs `from`.", { param: "/from" });
  const fromMs = Date.parse(q.from);
  const toMs = q.to === undefined ? nowMs : Date.parse(q.to);
  if (fromMs >= toMs) throw fail("invalid_value", "`from` must be before `to`.", { param: "/from" });
  if (toMs - fromMs > MAX_RANGE_MS) {
    throw fail("invalid_value", "A range has at most 400 days.", { param: "/from" });
  }
  return { fromMs, toMs };
}

/** One field for each of {@link SUMS}. */
export const SUM_FIELDS = {
  requests: z.int().describe("How many calls."),
  ok: z.int().describe("Calls that were answered whole."),
  errors: z.int().describe("`error` and `rejected`; `cancelled` counts as neither."),
  ...field.tokens(z.int()),
  cost_micro: z.int().describe("What was charged: calls with test keys cost nothing."),
};

export const totalsSchema = z.object(SUM_FIELDS);
export type Totals = z.output<typeof totalsSchema>;

/** The sums of a row, without its other columns. */
export const totalsOf = (row: Totals): Totals =>
  Object.fromEntries(SUMS.map((name) => [name, row[name]])) as unknown as Totals;

/** The sums of rows that have no call in common. */
export const added = (rows: readonly Totals[]): Totals =>
  Object.fromEntries(
    SUMS.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)]),
  ) as unknown as Totals;

export const ZERO_TOTALS = Object.freeze(added([]));

const milliseconds = (what: string) =>
  z.int().nullable().describe(`${what}, milliseconds; null without a measured call.`);

/** Sums with what is told beside them: how long calls took, and how much of the prompts came from caches. */
export const measuredSchema = totalsSchema.extend({
  latency: z
    .object({
      ttft_p50_ms: milliseconds("Median time to the first byte of streams"),
      ttft_p95_ms: milliseconds("Time to the first byte that 95 % of streams did not exceed"),
      duration_p50_ms: milliseconds("Median time of whole calls that reached an endpoint"),
      duration_p95_ms: milliseconds("Time that 95 % of the calls that reached an endpoint did not exceed"),
    })
    .describe("How long calls took; null in groups by tag of a range with more than 100,000 calls."),
  cache_share: z
    .number()
    .nullable()
    .describe("0 to 1: `cache_read_tokens` of `input_tokens`; null without input."),
});
export type Measured = z.output<typeof measuredSchema>;

/** A row of sums with its times: p50 and p95 in milliseconds, null (NaN) where nothing was measured. */
export interface TimedTotals extends Totals {
  readonly ttft?: readonly (number | null)[];
  readonly duration?: readonly (number | null)[];
}

export function measuredOf(row: TimedTotals): Measured {
  const [firstP50, firstP95] = row.ttft ?? [];
  const [wholeP50, wholeP95] = row.duration ?? [];
  const whole = (ms: number | null | undefined) => (ms === null || ms === undefined ? null : Math.round(ms));
  return {
    ...totalsOf(row),
    latency: {
      ttft_p50_ms: whole(firstP50),
      ttft_p95_ms: whole(firstP95),
      duration_p50_ms: whole(wholeP50),
      duration_p95_ms: whole(wholeP95),
    },
    cache_share:
      row.input_tokens > 0 ? Math.round((row.cache_read_tokens / row.input_tokens) * 1e4) / 1e4 : null,
  };
}

export const ZERO_MEASURED: Measured = Object.freeze(measuredOf(ZERO_TOTALS));
