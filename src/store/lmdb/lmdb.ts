/**
 * The store's interface to LMDB: tables of bytes, transactions that reject once with the actual reason, and the row
 * that records how much of the journal LMDB has.
 */
import type { Database, Key, RootDatabase } from "lmdb";
import { inTime } from "../../base/clock.ts";
import { beforeEnd } from "../../base/process/exit.ts";
import type { Disk } from "../journal/disk.ts";
import type { JournalProgress, Progress } from "../journal/survey.ts";
import { packChecked, unpackChecked } from "./checked.ts";
import { quickKeys, type WriteKey } from "./key-bytes.ts";

export type Bytes = Database<Uint8Array, Key>;

export const PROGRESS = "journal";
export const PROGRESS_KEY = "progress";
/** A transaction waits for earlier ones, and for a busy disk. */
const BEGIN_MS = 60_000;
/** After some failures LMDB silently refuses everything; only a new process helps. */
const STUCK = "LMDB has not answered for a minute; restart the gateway: the journal has everything";
/** LMDB reports the reason of a failed commit at once; wait for it no longer than this. */
const REASON_MS = 1000;

export class Lmdb {
  readonly #root: RootDatabase;
  readonly #disk: Disk;
  readonly #databases = new Map<string, Bytes>();
  /** A requested transaction never began. */
  #stuck = false;
  /** Transactions that a thread of LMDB's still has: it tells of a commit before it is done with it. */
  readonly #writing = new Set<Promise<unknown>>();

  constructor(root: RootDatabase, disk: Disk) {
    this.#root = root;
    this.#disk = disk;
  }

  database(name: string): Bytes {
    let db = this.#databases.get(name);
    if (db === undefined) {
      db = this.#root.openDB<Uint8Array, Key>(name, { encoding: "binary" });
      const keyed = db as Bytes & { writeKey: WriteKey };
      keyed.writeKey = quickKeys(keyed.writeKey);
      this.#databases.set(name, db);
    }
    return db;
  }

  /** Names of all databases in the file. */
  tables(): string[] {
    return [...this.#root.getKeys()].map(String);
  }

  /**
   * Runs `act` in its own transaction. Where it throws, the writes before that are committed.
   * @throws what `act` throws; Error with LMDB's reason where the commit fails.
   */
  async transaction<T>(act: () => T): Promise<T> {
    const outcome = await beforeEnd(() => this.#transaction(act));
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }

  async #transaction<T>(act: () => T): Promise<Outcome<T>> {
    if (this.#stuck) throw new Error(STUCK);
    this.#disk.check();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#stuck = true;
        reject(new Error(STUCK));
      }, BEGIN_MS);
    });
    const done = this.#root.transaction(() => {
      clearTimeout(timer);
      // The library also creates a promise for the batch of this transaction, and nobody else handles its rejection.
      this.#root.committed.then(undefined, () => {});
      return caught(act);
    });
    const isWritten = () => void this.#writing.delete(written);
    const written: Promise<void> = this.#root.flushed.then(isWritten, isWritten);
    this.#writing.add(written);
    try {
      return await Promise.race([done, late]);
    } catch (error) {
      // The library does not tell when it has flushed what failed.
      this.#writing.delete(written);
      throw await reasonOf(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Synchronous variant, durable when it returns. @throws what `act` throws, with nothing written; or LMDB's reason, or the disk's. */
  transactionSync(act: () => void): void {
    this.#disk.check();
    this.#root.transactionSync(act);
  }

  /** Undefined where no journal was ever used. @throws Error where the row is damaged. */
  progress(): Progress | undefined {
    const bytes = this.database(PROGRESS).get(PROGRESS_KEY);
    return bytes === undefined ? undefined : readProgress(bytes);
  }

  /** Whether all rows have checksums; set at the start, before the first write. */
  checked = false;

  /** Inside a transaction, or in its own, which is not on disk yet on return. */
  putProgress(progress: JournalProgress): void {
    const row: Progress = { ...progress, checked: this.checked };
    const bytes = packChecked(JSON.stringify(PROGRESS_KEY), row);
    this.database(PROGRESS).putSync(PROGRESS_KEY, bytes as Buffer);
  }

  /** Resolves once everything committed so far survives a power failure. @throws Error where that takes a minute. */
  async flushed(): Promise<void> {
    await inTime(Promise.all([this.#root.flushed, ...this.#writing]), BEGIN_MS, () => {
      throw new Error("LMDB was not flushed within a minute");
    });
  }

  /**
   * Everything is flushed then. The library waits for the last transaction alone before it frees what its threads read: a thread that
   * was late with an earlier one ended the process.
   * @throws Error where flushing takes a minute
   */
  async close(): Promise<void> {
    await this.flushed();
    this.#disk.close();
    await this.#root.close();
  }
}

/** Decodes the row in LMDB. Before rows had checksums it was JSON. @throws Error where it is damaged. */
export function readProgress(bytes: Uint8Array): Progress {
  if (bytes[0] === "{".charCodeAt(0)) {
    const { applied, kept } = JSON.parse(Buffer.from(bytes).toString()) as Progress;
    return { applied, kept, segment: undefined, checked: false };
  }
  return unpackChecked(PROGRESS, JSON.stringify(PROGRESS_KEY), bytes) as Progress;
}

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

/** Catches exceptions, because LMDB hangs on a transaction whose action throws. A partial write is repeated later. */
function caught<T>(act: () => T): Outcome<T> {
  try {
    return { value: act() };
  } catch (error) {
    return { error };
  }
}

/**
 * The library rejects with a meaningless error, and attaches a promise that rejects with the reason. That one must be
 * handled too: an unhandled rejection ends the process.
 */
async function reasonOf(error: unknown): Promise<unknown> {
  const reason: unknown = (error as { commitError?: unknown }).commitError;
  if (!(reason instanceof Promise)) return error;
  const told = reason.then(
    () => error,
    (cause: unknown) => new Error(`LMDB could not commit: ${messageOf(cause)}`, { cause }),
  );
  return await inTime(told, REASON_MS, () => error);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
