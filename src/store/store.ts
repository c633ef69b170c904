/**
 * The durable local store: LMDB behind a write-ahead journal, opened once a process. Two ways to write:
 * `commit` joins the running group, which one append to the journal makes durable (for the hot path); LMDB follows in
 * batches. `transact` is a transaction of its own, rolled back when it throws (for everything else).
 * Once either resolves, the write survives kill -9; reads see it wherever it lies.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { JournaledStore } from "./journaled-store.ts";
import { claimDirectory } from "./lock.ts";
import type { Table } from "./table.ts";

export type { Range, StoreKey, Table } from "./table.ts";

export interface Store {
  table<V>(name: string): Table<V>;
  /**
   * Values are bytes as given: no encoding between the caller and the page. `shortLived` rows are expected to be
   * removed within seconds: they stay in journal and memory, and go to LMDB only when that lasts.
   */
  bytes(name: string, options?: { readonly shortLived?: boolean }): Table<Uint8Array>;
  /**
   * Runs `write` now and resolves once its puts are committed, in the order of the calls. An append that fails is
   * tried again until it succeeds, so a settled charge is never dropped. What `write` throws rejects, with nothing put.
   */
  commit(write: () => void): Promise<void>;
  /** Runs `act` in a transaction of its own and resolves with its value; when it throws, nothing was written. */
  transact<T>(act: () => T): Promise<T>;
  /** False while nothing can be committed (a full disk): the gateway must admit no new billed call. */
  healthy(): boolean;
  /** Waits for what is queued, brings LMDB up to date, then closes. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Told of every append or transaction that failed. */
  readonly onFailure?: (error: unknown) => void;
}

/** @throws Error with a clear line when another process holds the folder or the journal is damaged. */
export function openStore(dataDir: string, options: StoreOptions = {}): Store {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const root = open({ path: join(dataDir, "weir.lmdb"), maxDbs: 64 });
  const release = claimDirectory(root, dataDir);
  try {
    return new JournaledStore(root, join(dataDir, "journal"), release, options.onFailure ?? (() => {}));
  } catch (error) {
    release();
    throw error;
  }
}
