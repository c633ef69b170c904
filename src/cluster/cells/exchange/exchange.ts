/**
 * Lanes: ordered conversations of a cell with the dataset. An exchange is a list of operations that run as one script, and
 * carries the cell, its life, the lane and a number: one whose reply was lost is sent again, and gets the reply that was kept. So an
 * operation happens once, whatever the connection does.
 */
import { Packr } from "msgpackr";
import type { Clock } from "../../../base/clock.ts";
import { Histogram } from "../../../base/metrics/histogram.ts";
import { ClockCheck, ClocksDisagree, WRONG_CLOCK } from "../clock/clock-check.ts";
import { ANY_TIME, type Expected, type SharedClock } from "../clock/shared-clock.ts";
import { type Entered, enterDataset } from "../dataset/dataset.ts";
import type { Formats } from "../dataset/formats.ts";
import { DATASET_KEY } from "../redis/keys.ts";
import type { RedisLink, RedisLog, RedisValue, Script } from "../redis/redis.ts";
import { SCRIPTS } from "../scripts/scripts.ts";

/** Name of the operation, then what it takes: texts, numbers, lists; see `scripts/exchange/`. */
export type Operation = readonly [name: string, ...args: unknown[]];

/**
 * Bytes go beside the operations, which name them by their number, from 1: Redis's MessagePack knows no bytes.
 */
export class Blobs {
  readonly list: Uint8Array[] = [];

  /** @returns its number */
  add(bytes: Uint8Array): number {
    return this.list.push(bytes);
  }
}

/** An exchange was taken back before it had any effect. */
export class NotSent extends Error {}

export interface SessionOptions {
  readonly cell: string;
  readonly datasetId: string;
  readonly link: RedisLink;
  /**
   * The first thing in a new term, and after the start: the cell says what it knows. Exchanges of other lanes wait for it; its own
   * go through `TERM_LANE`.
   */
  readonly onTerm?: (session: Session) => Promise<void>;
  /** Called once: this process may not go on (its cell has a newer life or was retired, or Redis holds something else). */
  readonly onEnd: (reason: Error) => void;
  readonly log?: RedisLog;
  /** For how long exchanges take; without it they are only counted. */
  readonly clock?: Pick<Clock, "monotonic">;
  /** What Redis's clock is compared with. Without it nothing may depend on the time: a dataset that is being made. */
  readonly time?: SharedClock;
  /** Replicas that must have an exchange before its reply counts. Default: 0. */
  readonly replicas?: number;
  /** Default: those of this release. */
  readonly formats?: Formats;
  /** In place of `SCRIPTS.exchange`: one with another clock, for tests. */
  readonly script?: Script;
}

/** After this the same exchange may be sent again once the cell has entered the new term. */
const NEW_TERM = "WEIRTERM";
/** Redis answers, and will do what is asked later. */
const LATER = /^(?:LOADING|BUSY|MASTERDOWN|READONLY|TRYAGAIN|CLUSTERDOWN|NOREPLICAS|MISCONF|OOM)\b/;
export const TERM_LANE = "term";
const RECONNECT_MS = 60_000;
const START_MS = 5000;
const START_TRIES = 5;
/** What is sent meanwhile waits for this, too: of all lanes together it is less than a connection's patience. */
const REPLICA_MS = 250;
const RETRY_MS = 20;
/** A start waits so long for clocks to agree. */
const START_CLOCK_MS = 5000;

// Plain arrays and strings only: what Lua's MessagePack reads.
const packr = new Packr({ useRecords: false });

/** One life of a cell at the dataset. */
export class Session {
  readonly #options: SessionOptions;
  readonly #clockCheck: ClockCheck | undefined;
  readonly #lanes = new Map<string, Lane>();
  /** Undefined until the connection there is now has been entered. */
  #entered: Entered | undefined;
  #enteredOn = -1;
  #life = "";
  #entering: Promise<Entered> | undefined;
  /** The term in which the cell has said what it knows. */
  #toldTerm = "";
  #telling: Promise<void> | undefined;
  #ended: Error | undefined;
  /** Code of the refusal that the log has already. */
  #said = "";
  #lacksReplicas = false;

  /** Tries of exchanges that had no reply, and how long exchanges took that had one. */
  readonly counts = { failures: 0 };
  readonly times = new Histogram();

  constructor(options: SessionOptions) {
    this.#options = options;
    const { time, link, datasetId, cell, log } = options;
    const isOver = () => this.hasEnded;
    this.#clockCheck = time && new ClockCheck({ link, datasetId, cell, time, log, isOver });
  }

  /** Begins a new life. @throws Error of Redis, of the dataset or of a clock: the process cannot start */
  async start(): Promise<Entered> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#options.link.ready(START_MS);
        // A start whose reply was lost has begun a life that nobody leads: the next one ends it.
        const entered = await this.#enter();
        await this.#told();
        return entered;
      } catch (error) {
        const { name, message } = error as Error;
        if (message.startsWith(WRONG_CLOCK)) {
          // It was set between two questions.
          await this.#clockCheck?.settle(START_CLOCK_MS);
          continue;
        }
        if (name === "ReplyError" || error instanceof ClocksDisagree || tries === START_TRIES) throw error;
      }
    }
  }

  /** Number of this life, as Redis gave it: greater than those of the cell's earlier lives. */
  get life(): string {
    return this.#life;
  }

  /** The term in which the last exchange was sent. */
  get term(): string {
    return this.#entered?.term ?? "";
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** One a name: exchanges of a lane are numbered. */
  lane(name: string): Lane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = new Lane(this, name);
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  /**
   * @internal Sends an exchange until its reply is known.
   * @throws Error once this process may not go on; NotSent where it was taken back before it had any effect
   */
  async deliver(
    lane: string,
    number: number,
    args: readonly Buffer[],
    takenBack?: AbortSignal,
  ): Promise<RedisValue[]> {
    const { link, replicas = 0, script = SCRIPTS.exchange } = this.#options;
    const sinceMs = this.#options.clock?.monotonic() ?? 0;
    let triedMs: number | undefined;
    // Once it may have run, only its reply ends this.
    let mayHaveRun = false;
    for (;;) {
      if (this.#ended !== undefined) throw this.#ended;
      const ranBefore: boolean = mayHaveRun;
      triedMs = undefined;
      try {
        const { term, life } = await unless(mayHaveRun ? undefined : takenBack, this.#usable(lane));
        // Behind a new connection may be another Redis: it is entered first.
        if (link.generation() !== this.#enteredOn) continue;
        const { datasetId, cell } = this.#options;
        const head = [datasetId, term, cell, life, lane, number, ...this.#expected()] as const;
        mayHaveRun = true;
        triedMs = this.#options.clock?.monotonic() ?? 0;
        const answer = (await link.run(script, DATASET_KEY, ...head, ...args)) as RedisValue[];
        this.#said = "";
        if (replicas > 0 && !(await this.#replicasReached(replicas))) continue;
        const nowMs = this.#options.clock?.monotonic() ?? 0;
        this.#options.time?.took(nowMs - (triedMs ?? nowMs));
        this.times.observe(nowMs - sinceMs);
        return answer;
      } catch (error) {
        if (error instanceof NotSent) throw error;
        this.counts.failures++;
        // An error in place of a reply: this time it did not run.
        if ((error as Error).name === "ReplyError") mayHaveRun = ranBefore;
        if (triedMs !== undefined)
          this.#options.time?.took((this.#options.clock?.monotonic() ?? 0) - triedMs);
        await unless(mayHaveRun ? undefined : takenBack, this.#afterFailure(error as Error));
      }
    }
  }

  /** @internal Called by another part that learned the reason. */
  end(reason: Error): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#options.onEnd(reason);
  }

  /** The process stops by itself: nothing is sent any more, and what waits fails. */
  close(): void {
    this.#ended ??= new Error("the cell was closed");
  }

  /**
   * False also where it cannot be known: the exchange is sent again, and its kept answer waits for replicas again. WAIT counts
   * the replicas that have all that the server had written when this connection last asked it something.
   * Source: https://redis.io/docs/latest/commands/wait/
   */
  async #replicasReached(replicas: number): Promise<boolean> {
    // Behind a new connection may be a server that lacks the write.
    if (this.#options.link.generation() !== this.#enteredOn) return false;
    try {
      const found = Number(await this.#options.link.call("WAIT", replicas, REPLICA_MS));
      const isReached = found >= replicas;
      if (!isReached && !this.#lacksReplicas)
        this.#options.log?.warn(
          { found, replicas },
          "too few replicas have what Redis wrote; it is tried again",
        );
      this.#lacksReplicas = !isReached;
      return isReached;
    } catch {
      return false;
    }
  }

  #expected(): Expected {
    return this.#options.time?.expected() ?? ANY_TIME;
  }

  async #usable(lane: string): Promise<Entered> {
    await this.#options.link.ready(RECONNECT_MS);
    return await this.#current(lane);
  }

  async #current(lane: string): Promise<Entered> {
    if (this.#options.link.generation() !== this.#enteredOn) this.#entered = undefined;
    if (this.#entered === undefined) this.#entering ??= this.#enter();
    const entered = this.#entered ?? ((await this.#entering) as Entered);
    if (lane === TERM_LANE) return entered;
    await this.#told();
    return this.#entered ?? this.#current(lane);
  }

  async #enter(): Promise<Entered> {
    const { link } = this.#options;
    const generation = link.generation();
    try {
      if (this.#options.time?.isKnown === false) await this.#clockCheck?.settle(START_CLOCK_MS);
      const entering = { ...this.#options, life: this.#life, expected: this.#expected() };
      const entered = await enterDataset(link, entering);
      this.#entered = entered;
      this.#enteredOn = generation;
      this.#life = entered.life;
      return entered;
    } finally {
      this.#entering = undefined;
    }
  }

  /** Once in each term, before anything else is sent, the cell says what it knows. */
  async #told(): Promise<void> {
    while (this.#entered !== undefined && this.#toldTerm !== this.#entered.term) {
      this.#telling ??= this.#tell(this.#entered.term);
      await this.#telling;
    }
  }

  async #tell(term: string): Promise<void> {
    try {
      await this.#options.onTerm?.(this);
      this.#toldTerm = term;
    } finally {
      this.#telling = undefined;
    }
  }

  async #afterFailure(failed: Error): Promise<void> {
    const { link, log } = this.#options;
    const isOfClock = failed.name === "ReplyError" && failed.message.startsWith(WRONG_CLOCK);
    // The question about the clocks may fail, too.
    const asError = (reason: Error) => reason;
    const error = isOfClock ? await this.#clockCheck?.settle().then(() => undefined, asError) : failed;
    if (error === undefined) return;
    const isReply = error.name === "ReplyError";
    const isTerm = error.message.startsWith(NEW_TERM);
    // Any other refusal is about this cell, or a fault of a script: sent again, it would be refused again.
    if (isReply && !isTerm && !LATER.test(error.message)) {
      this.end(error);
      throw error;
    }
    if (isTerm) {
      this.#entered = undefined;
      return;
    }
    if (isReply) {
      const [code = ""] = error.message.split(" ");
      if (code !== this.#said)
        log?.warn({ error: error.message }, "Redis refuses to work; it is tried again");
      this.#said = code;
      // Its name may lead to another one by now.
      if (code === "READONLY" || code === "MASTERDOWN") link.renew();
    }
    // Redis is away, busy loading, or full: it is tried again, as long as it takes.
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** @throws NotSent when the signal comes first */
async function unless<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> {
  if (signal === undefined) return await promise;
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = () => reject(new NotSent("taken back"));
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop);
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    signal.removeEventListener("abort", stop);
    promise.catch(() => {});
  }
}

export class Lane {
  readonly #session: Session;
  readonly #name: string;
  #number = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: Session, name: string) {
    this.#session = session;
    this.#name = name;
  }

  /**
   * Runs operations, in the order of the calls. Resolves with one result each; waits as long as Redis is away.
   * @param takenBack aborted: what cannot have had an effect is not sent any more
   * @throws Error once this process may not go on; NotSent where it was taken back
   */
  send(
    operations: readonly Operation[],
    blobs = new Blobs(),
    takenBack?: AbortSignal,
  ): Promise<RedisValue[][]> {
    const sent = this.#last.then(() => {
      this.#number++;
      const args = [packr.pack(operations), ...blobs.list.map(asBuffer)];
      const reply = this.#session.deliver(this.#name, this.#number, args, takenBack);
      return reply.catch((error: unknown) => {
        if (error instanceof NotSent) this.#number--;
        throw error;
      }) as Promise<RedisValue[][]>;
    });
    this.#last = sent.catch(() => {});
    return sent;
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
