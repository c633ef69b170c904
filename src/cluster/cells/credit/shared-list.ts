/**
 * The list of an org's ledger at a cell among several. Postings are rows that all cells have. Charges are in the analytics once the cell
 * that made them has brought them there, under numbers that the dataset gave out: so a number that is missing tells of a charge that some
 * folder still has, or that is gone with its folder. Where no cell has anything to bring any more it is gone: an entry is shown
 * for it, and a row that all cells have says up to which number that was found, so that every list is the same also while a cell is away.
 */
import type { LedgerEntry } from "../../../credits/ledger/entry.ts";
import type { Ledger, LedgerPage } from "../../../credits/ledger/ledger.ts";
import {
  aboveOf,
  gapsIn,
  type Known,
  type LedgerList,
  type Mark,
  type Page,
  pageOf,
  type Stretch,
} from "../../../credits/ledger/shown-list.ts";
import type { Store } from "../../../store/store.ts";
import type { Table } from "../../../store/tables/table.ts";
import type { Flushed } from "../messages/flush.ts";
import type { CreditView } from "./credit-view.ts";

interface Below {
  readonly before: number;
  readonly limit: number;
}

/** Charges of all cells, where they are listed. Each is newest first. */
export interface ChargeList {
  /** Charges of one org below a number. */
  charges(orgId: string, page: Below): Promise<readonly LedgerEntry[]>;
  /**
   * Entries below a number between which others are missing, but for postings of the last moments; `seq` 0 is before the first.
   * `from`: the entry of this number is listed, and so is each older entry of the org; 0: that is known of no entry.
   */
  holes(orgId: string, page: Below & { readonly from: number }): Promise<readonly Hole[]>;
}

interface Hole {
  readonly newer: Known;
  readonly older: Known;
}

export interface SharedListDeps extends ChargeList {
  readonly store: Pick<Store, "table" | "act">;
  /** The ledger of postings only: rows that all cells have. */
  readonly posted: Ledger;
  readonly view: CreditView;
  /** Resolves once the charges of all cells so far have numbers and are listed, or after a moment. */
  readonly allListed: () => Promise<Flushed>;
  /** Resolves once the rows here are those of now. */
  readonly caughtUp: () => Promise<void>;
  /** Whether no cell is left that may still list charges of before there were cells. */
  readonly isFormerOver: () => Promise<boolean>;
}

/** The row of an org: up to there, what is missing is gone. */
const GONE = "ledger.gone";
/** What cells that run have not brought out yet is looked for once more after this. */
const AGAIN_MS = 50;
const AGAIN_TIMES = 4;
/** Holes, and postings, that are read at once. */
const SLICE = 500;
/** Any call may be missing. */
const ANY_MS = 0;

/** Orgs of which it is known up to which number all is listed. */
const MOST_WHOLE = 10_000;

/** A page that is asked for, and what the dataset says of the org. */
interface Asked extends LedgerPage {
  readonly orgId: string;
  /** The newest entry. */
  readonly newest: Mark;
}

export class SharedList {
  readonly #deps: SharedListDeps;
  readonly #gone: Table<Mark>;
  /** Org → number of an entry up to which ClickHouse has listed every one: the search for missing entries begins above it. */
  readonly #whole = new Map<string, number>();

  constructor(deps: SharedListDeps) {
    this.#deps = deps;
    this.#gone = deps.store.table(GONE);
  }

  /**
   * Charges of the last moments may be missing, and those that a cell which is away has: the page then says so.
   * @throws WeirError 503 where the charges cannot be read
   */
  async page(orgId: string, page: LedgerPage): Promise<LedgerList> {
    const { view, allListed } = this.#deps;
    // Charges get their numbers by it: a number that was asked for earlier would be below those of the last moments.
    const first = page.before === undefined ? await allListed() : undefined;
    const funds = (await view.fresh([orgId])).get(orgId);
    const newest = { seq: funds?.seq ?? 0, balanceMicroUsd: funds?.balanceMicroUsd ?? 0 };
    const asked = { ...page, orgId, newest };
    const found = await this.#look(asked);
    if (found.isLacking) return await this.#again(asked);
    return { entries: found.entries, missingSinceMs: missingIn(first) };
  }

  /** Numbers are missing: looks again once those who may have their entries were asked. */
  async #again(asked: Asked): Promise<LedgerList> {
    const { allListed, caughtUp, isFormerOver } = this.#deps;
    for (let times = 1; ; times++) {
      await caughtUp();
      const isFormerHere = !(await isFormerOver());
      // It is asked after the numbers were given out: who answers has brought out all of them that it had.
      const flushed = await allListed();
      const { entries, isLacking } = await this.#look(asked);
      const missingSinceMs = isFormerHere ? ANY_MS : missingIn(flushed);
      if (!isLacking)
        return { entries, missingSinceMs: asked.before === undefined ? missingSinceMs : undefined };
      if (missingSinceMs === undefined) return await this.#withGone(asked);
      if (flushed.isDone || times >= AGAIN_TIMES) return { entries, missingSinceMs };
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  async #withGone(asked: Asked): Promise<LedgerList> {
    const { orgId, newest } = asked;
    const act = () => {
      if ((this.#gone.get(orgId)?.seq ?? 0) < newest.seq) this.#gone.put(orgId, newest);
    };
    // Without the row the next list finds the same.
    await this.#deps.store.act(act).catch(() => {});
    return { entries: (await this.#look(asked, newest)).entries, missingSinceMs: undefined };
  }

  async #look(asked: Asked, mark = this.#gone.get(asked.orgId)): Promise<Page> {
    if (asked.kind === "adjustment") return await this.#adjustments(asked, mark);
    const stretch = await (asked.kind === "settle" ? this.#settled(asked) : this.#all(asked));
    return pageOf(stretch.entries, gapsIn(stretch, mark), asked, mark);
  }

  /** Entries of all kinds: those of a page, and the one below it, to know what is missing between the two. */
  async #all(asked: Asked): Promise<Stretch> {
    const { charges, posted } = this.#deps;
    const page = { before: topOf(asked), limit: asked.limit + 2 };
    const settled = await charges(asked.orgId, page);
    const entries = merged(settled, posted.page(asked.orgId, page)).slice(0, page.limit);
    return stretchOf(asked, entries, entries.length < page.limit);
  }

  /** The charges of a page, and what was posted between them. */
  async #settled(asked: Asked): Promise<Stretch> {
    const page = { before: topOf(asked), limit: asked.limit + 1 };
    const settled = await this.#deps.charges(asked.orgId, page);
    const isToEnd = settled.length < page.limit;
    const downTo = isToEnd ? 1 : (settled.at(-1)?.seq ?? 1);
    const others = this.#postedWithin(asked.orgId, page.before, downTo);
    return stretchOf(asked, merged(settled, others), isToEnd);
  }

  /** What was posted as an adjustment, and what stands for entries that are missing. */
  async #adjustments(asked: Asked, mark: Mark | undefined): Promise<Page> {
    const { posted, holes } = this.#deps;
    const { orgId, limit } = asked;
    // Down to the newest charge: what is below it, holes tell.
    const top = await this.#settled({ ...asked, limit: 0 });
    const gaps = gapsIn(top, mark);
    // Where none is known to be gone, one that is missing says enough.
    const isEnough = () =>
      mark === undefined ? gaps.length > 0 : gaps.filter(({ seq }) => seq <= mark.seq).length >= limit;
    const from = this.#whole.get(orgId) ?? 0;
    let whole = endOf(top);
    let before = top.isToEnd ? 0 : whole + 1;
    while (before > 1 && !isEnough()) {
      const found = await holes(orgId, { before, from, limit: SLICE });
      whole = found.at(-1)?.older.seq ?? whole;
      if (whole < from && found.length > 0) {
        // ClickHouse has lost entries that it had listed before: search from the first one.
        this.#whole.delete(orgId);
        return await this.#adjustments(asked, mark);
      }
      for (const hole of found) gaps.push(...gapsIn(this.#within(orgId, hole), mark));
      before = found.length < SLICE ? 0 : whole + 1;
    }
    // The newest charge is listed, and no hole is below the lowest.
    if (before <= 1 && !top.isToEnd && top.entries.length > 0) this.#noteWhole(orgId, whole);
    return pageOf(posted.page(orgId, { limit, before: top.below, kind: "adjustment" }), gaps, asked, mark);
  }

  #noteWhole(orgId: string, seq: number): void {
    if (seq <= (this.#whole.get(orgId) ?? 0)) return;
    if (this.#whole.size >= MOST_WHOLE) this.#whole.clear();
    this.#whole.set(orgId, seq);
  }

  #within(orgId: string, { newer, older }: Hole): Stretch<Known> {
    const isToEnd = older.seq === 0;
    return {
      orgId,
      below: newer.seq,
      above: aboveOf(newer),
      entries: [...this.#postedWithin(orgId, newer.seq, older.seq + 1), ...(isToEnd ? [] : [older])],
      isToEnd,
    };
  }

  /** Newest first: postings below a number, down to another. */
  #postedWithin(orgId: string, below: number, downTo: number): LedgerEntry[] {
    const all: LedgerEntry[] = [];
    for (let before = below; ; ) {
      const some = this.#deps.posted.page(orgId, { before, limit: SLICE });
      const last = some.at(-1);
      all.push(...some.filter(({ seq }) => seq >= downTo));
      if (last === undefined || last.seq <= downTo || some.length < SLICE) return all;
      before = last.seq;
    }
  }
}

/** Whether the page begins with the org's newest entry. */
const isFirst = ({ before, newest }: Asked): boolean => before === undefined || before > newest.seq;

/** A page is read from the entry on that it is below, if that is listed: it says what the balance was before it. */
const topOf = (asked: Asked): number => (isFirst(asked) ? asked.newest.seq : (asked.before ?? 0)) + 1;

/** @param entries below `topOf`, newest first */
function stretchOf(asked: Asked, entries: readonly LedgerEntry[], isToEnd: boolean): Stretch {
  const { orgId, before = 0, newest } = asked;
  if (isFirst(asked)) {
    const above = { balanceMicroUsd: newest.balanceMicroUsd, createdAtMs: 0 };
    return { orgId, below: newest.seq + 1, above, entries, isToEnd };
  }
  const [top, ...others] = entries;
  if (top?.seq !== before) return { orgId, below: before, above: undefined, entries, isToEnd };
  return { orgId, below: before, above: aboveOf(top), entries: others, isToEnd };
}

const endOf = ({ entries, below }: Stretch): number => entries.at(-1)?.seq ?? below;

const merged = (settled: readonly LedgerEntry[], others: readonly LedgerEntry[]): LedgerEntry[] =>
  [...settled, ...others].sort((one, other) => other.seq - one.seq);

const missingIn = (flushed: Flushed | undefined): number | undefined =>
  flushed === undefined || flushed.isDone ? flushed?.missingSinceMs : (flushed.missingSinceMs ?? ANY_MS);
