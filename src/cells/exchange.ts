/**
 * Lanes: ordered conversations of a cell with the dataset. An exchange is a list of operations that run as one script, and
 * carries the cell, its life, the lane and a number: one whose reply was lost is sent again, and gets the reply that was kept. So an
 * operation happens once, whatever the connection does.
 */
import { Packr } from "msgpackr";
import { type Entered, enterDataset } from "./dataset.ts";
import { DATASET_KEY } from "./keys.ts";
import type { RedisLink, RedisValue } from "./redis.ts";
import { SCRIPTS } from "./scripts.ts";

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

export interface CellIdentity {
  readonly cell: string;
  readonly datasetId: string;
}

export interface SessionOptions extends CellIdentity {
  readonly link: RedisLink;
  /**
   * The first thing in a new term, and after the start: the cell says what it knows. Exchanges of other lanes wait for it; its own
   * go through `TERM_LANE`.
   */
  readonly onTerm?: (session: Session) => Promise<void>;
  /** Called once: this process may not go on (its cell has a newer life or was retired, or Redis holds something else). */
  readonly onEnd: (reason: Error) => void;
  /** Replicas that must have an exchange before its reply counts. Default: 0. */
  readonly replicas?: number;
}

/** After this the same exchange may be sent again once the cell has entered the new term. */
const NEW_TERM = "WEIRTERM";
/** Redis answers, and will do what is asked later. */
const LATER = /^(?:LOADING|BUSY|MASTERDOWN|READONLY|TRYAGAIN|CLUSTERDOWN|NOREPLICAS|MISCONF|OOM)\b/;
export const TERM_LANE = "term";
const RECONNECT_MS = 60_000;
const REPLICA_MS = 1000;

// Plain arrays and strings only: what Lua's MessagePack reads.
const packr = new Packr({ useRecords: false });

/** One life of a cell at the dataset. */
export class Session {
  readonly #options: SessionOptions;
  readonly #lanes = new Map<string, Lane>();
  #entered: Entered | undefined;
  #entering: Promise<Entered> | undefined;
  /** The term in which the cell has said what it knows. */
  #toldTerm = "";
  #telling: Promise<void> | undefined;
  #ended: Error | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Begins a new life. @throws Error of Redis, or of the dataset: the process cannot start */
  async start(): Promise<Entered> {
    const { link, datasetId, cell } = this.#options;
    this.#entered = await enterDataset(link, datasetId, cell, true);
    await this.#told();
    return this.#entered;
  }

  get life(): string {
    return this.#entered?.life ?? "";
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

  /** @internal Sends an exchange until its reply is known. @throws Error once this process may not go on */
  async deliver(lane: string, number: number, args: readonly Buffer[]): Promise<RedisValue[]> {
    const { link, replicas = 0 } = this.#options;
    for (;;) {
      if (this.#ended !== undefined) throw this.#ended;
      try {
        await link.ready(RECONNECT_MS);
        const { term, life } = await this.#current(lane);
        const { datasetId, cell } = this.#options;
        const head = [datasetId, term, cell, life, lane, number] as const;
        const reply = link.run(SCRIPTS.exchange, DATASET_KEY, ...head, ...args);
        if (replicas === 0) return (await reply) as RedisValue[];
        // On the same connection: it counts replicas that have what this connection wrote.
        const [answer, reached] = await Promise.all([reply, link.call("WAIT", replicas, REPLICA_MS)]);
        if (Number(reached) >= replicas) return answer as RedisValue[];
      } catch (error) {
        await this.#afterFailure(error as Error);
      }
    }
  }

  /** @internal Of another part that learned it. */
  end(reason: Error): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#options.onEnd(reason);
  }

  async #current(lane: string): Promise<Entered> {
    if (this.#entered === undefined) this.#entering ??= this.#enter();
    const entered = this.#entered ?? ((await this.#entering) as Entered);
    if (lane === TERM_LANE) return entered;
    await this.#told();
    return this.#entered ?? this.#current(lane);
  }

  async #enter(): Promise<Entered> {
    const { link, datasetId, cell } = this.#options;
    try {
      this.#entered = await enterDataset(link, datasetId, cell, false);
      return this.#entered;
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

  async #afterFailure(error: Error): Promise<void> {
    const isTerm = error.message.startsWith(NEW_TERM);
    // Any other refusal is about this cell, or a fault of a script: sent again, it would be refused again.
    if (error.name === "ReplyError" && !isTerm && !LATER.test(error.message)) {
      this.end(error);
      throw error;
    }
    if (isTerm) this.#entered = undefined;
    // Redis is away, or busy loading: it is tried again, as long as it takes.
    else await new Promise((resolve) => setTimeout(resolve, 20));
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
   * @throws Error once this process may not go on
   */
  send(operations: readonly Operation[], blobs = new Blobs()): Promise<RedisValue[][]> {
    const sent = this.#last.then(() => {
      this.#number++;
      const args = [packr.pack(operations), ...blobs.list.map(asBuffer)];
      return this.#session.deliver(this.#name, this.#number, args) as Promise<RedisValue[][]>;
    });
    this.#last = sent.catch(() => {});
    return sent;
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
