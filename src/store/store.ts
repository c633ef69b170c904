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
import { Lmdb } from "./lmdb.ts";
import { claimDirectory } from "./lock.ts";
import type { Log, LogMemory } from "./log.ts";
import { Logs } from "./logs.ts";
import { startJournal } from "./start.ts";
import type { Table } from "./table.ts";

export type { Log } from "./log.ts";
export type { Range, StoreKey, Table } from "./table.ts";

export interface Store {
  table<V>(name: string): Table<V>;
  /** Values are bytes as given: no encoding between the caller and the page. */
  bytes(name: string): Table<Uint8Array>;
  /** For rows that are handed on in their order and then gone, within seconds as a rule: most never reach LMDB. */
  log(name: string): Log;
  /**
   * Runs `write` now and resolves once its puts are committed, in the order of the calls. An append that fails is
   * tried again until it succeeds, so a settled charge is never dropped. What `write` throws rejects, with nothing put;
   * so does a commit in it.
   */
  commit(write: () => void): Promise<void>;
  /** Runs `act` in a transaction of its own and resolves with its value; when it throws, nothing was written. */
  transact<T>(act: () => T): Promise<T>;
  /** False while nothing can be committed (a full disk): the gateway must admit no new billed call. */
  healthy(): boolean;
  /** Writes that no append has made durable yet: a process that ends now loses them. */
  unsaved(): number;
  /** Waits for what is queued, brings LMDB up to date, then closes. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Told of every append or transaction that failed. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Told, in one line, what an operator should know of a start that goes on all the same. */
  readonly onNotice?: ((line: string) => void) | undefined;
  /** How much of each log stays in memory, where it is not trimmed. */
  readonly logMemory?: LogMemory | undefined;
}

const LOG_MEMORY: LogMemory = { rows: 20_000, bytes: 32 * 1024 * 1024 };

/** @throws Error with a clear line when another process holds the folder or something in it is damaged. */
export function openStore(dataDir: string, options: StoreOptions = {}): Store {
  const { onFailure = () => {}, onNotice = () => {}, logMemory = LOG_MEMORY } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const root = open({ path: join(dataDir, "weir.lmdb"), maxDbs: 64 });
  const release = claimDirectory(root, dataDir);
  try {
    const lmdb = new Lmdb(root);
    const logs = new Logs((name) => lmdb.database(name), logMemory);
    const journalFolder = join(dataDir, "journal");
    const { journal, reached } = startJournal({ lmdb, logs, journalFolder, onNotice });
    return new JournaledStore({ lmdb, journal, logs, reached, release, onFailure });
  } catch (error) {
    release();
    throw error;
  }
}
