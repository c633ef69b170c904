/**
 * Spend of orgs, in memory and on disk. An org's sum is kept in memory, and its row is written only when a day begins and with every
 * 64th charge; a start reads the row and adds the charges that the org's ledger has had since. So the sum is what the committed
 * ledger charged, whatever crashes.
 *
 * Why so: the sum of the keys' rows would be the same, but reading them at an org's first call takes time in proportion to all keys
 * that the org ever had (10,000 projects with a key each: 0.4 s, measured, in which no other call runs, again after each start), and
 * deleted projects are in no list. A row written with each call would cost every call a put. This way a first call reads one row and at most 64
 * entries, and a call costs no put.
 */

import { localDay } from "../../base/clock.ts";
import type { Store, Table } from "../../store/store.ts";
import type { LocalBook } from "../ledger/book.ts";
import { daysBefore, type Period } from "./periods.ts";
import {
  continues,
  type Detail,
  type Increment,
  LATER_MS,
  lastChargeMs,
  PART,
  type PartsRow,
  partsIn,
  Sums,
  withCharge,
} from "./spend-parts.ts";
import type { WallClock } from "./wall-clock.ts";

export interface OrgSpendRow {
  readonly parts: PartsRow;
  /** Number of the newest entry of the org's ledger that is in the parts; later charges all belong to the last part. */
  readonly seq: number;
  /** `YYYY-MM-DD`, local: what was spent on earlier days is not known day by day. Empty: all days are known. */
  readonly knownFrom: string;
}

/** Past days whose mean is the usual spend. */
const USUAL_DAYS = 7;
/** With fewer days of spend among them nothing is usual. */
const LEAST_DAYS = 3;
/** The last days one by one; also enough parts for a machine without boot ids that restarts often. */
export const ORG_DETAIL: Detail = { days: USUAL_DAYS + 1, mostParts: 40 };
/** Charges between two writes of an org's row: as many are read again at a start. */
const WRITE_EVERY = 64;
const ENTRIES_AT_ONCE = 100;

export class OrgSpend extends Sums {
  /** Mean spend of those of the last seven days, without today, that had any; 0 where they are fewer than three. */
  usualMicroUsd = 0;
  /** The day whose spike was told. */
  spikeDay = "";
  /** Its last part grows in place. */
  parts: number[];
  /** The number in the row on disk: see `OrgSpendRow`. */
  seq: number;
  readonly knownFrom: string;

  constructor({ parts, seq, knownFrom }: OrgSpendRow) {
    super();
    this.parts = [...parts];
    this.seq = seq;
    this.knownFrom = knownFrom;
  }

  /** Adds to the last part, without the sums. */
  grow(microUsd: number, atMs: number): void {
    const last = this.parts.length - PART;
    this.parts[last + 1] = Math.max(this.parts[last + 1] ?? 0, atMs);
    this.parts[last + 2] = (this.parts[last + 2] ?? 0) + microUsd;
  }

  count(period: Period, wall: WallClock): void {
    if (!this.isStale(period, wall)) return;
    this.countParts(this.parts, period, wall);
    this.usualMicroUsd = this.#usual(period, wall);
  }

  /** Spend of those of the last seven days, without today, that had any. */
  pastDays({ day, timeZone }: Period, wall: WallClock): Map<string, number> {
    const firstDay = daysBefore(day, USUAL_DAYS);
    const byDay = new Map<string, number>();
    for (const { span, lastMs, microUsd } of partsIn(this.parts)) {
      const at = localDay(wall.toCurrentTime(span, lastMs), timeZone);
      if (at >= firstDay && at < day && at >= this.knownFrom) byDay.set(at, (byDay.get(at) ?? 0) + microUsd);
    }
    return byDay;
  }

  #usual(period: Period, wall: WallClock): number {
    const byDay = this.pastDays(period, wall);
    if (byDay.size < LEAST_DAYS) return 0;
    let sum = 0;
    for (const microUsd of byDay.values()) sum += microUsd;
    return Math.round(sum / byDay.size);
  }
}

export interface OrgSpends {
  /** Always the same object; `count` has not been called. */
  of(orgId: string): OrgSpend;
  /** In an act. @param entrySeq number of the ledger's entry for this charge; without one the row is written at once */
  charge(orgId: string, org: OrgSpend, increment: Increment, entrySeq: number | undefined): void;
}

export interface OrgSpendDeps {
  readonly store: Pick<Store, "table" | "ifDropped">;
  readonly wall: WallClock;
  /** Without it every charge writes the row. */
  readonly book: Pick<LocalBook, "entries"> | undefined;
  /** Rows that were just made and may not be committed yet. */
  readonly built: ReadonlyMap<string, OrgSpendRow>;
}

export const orgSpendRows = (store: Pick<Store, "table">): Table<OrgSpendRow> => store.table("spend.orgs");

function giveBack(org: OrgSpend, parts: number[], seq: number, microUsd: number): void {
  org.parts = parts;
  org.seq = seq;
  org.add(-microUsd);
}

function giveBackPart(parts: number[], last: number, lastMs: number, microUsd: number): void {
  parts[last + 1] = lastMs;
  parts[last + 2] = microUsd;
}

export function openOrgSpends({ store, wall, book, built }: OrgSpendDeps): OrgSpends {
  const rows = orgSpendRows(store);
  const orgs = new Map<string, OrgSpend>();

  function load(orgId: string): OrgSpend {
    const row = built.get(orgId) ?? rows.get(orgId);
    const org = new OrgSpend(row ?? { parts: [], seq: 0, knownFrom: "" });
    // The first charge writes the row, so without one there is nothing to add.
    if (row !== undefined && book !== undefined) {
      for (const { amountMicroUsd, atMs } of chargesAfter(book, orgId, row.seq))
        org.grow(amountMicroUsd, atMs);
    }
    if (lastChargeMs(org.parts, wall) > wall.now() + LATER_MS) wall.setBack();
    orgs.set(orgId, org);
    return org;
  }

  return {
    of: (orgId) => orgs.get(orgId) ?? load(orgId),
    charge(orgId, org, increment, entrySeq) {
      const { microUsd, nowMs } = increment;
      const { parts, seq } = org;
      const last = parts.length - PART;
      const lastMs = parts[last + 1] ?? 0;
      const lastMicroUsd = parts[last + 2] ?? 0;
      const isSamePart = continues(parts, increment);
      if (isSamePart) org.grow(microUsd, nowMs);
      else org.parts = withCharge(parts, increment, ORG_DETAIL);
      org.add(microUsd);
      if (!isSamePart || entrySeq === undefined || entrySeq >= seq + WRITE_EVERY) {
        org.seq = entrySeq ?? seq;
        rows.put(orgId, { parts: org.parts, seq: org.seq, knownFrom: org.knownFrom });
      }
      store.ifDropped(giveBack, org, parts, seq, microUsd);
      if (isSamePart) store.ifDropped(giveBackPart, parts, last, lastMs, lastMicroUsd);
    },
  };
}

/** What calls were charged since an entry of the org's ledger, newest first. */
function* chargesAfter(book: Pick<LocalBook, "entries">, orgId: string, seq: number) {
  for (let before: number | undefined; ; ) {
    const page = book.entries(orgId, { limit: ENTRIES_AT_ONCE, before });
    for (const entry of page) {
      if (entry.seq <= seq) return;
      if (entry.kind === "settle") yield { amountMicroUsd: -entry.amountMicroUsd, atMs: entry.createdAtMs };
    }
    before = page.at(-1)?.seq;
    if (page.length < ENTRIES_AT_ONCE) return;
  }
}
