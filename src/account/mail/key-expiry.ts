/**
 * The daily job that looks for keys that are about to expire, notes them, and puts one mail for each. It reads the keys in slices, so that
 * the event loop is free between two of them, however many keys there are.
 */

import { z } from "zod";
import { type Clock, nextTurn } from "../../base/clock.ts";
import { DAY_MS } from "../../base/time.ts";
import { type JobHandler, jobKind } from "../../store/jobs/job.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import { type KeyRow, keyStatus } from "../key.ts";
import { isOfPlayground } from "../key-tables.ts";
import type { AccountTables } from "../tables.ts";
import type { OrgMails } from "./org-mails.ts";
import { keyExpiring } from "./templates/key-expiring.ts";

const TOLD_BEFORE_MS = 7 * DAY_MS;
/** Whoever made a key for two weeks knows that it ends. */
const SHORT_LIVED_MS = 14 * DAY_MS;
const SLICE = 500;

export const lookAtKeys = jobKind({
  name: "mail.keys_expiring",
  payload: z.object({}),
  tries: 10,
  backoff: { firstMs: 60_000, mostMs: 3_600_000 },
  atOnce: 1,
  atOncePerLane: 1,
  leaseMs: 120_000,
});

export interface KeyExpiryDeps {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly mails: OrgMails;
}

const ORDER = { key: "daily", lane: "installation", orgId: "", payload: {} };

/** In an act: has the keys looked at from now on, unless that is so already. */
export const beginToLook = ({ jobs }: Pick<KeyExpiryDeps, "jobs">): void => jobs.enqueue(lookAtKeys, ORDER);

export function keyLooker(deps: KeyExpiryDeps): JobHandler<unknown> {
  const { accounts, clock, jobs } = deps;
  return {
    async run(_payload, { signal }) {
      for (let after: readonly [string, string] | undefined; !signal.aborted; await nextTurn()) {
        const { keys, next } = accounts.keysThatMayWork(SLICE, after);
        const ending = keys.filter((key) => isToBeTold(key, clock.now()));
        if (ending.length > 0) await accounts.act(() => tell(deps, ending));
        if (next === undefined) return { againAtMs: clock.now() + DAY_MS };
        after = next;
      }
      throw new Error("the process stops");
    },
    gaveUp: () => jobs.enqueue(lookAtKeys, { ...ORDER, dueMs: clock.now() + DAY_MS }),
  };
}

/** A key that a rotation replaces has its successor already; one of the playground has an hour each time that its person asks for it. */
const isToBeTold = (key: KeyRow, nowMs: number): boolean =>
  !isOfPlayground(key) &&
  key.expiresAtMs !== null &&
  key.expiresAtMs <= nowMs + TOLD_BEFORE_MS &&
  key.expiresAtMs - key.createdAtMs > SHORT_LIVED_MS &&
  keyStatus(key, nowMs) === "active";

/** In an act. */
function tell({ accounts, clock, mails }: KeyExpiryDeps, keys: readonly KeyRow[]): void {
  const nowMs = clock.now();
  for (const { id } of keys) {
    const key = accounts.key(id);
    if (key === undefined || !isToBeTold(key, nowMs)) continue;
    const expiresAtMs = key.expiresAtMs ?? nowMs;
    accounts.noteExpiring(key, nowMs);
    mails.putOnce(keyExpiring, {
      orgId: key.orgId,
      data: { keyId: id },
      to: makerOf(accounts, key),
      once: { name: `${id}_${expiresAtMs}`, untilMs: expiresAtMs },
    });
  }
}

/** Address of who made the key, if they are a member still; undefined: those who answer for the org. */
function makerOf({ people }: AccountTables, { createdBy = "", orgId }: KeyRow): string | undefined {
  const user = people.user(createdBy);
  return user?.status === "active" && people.member(orgId, user.id) !== undefined ? user.email : undefined;
}
