/**
 * The ledger of the gateway whose folder an installation was made of: its postings are rows that all cells have, its charges are in that
 * folder alone. The folder's cell copies all entries to the list that every cell reads, in the background. A row that all cells have says
 * that this is not done: until then a list says that older entries may be missing.
 */
import { setTimeout as pause } from "node:timers/promises";
import { entryOf, type LedgerEntry, type StoredEntry } from "../../../credits/ledger/entry.ts";
import type { Store } from "../../../store/store.ts";
import type { Cell } from "../cell.ts";

/** The row that all cells have: the name of the cell that copies, `true` before it has begun. */
export const FORMER_LEDGER = { table: "ledger.former", key: "unlisted" };

/** The cell that has entries of before there were cells which are not listed; `true`: one that has not said so yet. */
export const formerCell = (store: Pick<Store, "table">): string | true | undefined =>
  store.table<string | true>(FORMER_LEDGER.table).get(FORMER_LEDGER.key);

/** Whether all entries of before there were cells are listed. */
export const isFormerListed = (store: Pick<Store, "table">): boolean => formerCell(store) === undefined;

/** Whether all of them are listed, or the cell that had them is gone. @throws Error of Redis */
export async function isFormerOver({
  store,
  listed,
}: Pick<Cell, "listed"> & { readonly store: Pick<Store, "table"> }): Promise<boolean> {
  const name = formerCell(store);
  if (name === undefined || name === true) return name === undefined;
  return (await listed()).cells.some(({ cell, status }) => cell === name && status === "retired");
}

/** Where entries are listed. */
export interface FormerList {
  /** Only in an act of this cell alone: entries that reach the list soon; the same may come again. */
  put(entries: readonly (LedgerEntry & { readonly orgId: string })[]): void;
  /** Resolves true once all that this cell put is listed, false where that takes longer. */
  flush(withinMs: number): Promise<boolean>;
}

export interface FormerLedgerDeps {
  /** Name of the cell that copies. */
  readonly name: string;
  readonly store: Pick<Store, "table" | "act">;
  readonly list: FormerList;
  /** The copy is tried again. */
  readonly onFailure: (error: unknown) => void;
  readonly onDone: (entries: number) => void;
}

/** The oldest entry that was put so far. */
interface Copied {
  readonly org: string;
  readonly seq: number;
  /** How many there were. */
  readonly entries: number;
}

const COPIED = "cells.former_ledger";
const AT = "at";
/** Entries of one act: some milliseconds, in which no call runs. */
const SLICE = 250;
/** Entries on their way at once: those of new charges wait behind them. */
const MOST_WAITING = 10_000;
const FLUSH_MS = 5000;
const RETRY_MS = 5000;

export class FormerLedger {
  readonly #deps: FormerLedgerDeps;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;

  constructor(deps: FormerLedgerDeps) {
    this.#deps = deps;
  }

  /** Goes on where a former process ended. Does nothing where this cell's folder has no such entries, or all are listed. */
  start(): void {
    const { store } = this.#deps;
    const [first] = store.table("ledger").range({ limit: 1 });
    if (first !== undefined && !isFormerListed(store)) this.#running ??= this.#run();
  }

  /** Resolves once nothing is under way. The next start goes on. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        return await this.#copyAll();
      } catch (error) {
        if (this.#isStopped) return;
        this.#deps.onFailure(error);
        await this.#pause(RETRY_MS);
      }
    }
  }

  async #copyAll(): Promise<void> {
    const { name, store, list, onDone } = this.#deps;
    const { table, key } = FORMER_LEDGER;
    if (formerCell(store) !== name)
      await store.act(() => store.table<string>(table).put(key, name), { isOwed: true });
    let isMore = true;
    while (isMore) {
      for (let waiting = 0; isMore && waiting < MOST_WAITING; waiting += SLICE) {
        if (this.#isStopped) return;
        isMore = await this.#copySlice();
      }
      while (!(await list.flush(FLUSH_MS))) {
        if (this.#isStopped) return;
        await this.#pause(RETRY_MS);
      }
    }
    await store.act(() => store.table<string>(table).remove(key), { isOwed: true });
    onDone(this.#copied()?.entries ?? 0);
  }

  /** The newest entries of an org first: they are read most. @returns false where there is none left */
  async #copySlice(): Promise<boolean> {
    const { store, list } = this.#deps;
    const copied = this.#copied();
    const range = { reverse: true, limit: SLICE, ...(copied && { start: [copied.org, copied.seq - 1] }) };
    const entries = Array.from(store.table<StoredEntry>("ledger").range(range), ({ key, value }) => {
      const [orgId, seq] = key as [string, number];
      return { ...entryOf(seq, value), orgId };
    });
    const last = entries.at(-1);
    if (last === undefined) return false;
    const next = { org: last.orgId, seq: last.seq, entries: (copied?.entries ?? 0) + entries.length };
    const act = () => {
      list.put(entries);
      store.table<Copied>(COPIED).put(AT, next);
    };
    await store.act(act, { isOwed: true });
    return true;
  }

  #copied(): Copied | undefined {
    return this.#deps.store.table<Copied>(COPIED).get(AT);
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#stopped.signal, ref: false }).catch(() => {});
  }
}
