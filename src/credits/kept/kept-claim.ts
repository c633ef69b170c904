/**
 * A cell's claim on a quota of kept bytes that all cells share. An eighth of the quota is divided among the cells that run, without a
 * word: so a call at a cell that was idle needs no question. Each cell claims of the rest what it keeps beyond its part, and some more for
 * the calls to come.
 *
 * A claim is told and those of the others are read in one exchange, and a cell uses no more than the others had left: of two that claim
 * the same bytes, the later one sees the claim of the earlier. So the sum of what cells may keep never exceeds the quota.
 */
import type { KeptPool } from "./kept-pool.ts";

/** The share of the quota that is divided without a claim. */
const UNCLAIMED_SHARE = 1 / 8;
/** The share of the quota that all cells together claim ahead while nobody asks for it. */
const IDLE_SHARE = 1 / 64;

export class KeptClaim {
  readonly pool: KeptPool;
  /** Bytes claimed and given back since ever. They only grow, so that what is told twice counts once. */
  added = 0;
  returned = 0;
  #neededBytes = -1;

  constructor(pool: KeptPool) {
    this.pool = pool;
  }

  get bytes(): number {
    return this.added - this.returned;
  }

  /** What an earlier life of this process, or an earlier exchange, has told. */
  adopt(added: number, returned: number): void {
    this.added = Math.max(this.added, added);
    this.returned = Math.max(this.returned, returned);
  }

  /** Whether the claim should be told anew. */
  isDue(cells: number): boolean {
    const { pool } = this;
    if (!Number.isFinite(pool.maxBytes)) return false;
    const aheadBytes = pool.ceilingBytes - pool.neededBytes;
    if (pool.wantedBytes > 0 || !Number.isFinite(aheadBytes)) return true;
    if (aheadBytes < (pool.maxBytes * IDLE_SHARE) / cells / 2) return true;
    // Nothing was asked for since: others may have what is claimed ahead.
    return pool.neededBytes === this.#neededBytes && this.#aheadBytes(cells) > this.#idleBytes(cells);
  }

  /** Claims what is needed now. @param othersBytes claims of the others, as last heard */
  tell(cells: number, othersBytes: number): void {
    const { pool } = this;
    const { maxBytes } = pool;
    if (!Number.isFinite(maxBytes)) return;
    const mustBytes = this.#mustBytes(cells);
    const freeBytes = Math.max(0, claimable(maxBytes) - othersBytes - mustBytes);
    const isIdle = pool.neededBytes === this.#neededBytes && pool.wantedBytes === 0;
    const share = Math.floor(freeBytes / cells);
    const askedBytes = Math.min(freeBytes, Math.max(share, pool.wantedBytes));
    const ahead = isIdle ? Math.min(share, this.#idleBytes(cells)) : askedBytes;
    const change = mustBytes + ahead - this.bytes;
    if (change > 0) this.added += change;
    else this.returned -= change;
    this.#neededBytes = pool.neededBytes;
    pool.wantedBytes = 0;
    // What is given back is not used from now on; what was added is used once the others' claims are known.
    pool.ceilingBytes = Math.min(pool.ceilingBytes, part(maxBytes, cells) + this.bytes);
  }

  /** The exchange that told the claim has brought the claims of the others. */
  heard(cells: number, othersBytes: number): void {
    const { pool } = this;
    const { maxBytes } = pool;
    if (!Number.isFinite(maxBytes)) pool.ceilingBytes = Number.POSITIVE_INFINITY;
    else {
      const claimed = Math.min(this.bytes, Math.max(0, claimable(maxBytes) - othersBytes));
      pool.ceilingBytes = part(maxBytes, cells) + claimed;
    }
  }

  #mustBytes(cells: number): number {
    const { neededBytes, maxBytes } = this.pool;
    return Math.max(0, Math.ceil(neededBytes - part(maxBytes, cells)));
  }

  #aheadBytes(cells: number): number {
    return this.bytes - this.#mustBytes(cells);
  }

  #idleBytes(cells: number): number {
    return Math.floor((this.pool.maxBytes * IDLE_SHARE) / cells);
  }
}

const claimable = (maxBytes: number): number => Math.floor(maxBytes * (1 - UNCLAIMED_SHARE));

/** What each cell may keep without a claim. */
export const part = (maxBytes: number, cells: number): number =>
  Math.floor((maxBytes * UNCLAIMED_SHARE) / cells);
