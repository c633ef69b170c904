/**
 * An org whose people cannot sign in must keep a key that can create keys: without one, nobody could regain access through
 * the API. Any operation that would remove the last one is refused.
 */
import { fail } from "../base/errors.ts";
import { type KeyRow, keyWorks } from "./key.ts";
import { mayAs } from "./roles.ts";
import type { AccountTables } from "./tables.ts";

/** Whether an org can create live keys: permanently, until its last such key ends by itself, or no more. */
type KeyMakerState = "for good" | "for now" | "no more";
const RANK: Readonly<Record<KeyMakerState, number>> = { "for good": 2, "for now": 1, "no more": 0 };

/** A test key creates only test keys, so it does not count. */
const makesKeys = ({ environment, scopes }: KeyRow): boolean =>
  environment === "live" && scopes.includes("write:keys");

function standingOf(keys: readonly KeyRow[], nowMs: number): KeyMakerState {
  const makers = keys.filter((key) => makesKeys(key) && keyWorks(key, nowMs));
  if (makers.length === 0) return "no more";
  return makers.some(({ expiresAtMs, revokedAtMs }) => expiresAtMs === null && revokedAtMs === null)
    ? "for good"
    : "for now";
}

/**
 * Call inside the transaction that writes `changed`, before the write: each of several simultaneous changes then sees
 * the earlier ones. A key that will expire, or that works only until its grace period ends, does not replace a
 * permanent one.
 * @param changed the changed keys in their new state, including keys about to be added.
 * @throws WeirError 409 `state`.
 */
export function assertKeyMakerStays(
  accounts: AccountTables,
  orgId: string,
  changed: readonly KeyRow[],
  nowMs: number,
): void {
  if (hasPeople(accounts, orgId)) return;
  const before = changed.map(({ id }) => accounts.key(id)).filter((row) => row !== undefined);
  const had = RANK[standingOf(before, nowMs)];
  if (RANK[standingOf(changed, nowMs)] >= had) return;
  const ids = new Set(changed.map(({ id }) => id));
  for (const other of accounts.workingKeysOldestFirst(orgId, nowMs))
    if (!ids.has(other.id) && RANK[standingOf([other], nowMs)] >= had) return;
  throw fail(
    "state",
    "This would leave the organisation without an API key that can make keys (live, scope write:keys, no end). Make another one first; `weir keys create` on the gateway's machine makes one where no key can.",
  );
}

/** Whether somebody who has signed in may create keys for the org. */
const hasPeople = ({ people }: AccountTables, orgId: string): boolean =>
  people
    .membersOf(orgId)
    .some(({ role, userId }) => mayAs(role, "member") && people.user(userId)?.status === "active");
