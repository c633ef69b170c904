/**
 * The store at work: commits are collected, appended to the journal as one frame, and shown from memory until LMDB has
 * them; LMDB follows in batches, one transaction at a time. docs/decisions.md says why.
 */
import type { Database, Key, RootDatabase } from "lmdb";
import { pack, unpack } from "msgpackr";
import { FrameWriter, frameNumber, frameWrites, type Write } from "./frame.ts";
import { Journal } from "./journal.ts";
import { Layer, Pending, type Row } from "./pending.ts";
import { fits, type Table } from "./table.ts";

/** How far LMDB follows behind the journal, and how much a power failure may take back. */
const APPLY_MS = 100;
const SYNC_MS = 50;
/** Sooner, where this many writes wait. */
const APPLY_WRITES = 4000;
/** Short-lived rows beyond either bound go to LMDB after all. */
const KEPT_ROWS = 20_000;
const KEPT_BYTES = 32 * 1024 * 1024;
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 1000;

/** How far LMDB has what the journal holds: all of it to frame `applied`, short-lived rows only to frame `kept`. */
interface Progress {
  readonly applied: number;
  readonly kept: number;
}

interface Waiting {
  readonly writes: readonly Write[];
  readonly done: () => void;
}

export class JournaledStore {
  readonly #root: RootDatabase;
  readonly #release: () => void;
  readonly #onFailure: (error: unknown) => void;
  readonly #databases = new Map<string, Database<Uint8Array, Key>>();
  readonly #progress: Database<Progress, string>;
  readonly #journal: Journal;
  readonly #pending = new Pending();
  readonly #writer = new FrameWriter();
  /** The number of the newest frame appended. */
  #frame: number;
  /** The number of the newest frame that LMDB has, short-lived rows apart. */
  #applied: number;
  #queue: Waiting[] = [];
  #scheduled = false;
  /** Where puts go while a `commit`'s write runs. */
  #collecting: Write[] | undefined;
  #transacting = false;
  /** The journal cannot be appended to. */
  #failing = false;
  /** LMDB cannot take what the journal holds. */
  #behind = false;
  /** Transactions of LMDB run one after another, so that none overtakes a batch that is being tried again. */
  #last: Promise<unknown> = Promise.resolve();
  #applyAsked = false;
  #idle: (() => void)[] = [];
  readonly #timers: NodeJS.Timeout[];

  constructor(root: RootDatabase, folder: string, release: () => void, onFailure: (error: unknown) => void) {
    this.#root = root;
    this.#release = release;
    this.#onFailure = onFailure;
    this.#progress = root.openDB<Progress, string>("journal", { encoding: "json" });
    this.#frame = this.#recover(Journal.read(folder));
    this.#applied = this.#frame;
    this.#journal = new Journal(folder);
    this.#timers = [
      setInterval(() => this.#journal.sync(), SYNC_MS).unref(),
      setInterval(() => void this.#apply(), APPLY_MS).unref(),
    ];
  }

  table<V>(name: string): Table<V> {
    const encode = (value: V): Uint8Array => pack(value);
    return this.#open(name, false, encode, (bytes) => unpack(bytes) as V);
  }

  bytes(name: string, { shortLived = false } = {}): Table<Uint8Array> {
    return this.#open(name, shortLived, same, same);
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
      let outcome: { value: T } | { error: unknown };
      let layer: Layer | undefined;
      try {
        let written: { error?: unknown } = {};
        outcome = await this.#root.transaction(() => {
          // What the journal holds comes first: the order of commits is the order in LMDB. Sealed no earlier than here:
          // commits go on while LMDB's lock is waited for, and `act` must see them, and not be overwritten by them.
          layer = this.#pending.seal(this.#frame);
          written = this.#written(layer, false);
          return "error" in written ? { error: written.error } : this.#rolledBackIfItThrows(act);
        });
        if ("error" in written) throw written.error;
        if (layer !== undefined) this.#applyDone(layer, false);
      } catch (error) {
        if (layer !== undefined) await this.#applyLayer(layer, false);
        throw error;
      }
      if ("error" in outcome) throw outcome.error;
      return outcome.value;
    });
  }

  healthy(): boolean {
    return !this.#failing && !this.#behind;
  }

  async close(): Promise<void> {
    if (this.#scheduled) await new Promise<void>((resolve) => this.#idle.push(resolve));
    for (const timer of this.#timers) clearInterval(timer);
    await this.#inTurn(async () => {
      this.#journal.close();
      await this.#applyAll(true);
    });
    this.#release();
    await this.#root.flushed;
    await this.#root.close();
  }

  #open<V>(
    name: string,
    shortLived: boolean,
    encode: (value: V) => Uint8Array,
    decode: (bytes: Uint8Array) => V,
  ): Table<V> {
    const db = this.#database(name);
    const put = (key: Key, value: Uint8Array | undefined) => {
      // In the journal it would be promised, and hold up LMDB for ever.
      if (!fits(key)) throw new RangeError(`a key of ${name} is too long`);
      if (this.#collecting !== undefined) {
        this.#collecting.push({ table: name, key, text: JSON.stringify(key), value, shortLived });
      } else if (!this.#transacting || shortLived) {
        throw new Error(`${name} was written outside commit${shortLived ? "" : " and transact"}`);
      } else if (value === undefined) db.removeSync(key);
      else db.putSync(key, value as Buffer);
    };
    // Inside a transaction LMDB is ahead of every layer, but it never has the rows kept in memory.
    const inLmdbAlone = () => this.#transacting && !shortLived;
    return {
      get: (key) => {
        if (!fits(key)) return undefined;
        const write = inLmdbAlone() ? undefined : this.#pending.find(name, key);
        const bytes = write === undefined ? db.get(key) : write.value;
        return bytes === undefined ? undefined : decode(bytes);
      },
      range: (range = {}) => {
        const { limit, ...all } = range;
        const rows = inLmdbAlone() ? undefined : this.#pending.over(name, range, () => db.getRange(all));
        return decoded(rows === undefined ? db.getRange(range) : first(rows, limit), decode);
      },
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

  /** One append for everything that waits. */
  #append(retryMs: number): void {
    const group = this.#queue;
    this.#queue = [];
    const writer = this.#writer;
    let count = 0;
    try {
      writer.clear();
      for (const { writes } of group) {
        for (const write of writes) writer.add(write);
        count += writes.length;
      }
      if (count > 0) this.#journal.append(writer.take(this.#frame + 1), this.#frame + 1);
    } catch (error) {
      this.#failing = true;
      this.#onFailure(error);
      this.#queue = [...group, ...this.#queue];
      setTimeout(() => this.#append(Math.min(retryMs * 2, LONGEST_RETRY_MS)), retryMs);
      return;
    }
    this.#failing = false;
    if (count > 0) this.#frame++;
    for (const { writes, done } of group) {
      for (const write of writes) this.#pending.add(write);
      done();
    }
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
      await this.#applyAll(this.#pending.keptRows > KEPT_ROWS || this.#pending.keptBytes > KEPT_BYTES);
    });
  }

  /** Then removes the journal's segments that LMDB holds durably. */
  async #applyAll(withKept: boolean): Promise<void> {
    try {
      this.#journal.rotate();
    } catch (error) {
      // The segment stays open and grows; a later round ends it. The writes go to LMDB all the same.
      this.#onFailure(error);
    }
    await this.#applyLayer(this.#pending.seal(this.#frame), withKept);
    const upTo = this.#progressOf(this.#applied).kept;
    if (!this.#journal.holds(upTo)) return;
    try {
      await this.#root.flushed;
      this.#journal.remove(upTo);
    } catch (error) {
      // They stay, and are read over at the next start.
      this.#onFailure(error);
    }
  }

  /** Until it succeeds: what the journal holds was promised. */
  async #applyLayer(layer: Layer, withKept: boolean): Promise<void> {
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        const written = await this.#root.transaction(() => this.#written(layer, withKept));
        if ("error" in written) throw written.error;
        this.#applyDone(layer, withKept);
        this.#behind = false;
        return;
      } catch (error) {
        this.#behind = true;
        this.#onFailure(error);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  #applyDone(layer: Layer, withKept: boolean): void {
    if (withKept) this.#pending.release();
    this.#pending.drop(layer, withKept ? undefined : this.#applied + 1);
    this.#applied = layer.upTo;
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

  /** LMDB waits forever for a transaction whose action throws. A part that was written is written again. */
  #written(layer: Layer, withKept: boolean): { error?: unknown } {
    try {
      this.#write(layer, withKept);
      return {};
    } catch (error) {
      return { error };
    }
  }

  /** Inside a transaction of LMDB: the writes, and how far they go. */
  #write(layer: Layer, withKept: boolean): void {
    if (withKept) for (const write of this.#pending.kept()) this.#put(write);
    let keeping = false;
    for (const writes of layer.tables.values()) {
      for (const write of writes.values()) {
        if (!write.shortLived || withKept) this.#put(write);
        else if (write.value !== undefined) keeping = true;
        else if (this.#database(write.table).doesExist(write.key)) this.#put(write);
      }
    }
    const applied = layer.upTo;
    const kept = withKept
      ? applied
      : Math.min(this.#progressOf(applied).kept, keeping ? this.#applied : applied);
    this.#progress.putSync("progress", { applied, kept });
  }

  #put({ table, key, value }: Write): void {
    const db = this.#database(table);
    if (value === undefined) db.removeSync(key);
    else db.putSync(key, value as Buffer);
  }

  /** What is kept in memory is in LMDB only to the frame before the oldest of it. */
  #progressOf(applied: number): Progress {
    return { applied, kept: Math.min(applied, (this.#pending.oldestKept() ?? applied + 1) - 1) };
  }

  /** After a crash: brings what the journal holds beyond LMDB into it. Returns the number of the newest frame. */
  #recover(frames: readonly Buffer[]): number {
    const { applied, kept } = this.#progress.get("progress") ?? { applied: 0, kept: 0 };
    const layer = new Layer();
    layer.upTo = applied;
    for (const frame of frames) {
      const number = frameNumber(frame);
      if (number <= kept) continue;
      for (const write of frameWrites(frame)) if (number > applied || write.shortLived) layer.add(write);
      layer.upTo = Math.max(layer.upTo, number);
    }
    if (layer.size > 0) this.#root.transactionSync(() => this.#write(layer, true));
    return layer.upTo;
  }
}

const same = (bytes: Uint8Array): Uint8Array => bytes;

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
