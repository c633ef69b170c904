/**
 * The kind of each org's credit, followed entry by entry with rules that are written down here once more: spending takes the
 * grant that expires first, then other grants, then what was paid. What a plan included is never paid out.
 */
import type { LedgerEntry } from "../../../src/credits/ledger/entry.ts";
import { must } from "./figures.ts";
import type { World } from "./world.ts";

interface Grant {
  readonly refId: string;
  readonly seq: number;
  readonly expiresAtMs: number;
  leftMicroUsd: number;
}

interface Credit {
  paidMicroUsd: number;
  /** In the order in which they are spent. */
  grants: Grant[];
}

export class CreditWatch {
  readonly #credit = new Map<string, Credit>();

  /** @throws Deviation */
  entry(world: World, orgId: string, entry: LedgerEntry): void {
    const credit = this.#of(orgId);
    const { amountMicroUsd: amount } = entry;
    if (entry.kind === "settle") spend(credit, -amount);
    else if (entry.kind === "expiry") expire(credit, entry.refId, -amount);
    else if (isMoney(entry)) {
      if (entry.kind === "refund") mustBePaid(world, orgId, entry.refId, -amount, credit);
      credit.paidMicroUsd += amount;
    } else if (amount < 0) spend(credit, -amount);
    else {
      const expiresAtMs =
        world.process?.store.table<number>("credits.grant_expiries").get([orgId, entry.refId]) ?? Infinity;
      credit.grants.push({ refId: entry.refId, seq: entry.seq, expiresAtMs, leftMicroUsd: amount });
      credit.grants.sort((a, b) =>
        a.expiresAtMs === b.expiresAtMs ? a.seq - b.seq : a.expiresAtMs - b.expiresAtMs,
      );
    }
    payDebt(credit);
  }

  /** What is left of a grant. */
  leftOf(orgId: string, refId: string): number {
    return this.#of(orgId).grants.find((grant) => grant.refId === refId)?.leftMicroUsd ?? 0;
  }

  paidOf(orgId: string): number {
    return this.#of(orgId).paidMicroUsd;
  }

  #of(orgId: string): Credit {
    let credit = this.#credit.get(orgId);
    if (credit === undefined) {
      credit = { paidMicroUsd: 0, grants: [] };
      this.#credit.set(orgId, credit);
    }
    return credit;
  }
}

const isMoney = (entry: LedgerEntry): boolean =>
  entry.kind === "topup" ||
  entry.kind === "refund" ||
  entry.kind === "dispute" ||
  entry.kind === "dispute_reversal" ||
  (entry.kind === "adjustment" && entry.refType === "refund_failed");

function spend(credit: Credit, microUsd: number): void {
  let left = microUsd;
  for (const grant of credit.grants) {
    const taken = Math.min(left, grant.leftMicroUsd);
    grant.leftMicroUsd -= taken;
    left -= taken;
  }
  credit.grants = credit.grants.filter(({ leftMicroUsd }) => leftMicroUsd > 0);
  credit.paidMicroUsd -= left;
}

function expire(credit: Credit, refId: string, microUsd: number): void {
  const grant = credit.grants.find((one) => one.refId === refId);
  must(
    grant !== undefined && microUsd <= grant.leftMicroUsd,
    () => `${microUsd} of ${refId} expired, there was ${grant?.leftMicroUsd}`,
  );
  grant.leftMicroUsd -= microUsd;
  credit.grants = credit.grants.filter(({ leftMicroUsd }) => leftMicroUsd > 0);
}

/** More was taken of paid credit than there was: grants make up for it. */
function payDebt(credit: Credit): void {
  if (credit.paidMicroUsd >= 0) return;
  const debt = -credit.paidMicroUsd;
  credit.paidMicroUsd = 0;
  spend(credit, debt);
}

/** A refund that somebody asked us for; what the dashboard refunds may exceed what is left. */
function mustBePaid(
  { process, parts }: World,
  orgId: string,
  refId: string,
  microUsd: number,
  credit: Credit,
): void {
  const refund = process?.rooms.refunds.get(orgId, refId);
  if (refund === undefined || refund.idempotencyKey === "") return;
  must(
    microUsd <= credit.paidMicroUsd,
    () => `${refId} of ${orgId} pays out ${microUsd}, of which only ${credit.paidMicroUsd} was paid in`,
  );
  if (credit.grants.length > 0) parts.figures.add("checks: refunds beside credit that is not paid out");
}
