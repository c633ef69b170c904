/**
 * When each key was last used: recorded in memory on every call, written in batches at most once a minute. Kill -9
 * loses at most the last minute's records, never a key.
 */
import { sliced } from "../../base/lists.ts";
import type { AccountTables } from "../tables.ts";

const FLUSH_EVERY_MS = 60_000;
/** Puts block the event loop until the group commit; this many take about a millisecond. */
const BATCH = 500;

export class LastUsed {
  readonly #accounts: AccountTables;
  #noted = new Map<string, number>();
  /** Taken from `#noted`, not yet committed. */
  #writing: ReadonlyMap<string, number> = new Map();
  #flushes: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  /** What other processes have not been told; undefined: there are none. */
  #untold: Map<string, number> | undefined;

  constructor(accounts: AccountTables) {
    this.#accounts = accounts;
  }

  note(keyId: string, nowMs: number): void {
    this.#noted.set(keyId, nowMs);
    this.#untold?.set(keyId, nowMs);
  }

  /** Other processes of the installation are told of uses from now on. */
  share(): void {
    this.#untold ??= new Map();
  }

  /** Uses that the others have not been told of. */
  takeUntold(most: number): [keyId: string, atMs: number][] {
    const untold = this.#untold ?? new Map<string, number>();
    const taken = Array.from(untold).slice(0, most);
    for (const [keyId] of taken) untold.delete(keyId);
    return taken;
  }

  /** What another process noted. */
  heardOf(keyId: string, atMs: number): void {
    if (atMs > (this.at(keyId) ?? 0)) this.#noted.set(keyId, atMs);
  }

  /** Milliseconds since 1970; undefined for a key that was never used. Includes uses not yet flushed. */
  at(keyId: string): number | undefined {
    return this.#noted.get(keyId) ?? this.#writing.get(keyId) ?? this.#accounts.keyLastUsedMs(keyId);
  }

  /** Resolves once everything recorded before the call is committed. */
  flush(): Promise<void> {
    this.#flushes = this.#flushes.then(() => this.#write());
    return this.#flushes;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), FLUSH_EVERY_MS).unref();
  }

  /** Call before the store closes. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.flush();
  }

  async #write(): Promise<void> {
    this.#writing = this.#noted;
    this.#noted = new Map();
    for (const uses of sliced(this.#writing, BATCH)) await this.#accounts.saveLastUsed(uses);
    this.#writing = new Map();
  }
}
