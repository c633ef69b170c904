/**
 * Kept bytes over cells: each tells its own counts under its name, and adds up those of the others. The greater number wins, and numbers
 * only grow, so what is told twice, or again after a crash, counts once. Cells that were retired do not count: nobody keeps their rows.
 */
import type { MergedTable } from "../store/merged-table.ts";
import {
  answersIn,
  type KeptChange,
  type KeptCounts,
  type KeptFigures,
  NOTHING_KEPT,
  payloadsIn,
  responsesIn,
} from "./kept-counts.ts";
import type { KeptPool } from "./kept-pool.ts";

/** Port: the cells of the installation. */
export interface CellsOfQuota {
  /** The name of this one. */
  readonly own: string;
  /** Cells that run, this one included. */
  running(): number;
  isRetired(cell: string): boolean;
}

/** A row's name, then its counts. */
export type ToldCounts = readonly [name: string, ...counts: number[]];

const SEPARATOR = "|";

export class KeptOthers {
  readonly #cells: CellsOfQuota;
  readonly #rows: MergedTable<KeptCounts, KeptChange>;
  /** Pool -> cell -> counts. */
  readonly #heard = new Map<string, Map<string, KeptCounts>>();
  /** Pools whose counts changed since they were told. */
  readonly #untold = new Set<string>();
  /** Pools in memory, by name. */
  readonly #pools = new Map<string, KeptPool>();
  /** What the exchange under way tells. */
  #telling: { readonly pool: KeptPool; readonly bytes: number }[] = [];

  constructor(cells: CellsOfQuota, rows: MergedTable<KeptCounts, KeptChange>) {
    this.#cells = cells;
    this.#rows = rows;
    // After a start all is told again.
    for (const { key } of rows.range()) this.#untold.add((key as string[]).join(SEPARATOR));
  }

  loaded(pool: KeptPool): void {
    const name = nameOf(pool);
    this.#pools.set(name, pool);
    if (!this.#untold.has(name)) pool.toldBytes = pool.ownBytes;
    this.#addUp(name, pool);
  }

  /** Before a pool is looked at. */
  update(pool: KeptPool): void {
    pool.cells = Math.max(1, this.#cells.running());
  }

  /** Cells came or were retired. */
  cellsChanged(): void {
    for (const [name, pool] of this.#pools) this.#addUp(name, pool);
  }

  changed(pool: KeptPool): void {
    this.#untold.add(nameOf(pool));
  }

  take(most: number): ToldCounts[] {
    const { own } = this.#cells;
    const told: ToldCounts[] = [];
    for (const name of this.#untold) {
      if (told.length === most) break;
      this.#untold.delete(name);
      const pool = this.#pools.get(name);
      const counts = pool?.counts ?? this.#rows.get(name.split(SEPARATOR)) ?? [];
      told.push([`${own}${SEPARATOR}${name}`, ...counts]);
      if (pool !== undefined) this.#telling.push({ pool, bytes: pool.ownBytes });
    }
    return told;
  }

  heard(rows: readonly ToldCounts[]): void {
    for (const { pool, bytes } of this.#telling) pool.toldBytes = bytes;
    this.#telling = [];
    for (const [name, ...counts] of rows) {
      const at = name.indexOf(SEPARATOR);
      const [cell, of] = [name.slice(0, at), name.slice(at + 1)];
      if (cell === this.#cells.own) continue;
      const byCell = this.#heard.get(of) ?? new Map<string, KeptCounts>();
      this.#heard.set(of, byCell.set(cell, counts));
      const pool = this.#pools.get(of);
      if (pool !== undefined) this.#addUp(of, pool);
    }
  }

  #addUp(name: string, pool: KeptPool): void {
    let sum: KeptFigures = NOTHING_KEPT;
    for (const [cell, counts] of this.#heard.get(name) ?? []) {
      if (this.#cells.isRetired(cell)) continue;
      sum = {
        responses: sum.responses + responsesIn(counts),
        answers: sum.answers + answersIn(counts),
        payloads: sum.payloads + payloadsIn(counts),
      };
    }
    pool.others = sum;
  }
}

const nameOf = ({ orgId, environment }: KeptPool): string => `${orgId}${SEPARATOR}${environment}`;
