/**
 * The running store: the writes of acts are collected, appended to the journal as one frame, and read from memory until
 * LMDB has them; LMDB follows in batches, one transaction at a time. docs/decisions.md explains why.
 */
import type { Key } from "lmdb";
import pLimit from "p-limit";
import { fail } from "../base/errors.ts";
import { during } from "../base/turns/long-work.ts";
import { attempt } from "./attempt.ts";
import { FrameWriter } from "./journal/frame.ts";
import { type ActOptions, Group, type Undo } from "./journal/group.ts";
import type { FramePlace, Journal } from "./journal/journal.ts";
import type { Log } from "./journal/log.ts";
import type { Logs } from "./journal/logs.ts";
import { type Layer, Pending } from "./journal/pending.ts";
import type { JournalProgress } from "./journal/survey.ts";
import { openBytes, packChecked, sealBytes, unpackChecked } from "./lmdb/checked.ts";
import type { Lmdb } from "./lmdb/lmdb.ts";
import type { JournaledStoreParts } from "./parts.ts";
import { keptAll, progressOf, putLayer } from "./recovery/recovery.ts";
import { decoded, first } from "./rows.ts";
import { Soon } from "./soon.ts";
import { fits, keyText, type RowVersions, type Table } from "./tables/table.ts";
import { Watchers } from "./watchers.ts";

/** Maximum delay of LMDB behind the journal, and how much a power failure may lose. */
const APPLY_MS = 100;
const SYNC_MS = 50;
/** Applied earlier when this many writes wait. */
const APPLY_WRITES = 4000;
/** Slices of logs that are moved behind one transaction of tables, which waits for the disk. */
const SLICES = 4;
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 1000;

export class JournaledStore {
  readonly #parts: JournaledStoreParts;
  readonly #lmdb: Lmdb;
  readonly #onFailure: (error: unknown) => void;
  readonly #actsTwice: boolean;
  readonly #logs: Logs;
  readonly #journal: Journal;
  readonly #pending = new Pending();
  readonly #writer = new FrameWriter();
  /** Number of the newest appended frame. */
  #frame: number;
  /** LMDB's progress. */
  #reached: JournalProgress;
  /** The group of the next append. */
  #group = this.#newGroup();
  #scheduled = false;
  /** An act is running: puts go to the group, and reads include it. */
  #acting = false;
  /** The journal cannot be appended to. */
  #failing = false;
  /** LMDB cannot apply the journal. */
  #behind = false;
  /** LMDB transactions run one after another, so that none overtakes a batch that is being retried. */
  readonly #inTurn = pLimit(1);
  #applyAsked = false;
  #closed = false;
  #idle: (() => void)[] = [];
  readonly #endings: (() => void)[] = [];
  readonly #syncSoon = new Soon(SYNC_MS, () => this.#sync());
  readonly #applySoon = new Soon(APPLY_MS, () => void this.#apply());
  readonly #watchers: Watchers;

  constructor(parts: JournaledStoreParts) {
    const { lmdb, journal, logs, reached, onFailure, actsTwice } = parts;
    this.#parts = parts;
    this.#lmdb = lmdb;
    this.#journal = journal;
    this.#logs = logs;
    this.#onFailure = onFailure;
    this.#watchers = new Watchers(onFailure);
    this.#actsTwice = actsTwice;
    this.#frame = reached.applied;
    this.#reached = reached;
    // The start may have left rows that are to be removed.
    this.#applySoon.ask();
  }

  table<V>(name: string, versions?: RowVersions<V>): Table<V> {
    const decode = (bytes: Uint8Array, key: Key) => unpackChecked(name, keyText(key), bytes, versions);
    return this.#open(name, (value: V, text) => packChecked(text, value, versions?.version), decode);
  }

  bytes(name: string): Table<Uint8Array> {
    return this.#open<Uint8Array>(
      name,
      (value, text) => sealBytes(text, value),
      (bytes, key) => openBytes(keyText(key), bytes),
    );
  }

  log(name: string): Log {
    const rows = this.#logs.of(name);
    const check = () => {
      if (!this.#acting) throw new Error(`${name} was written outside an act`);
    };
    return {
      append: (number, value) => {
        check();
        rows.claim(number);
        this.#group.logWrites.push({ log: name, number, value });
      },
      trim: (upTo) => {
        check();
        this.#group.logWrites.push({ log: name, number: upTo, value: undefined });
      },
      get: (number) => rows.get(number),
      size: (number) => rows.size(number),
      read: (first, last, most, memory) => rows.read(first, last, most, memory),
      newest: () => rows.newest,
      trimmed: () => rows.trimmed,
    };
  }

  act<T>(act: () => T, { isOwed = false }: ActOptions = {}): Promise<T> {
    if (this.#acting) throw new Error("an act inside another");
    if (this.#closed) return Promise.reject(new Error("the store is closed"));
    if (!isOwed && !this.healthy()) {
      return Promise.reject(
        fail("storage_unavailable", "Nothing can be stored now.", { retryAfterMs: 1000 }),
      );
    }
    const group = this.#group;
    let value: T;
    this.#acting = true;
    try {
      if (this.#actsTwice) group.rehearse(act);
      value = group.collect(act);
    } catch (error) {
      return Promise.reject(error);
    } finally {
      this.#acting = false;
    }
    if (!this.#scheduled) {
      this.#scheduled = true;
      // After this turn of the event loop: calls that settle together share the append.
      setImmediate(() => during("commit", () => this.#append(FIRST_RETRY_MS)));
    }
    return value === undefined ? (group.committed as Promise<T>) : group.committed.then(() => value);
  }

  ifDropped<A, B, C, D>(undo: Undo<A, B, C, D>, a?: A, b?: B, c?: C, d?: D): void {
    if (!this.#acting) throw new Error("memory was changed outside an act");
    this.#group.ifDropped(undo, a, b, c, d);
  }

  healthy(): boolean {
    return !this.#failing && !this.#behind;
  }

  unsaved(): number {
    return this.#group.size;
  }

  synced(): Promise<void> {
    return this.#journal.sync();
  }

  caughtUp(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#closed) return;
      await this.#applyLayer(this.#seal());
      while (await this.#moveLogs(false));
    });
  }

  forgetRemoved(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#closed) return;
      this.#parts.rewrite.ask();
      this.#journal.rotate({ isForced: true });
      await this.#complete();
      await this.#applyAll();
    });
  }

  still<T>(act: (frame: number) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      if (this.#closed) throw new Error("the store is closed");
      await this.#complete();
      return await act(this.#reached.applied);
    });
  }

  /** Brings LMDB to the newest frame, log rows included. Not further: under load that would never end. */
  async #complete(): Promise<void> {
    await this.#applyLayer(this.#seal());
    this.#reached = await keptAll(this.#lmdb, this.#logs, this.#reached);
  }

  onClose(ending: () => void): void {
    this.#endings.push(ending);
  }

  async close(): Promise<void> {
    for (const ending of this.#endings.splice(0)) ending();
    if (this.#scheduled) await new Promise<void>((resolve) => this.#idle.push(resolve));
    for (const soon of [this.#syncSoon, this.#applySoon]) soon.stop();
    await this.#inTurn(async () => {
      await this.#applyAll();
      // Rows remain only after a failure: they stay in the journal.
      while (await this.#moveLogs(true));
      await this.#applyAll();
      const done = await this.#isDone();
      // Later operations must not record that a segment is needed.
      this.#closed = true;
      await this.#journal.close(done);
    });
    const { rewrite, release } = this.#parts;
    // A claim of a dead process is taken over.
    attempt(this.#onFailure, () => {
      if (!rewrite.isDueAtClose()) release();
    });
    await this.#lmdb.close();
    // The next start does it.
    attempt(this.#onFailure, () => rewrite.afterClose());
  }

  /** Whether LMDB has everything, and has recorded that no segment is needed. */
  async #isDone(): Promise<boolean> {
    const { applied, kept } = this.#reached;
    if (kept < this.#frame) return false;
    try {
      await this.#lmdb.transaction(() => this.#lmdb.putProgress({ applied, kept, segment: 0 }));
      await this.#lmdb.flushed();
      return true;
    } catch (error) {
      this.#onFailure(error);
      return false;
    }
  }

  #open<V>(
    name: string,
    encode: (value: V, text: string) => Uint8Array,
    decode: (bytes: Uint8Array, key: Key) => V,
  ): Table<V> {
    const db = this.#lmdb.database(name);
    const textOf = (key: Key) => {
      // In the journal the write would be promised, and would block LMDB for ever.
      if (!fits(key)) throw new RangeError(`a key of ${name} is too long`);
      if (!this.#acting) throw new Error(`${name} was written outside an act`);
      return keyText(key);
    };
    const put = (key: Key, text: string, value: Uint8Array | undefined) =>
      this.#group.put({ table: name, key, text, value });
    return {
      get: (key) => {
        if (!fits(key)) return undefined;
        const queued = this.#acting ? this.#group.find(name, keyText(key)) : undefined;
        const write = queued ?? this.#pending.find(name, key);
        const bytes = write === undefined ? db.get(key) : write.value;
        return bytes === undefined ? undefined : decode(bytes, key);
      },
      range: (range = {}) => {
        const { limit, ...all } = range;
        const queued = this.#acting ? this.#group.of(name) : undefined;
        const rows = this.#pending.over(name, range, () => db.getRange(all), queued);
        return decoded(rows === undefined ? db.getRange(range) : first(rows, limit), decode);
      },
      put(key, value) {
        const text = textOf(key);
        put(key, text, encode(value, text));
      },
      putLast: (key, value) => this.#group.putLast({ table: name, key, text: textOf(key) }, value, encode),
      remove: (key) => put(key, textOf(key), undefined),
      watch: (changed) =>
        this.#watchers.add(name, ({ key, value }) => changed(key, value && decode(value, key))),
    };
  }

  #newGroup(): Group {
    return new Group(({ log, number, value }) => {
      if (value !== undefined) this.#logs.of(log).unclaim(number);
    });
  }

  /** Appends everything that waits as one frame. */
  #append(retryMs: number): void {
    const group = this.#group;
    const { writes, logWrites, size } = group;
    const writer = this.#writer;
    const frame = this.#frame + 1;
    const offsets: number[] = [];
    let place: FramePlace | undefined;
    try {
      writer.clear();
      group.encode();
      for (const write of writes) writer.add(write);
      for (const write of logWrites) offsets.push(writer.addToLog(write));
      if (size > 0) place = this.#journal.append(writer.take(frame), frame);
    } catch (error) {
      // Later acts join the group.
      this.#failing = true;
      this.#onFailure(error);
      setTimeout(() => this.#append(Math.min(retryMs * 2, LONGEST_RETRY_MS)), retryMs);
      return;
    }
    this.#failing = false;
    this.#scheduled = false;
    this.#group = this.#newGroup();
    if (size > 0) this.#frame = frame;
    for (const write of writes) this.#pending.add(write);
    if (place !== undefined) this.#logs.committed(logWrites, offsets, { ...place, frame });
    for (const write of logWrites) if (write.value === undefined) this.#pending.trim(write);
    this.#watchers.tell(writes);
    group.done();
    for (const resolve of this.#idle.splice(0)) resolve();
    this.#syncSoon.ask();
    this.#applySoon.ask();
    if (this.#pending.size > APPLY_WRITES) void this.#apply();
  }

  #sync(): void {
    this.#journal.sync().catch((error: unknown) => {
      this.#onFailure(error);
      this.#syncSoon.ask();
    });
  }

  /** Applies the journal to LMDB, in one transaction however many calls it covers. */
  async #apply(): Promise<void> {
    if (this.#applyAsked || (this.#pending.size === 0 && !this.#logs.wait(false))) return;
    this.#applyAsked = true;
    const more = await this.#inTurn(async () => {
      this.#applyAsked = false;
      if (this.#closed) return false;
      await this.#applyAll();
      let more = true;
      for (let slices = 0; more && slices < SLICES; slices++) more = await this.#moveLogs(false);
      return more;
    });
    // Transactions requested meanwhile go first.
    if (more && this.#logs.wait(false)) void this.#apply();
    else if (this.#pending.size > 0 || this.#logs.wait(false)) this.#applySoon.ask();
  }

  /** Then removes the journal segments that LMDB holds durably. */
  async #applyAll(): Promise<void> {
    // Where it fails, the segment stays open and grows; a later round ends it. The writes still go to LMDB.
    attempt(this.#onFailure, () => this.#journal.rotate());
    await this.#applyLayer(this.#seal());
    const { kept, segment = 0 } = this.#reached;
    if (!this.#journal.holds(kept, segment)) return;
    try {
      await this.#lmdb.flushed();
      await this.#journal.remove(kept, segment);
    } catch (error) {
      // The segments stay, and are read again at the next start.
      this.#onFailure(error);
    }
  }

  #seal(): Layer {
    const oldest = this.#logs.oldestFrame();
    const loggedTo = oldest === undefined ? this.#frame : oldest - 1;
    return this.#pending.seal({ upTo: this.#frame, loggedTo, segment: this.#journal.segment });
  }

  /** Retries until it succeeds: what the journal holds was promised. */
  async #applyLayer(layer: Layer): Promise<void> {
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        // From here on LMDB may reach the disk at any moment, and must not be ahead of the journal there: a power
        // failure would leave a ledger entry without its record.
        await this.#journal.sync();
        await this.#lmdb.transaction(() => during("follow", () => putLayer(this.#lmdb, this.#logs, layer)));
        this.#pending.drop(layer);
        this.#reached = progressOf(layer);
        this.#behind = false;
        return;
      } catch (error) {
        this.#behind = true;
        this.#onFailure(error);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  /** Moves a slice of every log that waits for LMDB. @returns false when none does, or it failed: the journal has it still */
  async #moveLogs(all: boolean): Promise<boolean> {
    if (!this.#logs.wait(all)) return false;
    try {
      const move = () => this.#logs.move(all, this.#reached.applied);
      const moved = await this.#lmdb.transaction(() => during("follow", move));
      moved();
      return true;
    } catch (error) {
      this.#behind = true;
      this.#onFailure(error);
      return false;
    }
  }
}
