/**
 * An org's credit has two kinds: grants, each with the time when it expires, and what the org paid. Spending takes the grant that
 * expires first, then the other grants, then paid credit. Nothing of it is written per call: what was spent between two posted
 * entries is the difference of their balances. Invariant: what is left of all grants and of paid credit together is the balance.
 */
import type { Store, Table } from "../../store/store.ts";
import type { PostedEntry } from "./entry.ts";
import type { Ledger } from "./ledger.ts";

/**
 * A grant, and what is left of it. The last one without an end may stand for several; so may one that expires, where there are very
 * many: it is then the one of them that expires last.
 */
export interface Lot {
  readonly refType: string;
  readonly refId: string;
  readonly seq: number;
  readonly leftMicroUsd: number;
  /** Null: never. */
  readonly expiresAtMs: number | null;
}

export interface Lots {
  /** The entry up to which this is right, and the balance after it and what was spent since. */
  readonly seq: number;
  readonly balanceMicroUsd: number;
  /** Below zero: a debt. Paid credit never expires. */
  readonly paidMicroUsd: number;
  /** Those of which something is left, in the order in which they are spent. */
  readonly grants: readonly Lot[];
  /** Sum of all `grant` entries so far, spent or not; absent in rows of earlier releases. */
  readonly grantedMicroUsd?: number;
}

/** Grants without an end that are told apart; more of them are one lot, for nothing asks which of them is spent. */
const MOST_APART = 20;

/**
 * Grants that expire and are told apart. Where there are more, those whose ends are next to each other are one: its credit lasts
 * until the later end, never shorter. So a reading and a posting stay cheap whatever an org is granted.
 */
const MOST_EXPIRING = 100;

/** Entries that are followed at once when what is known is brought up to date. */
const MOST_FOLLOWED = 200;

/** `refType` of an adjustment that gives back paid credit: the refund that took it failed. */
export const REFUND_FAILED = "refund_failed";

const NOTHING: Lots = { seq: 0, balanceMicroUsd: 0, paidMicroUsd: 0, grants: [], grantedMicroUsd: 0 };

export interface LotsDeps {
  readonly store: Store;
  readonly ledger: Pick<Ledger, "postedAfter" | "sumOf">;
  /** Port: the org's balance; outside an act, after its newest committed entry. */
  readonly balanceOf: (orgId: string) => number;
}

export class CreditLots {
  readonly #deps: LotsDeps;
  /** [org id] → lots at some entry of the past. */
  readonly #rows: Table<Lots>;
  /** [org id, refId of a grant] → when it expires. */
  readonly #expiries: Table<number>;

  constructor(deps: LotsDeps) {
    this.#deps = deps;
    this.#rows = deps.store.table("credits.lots");
    this.#expiries = deps.store.table("credits.grant_expiries");
  }

  /** Only in the act that posts the grant. */
  expires(orgId: string, grantRefId: string, atMs: number): void {
    this.#expiries.put([orgId, grantRefId], atMs);
  }

  /** Outside an act, of committed entries. */
  of(orgId: string): Lots {
    const { ledger, balanceOf } = this.#deps;
    const lots = this.#open(orgId, this.#rows.get([orgId]));
    this.#follow(orgId, lots, ledger.postedAfter(orgId, lots.seq));
    lots.spendTo(balanceOf(orgId));
    return lots.closed();
  }

  /** Sum of all `grant` entries, of committed ones: those that no row has counted are few. */
  grantedMicroUsd(orgId: string): number {
    const { seq, grantedMicroUsd } = this.#rows.get([orgId]) ?? NOTHING;
    const { ledger } = this.#deps;
    return grantedMicroUsd === undefined
      ? ledger.sumOf(orgId, "grant")
      : grantedMicroUsd + ledger.sumOf(orgId, "grant", { after: seq });
  }

  #open(orgId: string, row: Lots = NOTHING): OpenLots {
    const { seq } = row;
    const granted = row.grantedMicroUsd ?? this.#deps.ledger.sumOf(orgId, "grant", { upTo: seq });
    return new OpenLots(row, granted);
  }

  #follow(orgId: string, lots: OpenLots, entries: readonly PostedEntry[]): void {
    for (const entry of entries) {
      const expiresAtMs = entry.kind === "grant" ? this.#expiries.get([orgId, entry.refId]) : undefined;
      lots.follow(entry, expiresAtMs ?? null);
    }
  }

  /**
   * Only in an act, before an entry is posted: remembers the entries before it, a bounded number at once. So a reading follows few
   * of them, however many there are.
   */
  remember(orgId: string): void {
    const row = this.#rows.get([orgId]) ?? NOTHING;
    const entries = this.#deps.ledger.postedAfter(orgId, row.seq, MOST_FOLLOWED);
    const { length } = row.grants;
    // A long row is written seldom, but for one that an earlier release let grow.
    const isSeldom = entries.length * MOST_APART < length && length <= MOST_EXPIRING + MOST_APART;
    if (entries.length === 0 || isSeldom) return;
    const lots = this.#open(orgId, row);
    this.#follow(orgId, lots, entries);
    this.#rows.put([orgId], lots.closed());
  }

  /** Only in an act: the same, and remembers it, so that the next reading is short. */
  advance(orgId: string): Lots {
    const lots = this.of(orgId);
    this.#rows.put([orgId], lots);
    return lots;
  }
}

type OpenLot = { -readonly [K in keyof Lot]: Lot[K] };

const bySpending = (a: Lot, b: Lot): number =>
  (a.expiresAtMs ?? Number.POSITIVE_INFINITY) - (b.expiresAtMs ?? Number.POSITIVE_INFINITY) || a.seq - b.seq;

/** Lots while entries are followed; changed in place, because an org may have thousands of grants. */
class OpenLots {
  seq: number;
  #balanceMicroUsd: number;
  #paidMicroUsd: number;
  /** In the order of spending; of those before `#first` nothing is left. */
  readonly #grants: OpenLot[];
  #first = 0;
  #grantedMicroUsd: number;

  constructor({ seq, balanceMicroUsd, paidMicroUsd, grants }: Lots, grantedMicroUsd: number) {
    this.seq = seq;
    this.#balanceMicroUsd = balanceMicroUsd;
    this.#paidMicroUsd = paidMicroUsd;
    this.#grants = grants.map((lot) => ({ ...lot }));
    this.#grantedMicroUsd = grantedMicroUsd;
    this.#fold();
  }

  closed(): Lots {
    return {
      seq: this.seq,
      balanceMicroUsd: this.#balanceMicroUsd,
      paidMicroUsd: this.#paidMicroUsd,
      grants: this.#grants.slice(this.#first),
      grantedMicroUsd: this.#grantedMicroUsd,
    };
  }

  /** What calls spent until the balance was this. */
  spendTo(balanceMicroUsd: number): void {
    this.#spend(this.#balanceMicroUsd - balanceMicroUsd);
    this.#balanceMicroUsd = balanceMicroUsd;
  }

  /** @param expiresAtMs of a grant */
  follow(entry: PostedEntry, expiresAtMs: number | null): void {
    const { amountMicroUsd: amount, seq, balanceMicroUsd } = entry;
    this.spendTo(balanceMicroUsd - amount);
    this.seq = seq;
    this.#balanceMicroUsd = balanceMicroUsd;
    if (entry.kind === "grant") this.#grantedMicroUsd += amount;
    if (isPaidCredit(entry)) this.#paidMicroUsd += amount;
    else if (entry.kind === "expiry") this.#take(entry.refId, -amount);
    else if (amount < 0) this.#spend(-amount);
    else {
      const { refType, refId } = entry;
      this.#add({ refType, refId, seq, leftMicroUsd: amount, expiresAtMs });
    }
    this.#payDebt();
  }

  #spend(microUsd: number): void {
    let left = microUsd;
    for (
      let lot = this.#grants[this.#first];
      left > 0 && lot !== undefined;
      lot = this.#grants[this.#first]
    ) {
      const taken = Math.min(left, lot.leftMicroUsd);
      left -= taken;
      lot.leftMicroUsd -= taken;
      if (lot.leftMicroUsd === 0) this.#first += 1;
    }
    this.#paidMicroUsd -= left;
  }

  /** Where more was taken of paid credit than there was, grants make up for it. */
  #payDebt(): void {
    if (this.#paidMicroUsd >= 0 || this.#first === this.#grants.length) return;
    const debt = -this.#paidMicroUsd;
    this.#paidMicroUsd = 0;
    this.#spend(debt);
  }

  /** Most expire later than those before, or never: looked for from the end. */
  #add(lot: OpenLot): void {
    let at = this.#grants.length;
    const [last, apart] = [this.#grants[at - 1], this.#grants[at - MOST_APART]];
    // Those without an end stand last, in the order in which they were given.
    if (at - this.#first >= MOST_APART && last && apart?.expiresAtMs === null && lot.expiresAtMs === null) {
      last.leftMicroUsd += lot.leftMicroUsd;
      return;
    }
    while (at > this.#first && bySpending(this.#grants[at - 1] as OpenLot, lot) > 0) at -= 1;
    this.#grants.splice(at, 0, lot);
    this.#fold();
  }

  /** Those that expire stand first. Joined are the neighbours whose ends are closest to each other. */
  #fold(): void {
    if (typeof this.#grants[this.#first + MOST_EXPIRING]?.expiresAtMs !== "number") return;
    const grants = this.#grants.splice(0).slice(this.#first);
    this.#first = 0;
    const gaps = grants.flatMap(({ expiresAtMs }, i) => {
      const nextMs = grants[i + 1]?.expiresAtMs ?? null;
      return expiresAtMs === null || nextMs === null ? [] : [{ i, gapMs: nextMs - expiresAtMs }];
    });
    const tooMany = gaps.length + 1 - MOST_EXPIRING;
    const joined = new Set(
      gaps
        .sort((a, b) => a.gapMs - b.gapMs || a.i - b.i)
        .slice(0, tooMany)
        .map(({ i }) => i),
    );
    let carriedMicroUsd = 0;
    for (const [i, lot] of grants.entries()) {
      lot.leftMicroUsd += carriedMicroUsd;
      carriedMicroUsd = joined.has(i) ? lot.leftMicroUsd : 0;
      if (!joined.has(i)) this.#grants.push(lot);
    }
  }

  #take(refId: string, microUsd: number): void {
    const at = this.#grants.findIndex((lot, i) => i >= this.#first && lot.refId === refId);
    const lot = this.#grants[at];
    if (lot === undefined) return;
    lot.leftMicroUsd -= microUsd;
    if (lot.leftMicroUsd <= 0) this.#grants.splice(at, 1);
  }
}

const isPaidCredit = ({ kind, refType }: PostedEntry): boolean =>
  kind === "topup" ||
  kind === "refund" ||
  kind === "dispute" ||
  kind === "dispute_reversal" ||
  (kind === "adjustment" && refType === REFUND_FAILED);
