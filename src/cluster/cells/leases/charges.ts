/**
 * The charges of a cell: written in the act of a call's settlement, before Redis knows of them, sent there in their order, and kept
 * until what Redis answered has been passed on. Each row is charged once: the dataset knows the last row that is in, and the answer
 * of the last batch, so a process that was killed goes on where it was.
 */
import { Packr, RESERVE_START_SPACE } from "msgpackr";
import type { ChargeSpend } from "../../../credits/ledger/purse.ts";
import type { UnchargedCall } from "../../../credits/ledger/uncharged.ts";
import { contentOf, SUM_BYTES, withSum } from "../../../store/journal/row-sum.ts";
import type { Log, Store } from "../../../store/store.ts";
import { type Crossed, crossedIn, ScopeSums } from "./scopes.ts";

/** A charge as the ledger has it. */
export interface NumberedCharge extends UnchargedCall {
  /** 1, 2, 3 … per org over all cells, without gaps. */
  readonly seq: number;
  /** The org's balance after this entry. */
  readonly balanceMicroUsd: number;
}

/** Ports. A promise is waited for; where it rejects, the same rows come again, as they do after a kill. */
export interface ChargesPorts {
  readonly onNumbered: (rows: readonly NumberedCharge[]) => Promise<void> | void;
  /** What a life of the cell that was retired had not sent: charged to nobody. */
  readonly onUncharged: (rows: readonly UnchargedCall[]) => Promise<void> | void;
  /** A budget was exceeded, or a day is unusual, by these charges. */
  readonly onCrossed?: ((crossed: readonly Crossed[]) => Promise<void> | void) | undefined;
  /** Told each time that rows could not be passed on: one cannot be read, or a port rejects. They are tried again. */
  readonly onNotPassed?: ((error: unknown) => void) | undefined;
  /** The first key of a key's lineage, for rows of the release before, which do not say it. Default: the key. */
  readonly lineageOf?: ((keyId: string) => string) | undefined;
}

export type ChargesStore = Pick<Store, "act" | "log" | "ifDropped" | "synced">;

/** Rows after `after` up to `last`. */
export interface Batch {
  readonly after: number;
  readonly last: number;
  /** Request id of the last row: two folders that were one differ in it. */
  readonly mark: string;
  readonly orgs: ReadonlyMap<string, { count: number; sumMicroUsd: number }>;
  readonly scopes: ScopeSums;
}

/** Flat list of org, number of its first charge in a batch, balance before that. */
export type Numbering = readonly (string | number)[];

/** In place of a numbering: rows that another process has charged and listed, so that nothing is passed on. */
export const LISTED = null;

export interface Row extends UnchargedCall {
  /** The cell's life when the row was written, or `NOBODYS`. */
  readonly life: number;
  readonly spend: ChargeSpend | undefined;
}

/** In place of a life: the row is charged to nobody. Lives are times. */
export const NOBODYS = 0;

const CHARGES = "cells.charges";
const NUMBERINGS = "cells.charges_numbered";
const BATCH_ROWS = 10_000;
const BATCH_ORGS = 1000;
/** Rows that are kept decoded: some seconds of calls. */
const MOST_RECENT = 20_000;
const RETRY_MS = 1000;

const packr = new Packr({ useRecords: false });

export class Charges {
  readonly #store: ChargesStore;
  readonly #life: number;
  readonly #ports: ChargesPorts;
  readonly #rows: Log;
  readonly #numberings: Log;
  /** Rows that this process wrote and has not passed on, as they were written: each is read twice soon. */
  readonly #recent = new Map<number, Row>();
  /** The newest row that was written, committed or not. */
  #written: number;
  /** The newest row, and the newest answer of Redis, that a power failure does not lose. */
  #safe = { row: 0, numbering: 0 };
  #passing: Promise<void> | undefined;
  #isStopped = false;

  constructor(store: ChargesStore, life: string, ports: ChargesPorts) {
    this.#store = store;
    this.#life = Number(life);
    this.#ports = ports;
    this.#rows = store.log(CHARGES);
    this.#numberings = store.log(NUMBERINGS);
    this.#written = this.#rows.newest();
  }

  /** Only in an act. */
  add(call: UnchargedCall, spend?: ChargeSpend): void {
    this.#add(call, this.#life, spend);
  }

  /** Only in an act: what a life of the cell that was retired left. It is passed on in its turn, with what is charged. */
  addUncharged(call: UnchargedCall): void {
    this.#add(call, NOBODYS);
  }

  #add({ orgId, requestId, atMs, amountMicroUsd }: UnchargedCall, life: number, spend?: ChargeSpend): void {
    const number = ++this.#written;
    this.#store.ifDropped(() => {
      this.#written--;
      this.#recent.delete(number);
    });
    const counted = spend === undefined ? [] : storedSpend(spend);
    this.#rows.append(number, packed([life, orgId, amountMicroUsd, requestId, atMs, ...counted]));
    if (this.#recent.size < MOST_RECENT)
      this.#recent.set(number, { life, orgId, amountMicroUsd, requestId, atMs, spend });
  }

  /** The newest committed row. */
  newest(): number {
    return this.#rows.newest();
  }

  /** Whether rows were written that are not committed yet. */
  isWriting(): boolean {
    return this.#written > this.#rows.newest();
  }

  /**
   * What is committed now may go to Redis once this resolves: a folder that a power failure leaves behind what Redis knows, or
   * without the answer before the latest, could not be started again. @throws Error of the disk, as a rejection
   */
  async secure(): Promise<void> {
    const safe = { row: this.#rows.newest(), numbering: this.#numberings.newest() };
    await this.#store.synced();
    this.#safe = safe;
  }

  /** The last row that was passed on. */
  passedTo(): number {
    return this.#rows.trimmed();
  }

  /** The last row whose numbering is known here. @throws Error as `row` */
  numberedTo(): number {
    const newest = this.#numberings.newest();
    const kept = newest > this.#numberings.trimmed() ? this.#numberings.get(newest) : undefined;
    return kept === undefined
      ? this.#rows.trimmed()
      : (unpacked(NUMBERINGS, newest, kept) as [number, number])[1];
  }

  /** @param number of a committed row. @throws Error of the disk, or where the row is damaged */
  row(number: number): Row | undefined {
    const recent = this.#recent.get(number);
    if (recent !== undefined) return recent;
    const bytes = this.#rows.get(number);
    if (bytes === undefined) return undefined;
    const [life, orgId, amountMicroUsd, requestId, atMs, ...counted] = unpacked(
      CHARGES,
      number,
      bytes,
    ) as StoredRow;
    const [keyId, projectId = "", day = "", lineageId, steadyMs] = counted;
    const spend =
      keyId === undefined
        ? undefined
        : { keyId, lineageId: this.#lineageIn(lineageId, keyId), projectId, day, steadyMs };
    return { life, orgId, amountMicroUsd, requestId, atMs, spend };
  }

  #lineageIn(stored: string | undefined, keyId: string): string {
    if (stored === undefined) return this.#ports.lineageOf?.(keyId) ?? keyId;
    return stored === "" ? keyId : stored;
  }

  /** The rows behind this one that are safe, as many as go at once; undefined where there are none. @throws Error as `row` */
  batchAfter(after: number): Batch | undefined {
    if (this.#numberings.newest() > this.#safe.numbering) return undefined;
    const newest = Math.min(this.#safe.row, after + BATCH_ROWS);
    const orgs = new Map<string, { count: number; sumMicroUsd: number }>();
    const scopes = new ScopeSums();
    let mark = "";
    let last = after;
    for (; last < newest; last++) {
      const row = this.row(last + 1);
      if (row === undefined) continue;
      if (row.life === NOBODYS) {
        mark = row.requestId;
        continue;
      }
      // One day of an org at once.
      if (!scopes.takes(row)) break;
      let org = orgs.get(row.orgId);
      if (org === undefined) {
        if (orgs.size >= BATCH_ORGS) break;
        org = { count: 0, sumMicroUsd: 0 };
        orgs.set(row.orgId, org);
      }
      org.count++;
      org.sumMicroUsd += row.amountMicroUsd;
      scopes.add(row);
      mark = row.requestId;
    }
    return last === after ? undefined : { after, last, mark, orgs, scopes };
  }

  /** Stores what Redis answered to a batch; then it is passed on. */
  async keep(
    after: number,
    last: number,
    numbering: Numbering | typeof LISTED,
    crossed: Numbering = [],
  ): Promise<void> {
    const kept = packed([after, last, numbering, crossed]);
    await this.#store.act(() => this.#numberings.append(this.#numberings.newest() + 1, kept), {
      isOwed: true,
    });
    this.passOn();
  }

  /** Passes on what is numbered and was not yet, in its order. */
  passOn(): void {
    if (this.#passing !== undefined || this.#isStopped) return;
    this.#passing = this.#passAll().finally(() => {
      this.#passing = undefined;
      if (!this.#isStopped && this.#numberings.newest() > this.#numberings.trimmed()) this.passOn();
    });
  }

  /** Resolves once what is numbered was passed on, or could not be just now. */
  async stop(): Promise<void> {
    if (this.#numberings.newest() > this.#numberings.trimmed()) this.passOn();
    this.#isStopped = true;
    await this.#passing;
  }

  async #passAll(): Promise<void> {
    for (;;) {
      const number = this.#numberings.trimmed() + 1;
      let last: number;
      try {
        // Rows are read from the journal's files, which may fail: then all of it is tried again, as where a port fails.
        const kept = this.#numberings.get(number);
        if (kept === undefined) return;
        const [after, to, numbering, crossed] = unpacked(NUMBERINGS, number, kept) as StoredNumbering;
        last = to;
        const { numbered, uncharged } = this.#numbered(after, last, numbering);
        if (numbered.length > 0) await this.#ports.onNumbered(numbered);
        if (uncharged.length > 0) await this.#ports.onUncharged(uncharged);
        if (crossed.length > 0) await this.#ports.onCrossed?.(crossedIn(crossed, this.#between(after, last)));
      } catch (error) {
        this.#ports.onNotPassed?.(error);
        if (this.#isStopped) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
        continue;
      }
      await this.#store.act(
        () => {
          this.#rows.trim(last);
          this.#numberings.trim(number);
        },
        { isOwed: true },
      );
      for (const recent of this.#recent.keys()) {
        if (recent > last) break;
        this.#recent.delete(recent);
      }
    }
  }

  #numbered(after: number, last: number, numbering: Numbering | typeof LISTED) {
    if (numbering === LISTED) return { numbered: [], uncharged: [] };
    const next = new Map<string, { seq: number; balanceMicroUsd: number }>();
    for (let at = 0; at < numbering.length; at += 3) {
      const [orgId, seq, balanceMicroUsd] = numbering.slice(at, at + 3) as [string, number, number];
      next.set(orgId, { seq, balanceMicroUsd });
    }
    const numbered: NumberedCharge[] = [];
    const uncharged: UnchargedCall[] = [];
    for (const { orgId, requestId, atMs, amountMicroUsd, life } of this.#between(after, last)) {
      const charge = { orgId, requestId, atMs, amountMicroUsd };
      const org = next.get(orgId);
      if (org === undefined || life === NOBODYS) {
        uncharged.push(charge);
        continue;
      }
      org.balanceMicroUsd -= amountMicroUsd;
      numbered.push({ ...charge, seq: org.seq, balanceMicroUsd: org.balanceMicroUsd });
      org.seq++;
    }
    return { numbered, uncharged };
  }

  /** Rows after `after` up to `last`. */
  *#between(after: number, last: number): Generator<Row> {
    for (let number = after + 1; number <= last; number++) {
      const row = this.row(number);
      if (row !== undefined) yield row;
    }
  }
}

const packed = (row: readonly unknown[]): Buffer => withSum(packr.pack(row, RESERVE_START_SPACE | SUM_BYTES));

/** Money: a damaged row is charged to nobody, and nothing behind it is passed on. */
function unpacked(log: string, number: number, row: Uint8Array): unknown {
  const content = contentOf(row);
  if (content === undefined)
    throw new Error(
      `row ${number} of ${log} is damaged: what was written has changed in the journal or in weir.lmdb; "weir check --data" looks at everything`,
    );
  return packr.unpack(content);
}

type StoredSpend = [keyId?: string, projectId?: string, day?: string, lineageId?: string, steadyMs?: number];
type StoredRow = [
  life: number,
  orgId: string,
  amount: number,
  requestId: string,
  atMs: number,
  ...StoredSpend,
];

/** The lineage of a key that replaced none is the key. */
const storedSpend = ({
  keyId,
  lineageId = keyId,
  projectId,
  day,
  steadyMs = 0,
}: ChargeSpend): StoredSpend => [keyId, projectId, day, lineageId === keyId ? "" : lineageId, steadyMs];

type StoredNumbering = [
  after: number,
  last: number,
  numbering: Numbering | typeof LISTED,
  crossed: Numbering,
];
