/**
 * Checks the ledger's invariants row by row: each org's entry numbers are 1, 2, 3 … without a gap, each balance is the
 * previous one plus the amount, and posted entries and references refer to each other.
 */
import { codeOf, entryOf, type StoredEntry } from "./entry.ts";

/** Tables of money, of all rooms, in the order in which a start checks them. */
export const MONEY_TABLES = [
  "ledger",
  "ledger.references",
  "ledger.kinds",
  "spend",
  "spend.orgs",
  "credits.lots",
  "credits.grant_expiries",
  "credits.uncharged",
  "billing.topups",
  "billing.orgs_of_topups",
  "billing.topups_by_checkout",
  "billing.topups_by_payment",
  "billing.topups_by_key",
  "billing.topups_paid_on",
  "billing.topups_pending",
  "billing.orgs_that_paid",
  "billing.refunds",
  "billing.orgs_of_refunds",
  "billing.refunds_of_topups",
  "billing.refunds_by_ref",
  "billing.refunds_by_key",
  "billing.refunds_settled_on",
  "billing.disputes",
  "billing.parked",
  "billing.parked_by_ref",
  "billing.fx_rates",
  "billing.subscriptions",
  "billing.subscription_changes_by_key",
  "billing.included_claims",
  "billing.included_credit",

  "billing.mandates",
  "billing.orgs_of_mandates",
  "billing.mandates_in_force",
  "billing.mandates_pending",

  "billing.mandates_by_ref",
  "billing.mandates_by_key",
  "billing.auto_topups",
  "billing.auto_topups_live",
  "billing.mandates_of_topups",
  "invoices.rows",
  "invoices.references",
  "invoices.of_topups",
  "invoices.months",
  "invoices.unregistered",
  "invoices.series",
  "receipts.keys",
  "receipts.signing",
  "ledger.posted",
  "ledger.posted_references",
  "ledger.posted_kinds",
] as const;

export class LedgerAudit {
  readonly #orgs = new Map<string, { seq: number; balance: number }>();
  readonly #posted = new Map<string, number>();
  readonly #kinds = new Set<string>();
  readonly #references = new Map<string, number>();
  readonly #kindRows = new Set<string>();
  readonly #findings: string[] = [];

  get entries(): number {
    let sum = 0;
    for (const { seq } of this.#orgs.values()) sum += seq;
    return sum;
  }

  get orgs(): number {
    return this.#orgs.size;
  }

  /** Sum of all balances. Where the audit finds nothing, all entries have the same sum. */
  get sumMicroUsd(): number {
    let sum = 0;
    for (const { balance } of this.#orgs.values()) sum += balance;
    return sum;
  }

  /** Rows of one org's ledger must come in order of their numbers; others in any order. */
  see(table: string, key: unknown, value: unknown): void {
    if (table === "ledger") this.#entry(key as [string, number], value as StoredEntry);
    if (table === "ledger.references") this.#references.set((key as string[]).join("\0"), value as number);
    if (table === "ledger.kinds") this.#kindRows.add((key as (string | number)[]).join("\0"));
  }

  /** Call after the last row. */
  findings(): readonly string[] {
    const found = [...this.#findings];
    for (const [reference, seq] of this.#posted) {
      if (this.#references.get(reference) !== seq)
        found.push(`ledger: ${name(reference)} is not found by its reference`);
    }
    for (const reference of this.#references.keys()) {
      if (!this.#posted.has(reference)) found.push(`ledger: reference ${name(reference)} has no entry`);
    }
    for (const kind of this.#kinds)
      if (!this.#kindRows.has(kind)) found.push(`ledger: ${name(kind)} is not listed by its kind`);
    for (const kind of this.#kindRows)
      if (!this.#kinds.has(kind)) found.push(`ledger: kind ${name(kind)} has no entry`);
    return found;
  }

  #entry([org, seq]: [string, number], stored: StoredEntry): void {
    const last = this.#orgs.get(org) ?? { seq: 0, balance: 0 };
    const entry = entryOf(seq, stored);
    if (seq !== last.seq + 1) this.#findings.push(`ledger of ${org}: entry ${seq} follows ${last.seq}`);
    else if (entry.balanceMicroUsd !== last.balance + entry.amountMicroUsd) {
      this.#findings.push(`ledger of ${org}: the balance at entry ${seq} is not the sum of the entries`);
    }
    this.#orgs.set(org, { seq, balance: entry.balanceMicroUsd });
    if (entry.kind === "settle") return;
    this.#posted.set([org, entry.refType, entry.refId].join("\0"), seq);
    this.#kinds.add([org, codeOf(entry.kind), seq].join("\0"));
  }
}

const name = (parts: string): string => parts.replaceAll("\0", " ");
