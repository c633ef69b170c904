/**
 * The moment that a backup shows, at the running gateway. The command that makes the backup copies the files itself, in its own
 * process: nothing of the gateway waits for a disk, writes to a path that a request names, or dies of a full one. The gateway only holds
 * still, twice and briefly:
 *
 * 1. `begin`: no batch goes to ClickHouse any more, and LMDB's file is complete and does not change. The command opens a read
 *    transaction, which keeps what it sees for as long as the copy takes.
 * 2. `freeze`: LMDB goes on. The tables of ClickHouse are frozen (hard links), and batches go on.
 *
 * The store comes first, so that a removal that ClickHouse has finished is never one that the store does not know of; since no
 * batch went in between, each record is in exactly one of the two copies. A command that dies leaves nothing held: a hold ends by itself.
 */
import { randomBytes } from "node:crypto";
import { inTime } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";

export interface MomentDeps {
  readonly store: { still<T>(act: (frame: number) => Promise<T>): Promise<T> };
  readonly analytics: {
    readonly isEmbedded: boolean;
    hold(withinMs: number): Promise<() => void>;
    freeze(name: string): Promise<void>;
  };
  /** Port, for a cell among several: all cells bring records and entries out to ClickHouse, or as many as they can in a moment. */
  readonly bringOut?: () => Promise<void>;
  /** A hold ends after that. Default: 15 s. */
  readonly holdMs?: number;
}

export interface BegunBackup {
  readonly id: string;
  /** The copy must have exactly the frames of the journal up to this one. */
  readonly frame: number;
}

interface Held extends BegunBackup {
  readonly withRecords: boolean;
  releaseStore(): void;
  releaseRecords(): void;
}

const HOLD_MS = 15_000;
/** One batch may take so long to be inserted. */
const RECORDS_MS = 20_000;
/** LMDB has everything at once, unless its disk is full. */
const STORE_MS = 10_000;

export class BackupMoment {
  readonly #deps: MomentDeps;
  #isBusy = false;
  #held: Held | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: MomentDeps) {
    this.#deps = deps;
  }

  /** @throws WeirError `state` while another backup is here, `analytics_unavailable`, `storage_unavailable` */
  async begin(withRecords: boolean): Promise<BegunBackup> {
    if (this.#isBusy) throw fail("state", "Another backup is beginning; try again in a minute.");
    this.#isBusy = true;
    let releaseRecords = () => {};
    try {
      if (withRecords) await this.#deps.bringOut?.();
      if (withRecords) releaseRecords = await this.#holdRecords();
      const { frame, release } = await this.#holdStore();
      const id = randomBytes(12).toString("hex");
      this.#held = { id, frame, withRecords, releaseStore: release, releaseRecords };
      this.#timer = setTimeout(() => this.close(), this.#deps.holdMs ?? HOLD_MS);
      this.#timer.unref();
      return { id, frame };
    } catch (error) {
      releaseRecords();
      this.#isBusy = false;
      throw error;
    }
  }

  /**
   * The copy of the store has begun.
   * @returns the name under which the tables are frozen; undefined where none are
   * @throws WeirError `not_found` where the hold is over, `analytics_unavailable`
   */
  async freeze(id: string): Promise<string | undefined> {
    const held = this.#held;
    if (held?.id !== id)
      throw fail("not_found", "This backup took too long to begin, or there is none such.");
    clearTimeout(this.#timer);
    // Nobody else may end it meanwhile.
    this.#held = undefined;
    held.releaseStore();
    try {
      if (!held.withRecords) return undefined;
      const name = frozenName(id);
      await this.#deps.analytics.freeze(name);
      return name;
    } finally {
      held.releaseRecords();
      this.#isBusy = false;
    }
  }

  /** Lets the store and the spools go on, if a backup holds them still. */
  close(): void {
    const held = this.#held;
    if (held === undefined) return;
    clearTimeout(this.#timer);
    this.#held = undefined;
    this.#isBusy = false;
    held.releaseStore();
    held.releaseRecords();
  }

  async #holdRecords(): Promise<() => void> {
    try {
      return await this.#deps.analytics.hold(RECORDS_MS);
    } catch {
      throw fail("analytics_unavailable", "ClickHouse does not answer, so its tables cannot be copied now.");
    }
  }

  async #holdStore(): Promise<{ readonly frame: number; readonly release: () => void }> {
    let isLate = false;
    const held = new Promise<{ frame: number; release: () => void }>((resolve, reject) => {
      const still = this.#deps.store.still(async (frame) => {
        if (!isLate) await new Promise<void>((release) => resolve({ frame, release }));
      });
      still.catch(reject);
    });
    return await inTime(held, STORE_MS, () => {
      isLate = true;
      throw fail("storage_unavailable", "The store cannot bring weir.lmdb up to date now.");
    });
  }
}

/** ClickHouse writes other signs than letters, digits and _ in another way. */
const FROZEN = "weir_backup_";

export const frozenName = (id: string): string => `${FROZEN}${id}`;
export const isFrozenName = (name: string): boolean => name.startsWith(FROZEN);
