/**
 * Credit that a plan includes: granted for a month, and expired at its end. A person has it for one org at a time: the owners of an
 * org claim it until the month ends, and an org of the same people gets none meanwhile. Spending takes it before other credit,
 * for it expires first; what calls hold when the month ends is expired when they let go of it.
 */
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { CreditLots } from "../../credits/ledger/lots.ts";
import type { Purse } from "../../credits/ledger/purse.ts";
import { type JobHandler, jobKind } from "../../store/jobs/job.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import type { SubscriptionTables } from "./tables.ts";

export const expireIncluded = jobKind({
  name: "billing.expire_included",
  payload: z.object({ orgId: z.string(), refId: z.string(), expiries: z.int() }),
  tries: 1000,
  backoff: { firstMs: 60_000, mostMs: 3_600_000 },
  atOnce: 8,
  atOncePerLane: 1,
  leaseMs: 60_000,
});

/** `refType` of grants of included credit. */
export const INCLUDED_CREDIT = "included_credit";
const EXPIRY = "included_credit_expiry";
/** Calls that hold a part of it end within minutes. */
const HELD_AGAIN_MS = 60_000;

export interface IncludedCreditDeps {
  readonly clock: Clock;
  readonly book: Pick<Book, "post">;
  readonly purse: Pick<Purse, "funds">;
  readonly lots: CreditLots;
  readonly subscriptions: SubscriptionTables;
  readonly jobs: Pick<JobQueue, "enqueue">;
  /** Port: ids of the people who own an org. */
  readonly ownersOf: (orgId: string) => readonly string[];
}

/** An org that nobody owns yet stands for itself. */
const personsOf = ({ ownersOf }: Pick<IncludedCreditDeps, "ownersOf">, orgId: string): readonly string[] => {
  const owners = ownersOf(orgId);
  return owners.length > 0 ? owners : [orgId];
};

/** Whether nobody who owns the org has included credit in another one now. In an act. */
export const mayInclude = (deps: IncludedCreditDeps, orgId: string): boolean =>
  personsOf(deps, orgId).every((person) => {
    const claim = deps.subscriptions.claimOf(person);
    return claim === undefined || claim.orgId === orgId || claim.untilMs <= deps.clock.now();
  });

export interface IncludedGrant {
  /** Reference of the month and the change. */
  readonly refId: string;
  readonly amountMicroUsd: number;
  readonly expiresAtMs: number;
}

/** Only in an act. @throws Error where the reference was granted with another amount */
export function grantIncluded(deps: IncludedCreditDeps, orgId: string, grant: IncludedGrant): void {
  const { book, lots, subscriptions, jobs } = deps;
  const { refId, amountMicroUsd, expiresAtMs } = grant;
  if (amountMicroUsd === 0) return;
  const posted = book.post(orgId, { kind: "grant", amountMicroUsd, refType: INCLUDED_CREDIT, refId });
  if (posted.outcome !== "posted") throw new Error(`${refId} was granted with another amount`);
  lots.expires(orgId, refId, expiresAtMs);
  for (const person of personsOf(deps, orgId))
    subscriptions.putClaim(person, { orgId, untilMs: expiresAtMs });
  subscriptions.putIncluded({ orgId, refId, expiresAtMs, expiries: 0 });
  orderExpiry(jobs, { orgId, refId, expiries: 0 }, expiresAtMs);
}

type ExpiryPayload = z.output<typeof expireIncluded.payload>;

/** Each posting is a job of its own, so a job that runs twice posts once. */
function orderExpiry(jobs: Pick<JobQueue, "enqueue">, payload: ExpiryPayload, dueMs: number): void {
  const { orgId, refId, expiries } = payload;
  jobs.enqueue(expireIncluded, { key: `${refId}#${expiries}`, orgId, dueMs, payload });
}

export const expiryHandler = (deps: IncludedCreditDeps): JobHandler<ExpiryPayload> => ({
  run: ({ orgId, refId, expiries }) => {
    const { clock, subscriptions } = deps;
    const { expiresAtMs = 0 } = subscriptions.included(orgId, refId) ?? {};
    // The wall clock was set back.
    if (clock.now() < expiresAtMs) return { againAtMs: expiresAtMs };
    return { act: () => expire(deps, { orgId, refId, expiries }) };
  },
});

/** Only in an act: expires what is due although its job is late, so that it pays for nothing any more. */
export function expireDue(deps: IncludedCreditDeps, orgId: string): void {
  const { clock, lots, subscriptions } = deps;
  for (const { refType, refId, expiresAtMs } of lots.of(orgId).grants) {
    if (refType !== INCLUDED_CREDIT || expiresAtMs === null || expiresAtMs > clock.now()) continue;
    expire(deps, { orgId, refId, expiries: subscriptions.included(orgId, refId)?.expiries ?? 0 });
  }
}

/** Only in an act: posts the expiry of what is left and not held; of the rest, later. */
function expire(deps: IncludedCreditDeps, { orgId, refId, expiries }: ExpiryPayload): void {
  const { clock, book, purse, lots, subscriptions, jobs } = deps;
  const row = subscriptions.included(orgId, refId);
  if (row === undefined || row.expiries !== expiries) return;
  const lot = lots.advance(orgId).grants.find((grant) => grant.refId === refId);
  const leftMicroUsd = lot?.leftMicroUsd ?? 0;
  const freeMicroUsd = Math.max(0, Math.min(leftMicroUsd, purse.funds(orgId).availableMicroUsd));
  if (freeMicroUsd > 0) {
    const refType = expiries === 0 ? EXPIRY : `${EXPIRY}_${expiries + 1}`;
    const posted = book.post(orgId, { kind: "expiry", amountMicroUsd: -freeMicroUsd, refType, refId });
    if (posted.outcome !== "posted") throw new Error(`the credit ${refId} could not be expired`);
  }
  subscriptions.putIncluded({ ...row, expiries: expiries + 1 });
  if (freeMicroUsd < leftMicroUsd)
    orderExpiry(jobs, { orgId, refId, expiries: expiries + 1 }, clock.now() + HELD_AGAIN_MS);
}
