/**
 * Compares a provider's bill with our records, day by day (UTC) and model by model, both ways. The records keep no ids of the
 * upstream, so single calls are not matched. Our cost is what orgs were charged, so its drift is the operator's margin and whatever
 * is wrong; tokens should agree.
 */

import { fail } from "../../base/errors.ts";
import type { MayLackCalls } from "../../base/operation/incomplete-since.ts";
import { DAY_MS } from "../../base/time.ts";
import { type BillLine, type Figures, figuresOf, NOTHING } from "./formats.ts";

/** Port: what was asked of a provider, by day (UTC), endpoint and model there; `until` is exclusive. */
export type RecordedUsage = (
  provider: string,
  from: string,
  until: string,
) => Promise<MayLackCalls & { readonly rows: readonly Recorded[] }>;

export interface Recorded extends Readonly<Record<keyof Figures, number>> {
  readonly day: string;
  readonly endpointId: string;
  readonly upstreamModel: string;
  /** Calls that used tokens at no price. */
  readonly unpriced: number;
  /** Calls whose tokens the gateway estimated. */
  readonly estimated: number;
}

/**
 * `matched`: tokens agree within the tolerance. `drift`: they do not. `unbilled`: we recorded it, and the bill lacks it. `unrecorded`:
 * it is billed, and we recorded none of it.
 */
export const BILL_KINDS = ["matched", "drift", "unbilled", "unrecorded"] as const;

export interface BillRow {
  readonly day: string;
  /** The provider's name of the model, or our endpoint where the bill names that. */
  readonly model: string;
  readonly kind: (typeof BILL_KINDS)[number];
  /** Null in each figure that the bill does not state. */
  readonly billed: Figures;
  readonly recorded: Figures;
  /** Billed less recorded. */
  readonly drift: Figures;
  /** Calls of ours without a price, though the provider bills them. */
  readonly unpriced: number;
  readonly estimated: number;
}

/** The calls that may be missing are those of the bill's days. */
export interface ComparedBill extends MayLackCalls {
  /** The largest differences first. */
  readonly rows: readonly BillRow[];
}

/** A call is counted on the day on which it began, and ends less than a day later. */
const ENDS_WITHIN_MS = DAY_MS;
const MOST_DAYS = 62;
/** Bill rows by day and model. */
const MOST_ROWS = 20_000;

interface Pair {
  readonly day: string;
  readonly model: string;
  billed: Figures | undefined;
  recorded: Figures | undefined;
  unpriced: number;
  estimated: number;
}

/** @throws WeirError 400 where the bill is of too many days or models, 503 */
export async function compareBill(
  lines: AsyncIterable<BillLine>,
  {
    provider,
    toleranceBps,
    usage,
  }: {
    readonly provider: string;
    readonly toleranceBps: number;
    readonly usage: RecordedUsage;
  },
): Promise<ComparedBill> {
  const bill = await summed(lines);
  const days = [...new Set(Array.from(bill.values(), ({ day }) => day))].sort();
  const [from, to] = [days[0], days.at(-1)];
  if (from === undefined || to === undefined) throw fail("invalid_value", "The bill has no lines.");
  const untilMs = Date.parse(`${to}T00:00:00Z`) + DAY_MS;
  if (untilMs - Date.parse(`${from}T00:00:00Z`) > MOST_DAYS * DAY_MS)
    throw fail("invalid_value", `At most ${MOST_DAYS} days at once, not ${from} to ${to}.`);
  const until = new Date(untilMs).toISOString().slice(0, 10);
  const { rows: recorded, missingSinceMs } = await usage(provider, from, until);
  const rows = paired(bill, recorded).map((pair) => rowOf(pair, toleranceBps));
  const isOfTheseDays = missingSinceMs !== undefined && missingSinceMs < untilMs + ENDS_WITHIN_MS;
  return { rows: rows.sort(byDrift), missingSinceMs: isOfTheseDays ? missingSinceMs : undefined };
}

/** The bill by day and by what its lines name. */
async function summed(lines: AsyncIterable<BillLine>) {
  const bill = new Map<string, { day: string; endpoint: string; model: string; figures: Figures }>();
  for await (const line of lines) {
    const { day, endpoint, model } = line;
    const key = `${day} ${endpoint} ${endpoint === "" ? model : ""}`;
    const before = bill.get(key);
    if (before === undefined && bill.size >= MOST_ROWS)
      throw fail("invalid_value", `At most ${MOST_ROWS} days and models at once.`);
    bill.set(key, { day, endpoint, model, figures: plus(before?.figures ?? NOTHING, line) });
  }
  return bill;
}

const ZERO = figuresOf(() => 0);

/** @throws WeirError 400 where a sum is not exact any more */
function plus(a: Figures, b: Figures): Figures {
  const sum = (x: number | null, y: number | null): number | null => {
    const value = x === null ? y : y === null ? x : x + y;
    if (value !== null && !Number.isSafeInteger(value))
      throw fail("invalid_value", "The sums of this bill are too large to be exact.");
    return value;
  };
  return figuresOf((name) => sum(a[name], b[name]));
}

/** `gpt-5.4-mini-2026-03-01`, `claude-haiku-4-5@20251001` and `Claude Haiku 4.5` → names that can be compared. */
export const plainModel = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^(?:models|publishers\/[^/]{1,40}\/models)\//, "")
    .replace(/[-@ ](?:\d{4}-\d{2}-\d{2}|\d{8})$/, "")
    .replace(/[ ._]/g, "-");

function paired(bill: Awaited<ReturnType<typeof summed>>, recorded: readonly Recorded[]): Pair[] {
  const pairs = new Map<string, Pair>();
  const of = (day: string, model: string): Pair => {
    const key = `${day} ${model}`;
    const pair: Pair = pairs.get(key) ?? {
      day,
      model,
      billed: undefined,
      recorded: undefined,
      unpriced: 0,
      estimated: 0,
    };
    pairs.set(key, pair);
    return pair;
  };
  const billedEndpoints = new Set(Array.from(bill.values(), ({ endpoint }) => endpoint));
  /** By day: the exact names of ours, and what they are without their dates. */
  const names = new Map<string, string>();
  for (const row of recorded) {
    names.set(`${row.day} =${row.upstreamModel}`, row.upstreamModel);
    const plain = `${row.day} ~${plainModel(row.upstreamModel)}`;
    if (!names.has(plain)) names.set(plain, row.upstreamModel);
  }
  for (const row of recorded) {
    const pair = of(row.day, billedEndpoints.has(row.endpointId) ? row.endpointId : row.upstreamModel);
    pair.recorded = plus(pair.recorded ?? ZERO, row);
    pair.unpriced += row.unpriced;
    pair.estimated += row.estimated;
  }
  for (const { day, endpoint, model, figures } of bill.values()) {
    const known = names.get(`${day} =${model}`) ?? names.get(`${day} ~${plainModel(model)}`);
    const pair = of(day, endpoint !== "" ? endpoint : (known ?? model));
    pair.billed = plus(pair.billed ?? NOTHING, figures);
  }
  return [...pairs.values()];
}

function rowOf({ day, model, billed, recorded, unpriced, estimated }: Pair, toleranceBps: number): BillRow {
  const [theirs, ours] = [billed ?? ZERO, recorded ?? ZERO];
  const drift = figuresOf((name) => {
    const [a, b] = [theirs[name], ours[name]];
    return a === null || b === null ? null : a - b;
  });
  const isWithin = (name: "inputTokens" | "outputTokens"): boolean =>
    Math.abs(drift[name] ?? 0) * 10_000 <= toleranceBps * Math.max(theirs[name] ?? 0, ours[name] ?? 0);
  const kind =
    billed === undefined
      ? "unbilled"
      : recorded === undefined
        ? "unrecorded"
        : isWithin("inputTokens") && isWithin("outputTokens")
          ? "matched"
          : "drift";
  return { day, model, kind, billed: theirs, recorded: ours, drift, unpriced, estimated };
}

const weight = ({ drift }: BillRow): number =>
  Math.abs(drift.costMicroUsd ?? 0) + Math.abs(drift.inputTokens ?? 0) + Math.abs(drift.outputTokens ?? 0);

const byDrift = (a: BillRow, b: BillRow): number =>
  weight(b) - weight(a) || a.day.localeCompare(b.day) || a.model.localeCompare(b.model);
