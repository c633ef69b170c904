/**
 * Quotas of kept bytes over cells: each tells what it keeps and claims under its name, and hears the others. The greater number wins, and
 * numbers only grow, so what is told twice, or again after a crash, counts once. Cells that were retired do not count: nobody keeps
 * their rows.
 */
import type { MergedTable } from "../../store/tables/merged-table.ts";
import { KeptClaim, part } from "./kept-claim.ts";
import {
  answersIn,
  type KeptChange,
  type KeptCounts,
  type KeptFigures,
  NO_COUNTS,
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
  /** Resolves once this cell has told what it keeps, and heard what the others told before that; soon in every case. */
  exchange(): Promise<void>;
}

/** A row's name, then its counts, and bytes claimed and given back. */
export type ToldCounts = readonly [name: string, ...counts: number[]];

const SEPARATOR = "|";
/** Behind the counts. */
const [ADDED, RETURNED] = [NO_COUNTS.length, NO_COUNTS.length + 1];

export class KeptOthers {
  readonly #cells: CellsOfQuota;
  readonly #rows: MergedTable<KeptCounts, KeptChange>;
  /** Pool -> cell -> counts. */
  readonly #heard = new Map<string, Map<string, KeptCounts>>();
  /** Names of pools whose counts changed since they were told. */
  readonly #untold = new Set<string>();
  /** Claims on the pools in memory, by the pool's name. */
  readonly #claims = new Map<string, KeptClaim>();
  #running = 1;
  #hasHeard = false;
  /** What the exchange under way tells. */
  #telling: KeptClaim[] = [];
  #exchanging: Promise<void> | undefined;

  constructor(cells: CellsOfQuota, rows: MergedTable<KeptCounts, KeptChange>) {
    this.#cells = cells;
    this.#rows = rows;
    this.#running = Math.max(1, cells.running());
    // After a start all is told again.
    for (const { key } of rows.range()) this.#untold.add((key as string[]).join(SEPARATOR));
  }

  loaded(pool: KeptPool): void {
    const name = nameOf(pool);
    const claim = new KeptClaim(pool);
    this.#claims.set(name, claim);
    const { figures, claimedBytes } = this.#addUp(name);
    pool.others = figures;
    const own = this.#heard.get(name)?.get(this.#cells.own);
    if (own !== undefined) claim.adopt(own[ADDED] ?? 0, own[RETURNED] ?? 0);
    if (this.#hasHeard) claim.heard(this.#running, claimedBytes);
    // What it keeps was claimed by its former life: until it hears that, it uses its part beside it.
    else pool.ceilingBytes = pool.ownBytes + part(pool.maxBytes, this.#running);
  }

  /** Cells came or were retired. */
  cellsChanged(): void {
    for (const [name, { pool }] of this.#claims) pool.others = this.#addUp(name).figures;
  }

  changed(pool: KeptPool): void {
    this.#untold.add(nameOf(pool));
  }

  /** An exchange that begins after this call; simultaneous calls share one. */
  async exchange(): Promise<void> {
    await this.#exchanging;
    this.#exchanging ??= this.#cells.exchange().finally(() => {
      this.#exchanging = undefined;
    });
    await this.#exchanging;
  }

  take(most: number): ToldCounts[] {
    const told: ToldCounts[] = [];
    for (const [name, claim] of this.#claims) {
      if (told.length === most) return told;
      if (!this.#untold.has(name) && !claim.isDue(this.#running)) continue;
      claim.tell(this.#running, this.#addUp(name).claimedBytes);
      this.#telling.push(claim);
      told.push(this.#told(name, claim.pool.counts, claim));
    }
    for (const name of this.#untold) {
      if (told.length === most) return told;
      told.push(this.#told(name, this.#rows.get(name.split(SEPARATOR)) ?? NO_COUNTS));
    }
    return told;
  }

  #told(name: string, counts: KeptCounts, { added = 0, returned = 0 }: Partial<KeptClaim> = {}): ToldCounts {
    this.#untold.delete(name);
    return [`${this.#cells.own}${SEPARATOR}${name}`, ...counts, added, returned];
  }

  heard(rows: readonly ToldCounts[]): void {
    this.#running = Math.max(1, this.#cells.running());
    this.#hasHeard = true;
    for (const [name, ...counts] of rows) {
      const at = name.indexOf(SEPARATOR);
      this.#heardOf(name.slice(0, at), name.slice(at + 1), counts);
    }
    for (const claim of this.#telling.splice(0))
      claim.heard(this.#running, this.#addUp(nameOf(claim.pool)).claimedBytes);
  }

  #heardOf(cell: string, name: string, counts: KeptCounts): void {
    const byCell = this.#heard.get(name) ?? new Map<string, KeptCounts>();
    this.#heard.set(name, byCell.set(cell, counts));
    const claim = this.#claims.get(name);
    if (claim === undefined) return;
    if (cell === this.#cells.own) claim.adopt(counts[ADDED] ?? 0, counts[RETURNED] ?? 0);
    else claim.pool.others = this.#addUp(name).figures;
  }

  /** Adds up what the other cells keep and claim. */
  #addUp(name: string): { readonly figures: KeptFigures; readonly claimedBytes: number } {
    let [figures, claimedBytes] = [NOTHING_KEPT, 0];
    for (const [cell, counts] of this.#heard.get(name) ?? []) {
      if (cell === this.#cells.own || this.#cells.isRetired(cell)) continue;
      claimedBytes += (counts[ADDED] ?? 0) - (counts[RETURNED] ?? 0);
      figures = {
        responses: figures.responses + responsesIn(counts),
        answers: figures.answers + answersIn(counts),
        payloads: figures.payloads + payloadsIn(counts),
      };
    }
    return { figures, claimedBytes };
  }
}

const nameOf = ({ orgId, environment }: KeptPool): string => `${orgId}${SEPARATOR}${environment}`;
