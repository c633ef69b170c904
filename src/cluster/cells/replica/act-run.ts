/**
 * One run of an act that changes shared rows: what it read, and what it wrote, which stays in a draft. Nothing is stored by the run:
 * the dataset decides whether what was read is still so, and every cell then stores the writes.
 */
import type { Undo } from "../../../store/journal/group.ts";
import { keyText, type Range, type StoreKey } from "../../../store/tables/table.ts";
import type { Blobs } from "../exchange/exchange.ts";
import { ActCredit, NO_FUNDS, type OrgFunds } from "./act-credit.ts";
import { Draft } from "./draft.ts";
import type { Change } from "./replica.ts";

export class ActRun {
  readonly id: number;
  readonly draft = new Draft();
  readonly credit: ActCredit;
  /** Table and key of each row that was read, once each. */
  readonly #reads = new Map<string, readonly [table: string, text: string]>();
  /** Table and first part of the keys of each range that was read; "" for the whole table. */
  readonly #ranges = new Map<string, readonly [table: string, part: string]>();
  readonly #undos: (() => void)[] = [];

  /** @param funds of the orgs whose credit it may read */
  constructor(id: number, funds: ReadonlyMap<string, OrgFunds> = NO_FUNDS) {
    this.id = id;
    this.credit = new ActCredit(funds);
  }

  didRead(table: string, key: StoreKey): void {
    const text = keyText(key);
    this.#reads.set(`${table}\0${text}`, [table, text]);
  }

  didReadRange(table: string, range: Range): void {
    const part = commonPart(range);
    // The row under the part alone, which such a range may have too, counts for the whole table only.
    for (const end of part === "" ? [] : [range.start, range.end])
      if (Array.isArray(end) && end.length === 1) this.didRead(table, end);
    this.#ranges.set(`${table}\0${part}`, [table, part]);
  }

  /** Rows and ranges that the dataset compares for it. */
  get readCount(): number {
    return this.#reads.size + this.#ranges.size;
  }

  ifDropped<A, B, C, D>(undo: Undo<A, B, C, D>, a?: A, b?: B, c?: C, d?: D): void {
    this.#undos.push(() => undo(a as A, b as B, c as C, d as D));
  }

  /** Reverts what the act changed in memory. */
  drop(): void {
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) undo();
  }

  /**
   * As the script takes it.
   * @param isShared whether all cells have the table @param blobs takes the rows @param isInsistent see `ActCredit.asOperation`
   */
  asOperation(isShared: (table: string) => boolean, blobs: Blobs, isInsistent: boolean): readonly unknown[] {
    const writes = this.#writes(isShared).flatMap(({ table, key, text, value }) => [
      table,
      text,
      firstPart(key),
      value === undefined ? 0 : blobs.add(value),
    ]);
    const [reads, ranges] = [[...this.#reads.values()].flat(), [...this.#ranges.values()].flat()];
    return [String(this.id), reads, ranges, writes, this.credit.asOperation(isInsistent)];
  }

  /** Rows that it writes in shared tables, and their bytes. */
  sharedSize(isShared: (table: string) => boolean): { readonly rows: number; readonly bytes: number } {
    const writes = this.#writes(isShared);
    return { rows: writes.length, bytes: writes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0) };
  }

  /** What it writes in tables of this cell alone. */
  ownChanges(isShared: (table: string) => boolean): Change[] {
    return [...this.draft.writes()]
      .filter(({ table }) => !isShared(table))
      .map(({ table, text, value }) => ({ table, text, value }));
  }

  #writes(isShared: (table: string) => boolean) {
    return [...this.draft.writes()].filter(({ table }) => isShared(table));
  }
}

/** The first part of a key that has several; "" for others. */
const firstPart = (key: StoreKey): string =>
  Array.isArray(key) && key.length > 1 ? JSON.stringify(key[0]) : "";

/** The first part that all keys of a range share; "" where they do not. */
function commonPart({ start, end }: Range): string {
  if (!Array.isArray(start) || !Array.isArray(end)) return "";
  const [from, to] = [JSON.stringify(start[0]), JSON.stringify(end[0])];
  return from === to ? from : "";
}
