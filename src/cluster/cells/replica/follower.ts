/**
 * Follows the stream of changes: reads it over a connection of its own, hands entries to the replica in their order, and has the
 * replica load anew where the stream was trimmed beyond the cell's position, or where the dataset has another past.
 */
import { type Formats, LaterFormat } from "../dataset/formats.ts";
import { KEY_PREFIX } from "../redis/keys.ts";
import type { RedisLink, RedisLog } from "../redis/redis.ts";
import { type AskPage, type Change, type Entry, OtherPast, type Replica, readEntry } from "./replica.ts";

export interface FollowerOptions {
  /** A connection for this alone: reads of the stream wait on it. */
  readonly link: RedisLink;
  readonly replica: Replica;
  /** Replicas of Redis that must have an entry before it is applied. */
  readonly replicas: number;
  readonly ask: AskPage;
  /** What the cell stores besides with an entry of its own. Called in the act that stores it. */
  readonly also: (entry: Entry) => Iterable<Change>;
  /** The same for all runs up to this one, `life:number`, whose entries will not come because all rows are loaded. */
  readonly alsoUpTo: (lastRun: string) => Iterable<Change>;
  /** Entries are applied, and durable. */
  readonly onApplied: (entries: readonly Entry[]) => void;
  /** All rows are loaded, with every run of this cell up to this one; they are of this version at the latest. */
  readonly onLoaded: (lastRun: string, version: number) => void;
  /** Resolves once the dataset is known to be the cell's own, and the cell has entered its term. */
  readonly assured: () => Promise<void>;
  /** The newest version that the cell has heard of. */
  readonly heard: () => number;
  readonly formats: Formats;
  /** Another cell wrote what this one cannot read. Nothing is followed any more. */
  readonly onLater: (reason: LaterFormat) => void;
  readonly log: RedisLog;
}

/** Entries that are read at once; fewer after a read that did not come in time, for they may be large. */
const MOST_ENTRIES = 500;
const BLOCK_MS = 1000;
const RETRY_MS = 50;
const REPLICA_MS = 250;

interface Waiter {
  version: number;
  readonly done: () => void;
  readonly failed: (reason: Error) => void;
}

export class Follower {
  readonly #options: FollowerOptions;
  #waiters: Waiter[] = [];
  #stopping = false;
  #ended: Error | undefined;
  #entries = MOST_ENTRIES;
  #isLoading = false;
  #mustLoad = false;
  #running: Promise<void> | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  get version(): number {
    return this.#options.replica.position.version;
  }

  /** Nothing is followed any more. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** What the cell has is of different versions, or of another past than the dataset. */
  get isLoading(): boolean {
    return this.#isLoading || this.#mustLoad || this.#options.replica.isMixed;
  }

  /** The dataset's past is another than the cell's: everything is loaded anew before the stream is followed on. */
  loadAnew(): void {
    this.#mustLoad = true;
  }

  /** A new term begins at this version: greater ones that somebody waits for may never come. */
  newTerm(version: number): void {
    this.#waitFor(version, this.#waiters);
  }

  /** The dataset does not know this version of this origin: if the cell still stands there, it loads anew. */
  doubt(version: number, origin: string): void {
    const { position } = this.#options.replica;
    if (!this.isLoading && position.version === version && position.origin === origin) this.#mustLoad = true;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves once the cell has applied this version, or has loaded all rows since the call. @throws Error once it ended */
  reached(version: number): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (this.version >= version && !this.isLoading) return Promise.resolve();
    return new Promise((done, failed) => this.#waiters.push({ version, done, failed }));
  }

  /** The cell may not go on: nobody waits any longer. */
  end(reason: Error): void {
    this.#ended ??= reason;
    this.#stopping = true;
    for (const { failed } of this.#waiters.splice(0)) failed(reason);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { link, log, assured, replica } = this.#options;
    let assuredOn = -1;
    let said = "";
    while (!this.#stopping) {
      try {
        await link.ready(BLOCK_MS);
        // Another process of Redis, perhaps with another past, answers on a new connection only.
        const generation = link.generation();
        const isLoad = this.#mustLoad || replica.position.isLoading === true;
        if (generation !== assuredOn || isLoad) await assured();
        assuredOn = generation;
        if (isLoad) await this.#load();
        else await this.#follow(generation);
        this.#tell();
        said = "";
      } catch (error) {
        if (this.#stopping) return;
        const { message } = error as Error;
        if (error instanceof LaterFormat) return void this.#options.onLater(error);
        if (error instanceof OtherPast) this.#mustLoad = true;
        else if (link.isReady() && message !== said)
          log.warn({ error: message }, "changes of other cells could not be applied");
        said = message;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #follow(generation: number): Promise<void> {
    const { link, replica, replicas, also, onApplied, heard, formats } = this.#options;
    const newest = heard();
    const found = await this.#read();
    if (this.#mustLoad || this.#stopping || link.generation() !== generation) return;
    const entries = (found?.[0]?.[1] ?? []).map(readEntry);
    const [first] = entries;
    // XREAD skips what was trimmed and says nothing.
    if (first === undefined ? newest > this.version : first.version !== this.version + 1) {
      this.#mustLoad = true;
      return;
    }
    if (first === undefined) return;
    const later = entries.find(({ format }) => format > formats.newest);
    if (later !== undefined) throw new LaterFormat(later.format, formats);
    // What a failover could lose is not stored: with an entry go rows of this cell that nothing takes back.
    if (!(await replicasHave(link, replicas, REPLICA_MS)) || link.generation() !== generation) return;
    await replica.apply(entries, also);
    onApplied(entries);
  }

  async #read(): Promise<[Buffer, [Buffer, Buffer[]][]][] | null> {
    const count = this.#entries;
    const from = ["STREAMS", `${KEY_PREFIX}stream`, `${this.version}-0`] as const;
    // Holds until it is known that as many can be read.
    this.#entries = Math.ceil(count / 2);
    const found = await this.#options.link.call("XREAD", "COUNT", count, "BLOCK", BLOCK_MS, ...from);
    this.#entries = Math.min(MOST_ENTRIES, count * 2);
    return found as [Buffer, [Buffer, Buffer[]][]][] | null;
  }

  async #load(): Promise<void> {
    const { ask, replica, log, alsoUpTo, onLoaded } = this.#options;
    log.warn({ version: this.version }, "the cell loads all shared rows anew");
    // A past that is lost may have had greater versions: who waits for one of them waits for this load.
    const waiting = [...this.#waiters];
    this.#isLoading = true;
    this.#mustLoad = false;
    try {
      const lastRun = await replica.load(ask, alsoUpTo);
      const { version, servesFrom = version } = replica.position;
      this.#waitFor(servesFrom, waiting);
      onLoaded(lastRun, servesFrom);
    } catch (error) {
      this.#mustLoad = true;
      throw error;
    } finally {
      this.#isLoading = false;
    }
  }

  #waitFor(atMost: number, waiters: readonly Waiter[]): void {
    for (const waiter of waiters) waiter.version = Math.min(waiter.version, atMost);
  }

  #tell(): void {
    if (this.isLoading) return;
    const reached = this.#waiters.filter(({ version }) => version <= this.version);
    this.#waiters = this.#waiters.filter(({ version }) => version > this.version);
    for (const { done } of reached) done();
  }
}

/**
 * Whether so many replicas have, within the time, all that Redis had written at this call. @throws Error of the connection
 * Source: https://redis.io/docs/latest/commands/wait/
 */
async function replicasHave(link: RedisLink, replicas: number, withinMs: number): Promise<boolean> {
  if (replicas === 0) return true;
  // WAIT goes by what was written when its connection last asked something: a read that was blocked asked long before its answer.
  const asked = link.call("TIME");
  const [, found] = await Promise.all([asked, link.call("WAIT", replicas, withinMs)]);
  return Number(found) >= replicas;
}
