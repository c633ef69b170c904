/**
 * The durable local store: LMDB behind a write-ahead journal, opened once a process. Two ways to write:
 * `commit` joins the running group, which one append to the journal makes durable (for the hot path); LMDB follows in
 * batches. `transact` is a transaction of its own, rolled back when it throws (for everything else).
 * Once either resolves, the write survives kill -9; reads see it wherever it lies.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Database, type Key, open, type RootDatabase } from "lmdb";
import { pack, unpack } from "msgpackr";
import { Journal } from "./journal.ts";
import { claimDirectory } from "./lock.ts";
import { Layer, overlaid, Pending, type Range, type Row, type Write } from "./pending.ts";

export type StoreKey = Key;
export type { Range } from "./pending.ts";

/** Reads are synchronous and see every committed write, and inside `transact` also its own. */
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

/** How far LMDB follows behind the journal, and how much a power failure may take back. */
const APPLY_MS = 100;
const SYNC_MS = 50;
/** Sooner, where this many writes wait. */
const APPLY_WRITES = 4000;
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 1000;

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

interface Waiting {
  readonly writes: readonly Write[];
  readonly done: () => void;
}

class JournaledStore implements Store {
  readonly #root: RootDatabase;
  readonly #release: () => void;
  readonly #onFailure: (error: unknown) => void;
  readonly #databases = new Map<string, Database<Uint8Array, Key>>();
  readonly #applied: Database<number, string>;
  readonly #journal: Journal;
  readonly #pending = new Pending();
  /** The number of the newest frame appended. */
  #frame: number;
  #queue: Waiting[] = [];
  #scheduled = false;
  /** Where puts go while a `commit`'s write runs. */
  #collecting: Write[] | undefined;
  #transacting = false;
  #failing = false;
  /** Transactions of LMDB run one after another, so that none overtakes a batch that is being tried again. */
  #last: Promise<unknown> = Promise.resolve();
  #applyAsked = false;
  #idle: (() => void)[] = [];
  readonly #timers: NodeJS.Timeout[];

  constructor(root: RootDatabase, folder: string, release: () => void, onFailure: (error: unknown) => void) {
    this.#root = root;
    this.#release = release;
    this.#onFailure = onFailure;
    this.#applied = root.openDB<number, string>("journal", { encoding: "json" });
    this.#frame = this.#applied.get("applied") ?? 0;
    this.#recover(Journal.read(folder));
    this.#journal = new Journal(folder);
    this.#timers = [
      setInterval(() => this.#journal.sync(), SYNC_MS).unref(),
      setInterval(() => void this.#apply(), APPLY_MS).unref(),
    ];
  }

  table<V>(name: string): Table<V> {
    return this.#open(
      name,
      (value: V) => pack(value),
      (bytes) => unpack(bytes) as V,
    );
  }

  bytes(name: string): Table<Uint8Array> {
    return this.#open(
      name,
      (value) => value,
      (bytes) => bytes,
    );
  }

  commit(write: () => void): Promise<void> {
    const writes: Write[] = [];
    const outer = this.#collecting;
    this.#collecting = writes;
    try {
      write();
    } catch (error) {
      return Promise.reject(error);
    } finally {
      this.#collecting = outer;
    }
    return new Promise((done) => {
      this.#queue.push({ writes, done });
      if (this.#scheduled) return;
      this.#scheduled = true;
      // After this turn: calls that settle together share the append.
      setImmediate(() => this.#append(FIRST_RETRY_MS));
    });
  }

  transact<T>(act: () => T): Promise<T> {
    return this.#inTurn(async () => {
      // What the journal holds comes first: the order of commits is the order in LMDB.
      const layer = this.#pending.seal(this.#frame);
      let outcome: { value: T } | { error: unknown };
      try {
        outcome = await this.#root.transaction(() => {
          this.#write(layer);
          return this.#rolledBackIfItThrows(act);
        });
        this.#pending.drop(layer);
      } catch (error) {
        await this.#applyLayer(layer);
        throw error;
      }
      if ("error" in outcome) throw outcome.error;
      return outcome.value;
    });
  }

  healthy(): boolean {
    return !this.#failing;
  }

  async close(): Promise<void> {
    if (this.#scheduled) await new Promise<void>((resolve) => this.#idle.push(resolve));
    for (const timer of this.#timers) clearInterval(timer);
    await this.#apply();
    this.#journal.close();
    this.#release();
    await this.#root.flushed;
    this.#journal.remove(this.#journal.rotate());
    await this.#root.close();
  }

  #open<V>(name: string, encode: (value: V) => Uint8Array, decode: (bytes: Uint8Array) => V): Table<V> {
    const db = this.#database(name);
    const put = (key: Key, value: Uint8Array | undefined) => {
      if (this.#collecting !== undefined) this.#collecting.push({ table: name, key, value });
      else if (!this.#transacting) throw new Error(`${name} was written outside commit and transact`);
      else if (value === undefined) db.removeSync(key);
      else db.putSync(key, value as Buffer);
    };
    return {
      get: (key) => {
        const write = this.#transacting ? undefined : this.#pending.find(name, key);
        const bytes = write === undefined ? db.get(key) : write.value;
        return bytes === undefined ? undefined : decode(bytes);
      },
      range: (range = {}) => decoded(this.#range(name, db, range), decode),
      put: (key, value) => put(key, encode(value)),
      remove: (key) => put(key, undefined),
    };
  }

  #database(name: string): Database<Uint8Array, Key> {
    let db = this.#databases.get(name);
    if (db === undefined) {
      db = this.#root.openDB<Uint8Array, Key>(name, { encoding: "binary" });
      this.#databases.set(name, db);
    }
    return db;
  }

  #range(name: string, db: Database<Uint8Array, Key>, range: Range): Iterable<Row> {
    const writes = this.#transacting ? undefined : this.#pending.inRange(name, range);
    if (writes === undefined) return db.getRange(range);
    const { limit, ...all } = range;
    return first(overlaid(db.getRange(all), writes, range.reverse === true), limit);
  }

  /** One append for everything that waits. */
  #append(retryMs: number): void {
    const group = this.#queue;
    this.#queue = [];
    const writes = group.flatMap((waiting) => waiting.writes);
    try {
      if (writes.length > 0) {
        this.#journal.append(
          pack([this.#frame + 1, writes.map(({ table, key, value }) => [table, key, value ?? null])]),
        );
      }
    } catch (error) {
      this.#failing = true;
      this.#onFailure(error);
      this.#queue = [...group, ...this.#queue];
      setTimeout(() => this.#append(Math.min(retryMs * 2, LONGEST_RETRY_MS)), retryMs);
      return;
    }
    this.#failing = false;
    if (writes.length > 0) this.#frame++;
    for (const write of writes) this.#pending.add(write);
    for (const { done } of group) done();
    this.#scheduled = this.#queue.length > 0;
    if (this.#scheduled) setImmediate(() => this.#append(FIRST_RETRY_MS));
    else for (const resolve of this.#idle.splice(0)) resolve();
    if (this.#pending.size > APPLY_WRITES) void this.#apply();
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(act);
    this.#last = mine.catch(() => {});
    return mine;
  }

  /** Brings LMDB up to the journal, in one transaction whatever the number of calls. */
  async #apply(): Promise<void> {
    if (this.#applyAsked || this.#pending.size === 0) return;
    this.#applyAsked = true;
    await this.#inTurn(async () => {
      this.#applyAsked = false;
      await this.#applyLayer(this.#pending.seal(this.#frame));
    });
  }

  /** Until it succeeds: what the journal holds was promised. */
  async #applyLayer(layer: Layer): Promise<void> {
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        const segments = this.#journal.grown ? this.#journal.rotate() : [];
        await this.#root.transaction(() => this.#write(layer));
        this.#pending.drop(layer);
        if (segments.length > 0) {
          await this.#root.flushed;
          this.#journal.remove(segments);
        }
        return;
      } catch (error) {
        this.#failing = true;
        this.#onFailure(error);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  #rolledBackIfItThrows<T>(act: () => T): { value: T } | { error: unknown } {
    this.#transacting = true;
    try {
      return { value: this.#root.childTransaction(act) as T };
    } catch (error) {
      return { error };
    } finally {
      this.#transacting = false;
    }
  }

  /** Inside a transaction of LMDB: the writes, and how far they go. */
  #write(layer: Layer): void {
    for (const [name, writes] of layer.tables) {
      const db = this.#database(name);
      for (const { key, value } of writes.values()) {
        if (value === undefined) db.removeSync(key);
        else db.putSync(key, value as Buffer);
      }
    }
    this.#applied.putSync("applied", layer.upTo);
  }

  /** After a crash: what the journal holds beyond LMDB. */
  #recover(frames: readonly Buffer[]): void {
    const layer = new Layer();
    for (const frame of frames) {
      const [number, writes] = unpack(frame) as [number, [string, Key, Uint8Array | null][]];
      if (number <= this.#frame) continue;
      this.#frame = number;
      for (const [table, key, value] of writes) layer.add({ table, key, value: value ?? undefined });
    }
    layer.upTo = this.#frame;
    if (layer.size > 0) this.#root.transactionSync(() => this.#write(layer));
  }
}

function* decoded<V>(
  rows: Iterable<Row>,
  decode: (bytes: Uint8Array) => V,
): Generator<{ key: Key; value: V }> {
  for (const { key, value } of rows) yield { key, value: decode(value) };
}

function* first(rows: Iterable<Row>, limit: number | undefined): Generator<Row> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  for (const row of rows) {
    yield row;
    if (--left <= 0) return;
  }
}
