/**
 * The store of a cell among several: the same tables and acts as the store of one process, which it uses for the cell's folder.
 * Rows of shared tables are the same at every cell: an act that changes one is committed by the dataset, and resolves once all cells
 * have it. An act that changes tables of this cell alone is committed by its folder, as in one process.
 */
import { fail } from "../../../base/errors.ts";
import type { ActOptions, Undo } from "../../../store/journal/group.ts";
import type { Log, RowVersions, Store, Table } from "../../../store/store.ts";
import type { ActCredit } from "./act-credit.ts";
import { ActRun } from "./act-run.ts";
import type { Committer } from "./committer.ts";
import { type Running, sharedBytes, sharedTable } from "./shared-table.ts";

/** Thrown at the end of a run whose writes the cell's folder must not take. */
const DROPPED = new Error("a run of an act was dropped");

export interface SharedStoreDeps {
  readonly local: Store;
  readonly isShared: (table: string) => boolean;
  /** False while the cell has not heard of others for too long, or loads its rows. */
  readonly isCurrent: () => boolean;
  /** In which cells write now. */
  readonly format: () => number;
  /** Resolves true if the cell is current in a moment: it stood still, and catches up. */
  readonly currentSoon: () => Promise<boolean>;
  /** Removed rows leave the dataset. */
  readonly forget: () => Promise<void>;
  /** Before the cell's folder is closed. */
  readonly leave: () => Promise<void>;
}

export class SharedStore implements Store {
  readonly #deps: SharedStoreDeps;
  #running: Running | undefined;
  /** The run of the latest act that touched no shared rows, as acts of calls do not. It is still empty, and the next act takes it. */
  #unused: ActRun | undefined;
  #committer: Committer | undefined;

  constructor(deps: SharedStoreDeps) {
    this.#deps = deps;
  }

  /** @internal Acts can change shared rows from now on. */
  connect(committer: Committer): void {
    this.#committer = committer;
  }

  /** @internal What runs now. */
  setRunning(running: Running | undefined): void {
    this.#running = running;
  }

  /** @internal Runs `read` as an act that stores nothing. */
  onRows(read: () => void): void {
    const dropped = this.#deps.local.act(
      () => {
        read();
        throw DROPPED;
      },
      { isOwed: true },
    );
    dropped.catch(() => {});
  }

  table<V>(name: string, versions?: RowVersions<V>): Table<V> {
    return sharedTable(name, versions, this.#context(name));
  }

  bytes(name: string): Table<Uint8Array> {
    return sharedBytes(name, this.#context(name));
  }

  log(name: string): Log {
    const log = this.#deps.local.log(name);
    const check = () => {
      if (this.#running?.isProbe === false) throw new Error(`${name}, a log, was written in a shared act`);
    };
    return {
      ...log,
      append(number, value) {
        check();
        log.append(number, value);
      },
      trim(upTo) {
        check();
        log.trim(upTo);
      },
    };
  }

  /**
   * As of one process, but for this: while earlier acts are being committed, one that reads shared rows and writes none sees rows
   * without them, and so may a caller's own. Writes to tables of this cell in a shared act are stored when it is committed, over what
   * acts of this cell alone wrote meanwhile.
   * @throws WeirError `storage_unavailable` (as a rejection) too when the act could not be committed for 5 s; with
   *   `details.outcome` "unknown" where it was sent and its fate is not known
   */
  act<T>(act: () => T, options?: ActOptions): Promise<T> {
    let isShared = false;
    const done = this.#deps.local.act(() => {
      const probe = this.#unused ?? new ActRun(0);
      this.#unused = undefined;
      this.#running = { run: probe, before: undefined, isProbe: true };
      try {
        const value = act();
        isShared = probe.draft.isWritten || probe.credit.needed.size > 0;
        if (isShared) throw DROPPED;
        if (probe.readCount === 0) this.#unused = probe;
        return value;
      } catch (error) {
        // Perhaps it would not throw on what earlier acts do, which are being committed, or on rows that are current.
        const isCertain = (this.#committer?.pending ?? 0) === 0 && this.#deps.isCurrent();
        isShared ||= !isCertain && (probe.draft.isWritten || probe.readCount > 0);
        isShared ||= probe.credit.needed.size > 0;
        throw error;
      } finally {
        this.#running = undefined;
      }
    }, options);
    if (!isShared) return done;
    done.catch(() => {});
    return this.#shared(act, options);
  }

  ifDropped<A, B, C, D>(undo: Undo<A, B, C, D>, a?: A, b?: B, c?: C, d?: D): void {
    if (this.#running?.isProbe === false) this.#running.run.ifDropped(undo, a, b, c, d);
    else this.#deps.local.ifDropped(undo, a, b, c, d);
  }

  /** Orgs' credit, for what runs in an act; undefined outside. */
  creditInAct(): ActCredit | undefined {
    return this.#running?.run.credit;
  }

  healthy(): boolean {
    return this.#deps.local.healthy() && this.#deps.isCurrent();
  }

  unsaved(): number {
    return this.#deps.local.unsaved() + (this.#committer?.pending ?? 0);
  }

  caughtUp(): Promise<void> {
    return this.#deps.local.caughtUp();
  }

  onClose(ending: () => void): void {
    this.#deps.local.onClose(ending);
  }

  synced(): Promise<void> {
    return this.#deps.local.synced();
  }

  /** Also in the dataset. Other cells do it for their folders: `forgetRemovedHere`. */
  async forgetRemoved(): Promise<void> {
    await this.#deps.local.forgetRemoved();
    await this.#deps.forget();
  }

  /** In this cell's folder alone. */
  forgetRemovedHere(): Promise<void> {
    return this.#deps.local.forgetRemoved();
  }

  still<T>(act: (frame: number) => Promise<T>): Promise<T> {
    return this.#deps.local.still(act);
  }

  async close(): Promise<void> {
    await this.#committer?.idle();
    await this.#deps.leave();
    await this.#deps.local.close();
  }

  #shared<T>(act: () => T, { isOwed = false }: ActOptions = {}): Promise<T> {
    const committer = this.#committer;
    if (committer === undefined) return Promise.reject(new Error("the store is not connected yet"));
    if (isOwed || this.#deps.isCurrent()) return committer.commit(act, isOwed);
    return this.#deps.currentSoon().then((isCurrent) => {
      if (isCurrent) return committer.commit(act, isOwed);
      const message = "This cell is not in touch with the others.";
      throw fail("storage_unavailable", message, { retryAfterMs: 1000 });
    });
  }

  #context(name: string) {
    const { local, isShared, format } = this.#deps;
    return { local, isShared: isShared(name), running: () => this.#running, format };
  }
}
