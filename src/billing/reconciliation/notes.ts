/** What a run of reconciliation notes while it reads: findings once each, sums, and when to let others run. */
import { nextTurn } from "../../base/clock.ts";
import type { Amount, Currency } from "../../base/currency.ts";
import type { RefundRow } from "../refunds/refund.ts";
import type { TopupRow } from "../topups/topup.ts";
import {
  type Finding,
  type FindingKind,
  type MoneyTotal,
  type ReconciliationReport,
  TOTALS,
  type TotalName,
} from "./finding.ts";

/** Findings that a run heals or parks; more are only counted. */
const MOST_HELD = 10_000;
/** Findings of a report. */
const MOST_LISTED = 1_000;
/** Questions about single payments and refunds in one run. */
const MOST_ASKED = 1_000;
/** Rows compared in one turn of the event loop: each is a few reads of some microseconds. */
const ROWS_A_TURN = 50;

export type Found = Omit<Finding, "state"> & Partial<Pick<Finding, "state">>;

/** Findings about a top-up. */
export const aboutTopup =
  ({ id, orgId, gateway, paymentRef, quote }: TopupRow) =>
  (kind: FindingKind, detail: string): Found => ({
    kind,
    gateway,
    ref: paymentRef,
    orgId,
    topupId: id,
    subjectId: id,
    currency: quote.currency,
    minor: quote.totalMinor,
    detail,
  });

/** Findings about a refund. */
export const aboutRefund =
  ({ id, orgId, topupId, gateway, gatewayRef, currency, totalMinor: minor }: RefundRow) =>
  (kind: FindingKind, detail: string): Found => ({
    kind,
    gateway,
    ref: gatewayRef || id,
    orgId,
    topupId,
    subjectId: id,
    currency,
    minor,
    detail,
  });

/** A finding, and how to look again and put it right. */
export interface Held {
  readonly finding: Finding;
  /** Asks the payment gateway for what it says of it, and follows that. Absent: nothing is safe to do. */
  readonly heal?: (signal: AbortSignal) => Promise<void>;
  /** What is found now. */
  readonly again?: () => Found | undefined;
}

export class Notes {
  readonly #held = new Map<string, Held>();
  readonly #refs = new Set<string>();
  readonly #counts = new Map<FindingKind, number>();
  readonly #sums = new Map<TotalName, Map<Currency, { count: number; minor: number; feeMinor: number }>>();
  readonly seriesEnds: Record<string, number> = {};
  entries = 0;
  orgs = 0;
  isComplete = true;
  #rows = 0;
  #asked = 0;

  /** Lets others run now and then. Call once for each row. */
  async rest(): Promise<void> {
    if (++this.#rows % ROWS_A_TURN === 0) await nextTurn();
  }

  /** Questions to payment gateways about single payments are bounded. @returns false: no more may be asked, and the report says so */
  mayAsk(): boolean {
    this.#asked += 1;
    if (this.#asked > MOST_ASKED) this.isComplete = false;
    return this.#asked <= MOST_ASKED;
  }

  /** The same thing found from two sides is one finding. */
  add(found: Found | undefined, { heal, again }: Omit<Held, "finding"> = {}): void {
    if (found === undefined) return;
    const key = `${found.kind} ${found.gateway} ${found.ref}`;
    if (this.#held.has(key)) return;
    this.#refs.add(`${found.gateway} ${found.ref}`);
    this.#counts.set(found.kind, (this.#counts.get(found.kind) ?? 0) + 1);
    if (this.#held.size >= MOST_HELD) {
      this.isComplete = false;
      return;
    }
    const finding: Finding = { state: "open", ...found };
    this.#held.set(key, { finding, ...(heal && { heal }), ...(again && { again }) });
  }

  /** Whether there is a finding of this payment, refund or dispute. */
  has(gateway: string, ref: string): boolean {
    return this.#refs.has(`${gateway} ${ref}`);
  }

  held(): readonly (readonly [string, Held])[] {
    return [...this.#held];
  }

  finding(key: string): Finding | undefined {
    return this.#held.get(key)?.finding;
  }

  /** @param finding undefined: it is none any more */
  replace(key: string, finding: Finding | undefined): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    if (finding !== undefined) this.#held.set(key, { ...held, finding });
    else {
      this.#held.delete(key);
      this.#counts.set(held.finding.kind, (this.#counts.get(held.finding.kind) ?? 1) - 1);
    }
  }

  sum(name: TotalName, { currency, minor }: Amount, feeMinor = 0): void {
    const sums = this.#sums.get(name) ?? new Map();
    const sum = sums.get(currency) ?? { count: 0, minor: 0, feeMinor: 0 };
    sums.set(currency, {
      count: sum.count + 1,
      minor: sum.minor + minor,
      feeMinor: sum.feeMinor + feeMinor,
    });
    this.#sums.set(name, sums);
  }

  report(day: string, ranAtMs: number): ReconciliationReport {
    const findings = Array.from(this.#held.values(), ({ finding }) => finding);
    return {
      day,
      ranAtMs,
      isComplete: this.isComplete && findings.length <= MOST_LISTED,
      findings: findings.slice(0, MOST_LISTED),
      counts: Object.fromEntries([...this.#counts].filter(([, count]) => count > 0)),
      totals: Object.fromEntries(
        TOTALS.map((name) => [name, totalsOf(this.#sums.get(name))]),
      ) as unknown as ReconciliationReport["totals"],
      ledger: { entries: this.entries, orgs: this.orgs },
      seriesEnds: { ...this.seriesEnds },
    };
  }
}

const totalsOf = (sums: Map<Currency, Omit<MoneyTotal, "currency">> = new Map()): MoneyTotal[] =>
  Array.from(sums, ([currency, sum]) => ({ currency, ...sum })).sort((a, b) =>
    a.currency.localeCompare(b.currency),
  );

/**
 * Reads rows a page at a time: no iterator of the store stays open while others run.
 * @param pageAfter rows strictly after one, read lazily
 */
export async function eachRow<R>(
  notes: Notes,
  pageAfter: (last: R | undefined) => Iterable<R>,
  act: (row: R) => Promise<void> | void,
): Promise<void> {
  let last: R | undefined;
  for (;;) {
    const page: R[] = [];
    for (const row of pageAfter(last)) if (page.push(row) >= ROWS_A_TURN) break;
    for (const row of page) {
      await act(row);
      await notes.rest();
    }
    last = page.at(-1);
    if (page.length < ROWS_A_TURN) return;
  }
}
