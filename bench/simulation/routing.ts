/**
 * What routing does when endpoints slow down, saturate, fail and recover: a row for each way to route through the same trouble.
 * `npm run simulate -- routing`
 */
import type { Decision } from "../../src/routing/decision.ts";
import { type Called, run, type Seen, type SimulatedEndpoint } from "./world.ts";

export interface Trouble {
  readonly name: string;
  /** What happens, in one line. */
  readonly what: string;
  readonly endpoints: readonly SimulatedEndpoint[];
  readonly requestsPerSecond: number;
  readonly ways: readonly { readonly name: string; readonly decision: Partial<Decision> }[];
  /** The endpoint that is in trouble, and when it is well again: how soon it gets its share back is told. */
  readonly recovers?: { readonly endpoint: string; readonly atS: number; readonly fromS: number };
}

const steady = (id: string, price: number, ttftMs: number): SimulatedEndpoint => ({
  ...{ id, price, ttftMs, spread: 0.35, tokensPerSecond: 80 },
});

const OUTAGE = { fromS: 60, untilS: 120 };

export const TROUBLES: readonly Trouble[] = [
  {
    name: "calm",
    what: "three endpoints, all well; b costs twice as much as a, c is the quickest and dearest",
    endpoints: [steady("a", 1, 400), steady("b", 2, 400), steady("c", 3, 150)],
    requestsPerSecond: 40,
    ways: [
      { name: "balanced", decision: {} },
      { name: "price", decision: { sort: "price" } },
      { name: "latency", decision: { sort: "latency" } },
      { name: "weights a 3, b 1", decision: { weights: new Map(Object.entries({ a: 3, b: 1 })) } },
    ],
  },
  ...(["error", "refused", "silent"] as const).map(
    (kind): Trouble => ({
      name: `outage: ${kind}`,
      what: `the cheapest is out from second 60 to 120 (${kind})`,
      endpoints: [
        { ...steady("a", 1, 400), spells: [{ ...OUTAGE, kind }] },
        steady("b", 2, 400),
        steady("c", 2, 400),
      ],
      requestsPerSecond: 30,
      recovers: { endpoint: "a", fromS: OUTAGE.fromS, atS: OUTAGE.untilS },
      ways: [
        { name: "balanced, no fallbacks", decision: { fallbacks: false } },
        { name: "balanced", decision: {} },
        { name: "price", decision: { sort: "price" } },
        { name: "price, timeout 6 s", decision: { sort: "price", timeoutMs: 6000 } },
      ],
    }),
  ),
  {
    name: "flaky",
    what: "the cheapest fails one call in three, from second 60 to 180",
    endpoints: [
      { ...steady("a", 1, 400), spells: [{ fromS: 60, untilS: 180, kind: "error", share: 1 / 3 }] },
      steady("b", 1.2, 400),
    ],
    requestsPerSecond: 30,
    ways: [
      { name: "balanced, no fallbacks", decision: { fallbacks: false } },
      { name: "balanced", decision: {} },
      { name: "price", decision: { sort: "price" } },
    ],
  },
  {
    name: "saturation",
    what: "the cheapest takes 8 calls at once and answers 429 beyond; 40 calls a second would want 26",
    endpoints: [{ ...steady("a", 1, 400), maxInFlight: 8 }, steady("b", 2, 400)],
    requestsPerSecond: 40,
    ways: [
      { name: "price", decision: { sort: "price" } },
      { name: "balanced", decision: {} },
    ],
  },
  {
    name: "key pool",
    what: "the same with a pool of four keys, 8 calls each",
    endpoints: [{ ...steady("a", 1, 400), maxInFlight: 8, keys: 4 }, steady("b", 2, 400)],
    requestsPerSecond: 40,
    ways: [{ name: "price", decision: { sort: "price" } }],
  },
  {
    name: "slowdown",
    what: "the quickest takes ten times as long from second 60 to 120",
    endpoints: [
      { ...steady("a", 1, 200), spells: [{ ...OUTAGE, kind: "slow", factor: 10 }] },
      steady("b", 1, 400),
      steady("c", 1, 400),
    ],
    requestsPerSecond: 30,
    recovers: { endpoint: "a", fromS: OUTAGE.fromS, atS: OUTAGE.untilS },
    ways: [
      { name: "latency", decision: { sort: "latency" } },
      { name: "balanced", decision: {} },
    ],
  },
  {
    name: "long tail",
    what: "one call in fifty of every endpoint waits 6 s for its first token",
    endpoints: ["a", "b", "c"].map((id) => ({ ...steady(id, 1, 400), tail: { share: 0.02, ttftMs: 6000 } })),
    requestsPerSecond: 30,
    ways: [
      { name: "no hedge", decision: {} },
      { name: "hedge after 2 s", decision: { hedgeAfterMs: 2000 } },
      { name: "hedge after 1 s", decision: { hedgeAfterMs: 1000 } },
      { name: "hedge after 0.5 s", decision: { hedgeAfterMs: 500 } },
    ],
  },
];

export interface Row {
  readonly trouble: string;
  readonly way: string;
  /** 0 to 1. */
  readonly success: number;
  /** To the first token, milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Calls sent upstream for each that was answered: what hedges and fallbacks cost the gateway. */
  readonly sentPerAnswer: number;
  /** Of the answers, by endpoint. */
  readonly shares: Readonly<Record<string, number>>;
  /** Seconds from the end of the trouble until the endpoint has half its share back; undefined where nothing was to recover. */
  readonly recoveryS: number | undefined;
}

/** Every way through every trouble. @param requests of each run */
export async function simulateRouting(
  requests: number,
  seed: number,
  troubles: readonly Trouble[] = TROUBLES,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const trouble of troubles) {
    const { endpoints, requestsPerSecond } = trouble;
    for (const { name, decision } of trouble.ways) {
      const seen = await run({ seed, endpoints, requests, requestsPerSecond, decision });
      rows.push(rowOf(trouble, name, seen));
    }
  }
  return rows;
}

function rowOf(trouble: Trouble, way: string, { calls, served }: Seen): Row {
  const answered = calls.filter(({ isOk }) => isOk);
  const firstTokens = answered.map(({ ttftMs }) => ttftMs).sort((a, b) => a - b);
  let asked = 0;
  for (const of of served.values()) asked += of.asked;
  return {
    trouble: trouble.name,
    way,
    success: answered.length / calls.length,
    p50Ms: quantile(firstTokens, 0.5),
    p99Ms: quantile(firstTokens, 0.99),
    sentPerAnswer: asked / answered.length,
    shares: Object.fromEntries(trouble.endpoints.map(({ id }) => [id, shareOf(answered, id)])),
    recoveryS: trouble.recovers && recoveryOf(answered, trouble.recovers),
  };
}

const shareOf = (calls: readonly Called[], id: string): number =>
  calls.length === 0 ? 0 : calls.filter(({ endpointId }) => endpointId === id).length / calls.length;

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;

/** A share is judged over so many seconds. */
const WINDOW_S = 5;

/** Infinity where its share never came back. */
function recoveryOf(
  answered: readonly Called[],
  { endpoint, atS, fromS }: NonNullable<Trouble["recovers"]>,
): number {
  const between = (from: number, until: number) => answered.filter((c) => c.atS >= from && c.atS < until);
  const before = shareOf(between(fromS / 2, fromS), endpoint);
  const endS = answered.at(-1)?.atS ?? 0;
  for (let s = atS; s + WINDOW_S <= endS; s++) {
    if (shareOf(between(s, s + WINDOW_S), endpoint) >= before / 2) return s - atS;
  }
  return Number.POSITIVE_INFINITY;
}

/** The rows as text, under what each trouble is. */
export function tableOf(rows: readonly Row[], troubles: readonly Trouble[] = TROUBLES): string {
  const lines: string[] = [];
  for (const { name, what } of troubles) {
    lines.push(`\n${name}: ${what}`, HEAD);
    for (const row of rows.filter(({ trouble }) => trouble === name)) lines.push(lineOf(row));
  }
  return lines.join("\n");
}

const columns = (way: string, ...rest: readonly string[]): string =>
  [way.padEnd(26), ...rest.slice(0, -1).map((text) => text.padStart(10)), `  ${rest.at(-1) ?? ""}`].join("");

const HEAD = columns("  way", "success", "p50", "p99", "sent/ok", "recovery", "shares");

function lineOf({ way, success, p50Ms, p99Ms, sentPerAnswer, shares, recoveryS }: Row): string {
  const parts = Object.entries(shares).map(([id, share]) => `${id} ${(share * 100).toFixed(0)} %`);
  return columns(
    `  ${way}`,
    `${(success * 100).toFixed(2)} %`,
    `${p50Ms.toFixed(0)} ms`,
    `${p99Ms.toFixed(0)} ms`,
    sentPerAnswer.toFixed(3),
    recoveryS === undefined ? "" : Number.isFinite(recoveryS) ? `${recoveryS} s` : "never",
    parts.join(", "),
  );
}
