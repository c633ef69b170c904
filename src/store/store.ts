/**
 * The durable local store: LMDB behind a write-ahead journal, opened once per process. The only way to write is the
 * act: a function that reads rows and puts rows. The acts of one turn of the event loop share one append to the
 * journal, which makes them durable; LMDB follows in batches. Once an act resolves, it survives kill -9, and reads see
 * it wherever it is stored.
 */
import { existsSync } from "node:fs";
import { open } from "lmdb";
import { fileErrorText } from "../base/file-errors.ts";
import { makeFolder } from "../base/process/make-folder.ts";
import { carryOver } from "./carry-over.ts";
import { forgetAsked, identityOf, rewriteIfAsked, rewritingOf } from "./copying/rewrite.ts";
import { removeUnfinished } from "./copying/rewrite-files.ts";
import { assertLockOpens, Disk } from "./journal/disk.ts";
import type { ActOptions, Undo } from "./journal/group.ts";
import type { Log, RowAmount } from "./journal/log.ts";
import { Logs } from "./journal/logs.ts";
import { JournaledStore } from "./journaled-store.ts";
import { Lmdb } from "./lmdb/lmdb.ts";
import { claimDirectory } from "./lmdb/lock.ts";
import {
  assertJournal,
  assertReadable,
  diskPath,
  journalPath,
  lmdbPath,
  MOST_TABLES,
} from "./recovery/inspection.ts";
import { startJournal } from "./start.ts";
import type { RowVersions, Table } from "./tables/table.ts";

export type { Log } from "./journal/log.ts";
export type { ReadMemory } from "./journal/read-at.ts";
export type { Range, RowVersions, Table } from "./tables/table.ts";

export interface Store {
  table<V>(name: string, versions?: RowVersions<V>): Table<V>;
  /** A table whose values are raw bytes, stored without encoding. */
  bytes(name: string): Table<Uint8Array>;
  /** A log, for rows that are passed on in order and then removed, usually within seconds: most never reach LMDB. */
  log(name: string): Log;
  /**
   * Runs `act` now, and resolves with its value once its writes are committed, in the order of the calls. `act` reads
   * rows as the earlier acts left them, committed or not, and its own puts; nothing can happen between its checks and
   * its puts. When it throws, the promise rejects and nothing is put. It may be run again from the start, so it must
   * only read and put; changes in memory must be undone by `ifDropped`. A failed append is retried until it succeeds.
   * @throws WeirError `storage_unavailable` (as a rejection) while the store is not `healthy`, unless the act is owed
   */
  act<T>(act: () => T, options?: ActOptions): Promise<T>;
  /**
   * For an act that changes memory derived from rows, such as a running balance: `undo` reverts it if the act throws or
   * is run again. Undos of an act run in reverse order. What follows is given to `undo`: so one function can serve all calls, where a
   * closure for each would cost every call its memory.
   */
  ifDropped<A, B, C, D>(undo: Undo<A, B, C, D>, a?: A, b?: B, c?: C, d?: D): void;
  /** False while nothing can be committed (a full disk): the gateway must not admit new billed calls. */
  healthy(): boolean;
  /** Writes that are not durable yet: lost if the process ends now. */
  unsaved(): number;
  /** Calls it once the store is asked to close, before anything else happens: what works on its rows by itself ends then. */
  onClose(ending: () => void): void;
  /** Resolves once a power failure loses nothing that is committed now. @throws Error of the disk, as a rejection */
  synced(): Promise<void>;
  /** Resolves once LMDB has everything committed so far: for readers of its file outside the process. */
  caughtUp(): Promise<void>;
  /**
   * Removed rows leave the files: the journal's file of before is ended and goes with its last row, and the pages of
   * weir.lmdb that still hold old bytes are left behind by rewriting it when the store next closes or opens.
   */
  forgetRemoved(): Promise<void>;
  /**
   * Runs `act` while LMDB's file does not change and is complete by itself: it has everything committed before this call, rows of
   * logs included, up to one frame and nothing beyond. For a copy of the file, which needs no journal beside it. Acts go on
   * meanwhile, in the journal and in memory: `act` must be short.
   * @throws Error (as a rejection) where the store is closed, or LMDB cannot take everything
   */
  still<T>(act: (frame: number) => Promise<T>): Promise<T>;
  /** Waits for queued acts, applies the journal to LMDB, then closes. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Called for every failed append and every failed LMDB transaction. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Called with one-line notices for the operator that do not stop the start. */
  readonly onNotice?: ((line: string) => void) | undefined;
  /** Tables whose rows a start checks before those of others, which it may check only in part. */
  readonly checkFirst?: readonly string[] | undefined;
  /** For tests: runs each act twice and drops the first run, which verifies that acts only read and put. */
  readonly actsTwice?: boolean | undefined;
  /** Rows of each log beyond either bound move from the journal to LMDB. */
  readonly logsKept?: RowAmount | undefined;
  /** Nothing of it is read by a later process: LMDB does not wait for the disk, which a new store does for each of its tables. */
  readonly isThrowAway?: boolean | undefined;
}

/** Four files of the journal: a batch that is being inserted, and what comes meanwhile. */
const LOGS_KEPT: RowAmount = { rows: 40_000, bytes: 64 * 1024 * 1024 };

/**
 * @throws Error with a clear line when another process holds the folder, something in it is damaged, or the disk is
 *   full.
 */
export function openStore(dataDir: string, options: StoreOptions = {}): Store {
  const {
    onFailure = () => {},
    onNotice = () => {},
    logsKept = LOGS_KEPT,
    checkFirst = [],
    actsTwice = false,
    isThrowAway = false,
  } = options;
  const disk = new Disk(diskPath(dataDir), lmdbPath(dataDir));
  let release = () => {};
  try {
    makeFolder(dataDir);
    // Before the first write, so that a refused start leaves all files unchanged.
    assertReadable(dataDir, checkFirst, onNotice);
    assertJournal(dataDir);
    const isRewritten = rewriteIfAsked(dataDir, onNotice);
    if (existsSync(lmdbPath(dataDir))) disk.check();
    assertLockOpens(dataDir);
    const found = identityOf(dataDir);
    const root = open({ path: lmdbPath(dataDir), maxDbs: MOST_TABLES, noSync: isThrowAway });
    release = claimDirectory(root, dataDir);
    // What is written into a file that another took the place of is lost.
    if (found !== undefined && identityOf(dataDir) !== found)
      throw new Error(`${lmdbPath(dataDir)} was rewritten by another process just now; start again`);
    removeUnfinished(dataDir);
    disk.check();
    const lmdb = new Lmdb(root, disk);
    const logs = new Logs((name) => lmdb.database(name), logsKept);
    const journalFolder = journalPath(dataDir);
    const had = lmdb.progress()?.applied ?? 0;
    const { journal, reached } = startJournal({ lmdb, logs, journalFolder, onNotice });
    if (!lmdb.checked) {
      const carried = carryOver(lmdb);
      lmdb.checked = true;
      lmdb.putProgress(reached);
      if (carried > 0) onNotice(`weir.lmdb: ${carried} rows of an earlier release got a checksum`);
    }
    // What the journal has just removed was copied into the new file, and its bytes are in free pages of that: it is rewritten once more.
    if (isRewritten && reached.applied === had) forgetAsked(dataDir);
    const rewrite = rewritingOf(dataDir, onNotice, !isRewritten);
    return new JournaledStore({
      lmdb,
      journal,
      logs,
      reached,
      release,
      onFailure,
      actsTwice,
      rewrite,
    });
  } catch (error) {
    release();
    disk.close();
    throw withReason(dataDir, error);
  }
}

/** LMDB reports "Input/output error" on a full disk, and names no file. */
function withReason(dataDir: string, error: unknown): unknown {
  const text = fileErrorText(error);
  if (text !== undefined) return new Error(`${text}; nothing was lost`, { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  if (!/Input\/output error|No space left|ENOSPC|EFBIG/.test(message)) return error;
  const file = message.includes("weir.lmdb") ? dataDir : lmdbPath(dataDir);
  return new Error(
    `${file} cannot be written: ${message}. Free some space on its disk, or mend the disk, and start again; nothing was lost`,
    { cause: error },
  );
}
