/**
 * Commits acts that change shared rows. Acts that wait run one on top of the other, as a group, on the rows of one version, and go to
 * the dataset in one exchange. It commits them up to the first one that would read something else today; that one and those after
 * it are undone and run again on newer rows. A cell whose acts were refused three times asks for the ticket, with which it commits
 * alone for a moment: so no act starves beside a thousand others.
 */
import { fail } from "../errors.ts";
import { ActRun } from "./act-run.ts";
import type { Beats } from "./beats.ts";
import { Draft } from "./draft.ts";
import { Blobs, type Lane, type Operation } from "./exchange.ts";
import type { Follower } from "./follower.ts";
import type { Change, Entry } from "./replica.ts";
import type { Running } from "./shared-table.ts";

export interface CommitterDeps {
  readonly lane: Lane;
  readonly beats: Beats;
  readonly follower: Follower;
  /** Runs `read` where it sees all rows of this cell, committed or not, and gives it their version. */
  readonly onRows: (read: (version: number) => void) => void;
  readonly setRunning: (running: Running | undefined) => void;
  readonly isShared: (table: string) => boolean;
  /** Cell and life, `cell:life`. */
  readonly origin: () => string;
}

interface Waiting {
  readonly act: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  refusals: number;
}

/** A run that is on its way. */
interface Sent extends Waiting {
  readonly run: ActRun;
  readonly value: unknown;
}

/** Acts of one exchange: some milliseconds of Redis. */
const GROUP_ACTS = 200;
/** Rows that one act may change: Lua passes them as arguments of one command. */
const MOST_WRITES = 3000;
const REFUSALS_BEFORE_TICKET = 3;
const TICKET_RETRY_MS = 10;
/** An act is answered at the latest so long after its commit, even if a cell has not applied it. */
const EVERYWHERE_MS = 1000;

export class Committer {
  readonly #deps: CommitterDeps;
  #waiting: Waiting[] = [];
  /** By number: runs whose entry has not come by the stream yet. */
  readonly #sent = new Map<number, Sent>();
  #runs = 0;
  /** The newest version this cell knows it has to have seen before its next group. */
  #needed = 0;
  #working: Promise<void> | undefined;

  constructor(deps: CommitterDeps) {
    this.#deps = deps;
  }

  get pending(): number {
    return this.#waiting.length + this.#sent.size;
  }

  /** Resolves once the act is committed, stored here, and known to every live cell. */
  commit<T>(act: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ act, resolve: resolve as (value: unknown) => void, reject, refusals: 0 });
      this.#work();
    });
  }

  /** Rows of this cell's own tables that one of its acts wrote, to be stored with the entry. */
  also({ origin }: Entry): readonly Change[] {
    const sent = this.#sentOf(origin);
    if (sent === undefined) return [];
    return [...sent.run.draft.writes()].filter(({ table }) => !this.#deps.isShared(table));
  }

  applied(entries: readonly Entry[]): void {
    for (const { origin, version } of entries) {
      const sent = this.#sentOf(origin);
      if (sent === undefined) continue;
      this.#sent.delete(sent.run.id);
      // However long another cell takes, what is committed is answered.
      void this.#deps.beats.everyoneHas(version, EVERYWHERE_MS).then(() => sent.resolve(sent.value));
    }
  }

  /** Resolves once nothing waits. */
  async idle(): Promise<void> {
    while (this.pending > 0) {
      await this.#working;
      if (this.pending > 0) await new Promise((resolve) => setTimeout(resolve, TICKET_RETRY_MS));
    }
  }

  #sentOf(origin: string): Sent | undefined {
    const prefix = `${this.#deps.origin()}:`;
    return origin.startsWith(prefix) ? this.#sent.get(Number(origin.slice(prefix.length))) : undefined;
  }

  #work(): void {
    this.#working ??= this.#groups()
      .catch((error: unknown) => {
        for (const { reject } of this.#waiting.splice(0)) reject(error);
        for (const { reject } of this.#sent.values()) reject(error);
        this.#sent.clear();
      })
      .finally(() => {
        this.#working = undefined;
        if (this.#waiting.length > 0) this.#work();
      });
  }

  async #groups(): Promise<void> {
    const { lane, follower } = this.#deps;
    // Acts of one turn of the event loop share the first group.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const hasTicket = this.#waiting.some(({ refusals }) => refusals >= REFUSALS_BEFORE_TICKET);
      if (hasTicket) await this.#takeTicket();
      await follower.reached(this.#needed);
      const { base, group } = this.#runGroup();
      if (group.length === 0) continue;
      const blobs = new Blobs();
      const acts = group.map(({ run }) => run.asOperation(this.#deps.isShared, blobs));
      const operations: Operation[] = [["acts", base, acts]];
      if (hasTicket) operations.push(["release"]);
      const [[committed, version, why] = []] = await lane.send(operations, blobs);
      this.#needed = Number(version);
      const refused = group.slice(Number(committed));
      if (refused.length > 0) await this.#putBack(refused, String(why));
    }
  }

  /** Runs what waits, without storing anything. */
  #runGroup(): { readonly base: number; readonly group: Sent[] } {
    const { onRows, setRunning, isShared } = this.#deps;
    const before = new Draft();
    const group: Sent[] = [];
    let base = 0;
    onRows((version) => {
      base = version;
      for (const waiting of this.#waiting.splice(0, GROUP_ACTS)) {
        const run = new ActRun(++this.#runs);
        setRunning({ run, before, isProbe: false });
        try {
          const value = waiting.act();
          if (run.sharedWrites(isShared) > MOST_WRITES)
            throw fail("storage_unavailable", `an act changes more than ${MOST_WRITES} rows`);
          const sent = { ...waiting, run, value };
          group.push(sent);
          this.#sent.set(run.id, sent);
          before.add(run.draft);
        } catch (error) {
          run.drop();
          waiting.reject(error);
        } finally {
          setRunning(undefined);
        }
      }
    });
    return { base, group };
  }

  async #putBack(refused: readonly Sent[], why: string): Promise<void> {
    for (const { run } of refused.toReversed()) {
      run.drop();
      this.#sent.delete(run.id);
    }
    const isWait = why === "wait";
    // Those after the first were refused for its sake.
    const again = refused.map(({ act, resolve, reject, refusals }, at) => ({
      ...{ act, resolve, reject },
      refusals: refusals + (at === 0 && !isWait ? 1 : 0),
    }));
    this.#waiting.unshift(...again);
    if (isWait) await new Promise((resolve) => setTimeout(resolve, TICKET_RETRY_MS));
  }

  async #takeTicket(): Promise<void> {
    for (;;) {
      const [[has] = []] = await this.#deps.lane.send([["ticket"]]);
      if (has === 1) break;
      await new Promise((resolve) => setTimeout(resolve, TICKET_RETRY_MS));
    }
    const { version } = await this.#deps.beats.now();
    this.#needed = Math.max(this.#needed, version);
  }
}
