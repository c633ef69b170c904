/**
 * An org keeps a key that can make keys: without one, nobody could let anyone in through the API any more. What would take
 * the last one away is refused, whichever act it is.
 */
import { fail } from "../errors.ts";
import { type KeyRow, keyWorks } from "./key.ts";
import type { AccountTables } from "./tables.ts";

/** How an org can make live keys: for as long as it likes, until its last such key ends by itself, or no more. */
type Standing = "for good" | "for now" | "no more";
const RANK: Readonly<Record<Standing, number>> = { "for good": 2, "for now": 1, "no more": 0 };

/** A test key makes test keys only, so it does not count. */
const makesKeys = ({ environment, scopes }: KeyRow): boolean =>
  environment === "live" && scopes.includes("write:keys");

function standingOf(keys: readonly KeyRow[], nowMs: number): Standing {
  const makers = keys.filter((key) => makesKeys(key) && keyWorks(key, nowMs));
  if (makers.length === 0) return "no more";
  return makers.some(({ expiresAtMs, revokedAtMs }) => expiresAtMs === null && revokedAtMs === null)
    ? "for good"
    : "for now";
}

/**
 * Call it inside the transaction that writes `changed`, before it does: of simultaneous changes each then sees those
 * before it. A key that expires, or that was rotated and only works until its grace ends, does not stand in for one that
 * stays.
 * @param changed keys as they are to be, those that are about to be added included.
 * @throws WeirError 409 `state`.
 */
export function assertKeyMakerStays(
  accounts: AccountTables,
  orgId: string,
  changed: readonly KeyRow[],
  nowMs: number,
): void {
  const before = accounts.workingKeys(orgId, nowMs);
  const ids = new Set(changed.map(({ id }) => id));
  const after = [...before.filter(({ id }) => !ids.has(id)), ...changed];
  if (RANK[standingOf(after, nowMs)] >= RANK[standingOf(before, nowMs)]) return;
  throw fail(
    "state",
    "This would leave the organisation without an API key that can make keys (live, scope write:keys, no end). Make another one first; `weir keys create` on the gateway's machine makes one where no key can.",
  );
}
