/**
 * Follows the stream of changes: reads it over a connection of its own, hands entries to the replica in their order, and has the
 * replica load anew where the stream was trimmed beyond the cell's position.
 */
import { KEY_PREFIX } from "./keys.ts";
import type { RedisLink, RedisLog } from "./redis.ts";
import { type Change, type Entry, type Replica, readEntry } from "./replica.ts";

export interface FollowerOptions {
  /** A connection for this alone: reads of the stream wait on it. */
  readonly link: RedisLink;
  readonly replica: Replica;
  readonly isShared: (table: string) => boolean;
  /** What the cell stores besides with an entry of its own. */
  readonly also: (entry: Entry) => Iterable<Change>;
  /** Entries are applied, and durable. */
  readonly onApplied: (entries: readonly Entry[]) => void;
  /** Resolves once the dataset is known to be the cell's own, and the cell has entered its term. */
  readonly assured: () => Promise<void>;
  readonly log: RedisLog;
}

const ENTRIES = 500;
const BLOCK_MS = 1000;
const RETRY_MS = 50;

interface Waiter {
  readonly version: number;
  readonly done: () => void;
}

export class Follower {
  readonly #options: FollowerOptions;
  #waiters: Waiter[] = [];
  #stopping = false;
  #isLoading = false;
  #mustLoad = false;
  #running: Promise<void> | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  get version(): number {
    return this.#options.replica.position.version;
  }

  /** Rows are being loaded: what the cell has is of different versions. */
  get isLoading(): boolean {
    return this.#isLoading || this.#mustLoad;
  }

  /** The dataset's past is another than the cell's: everything is loaded anew before the stream is followed on. */
  loadAnew(): void {
    this.#mustLoad = true;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves once the cell has applied this version. */
  reached(version: number): Promise<void> {
    if (this.version >= version && !this.isLoading) return Promise.resolve();
    return new Promise((done) => this.#waiters.push({ version, done }));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { link, log } = this.#options;
    let assured = -1;
    let said = "";
    while (!this.#stopping) {
      try {
        await link.ready(BLOCK_MS);
        // Another process of Redis, perhaps with another past, answers on a new connection only.
        const generation = link.generation();
        if (generation !== assured) await this.#options.assured();
        assured = generation;
        if (this.#mustLoad || this.#options.replica.position.isLoading === true) await this.#load();
        else await this.#follow(generation);
        this.#tell();
        said = "";
      } catch (error) {
        if (this.#stopping) return;
        const { message } = error as Error;
        if (link.isReady() && message !== said)
          log.warn({ error: message }, "changes of other cells could not be applied");
        said = message;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #follow(generation: number): Promise<void> {
    const { link, replica, also, onApplied } = this.#options;
    const from = `${this.version}-0`;
    const found = (await link.call(
      ...(["XREAD", "COUNT", ENTRIES, "BLOCK", BLOCK_MS, "STREAMS", `${KEY_PREFIX}stream`, from] as const),
    )) as [Buffer, [Buffer, Buffer[]][]][] | null;
    if (found === null || this.#mustLoad || link.generation() !== generation) return;
    const entries = (found[0]?.[1] ?? []).map(readEntry);
    // XREAD skips what was trimmed and says nothing.
    if (entries[0] !== undefined && entries[0].version !== this.version + 1) {
      this.#mustLoad = true;
      return;
    }
    await replica.apply(entries, also);
    onApplied(entries);
  }

  async #load(): Promise<void> {
    const { link, replica, isShared, log } = this.#options;
    log.warn({ version: this.version }, "the cell loads all shared rows anew");
    this.#isLoading = true;
    this.#mustLoad = false;
    await replica.load(link, isShared);
    this.#isLoading = false;
  }

  #tell(): void {
    if (this.isLoading) return;
    const reached = this.#waiters.filter(({ version }) => version <= this.version);
    this.#waiters = this.#waiters.filter(({ version }) => version > this.version);
    for (const { done } of reached) done();
  }
}
