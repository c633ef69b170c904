/**
 * LMDB as the store uses it: tables of bytes, transactions whose failure is one rejection with the reason in it, and the row
 * that says how far LMDB has what the journal holds.
 */
import type { Database, Key, RootDatabase } from "lmdb";
import { packChecked, unpackChecked } from "./checked.ts";
import type { Disk } from "./disk.ts";
import type { Progress, Reached } from "./survey.ts";

export type Bytes = Database<Uint8Array, Key>;
export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

const PROGRESS = "journal";
const PROGRESS_KEY = "progress";
/** A transaction waits for those before it, and for a disk that is written to. */
const BEGIN_MS = 60_000;
/** After some failures LMDB refuses all that follows without a word; only a new process helps. */
const STUCK = "LMDB has not answered for a minute; restart the gateway: the journal has everything";
/** LMDB tells the reason of a failed commit at once; it is not waited for where it does not. */
const REASON_MS = 1000;

export class Lmdb {
  readonly #root: RootDatabase;
  readonly #disk: Disk;
  readonly #databases = new Map<string, Bytes>();
  /** A transaction was asked for and never began. */
  #stuck = false;

  constructor(root: RootDatabase, disk: Disk) {
    this.#root = root;
    this.#disk = disk;
  }

  database(name: string): Bytes {
    let db = this.#databases.get(name);
    if (db === undefined) {
      db = this.#root.openDB<Uint8Array, Key>(name, { encoding: "binary" });
      this.#databases.set(name, db);
    }
    return db;
  }

  /**
   * Runs `act` in a transaction of its own; what it throws is given back with the value, and what it wrote until then is
   * committed. @throws Error with LMDB's reason where the commit fails.
   */
  async transaction<T>(act: () => T): Promise<Outcome<T>> {
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
      // The library makes a promise of its own for the batch that this is in, and nobody else listens to it.
      this.#root.committed.then(undefined, () => {});
      return caught(act);
    });
    try {
      return await Promise.race([done, late]);
    } catch (error) {
      throw await reasonOf(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The same at once, and durable when it returns. @throws what `act` throws, with nothing written; or LMDB's reason. */
  transactionSync(act: () => void): void {
    this.#root.transactionSync(act);
  }

  /** Undefined where no journal was ever used. @throws Error where the row is damaged. */
  progress(): Progress | undefined {
    const bytes = this.database(PROGRESS).get(PROGRESS_KEY);
    return bytes === undefined ? undefined : readProgress(bytes);
  }

  /** Whether all rows have checksums; set at the start, before anything is written. */
  checked = false;

  /** Inside a transaction, or in one of its own that the disk does not have yet on return. */
  putProgress(progress: Reached): void {
    const row: Progress = { ...progress, checked: this.checked };
    const bytes = packChecked(JSON.stringify(PROGRESS_KEY), row);
    this.database(PROGRESS).putSync(PROGRESS_KEY, bytes as Buffer);
  }

  /** Resolves once everything committed so far survives a power failure. @throws Error where that takes a minute. */
  async flushed(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("LMDB was not flushed within a minute")), BEGIN_MS);
    });
    await Promise.race([this.#root.flushed, late]).finally(() => clearTimeout(timer));
  }

  close(): Promise<void> {
    this.#disk.close();
    return this.#root.close();
  }
}

/** The row as it stands in LMDB. Before rows had checksums it was JSON. @throws Error where it is damaged. */
export function readProgress(bytes: Uint8Array): Progress {
  if (bytes[0] === "{".charCodeAt(0)) {
    const { applied, kept } = JSON.parse(Buffer.from(bytes).toString()) as Progress;
    return { applied, kept, segment: undefined, checked: false };
  }
  return unpackChecked(PROGRESS, JSON.stringify(PROGRESS_KEY), bytes) as Progress;
}

/** LMDB waits forever for a transaction whose action throws. A part that was written is written again. */
function caught<T>(act: () => T): Outcome<T> {
  try {
    return { value: act() };
  } catch (error) {
    return { error };
  }
}

/**
 * The library rejects with an error that says nothing, and hangs a promise on it that rejects with the reason. That one must be
 * listened to as well: a rejection that nobody handles ends the process.
 */
async function reasonOf(error: unknown): Promise<unknown> {
  const reason: unknown = (error as { commitError?: unknown }).commitError;
  if (!(reason instanceof Promise)) return error;
  let timer: NodeJS.Timeout | undefined;
  const told = reason.then(
    () => error,
    (cause: unknown) => new Error(`LMDB could not commit: ${messageOf(cause)}`, { cause }),
  );
  const late = new Promise<unknown>((resolve) => {
    timer = setTimeout(resolve, REASON_MS, error);
  });
  return Promise.race([told, late]).finally(() => clearTimeout(timer));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
