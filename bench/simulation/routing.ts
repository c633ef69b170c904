/** Simulates routing while endpoints slow down, saturate, fail and recover: one row per policy and trouble. */
import { TROUBLES, type Trouble } from "./troubles.ts";
import { type Called, run, type Seen } from "./world.ts";

export interface Row {
  readonly trouble: string;
  readonly way: string;
  /** 0 to 1. */
  readonly success: number;
  /** To the first token, of whole answers to their end; milliseconds, of the calls that were answered. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Calls sent upstream for each that was answered: what hedges and fallbacks cost the providers. */
  readonly sentPerAnswer: number;
  /** Micro-USD for each answer: what callers are charged, and what providers bill the gateway. */
  readonly chargedPerAnswer: number;
  readonly billedPerAnswer: number;
  /** Endpoint → its part of the answers. */
  readonly shares: Readonly<Record<string, number>>;
  /**
   * Seconds from the end of the trouble until each affected endpoint has half its share back; infinite where that never
   * happened, undefined where nothing was to recover.
   */
  readonly recoveryS: number | undefined;
  /** Figures of this trouble only, by name. */
  readonly extra: Readonly<Record<string, number>>;
}

/** Calls continue for at least this long after the end of a trouble. */
const AFTER_S = 45;
const SETTLED_S = 20;

/** Runs every policy in every trouble. @param requests per run; more if the trouble would not be over by then */
export async function simulateRouting(
  requests: number,
  seed: number,
  troubles: readonly Trouble[] = TROUBLES,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const trouble of troubles) {
    const endS = trouble.recovers === undefined ? 0 : trouble.recovers.untilS + AFTER_S;
    const least = Math.ceil(endS * trouble.requestsPerSecond);
    for (const { name, policy } of trouble.ways) {
      const world = { ...trouble, seed, policy, requests: trouble.requests ?? Math.max(requests, least) };
      rows.push(rowOf(trouble, name, await run(world)));
    }
  }
  return rows;
}

function rowOf(trouble: Trouble, way: string, seen: Seen): Row {
  const { calls, sent } = seen;
  const answered = calls.filter(({ isOk }) => isOk);
  const firstTokens = answered.map(({ ttftMs }) => ttftMs).sort((a, b) => a - b);
  const costs = (of: readonly { readonly costMicroUsd: number }[]) =>
    of.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0);
  return {
    trouble: trouble.name,
    way,
    success: answered.length / calls.length,
    p50Ms: quantile(firstTokens, 0.5),
    p99Ms: quantile(firstTokens, 0.99),
    p999Ms: quantile(firstTokens, 0.999),
    sentPerAnswer: sent.length / answered.length,
    chargedPerAnswer: costs(calls) / answered.length,
    billedPerAnswer: costs(sent) / answered.length,
    shares: Object.fromEntries(trouble.endpoints.map(({ id }) => [id, shareOf(answered, id)])),
    recoveryS: trouble.recovers && recoveryOf(answered, trouble.recovers),
    extra: extraOf(trouble, seen),
  };
}

const shareOf = (calls: readonly Called[], id: string): number =>
  calls.length === 0 ? 0 : calls.filter(({ endpointId }) => endpointId === id).length / calls.length;

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;

/** Length of the window in which a share is measured, seconds. */
const WINDOW_S = 5;

/**
 * Recovery time of the slowest endpoint. Calls count in the window in which they arrived, whenever they were answered.
 */
function recoveryOf(
  answered: readonly Called[],
  { endpoints, fromS, untilS }: NonNullable<Trouble["recovers"]>,
): number {
  const between = (from: number, until: number) => answered.filter((c) => c.atS >= from && c.atS < until);
  const endS = answered.at(-1)?.atS ?? 0;
  const usual = between(fromS / 2, fromS);
  const ofOne = (id: string): number => {
    const half = shareOf(usual, id) / 2;
    for (let s = untilS; s + WINDOW_S <= endS; s++) {
      if (shareOf(between(s, s + WINDOW_S), id) >= half) return s - untilS;
    }
    return Number.POSITIVE_INFINITY;
  };
  return Math.max(...endpoints.map(ofOne));
}

function extraOf(trouble: Trouble, seen: Seen): Record<string, number> {
  if (trouble.extra === "canary") return canaryOf(seen);
  return trouble.extra === "affinity" && trouble.recovers ? affinityOf(seen, trouble.recovers) : {};
}

/** Calls that were in the canary's share, and how many of those were not answered; the second at which it turned red. */
function canaryOf({ calls, redAtS }: Seen): Record<string, number> {
  const tried = calls.filter(({ isCanary }) => isCanary);
  return {
    "in its share": tried.length,
    "of them failed": tried.filter(({ isOk }) => !isOk).length,
    ...(redAtS !== undefined && { "red at second": redAtS }),
  };
}

/**
 * Share of calls that reached the endpoint and key of their session's previous call: all, and those of sessions whose
 * endpoint was healthy; and how many sessions were back at their endpoint once all was healthy again.
 */
function affinityOf(
  { calls }: Seen,
  { endpoints, fromS, untilS }: NonNullable<Trouble["recovers"]>,
): Record<string, number> {
  const last = new Map<number, string>();
  const before = new Map<number, string>();
  const after = new Map<number, string>();
  let [again, stayed, wellAgain, wellStayed] = [0, 0, 0, 0];
  for (const { session, atS, isOk, endpointId, keyId } of calls) {
    if (!isOk) continue;
    const place = `${endpointId} ${keyId}`;
    const was = last.get(session);
    const home = before.get(session);
    last.set(session, place);
    if (atS < fromS) before.set(session, place);
    if (atS >= untilS + SETTLED_S) after.set(session, place);
    if (was === undefined) continue;
    again++;
    if (was === place) stayed++;
    if (atS < fromS || atS >= untilS || home === undefined) continue;
    if (endpoints.some((id) => home.startsWith(`${id} `))) continue;
    wellAgain++;
    if (was === place) wellStayed++;
  }
  let returned = 0;
  for (const [session, place] of after) if (before.get(session) === place) returned++;
  const percent = (part: number, whole: number) => Math.round((part / whole) * 1000) / 10;
  return {
    "stay %": percent(stayed, again),
    "of the others in the outage %": percent(wellStayed, wellAgain),
    "back where they were %": percent(returned, after.size),
  };
}
