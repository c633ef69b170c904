/**
 * Answers to Idempotency-Keys and stored responses over all cells: each cell stores its own in its folder and sends them to Redis, where
 * the others find them. What a client has in full is there in nearly all cases: its last bytes wait for Redis for a moment.
 */
import { inTime, type Timers } from "../../../base/clock.ts";
import { sliced } from "../../../base/lists.ts";
import { FairLimit } from "../../../base/turns/fair-queue.ts";
import type {
  OwnRows,
  Place,
  SharedAnswers,
  SharedResponses,
  StoredResponse,
} from "../../../inference/exchange/kept/kept-rows.ts";
import type { Cell } from "../cell.ts";
import { Claims, PATIENCE_MS, unavailable } from "./claims.ts";
import { Forgotten } from "./forgotten.ts";
import { MOST_BYTES, ownerPart, unpackResponse } from "./packed.ts";
import { Sender } from "./sender.ts";
import { ConversationsOfCells } from "./shared-conversations.ts";

export interface SharedKeptOptions {
  readonly cell: Pick<
    Cell,
    | "name"
    | "entered"
    | "store"
    | "clock"
    | "lane"
    | "look"
    | "restates"
    | "peers"
    | "signals"
    | "listed"
    | "standings"
  >;
  readonly timers: Timers;
  readonly onFailure: (error: unknown) => void;
  /** Bytes in Redis of all answers, of all responses, and of all conversations; default 256 MiB each. */
  readonly mostBytes?: number;
  /** Keys that are remembered, half a kilobyte of Redis each; default a million. */
  readonly mostAnswers?: number;
}

/** The last bytes of an answer wait so long for Redis. */
const LAST_BYTES_MS = 50;
/** What another cell has answered a moment ago may be on its way. */
const AGAIN_MS = 100;
const NAMES_AT_ONCE = 500;
/**
 * Reads of bytes that are under way. Redis makes the answers to all that it was asked at once, of megabytes each, and they come on the
 * connection by which this cell hears of credit and tells that it lives.
 */
const READS_AT_ONCE = 2;
/** Names of bytes, and whose they are. */
const BYTES = "bytes:";
const OWNER = /^bytes:.\/([^/]*)/;
const STOP_MS = 1000;
const MOST_ANSWERS = 1_000_000;

export class SharedKept {
  readonly #options: SharedKeptOptions;
  readonly #claims: Claims;
  readonly #sender: Sender;
  readonly #forgotten: Forgotten;
  readonly #reads = new FairLimit(READS_AT_ONCE);

  readonly conversations: ConversationsOfCells;

  readonly answers: SharedAnswers = {
    claim: (id, fingerprint, requestId) => this.#claims.claim(id, fingerprint, requestId),
    unclaim: (id) => this.#atMost(LAST_BYTES_MS, this.#claims.unclaim(id)),
    willShare: (id, answer) => this.#sender.willShareAnswer(id, answer),
    shared: (id) => this.#atMost(LAST_BYTES_MS, this.#sender.shared(["a", id])),
    forget: (orgId) => this.#forgotten.add(["org", orgId]),
  };

  readonly responses: SharedResponses;

  constructor(options: SharedKeptOptions) {
    this.#options = options;
    const { cell, timers, onFailure } = options;
    const { store, clock } = cell;
    const { mostBytes = MOST_BYTES, mostAnswers = MOST_ANSWERS } = options;
    const look = (names: readonly string[]) => this.#read(names, () => false);
    this.#claims = new Claims({ lane: cell.lane("claims"), look, timers, mostAnswers });
    this.#forgotten = new Forgotten({
      store,
      lane: cell.lane("forgotten"),
      clock,
      onFailure,
      forgetRemoved: () => cell.store.forgetRemovedHere(),
    });
    this.#sender = new Sender({
      store,
      lane: cell.lane("answers"),
      clock,
      forgotten: this.#forgotten,
      mostBytes,
      onFailure,
      onShared: (id) => this.#claims.shared(id),
      onSuperseded: (of, owner, id, version) => this.conversations.superseded(of, owner, id, version),
    });
    this.conversations = new ConversationsOfCells({
      cell,
      timers,
      onFailure,
      claims: this.#claims,
      sender: this.#sender,
      forgotten: this.#forgotten,
      look: (names) => this.#look(names),
    });
    this.responses = this.#sharedResponses({ cell: cell.name, life: cell.entered.life });
    cell.restates({
      operations: () => [this.#claims.restate()],
      isSettled: () => this.#claims.held === 0 && this.#sender.isEmpty(),
    });
  }

  #sharedResponses(place: Place): SharedResponses {
    return {
      place,
      isOver: (other) => this.#isOver(other),
      unsent: () => this.#sender.unsentResponses(),
      told: (owner, id) => this.#told(owner, id),
      get: (owner, id) => this.#response(owner, id),
      responsesWith: (owner, itemIds) => this.#responsesWith(owner, itemIds),
      willShare: (owner, id) => this.#sender.willShareResponse(owner, id),
      shared: (owner, id) => this.#atMost(LAST_BYTES_MS, this.#sender.shared(["r", owner, id])),
      isForgotten: (owner, id) => this.#forgotten.hasResponse(owner, id),
      forget: (owner, id) => this.#forgotten.add(["response", owner, id]),
      forgetAll: (owner) => this.#forgotten.add(["owner", owner]),
    };
  }

  /** @param own the cell's own rows */
  start(own: OwnRows): void {
    for (const { id, fingerprint, requestId } of this.#sender.waiting(own))
      this.#claims.hold(id, fingerprint, requestId);
    this.#forgotten.start(own);
    this.conversations.start(own);
    this.#sender.start(own);
  }

  /** Resolves once all that was forgotten so far is removed here and in Redis. */
  forgotten(): Promise<void> {
    return this.#forgotten.idle();
  }

  /** Resolves once all is sent that is stored. */
  async idle(): Promise<void> {
    await Promise.all([this.#sender.idle(), this.#claims.idle(), this.#forgotten.idle()]);
  }

  async stop(): Promise<void> {
    this.#forgotten.close();
    await this.#sender.stop(STOP_MS);
  }

  async #response(owner: string, id: string): Promise<StoredResponse | undefined> {
    const name = `bytes:r/${ownerPart(owner)}/${id}`;
    let [bytes] = await this.#look([name]);
    if (bytes === null) {
      await new Promise<void>((resolve) => void this.#options.timers.after(AGAIN_MS, resolve));
      [bytes] = await this.#look([name]);
    }
    // Deleted meanwhile.
    if (bytes === null || bytes === undefined || this.#forgotten.hasResponse(owner, id)) return undefined;
    return unpackResponse(bytes);
  }

  async #told(owner: string, id: string): Promise<StoredResponse | undefined> {
    const [bytes] = await this.#look([`bytes:r/${ownerPart(owner)}/${id}`]);
    return bytes ? unpackResponse(bytes) : undefined;
  }

  async #isOver({ cell: name, life: text }: Place): Promise<boolean> {
    const { cell, timers } = this.#options;
    const looked = cell.standings.of(name).then(
      (found) => ({ found }),
      () => undefined,
    );
    const known = await inTime(looked, PATIENCE_MS, () => undefined, timers);
    if (known === undefined) throw unavailable();
    const { found } = known;
    const life = Number(text);
    // The name of a cell that never was is of another dataset.
    return found === undefined || life <= found.retiredLife || life < found.sentLife;
  }

  async #responsesWith(owner: string, itemIds: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const ids of sliced(itemIds, NAMES_AT_ONCE)) {
      const values = await this.#look(ids.map((id) => `item:${ownerPart(owner)}/${id}`));
      ids.forEach((id, i) => {
        const value = values[i];
        if (value) found.set(id, String(value));
      });
    }
    return found;
  }

  async #look(names: readonly string[]): Promise<(Buffer | null)[]> {
    let isLate = false;
    const looked = this.#read(names, () => isLate).catch(() => undefined);
    const found = await inTime(looked, PATIENCE_MS, () => undefined, this.#options.timers);
    isLate = true;
    if (found === undefined) throw unavailable();
    return found;
  }

  /** @param isLate says whether the caller has given up: Redis is not asked then */
  #read(names: readonly string[], isLate: () => boolean): Promise<(Buffer | null)[]> {
    const { cell } = this.#options;
    const bytes = names.find((name) => name.startsWith(BYTES));
    if (bytes === undefined) return cell.look(names);
    const owner = OWNER.exec(bytes)?.[1] ?? "";
    return this.#reads.run(owner, async () => (isLate() ? [] : await cell.look(names)));
  }

  /** Resolves with the promise, or after this time; never rejects. */
  #atMost(ms: number, promise: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.timers.after(ms, resolve);
      const done = () => {
        cancel();
        resolve();
      };
      promise.then(done, done);
    });
  }
}
