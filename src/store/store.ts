/**
 * The durable local store: LMDB, opened once a process. The only file that imports `lmdb`.
 * Writes go through `commit` (joins the running group; for the hot path) or `transact` (its own, rolled back when
 * it throws; for everything else). A resolved promise means committed: the write survives kill -9 of this process.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Database, type Key, open, type RootDatabase } from "lmdb";
import { systemClock } from "../clock.ts";
import { claimDirectory } from "./lock.ts";

export type StoreKey = Key;

export interface Range {
  readonly start?: StoreKey;
  readonly end?: StoreKey;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** Reads are synchronous and see every committed write, and inside a write also its own. */
export interface Table<V> {
  get(key: StoreKey): V | undefined;
  /** In key order; `start` is inclusive, `end` exclusive, both also when reversed (start then is the greater). */
  range(range?: Range): Iterable<{ key: StoreKey; value: V }>;
  /** Only inside `commit` or `transact`. */
  put(key: StoreKey, value: V): void;
  /** Only inside `commit` or `transact`. */
  remove(key: StoreKey): void;
}

export interface Store {
  table<V>(name: string): Table<V>;
  /** Values are bytes as given: no encoding between the caller and the page. */
  bytes(name: string): Table<Uint8Array>;
  /**
   * Runs `write` inside the next group transaction and resolves once that is committed. A group whose commit fails
   * is tried again until it succeeds, so a settled charge is never dropped; `write` may run more than once and must
   * be pure but for its puts, and must not throw.
   */
  commit(write: () => void): Promise<void>;
  /** Runs `act` in a transaction of its own and resolves with its value; when it throws, nothing was written. */
  transact<T>(act: () => T): Promise<T>;
  /** False while group commits fail (a full disk): the gateway must admit no new billed call. */
  healthy(): boolean;
  /** Waits for what is queued, then closes. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Told of every failed group commit. */
  readonly onFailure?: (error: unknown) => void;
}

/** @throws Error with a clear line when another process holds the folder. */
export function openStore(dataDir: string, options: StoreOptions = {}): Store {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const root = open({ path: join(dataDir, "weir.lmdb"), maxDbs: 64 });
  const release = claimDirectory(root, dataDir);
  const group = new GroupCommit(root, options.onFailure ?? (() => {}));
  return {
    table: <V>(name: string) => tableOver(root.openDB<V, Key>(name, { encoding: "msgpack" })),
    bytes: (name: string) => tableOver(root.openDB<Uint8Array, Key>(name, { encoding: "binary" })),
    commit: (write) => group.add(write),
    transact: async (act) => await root.childTransaction(act),
    healthy: () => group.healthy,
    async close() {
      await group.idle();
      release();
      await root.flushed;
      await root.close();
    },
  };
}

function tableOver<V>(db: Database<V, Key>): Table<V> {
  return {
    get: (key) => db.get(key),
    range: (range = {}) => db.getRange(range),
    put: (key, value) => void db.putSync(key, value),
    remove: (key) => void db.removeSync(key),
  };
}

/** Under load, commits are this far apart: each costs the same whether it carries one write or fifty. */
const PACE_MS = 2;

interface Waiting {
  readonly write: () => void;
  readonly done: () => void;
}

/** All writes that arrive while one transaction commits make up the next: one commit serves every waiting call. */
class GroupCommit {
  healthy = true;
  #root: RootDatabase;
  #onFailure: (error: unknown) => void;
  #queue: Waiting[] = [];
  #running = false;
  #idle: (() => void)[] = [];
  #lastMs = 0;

  constructor(root: RootDatabase, onFailure: (error: unknown) => void) {
    this.#root = root;
    this.#onFailure = onFailure;
  }

  add(write: () => void): Promise<void> {
    return new Promise((done) => {
      this.#queue.push({ write, done });
      if (this.#running) return;
      this.#running = true;
      // An idle store commits after this turn: what settles together shares the commit.
      if (systemClock.monotonic() - this.#lastMs >= PACE_MS) setImmediate(() => void this.#run());
      else setTimeout(() => void this.#run(), PACE_MS);
    });
  }

  idle(): Promise<void> {
    if (!this.#running) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  async #run(): Promise<void> {
    let waitMs = 10;
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      this.#lastMs = systemClock.monotonic();
      try {
        await this.#root.transaction(() => {
          for (const { write } of batch) write();
        });
        this.healthy = true;
        waitMs = 10;
        for (const { done } of batch) done();
        if (this.#queue.length > 0) await new Promise((resolve) => setTimeout(resolve, PACE_MS));
      } catch (error) {
        this.healthy = false;
        this.#onFailure(error);
        this.#queue = [...batch, ...this.#queue];
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        waitMs = Math.min(waitMs * 2, 1000);
      }
    }
    this.#running = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
