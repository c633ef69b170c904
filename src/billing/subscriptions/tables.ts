/** Tables of subscriptions and of the credit that plans include. Methods that write must be called in an act. */
import { StoreTables } from "../../store/tables/store-tables.ts";
import type { ChangeRecord, SubscriptionRow } from "./subscription.ts";

/** What was asked under an Idempotency-Key, and what it did. */
export interface AskedChange {
  readonly planId: string;
  /** Empty where nothing was said of it. */
  readonly effective: string;
  readonly change: ChangeRecord;
}

/** Which org has a person's included credit, and until when. */
export interface IncludedClaim {
  readonly orgId: string;
  readonly untilMs: number;
}

/** Credit that a plan included; `refId` is that of its grant in the ledger. */
export interface IncludedCredit {
  readonly orgId: string;
  readonly refId: string;
  readonly expiresAtMs: number;
  /** Postings of its expiry so far: there are several where calls held a part of it. */
  readonly expiries: number;
}

/** Greater than any Idempotency-Key, whose last character may be `~`. */
const PAST_KEYS = "\x7f";

export class SubscriptionTables extends StoreTables {
  /** [org id]. */
  readonly #rows = this.store.table<SubscriptionRow>("billing.subscriptions");
  /** [org id, Idempotency-Key]. */
  readonly #byKey = this.store.table<AskedChange>("billing.subscription_changes_by_key");
  /** [id of a person, or of an org without one]. */
  readonly #claims = this.store.table<IncludedClaim>("billing.included_claims");
  /** [org id, reference of the grant]. */
  readonly #included = this.store.table<IncludedCredit>("billing.included_credit");

  get(orgId: string): SubscriptionRow | undefined {
    return this.#rows.get([orgId]);
  }

  put(row: SubscriptionRow): void {
    this.#rows.put([row.orgId], row);
  }

  /** All of them, by org. Read lazily. */
  *all(): Generator<SubscriptionRow> {
    for (const { value } of this.#rows.range()) yield value;
  }

  ofKey(orgId: string, idempotencyKey: string): AskedChange | undefined {
    return idempotencyKey === "" ? undefined : this.#byKey.get([orgId, idempotencyKey]);
  }

  putKey(orgId: string, idempotencyKey: string, asked: AskedChange): void {
    if (idempotencyKey !== "") this.#byKey.put([orgId, idempotencyKey], asked);
  }

  /** Forgets under which keys changes were asked for. @param most keys at once @returns whether more are left */
  eraseKeys(orgId: string, most: number): boolean {
    const range = { start: [orgId], end: [orgId, PAST_KEYS], limit: most + 1 };
    const found = Array.from(this.#byKey.range(range), ({ key }) => key);
    for (const key of found.slice(0, most)) this.#byKey.remove(key);
    return found.length > most;
  }

  claimOf(person: string): IncludedClaim | undefined {
    return this.#claims.get([person]);
  }

  putClaim(person: string, claim: IncludedClaim): void {
    this.#claims.put([person], claim);
  }

  included(orgId: string, refId: string): IncludedCredit | undefined {
    return this.#included.get([orgId, refId]);
  }

  putIncluded(row: IncludedCredit): void {
    this.#included.put([row.orgId, row.refId], row);
  }
}
