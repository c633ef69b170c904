/**
 * What subscriptions put into the ledger, against prices and rules that are written down here once more: each fee is that of its
 * month, has its statement and was charged once; included credit is at most the dearest plan's, and expires with its month.
 */

import type { InvoiceRow } from "../../../src/billing/invoices/invoice.ts";
import type { LedgerEntry, PostedEntry } from "../../../src/credits/ledger/entry.ts";
import type { Customer } from "./customers.ts";
import { must } from "./figures.ts";
import { PLANS } from "./plans.ts";
import { checkConverted } from "./rates-check.ts";
import type { World } from "./world.ts";

/** A month that somebody pays for. */
interface Month {
  readonly startMs: number;
  readonly endMs: number;
  /** Highest price that was paid for, and what all changes cost together. */
  paidMinor: number;
  chargedMinor: number;
  includedMicroUsd: number;
  grantedMicroUsd: number;
}

/** Credit that a plan included. */
export interface Included {
  readonly orgId: string;
  readonly refId: string;
  readonly expiresAtMs: number;
}

interface Claim {
  readonly orgId: string;
  readonly untilMs: number;
}

const priceOf = (planId: string, currency: "INR" | "USD"): number =>
  PLANS.find(({ id }) => id === planId)?.monthly_minor[currency] ?? 0;
const includedOf = (planId: string): number => PLANS.find(({ id }) => id === planId)?.included_micro ?? 0;

/** floor(amount × seconds left ÷ seconds of the month), the share in whole ten-thousandths. */
const shareOf = (amount: number, bps: number): number => Math.floor((amount * bps) / 10_000);

function bpsLeft({ startMs, endMs }: Month, atMs: number): number {
  const seconds = (ms: number) => Math.floor(ms / 1000);
  return Math.floor((seconds(endMs - atMs) * 10_000) / seconds(endMs - startMs));
}

/** A plan that was chosen within a month that was paid for, without a fee. */
export interface FreeChange {
  /** Subscription, month and number of the change. */
  readonly refId: string;
  readonly planId: string;
  readonly atMs: number;
}

type Tonight =
  | { readonly customer: Customer; readonly atMs: number; readonly entry: PostedEntry }
  | { readonly customer: Customer; readonly atMs: number; readonly change: FreeChange };

/** Order of what happened at one instant: a month's fee comes first, and credit after what it is granted for. */
const rankOf = (one: Tonight): number => ("change" in one ? 1 : one.entry.kind === "subscription" ? 0 : 2);

export class SubscriptionBooks {
  /** Subscription and month. */
  readonly #months = new Map<string, Month>();
  /** Org → end of the last month that was paid for. */
  readonly #paidUntil = new Map<string, number>();
  /** Org → sum of all entries of subscriptions. */
  readonly #sums = new Map<string, number>();
  /** References of fees without statements, and of statements without fees. */
  readonly #unmatched = new Set<string>();
  readonly #statements = new Set<string>();
  /** Reference of a fee → the credit that must be granted with it. */
  readonly #due = new Map<string, number>();
  /** Owner → the org that has the included credit. */
  readonly #claims = new Map<string, Claim>();
  readonly renewals = new Map<string, number>();
  readonly included = new Map<string, Included>();
  readonly #tonight: Tonight[] = [];
  /** References of changes without a fee. */
  readonly #freeChanges = new Set<string>();
  readonly #ownersOf: (orgId: string) => readonly string[];

  constructor(ownersOf: (orgId: string) => readonly string[]) {
    this.#ownersOf = ownersOf;
  }

  /** A document that was committed. */
  see(row: InvoiceRow): void {
    if (row.kind !== "statement" || this.#statements.has(row.reference.id)) return;
    this.#statements.add(row.reference.id);
    this.#match(row.reference.id);
  }

  #match(refId: string): void {
    if (!this.#unmatched.delete(refId)) this.#unmatched.add(refId);
  }

  sumOf(orgId: string): number {
    return this.#sums.get(orgId) ?? 0;
  }

  /** Looked at when all of the night are known: orgs of one owner are compared in the order of time. */
  entry(customer: Customer, entry: LedgerEntry): void {
    if (entry.kind === "settle") return;
    const isIncluded = entry.refType === "included_credit";
    const isExpiry = entry.refType.startsWith("included_credit_expiry");
    if (entry.kind !== "subscription" && !isIncluded && !isExpiry) return;
    const { id } = customer.org;
    this.#sums.set(id, this.sumOf(id) + entry.amountMicroUsd);
    this.#tonight.push({ customer, atMs: entry.createdAtMs, entry });
  }

  /** A change that was committed; told of again, it is the same one. */
  freeChange(customer: Customer, change: FreeChange): void {
    if (this.#freeChanges.has(change.refId)) return;
    this.#freeChanges.add(change.refId);
    this.#tonight.push({ customer, atMs: change.atMs, change });
  }

  #look(world: World, customer: Customer, entry: PostedEntry): void {
    if (entry.kind === "subscription") this.#fee(world, customer, entry);
    else if (entry.kind === "grant") this.#grant(world, customer, entry);
    else this.#expiry(world, entry);
  }

  #fee(world: World, { org }: Customer, { refId, amountMicroUsd, createdAtMs }: PostedEntry): void {
    const { figures } = world.parts;
    const [id, monthText, changeText] = refId.split("/");
    const change = Number(changeText);
    const statement = world.process?.rooms.invoiceTables.byReference(org.id, {
      type: "subscription",
      id: refId,
    });
    must(
      statement?.plan !== undefined && statement.kind === "statement",
      () => `the fee ${refId} has no statement`,
    );
    this.#match(refId);
    const { planId, periodStartMs: startMs, periodEndMs: endMs } = statement.plan;
    const what = `${refId}, ${planId}`;
    must(startMs <= createdAtMs && createdAtMs < endMs, () => `${what} was charged outside its month`);
    const price = priceOf(planId, org.billingCurrency);
    const key = `${id}/${monthText}`;
    let month = this.#months.get(key);
    let feeMinor = price;
    if (month === undefined) {
      must(change === 0, () => `${what} is a change of a month that nobody paid`);
      const until = this.#paidUntil.get(org.id) ?? 0;
      must(startMs >= until, () => `${what} begins before the month that is paid until ${until} ends`);
      this.#paidUntil.set(org.id, endMs);
      month = { startMs, endMs, paidMinor: 0, chargedMinor: 0, includedMicroUsd: 0, grantedMicroUsd: 0 };
      this.#months.set(key, month);
      if (Number(monthText) > 0) this.renewals.set(org.id, (this.renewals.get(org.id) ?? 0) + 1);
      figures.add(Number(monthText) > 0 ? "subscriptions: months renewed" : "subscriptions: first months");
    } else {
      must(change > 0, () => `${what} was charged twice`);
      const bps = bpsLeft(month, createdAtMs);
      feeMinor = shareOf(Math.max(price, month.paidMinor), bps) - shareOf(month.paidMinor, bps);
      figures.add("subscriptions: dearer plans within a month");
    }
    must(
      statement.totalMinor === feeMinor,
      () => `${what} is of ${statement.totalMinor}, due is ${feeMinor}`,
    );
    must(statement.heads.igstMinor + statement.heads.cgstMinor === 0, () => `${what} bears tax`);
    checkConverted(world, what, -amountMicroUsd, {
      minor: feeMinor,
      currency: org.billingCurrency,
      fxDay: statement.rate.day,
      atMs: createdAtMs,
    });
    const most = Math.max(month.includedMicroUsd, includedOf(planId));
    const bps = change === 0 ? 10_000 : bpsLeft(month, createdAtMs);
    const grantMicroUsd = shareOf(most - month.includedMicroUsd, bps);
    if (grantMicroUsd > 0) this.#due.set(refId, grantMicroUsd);
    month.paidMinor = Math.max(month.paidMinor, price);
    month.chargedMinor += feeMinor;
    must(month.chargedMinor <= month.paidMinor, () => `${what}: all changes cost ${month.chargedMinor}`);
    if (this.#isTaken(org.id, createdAtMs) && this.#due.delete(refId))
      figures.add("subscriptions: included credit that an owner has elsewhere");
    else month.includedMicroUsd = most;
    figures.add("subscriptions: fees, micro-USD", -amountMicroUsd);
  }

  /** Who owns an org that has included credit gets none for another one. */
  #isTaken(orgId: string, atMs: number): boolean {
    return this.#ownersOf(orgId).some((owner) => {
      const claim = this.#claims.get(owner);
      return claim !== undefined && claim.orgId !== orgId && claim.untilMs > atMs;
    });
  }

  /**
   * A change of plan without a fee. The month got no included credit when it was paid for, because an owner had included credit in
   * another org. If no owner has any now, the org is due the chosen plan's credit, in proportion to the time left of the month.
   */
  #freeChange({ parts }: World, { org }: Customer, { refId, planId, atMs }: FreeChange): void {
    const month = this.#months.get(refId.slice(0, refId.lastIndexOf("/")));
    must(month !== undefined, () => `${refId} is a change of a month that nobody paid`);
    const price = priceOf(planId, org.billingCurrency);
    const bps = bpsLeft(month, atMs);
    const feeMinor = shareOf(Math.max(price, month.paidMinor), bps) - shareOf(month.paidMinor, bps);
    must(feeMinor === 0, () => `${refId}, ${planId}, costs ${feeMinor}, and nothing was charged`);
    month.paidMinor = Math.max(month.paidMinor, price);
    if (this.#isTaken(org.id, atMs)) return;
    const most = Math.max(month.includedMicroUsd, includedOf(planId));
    const dueMicroUsd = shareOf(most - month.includedMicroUsd, bps);
    month.includedMicroUsd = most;
    if (dueMicroUsd === 0) return;
    this.#due.set(refId, dueMicroUsd);
    parts.figures.add("subscriptions: included credit that came within a month");
  }

  #grant({ parts }: World, { org }: Customer, { refId, amountMicroUsd, createdAtMs }: PostedEntry): void {
    const due = this.#due.get(refId);
    must(due === amountMicroUsd, () => `${refId} granted ${amountMicroUsd}, due is ${due}`);
    this.#due.delete(refId);
    const month = this.#months.get(refId.slice(0, refId.lastIndexOf("/")));
    must(month !== undefined, () => `${refId} is granted for no month`);
    month.grantedMicroUsd += amountMicroUsd;
    must(
      month.grantedMicroUsd <= month.includedMicroUsd,
      () => `${refId}: ${month.grantedMicroUsd} is more than the dearest plan includes`,
    );
    for (const owner of this.#ownersOf(org.id)) {
      const claim = this.#claims.get(owner);
      must(
        claim === undefined || claim.orgId === org.id || claim.untilMs <= createdAtMs,
        () => `${owner} has included credit in ${claim?.orgId} and ${org.id}`,
      );
      this.#claims.set(owner, { orgId: org.id, untilMs: month.endMs });
    }
    this.included.set(refId, { orgId: org.id, refId, expiresAtMs: month.endMs });
    parts.figures.add("subscriptions: included credit, micro-USD", amountMicroUsd);
  }

  #expiry({ parts }: World, { refId, amountMicroUsd, createdAtMs }: PostedEntry): void {
    const given = this.included.get(refId);
    must(given !== undefined, () => `${refId} expires, and was not granted`);
    must(createdAtMs >= given.expiresAtMs, () => `${refId} expired before its month ended`);
    parts.figures.add("subscriptions: included credit expired, micro-USD", -amountMicroUsd);
  }

  /** After all entries of the night. @throws Deviation */
  check(world: World): void {
    const inTime = this.#tonight.splice(0).sort((a, b) => a.atMs - b.atMs || rankOf(a) - rankOf(b));
    for (const one of inTime) {
      if ("change" in one) this.#freeChange(world, one.customer, one.change);
      else this.#look(world, one.customer, one.entry);
    }
    const [alone] = this.#unmatched;
    must(
      alone === undefined,
      () => `${alone} has a fee without its statement, or a statement without its fee`,
    );
    const [[refId, microUsd] = ["", 0]] = this.#due;
    must(refId === "", () => `the included credit of ${refId}, ${microUsd}, was not granted`);
  }
}
