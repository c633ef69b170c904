/**
 * A store in memory with the rules of the product's: acts of one turn are one append, which makes them durable; reads outside an act see
 * what is durable. A folder keeps exactly that when its process is killed, and can be copied.
 */
import { compareKeys } from "lmdb";
import { fail } from "../../../src/base/errors.ts";
import type { LogWrite, Write } from "../../../src/store/journal/frame.ts";
import { type ActOptions, Group, type Undo } from "../../../src/store/journal/group.ts";
import type { ReadRows, RowAmount } from "../../../src/store/journal/log.ts";
import { overlaid, type Row } from "../../../src/store/journal/overlay.ts";
import { packContent, unpackContent } from "../../../src/store/lmdb/checked.ts";
import { decoded, first } from "../../../src/store/rows.ts";
import type { Log, Store } from "../../../src/store/store.ts";
import {
  keyText,
  type Range,
  type RowVersions,
  type StoreKey,
  type Table,
} from "../../../src/store/tables/table.ts";

const RETRY_MS = 10;

class FolderTable {
  readonly rows: Map<string, Row>;
  #sorted: Row[] | undefined;

  constructor(rows = new Map<string, Row>()) {
    this.rows = rows;
  }

  put({ key, text, value }: Write): void {
    this.#sorted = undefined;
    if (value === undefined) this.rows.delete(text);
    else this.rows.set(text, { key, value });
  }

  range({ start, end, reverse = false }: Range): Row[] {
    this.#sorted ??= [...this.rows.values()].sort((a, b) => compareKeys(a.key, b.key));
    const sign = reverse ? -1 : 1;
    const found = this.#sorted.filter(
      ({ key }) =>
        (start === undefined || sign * compareKeys(key, start) >= 0) &&
        (end === undefined || sign * compareKeys(key, end) < 0),
    );
    return reverse ? found.reverse() : found;
  }
}

class FolderLog {
  readonly rows: Map<number, Uint8Array>;
  newest = 0;
  trimmed = 0;

  constructor(rows = new Map<number, Uint8Array>()) {
    this.rows = rows;
  }

  read(first: number, last: number, most: RowAmount): ReadRows {
    const rows: Uint8Array[] = [];
    let next = first;
    for (let bytes = 0; next <= last && rows.length < most.rows && bytes < most.bytes; next++) {
      const row = this.rows.get(next);
      if (row === undefined) continue;
      rows.push(row);
      bytes += row.length;
    }
    return { rows, next };
  }

  write({ number, value }: LogWrite): void {
    if (value !== undefined) {
      this.rows.set(number, value);
      this.newest = number;
      return;
    }
    for (const row of this.rows.keys()) if (row <= number) this.rows.delete(row);
    this.trimmed = Math.max(this.trimmed, number);
    this.newest = Math.max(this.newest, number);
  }
}

/** What is durable. */
export class Folder {
  readonly #tables = new Map<string, FolderTable>();
  readonly #logs = new Map<string, FolderLog>();

  table(name: string): FolderTable {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = new FolderTable();
      this.#tables.set(name, table);
    }
    return table;
  }

  log(name: string): FolderLog {
    let log = this.#logs.get(name);
    if (log === undefined) {
      log = new FolderLog();
      this.#logs.set(name, log);
    }
    return log;
  }

  /** Names of tables with a row. */
  tables(): string[] {
    return [...this.#tables].filter(([, { rows }]) => rows.size > 0).map(([name]) => name);
  }

  copy(): Folder {
    const copy = new Folder();
    for (const [name, { rows }] of this.#tables) copy.#tables.set(name, new FolderTable(new Map(rows)));
    for (const [name, log] of this.#logs) {
      const made = new FolderLog(new Map(log.rows));
      copy.#logs.set(name, Object.assign(made, { newest: log.newest, trimmed: log.trimmed }));
    }
    return copy;
  }
}

interface Codec<V> {
  encode(value: V): Uint8Array;
  decode(bytes: Uint8Array, key: StoreKey): V;
}

const NO_VALUES = new Map<string, Write>();

export class MemoryStore implements Store {
  readonly #folder: Folder;
  /** Whether the disk refuses an append now. */
  readonly #isFull: () => boolean;
  readonly #appended = new Map<string, number>();
  readonly #watchers: [table: string, changed: (write: Write) => void][] = [];
  #group = this.#newGroup();
  #isActing = false;
  #isScheduled = false;
  #isFailing = false;

  constructor(folder: Folder, isFull: () => boolean) {
    this.#folder = folder;
    this.#isFull = isFull;
  }

  table<V>(name: string, versions?: RowVersions<V>): Table<V> {
    return this.#open<V>(name, {
      encode: (value) => packContent(value, versions?.version),
      decode: (bytes, key) => unpackContent(name, keyText(key), bytes, versions),
    });
  }

  bytes(name: string): Table<Uint8Array> {
    return this.#open(name, { encode: (value) => value, decode: (bytes) => bytes });
  }

  log(name: string): Log {
    const log = this.#folder.log(name);
    const write = (number: number, value: Uint8Array | undefined) => {
      if (!this.#isActing) throw new Error(`${name} was written outside an act`);
      this.#group.logWrites.push({ log: name, number, value });
    };
    return {
      append: (number, value) => {
        const appended = Math.max(this.#appended.get(name) ?? 0, log.newest);
        if (number <= appended) throw new RangeError(`${name} has a row ${appended} already`);
        write(number, value);
        this.#appended.set(name, number);
      },
      trim: (upTo) => write(upTo, undefined),
      get: (number) => log.rows.get(number),
      size: (number) => log.rows.get(number)?.length,
      read: (first, last, most) => log.read(first, last, most),
      newest: () => log.newest,
      trimmed: () => log.trimmed,
    };
  }

  act<T>(act: () => T, { isOwed = false }: ActOptions = {}): Promise<T> {
    if (this.#isActing) throw new Error("an act inside another");
    if (!isOwed && !this.healthy())
      return Promise.reject(
        fail("storage_unavailable", "Nothing can be stored now.", { retryAfterMs: 1000 }),
      );
    const group = this.#group;
    let value: T;
    this.#isActing = true;
    try {
      value = group.collect(act);
    } catch (error) {
      return Promise.reject(error);
    } finally {
      this.#isActing = false;
    }
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => this.#append());
    }
    return group.committed.then(() => value);
  }

  ifDropped<A, B, C, D>(undo: Undo<A, B, C, D>, a?: A, b?: B, c?: C, d?: D): void {
    if (!this.#isActing) throw new Error("memory was changed outside an act");
    this.#group.ifDropped(undo, a, b, c, d);
  }

  healthy(): boolean {
    return !this.#isFailing;
  }

  unsaved(): number {
    return this.#group.size;
  }

  async caughtUp(): Promise<void> {}

  onClose(): void {}

  async synced(): Promise<void> {}

  async forgetRemoved(): Promise<void> {}

  async still<T>(act: (frame: number) => Promise<T>): Promise<T> {
    return await act(0);
  }

  async close(): Promise<void> {
    if (this.#isScheduled) await this.#group.committed;
  }

  #newGroup(): Group {
    return new Group(({ log, number, value }) => {
      if (value !== undefined) this.#appended.set(log, number - 1);
    });
  }

  #append(): void {
    this.#isFailing = this.#isFull();
    if (this.#isFailing) {
      setTimeout(() => this.#append(), RETRY_MS);
      return;
    }
    const group = this.#group;
    this.#isScheduled = false;
    this.#group = this.#newGroup();
    for (const write of group.writes) this.#folder.table(write.table).put(write);
    for (const write of group.logWrites) this.#folder.log(write.log).write(write);
    for (const write of group.writes)
      for (const [table, changed] of this.#watchers) if (table === write.table) changed(write);
    group.done();
  }

  #open<V>(name: string, { encode, decode }: Codec<V>): Table<V> {
    const table = this.#folder.table(name);
    const put = (key: StoreKey, value: Uint8Array | undefined) => {
      if (!this.#isActing) throw new Error(`${name} was written outside an act`);
      this.#group.writes.push({ table: name, key, text: keyText(key), value });
    };
    return {
      get: (key) => {
        const text = keyText(key);
        const queued = this.#isActing ? this.#group.find(name, text) : undefined;
        const bytes = queued === undefined ? table.rows.get(text)?.value : queued.value;
        return bytes && decode(bytes, key);
      },
      range: (range = {}) => {
        const queued = (this.#isActing ? this.#group.of(name) : undefined) ?? NO_VALUES;
        const stored = table.range(range);
        const rows = queued.size === 0 ? stored : overlaid(stored, queued.values(), range);
        return decoded(first(rows, range.limit), decode);
      },
      put: (key, value) => put(key, encode(value)),
      putLast: (key, value) => put(key, encode(value)),
      remove: (key) => put(key, undefined),
      watch: (changed) =>
        void this.#watchers.push([name, ({ key, value }) => changed(key, value && decode(value, key))]),
    };
  }
}
