/**
 * The durable local store: LMDB behind a write-ahead journal, opened once a process. There is one way to write, the act: a
 * function that reads rows and puts rows. The acts of a turn of the event loop share one append to the journal, which makes
 * them durable; LMDB follows in batches. Once an act resolves, it survives kill -9, and reads see it wherever it lies.
 */
import { existsSync, mkdirSync } from "node:fs";
import { open } from "lmdb";
import { Disk } from "./disk.ts";
import { assertJournal, assertReadable, diskPath, journalPath, lmdbPath } from "./inspection.ts";
import { type ActOptions, JournaledStore } from "./journaled-store.ts";
import { Lmdb } from "./lmdb.ts";
import { claimDirectory } from "./lock.ts";
import type { Log, LogMemory } from "./log.ts";
import { Logs } from "./logs.ts";
import { startJournal } from "./start.ts";
import type { RowVersions, Table } from "./table.ts";

export type { Log } from "./log.ts";
export {
  type MergedTable,
  mergedTable,
  type Range,
  type RowVersions,
  type Table,
} from "./table.ts";

export interface Store {
  table<V>(name: string, versions?: RowVersions<V>): Table<V>;
  /** Values are bytes as given: no encoding between the caller and the page. */
  bytes(name: string): Table<Uint8Array>;
  /** For rows that are handed on in their order and then gone, within seconds as a rule: most never reach LMDB. */
  log(name: string): Log;
  /**
   * Runs `act` now, and resolves with its value once what it put is committed, in the order of the calls. What `act` reads is
   * the rows as the acts before it left them, committed or not, and what it put itself; nothing can come between what it
   * checks and what it puts. When it throws, that rejects and nothing is put. It may be run again from the start, so it does
   * nothing but read and put; what it changes in memory all the same, it changes back by `ifDropped`. An append that fails is
   * tried again until it succeeds.
   * @throws WeirError `storage_unavailable` (as a rejection) while the store is not `healthy`, unless the act is owed
   */
  act<T>(act: () => T, options?: ActOptions): Promise<T>;
  /**
   * For an act that changes memory which follows from rows, such as a running balance: `undo` changes it back should the act
   * throw, or be run again. The undos of an act run in the reverse order.
   */
  ifDropped(undo: () => void): void;
  /** False while nothing can be committed (a full disk): the gateway must admit no new billed call. */
  healthy(): boolean;
  /** Writes that no append has made durable yet: a process that ends now loses them. */
  unsaved(): number;
  /** Resolves once LMDB has everything that is committed now: for those who look at its file from outside. */
  caughtUp(): Promise<void>;
  /** Waits for what is queued, brings LMDB up to date, then closes. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Told of every append, and every transaction of LMDB, that failed. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Told, in one line, what an operator should know of a start that goes on all the same. */
  readonly onNotice?: ((line: string) => void) | undefined;
  /** Tables whose rows a start looks at before those of others, of which it may look at a part only. */
  readonly checkFirst?: readonly string[] | undefined;
  /** Each act runs twice, and what the first run put is dropped: for tests, which so hold that an act only reads and puts. */
  readonly actsTwice?: boolean | undefined;
  /** How much of each log stays in memory, where it is not trimmed. */
  readonly logMemory?: LogMemory | undefined;
}

const LOG_MEMORY: LogMemory = { rows: 20_000, bytes: 32 * 1024 * 1024 };

/** @throws Error with a clear line when another process holds the folder, something in it is damaged, or the disk is full. */
export function openStore(dataDir: string, options: StoreOptions = {}): Store {
  const {
    onFailure = () => {},
    onNotice = () => {},
    logMemory = LOG_MEMORY,
    checkFirst = [],
    actsTwice = false,
  } = options;
  const disk = new Disk(diskPath(dataDir));
  let release = () => {};
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    // Before anything is written, so that a refused start leaves all files as they were.
    assertReadable(dataDir, checkFirst, onNotice);
    assertJournal(dataDir);
    if (existsSync(lmdbPath(dataDir))) disk.check();
    const root = open({ path: lmdbPath(dataDir), maxDbs: 64 });
    release = claimDirectory(root, dataDir);
    disk.check();
    const lmdb = new Lmdb(root, disk);
    const logs = new Logs((name) => lmdb.database(name), logMemory);
    const journalFolder = journalPath(dataDir);
    const { journal, reached } = startJournal({ lmdb, logs, journalFolder, onNotice });
    return new JournaledStore({ lmdb, journal, logs, reached, release, onFailure, actsTwice });
  } catch (error) {
    release();
    disk.close();
    throw withReason(dataDir, error);
  }
}

/** LMDB says "Input/output error" where the disk is full, and names no file. */
function withReason(dataDir: string, error: unknown): unknown {
  const message = error instanceof Error ? error.message : String(error);
  if (!/Input\/output error|No space left|ENOSPC/.test(message)) return error;
  return new Error(
    `${dataDir} cannot be written: ${message}. Free some space on its disk, or mend the disk, and start again; nothing was lost`,
    { cause: error },
  );
}
