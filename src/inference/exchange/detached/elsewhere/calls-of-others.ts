/**
 * Detached calls of other cells, for readers of this one. It asks for what is behind the position that a reader has, each time that the
 * reader has taken what came before: so nobody waits for a slow one, and a reader whose cell dies goes on at any other.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../../../base/clock.ts";
import { type BodyClient, inParts } from "../../../../base/operation/body.ts";
import { wholeBrokenOff } from "../broken-off.ts";
import type { LoggedCall, WholeBody } from "../call-log.ts";
import type { CallsElsewhere } from "../detached-calls.ts";
import { nextBehind, notKept, type ReadOptions } from "../read-log.ts";
import type { ReadableCall } from "../readable-call.ts";
import { away, goneCall, howGone, lastOfGone } from "./call-of-gone.ts";
import {
  CANCEL,
  callIn,
  EVENTS,
  type EventsSaid,
  FIND,
  MOST_WAIT_MS,
  type OtherCells,
  type Position,
  type Told,
  WHOLE,
  type WholeSaid,
} from "./messages.ts";

interface Cells extends Omit<OtherCells, "answers"> {
  readonly clock: Pick<Clock, "monotonic">;
}

/** Each cell says at once whether it has a call. */
const FIND_MS = 1000;
/** An answer is on its way so long at most. */
const WAY_MS = 2000;
/** A call whose cell is away is asked for again after this, and not any more after that. */
const RETRY_MS = 200;
const AWAY_MS = 30_000;
/** Readers of an org at this cell at a time. */
const MOST_READERS = 1000;

export class CallsOfOthers implements CallsElsewhere {
  readonly #cells: Cells;
  readonly #readers = new Map<string, number>();

  constructor(cells: Cells) {
    this.#cells = cells;
  }

  async find(id: string, cell?: string): Promise<ReadableCall | undefined> {
    const to = cell === undefined ? {} : { to: cell };
    const told = await this.#cells.ask(FIND, id, { ...to, withinMs: FIND_MS });
    if (told.kind === "answered") {
      const call = callIn(told.content);
      if (call === undefined) throw away();
      return new CallOfOther(this.#cells, call, told.from, this.#readers);
    }
    const isSure = told.kind === "nowhere" || (cell !== undefined && (await hasNoMore(this.#cells, cell)));
    if (!isSure) throw away();
    return await goneCall(this.#cells, id);
  }

  began(call: LoggedCall): void {
    this.#cells.tell(call);
  }

  forgot(call: LoggedCall): void {
    this.#cells.takeBack(call);
  }

  async close(): Promise<void> {
    await this.#cells.stopTelling();
  }
}

class CallOfOther implements ReadableCall {
  readonly call: LoggedCall;
  readonly #cells: Cells;
  readonly #cell: string;
  readonly #readers: Map<string, number>;

  constructor(cells: Cells, call: LoggedCall, cell: string, readers: Map<string, number>) {
    this.#cells = cells;
    this.call = call;
    this.#cell = cell;
    this.#readers = readers;
  }

  tell(last: string, client: BodyClient, options: ReadOptions): void {
    inParts(this.#events(nextBehind(last), () => client.gone, options))(client);
  }

  async *#events(from: number, hasLeft: () => boolean, options: ReadOptions): AsyncGenerator<Buffer> {
    this.#begin();
    try {
      yield* this.#read(from, hasLeft, options);
    } finally {
      this.#count(-1);
    }
  }

  async *#read(from: number, hasLeft: () => boolean, options: ReadOptions): AsyncGenerator<Buffer> {
    const { clock, keepAliveMs } = options;
    const filler = Buffer.from(options.filler);
    const log = new Following(new Asked(this.#cells, this.#cell, this.call), this.call.id, from);
    // The first question has nothing: the reader is told at once that it is connected.
    let fillerMs = keepAliveMs > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    while (!hasLeft()) {
      const bytes = await log.more(fillerMs - clock.monotonic());
      if (bytes === "over") return;
      if (bytes === "gone") {
        const last = await lastOfGone(this.#cells, this.call, log.next);
        yield last;
        return;
      }
      if (bytes !== undefined) yield bytes;
      else if (clock.monotonic() >= fillerMs) yield filler;
      else continue;
      if (keepAliveMs > 0) fillerMs = clock.monotonic() + keepAliveMs;
    }
  }

  async whole(hasLeft: () => boolean): Promise<WholeBody | undefined> {
    this.#begin();
    try {
      return await this.#whole(hasLeft);
    } finally {
      this.#count(-1);
    }
  }

  async #whole(hasLeft: () => boolean): Promise<WholeBody | undefined> {
    const { id } = this.call;
    const asked = new Asked(this.#cells, this.#cell, this.call);
    const pieces: Uint8Array[] = [];
    let skip = 0;
    while (!hasLeft()) {
      const said = (await asked.ask(WHOLE, { id, next: 0, skip, isFirst: false, waitMs: MOST_WAIT_MS })) as
        | WholeSaid
        | Missing;
      if (said === "gone") return wholeBrokenOff(this.call, howGone(this.call));
      if (said === "away" || said.kind === "nothing") continue;
      if (said.kind === "lost") throw notKept(0, 0);
      const { status = 500, bytes = NOTHING, length = 0 } = said;
      pieces.push(bytes);
      skip += bytes.length;
      if (skip >= length || bytes.length === 0) return { status, body: Buffer.concat(pieces) };
    }
    return undefined;
  }

  async cancel(): Promise<void> {
    const told = await this.#cells.ask(CANCEL, this.call.id, { to: this.#cell, withinMs: FIND_MS });
    if (told.kind === "unknown" && !(await isRetired(this.#cells, this.#cell))) throw away();
  }

  /** One more reader, until it is counted down. @throws WeirError 503 where its org has as many as it may have */
  #begin(): void {
    if ((this.#readers.get(this.call.orgId) ?? 0) >= MOST_READERS) throw away();
    this.#count(1);
  }

  #count(by: number): void {
    const { orgId } = this.call;
    const readers = (this.#readers.get(orgId) ?? 0) + by;
    if (readers > 0) this.#readers.set(orgId, readers);
    else this.#readers.delete(orgId);
  }
}

/** In place of an answer. `gone`: the call went with its cell. `away`: that does not answer now, or it is not known yet what became of the call. */
type Missing = "gone" | "away";

/** Questions of one reader about one call to its cell, again and again. */
class Asked {
  readonly #cells: Cells;
  readonly #cell: string;
  readonly #call: LoggedCall;
  #sinceMs: number | undefined;

  constructor(cells: Cells, cell: string, call: LoggedCall) {
    this.#cells = cells;
    this.#cell = cell;
    this.#call = call;
  }

  /** @throws WeirError 409 where the call was forgotten, 503 where the cell was away for long */
  async ask(topic: string, position: Position): Promise<unknown | Missing> {
    const startMs = this.#cells.clock.monotonic();
    const told = await this.#cells.ask(topic, position, {
      to: this.#cell,
      withinMs: position.waitMs + WAY_MS,
    });
    if (told.kind === "answered") {
      this.#sinceMs = undefined;
      return told.content;
    }
    if (await this.#isGone(told)) return "gone";
    this.#sinceMs ??= startMs;
    if (this.#cells.clock.monotonic() - this.#sinceMs > AWAY_MS) throw away();
    await pause(RETRY_MS, undefined, { ref: false });
    return "away";
  }

  /** Whether the call is known to have gone with its cell. @throws WeirError 409 where it was forgotten before */
  async #isGone({ kind }: Told): Promise<boolean> {
    const { id, isInMemory } = this.#call;
    const wasRetired = await isRetired(this.#cells, this.#cell);
    if (kind !== "nowhere" && !wasRetired) return false;
    if (!isInMemory && wasRetired) return true;
    if (isInMemory) {
      const gone = await goneCall(this.#cells, id).catch(() => "unknown");
      // Its cell takes back what it told of a call once that has ended, or is forgotten.
      if (gone !== undefined) return gone !== "unknown";
    }
    throw notKept(0, 0);
  }
}

/** How far one reader is in the events of a call. */
class Following {
  next: number;
  readonly #asked: Asked;
  readonly #id: string;
  /** Pieces of the next event, which is too long for one message. */
  #pieces: Uint8Array[] = [];
  #skip = 0;
  #isFirst = true;
  #isBrokenOff = false;

  constructor(asked: Asked, id: string, next: number) {
    this.#asked = asked;
    this.#id = id;
    this.next = next;
  }

  /**
   * Whole events; undefined where there are none yet. @throws WeirError 409 where what is asked for is not kept any more, 503 where
   * the call's cell was away for long
   */
  async more(mostMs: number): Promise<Buffer | undefined | "over" | "gone"> {
    const waitMs = Math.ceil(Math.min(MOST_WAIT_MS, Math.max(0, mostMs)));
    const position = { id: this.#id, next: this.next, skip: this.#skip, isFirst: this.#isFirst, waitMs };
    const said = (await this.#asked.ask(EVENTS, position)) as EventsSaid | Missing;
    if (said === "gone") return said;
    if (said === "away" || said.kind === "nothing") return undefined;
    if (said.kind === "lost") throw notKept(said.keptFrom ?? 0, this.next);
    const wasKilled = said.isBrokenOff && !this.#isBrokenOff && !this.#isFirst;
    this.#isBrokenOff = said.isBrokenOff;
    this.#isFirst = wasKilled;
    if (wasKilled) {
      // The end of the call has taken the place of what its process had not stored.
      this.#forget();
      return undefined;
    }
    if (said.kind === "over") return "over";
    const { bytes = NOTHING, next = this.next, skip = 0 } = said;
    this.next = next;
    this.#skip = skip;
    this.#pieces.push(bytes);
    if (skip > 0) return undefined;
    const whole = Buffer.concat(this.#pieces);
    this.#forget();
    return whole.length > 0 ? whole : undefined;
  }

  #forget(): void {
    this.#skip = 0;
    this.#pieces = [];
  }
}

const NOTHING = new Uint8Array();

/** Whether what the cell told of is all that it may have. */
const hasNoMore = async (cells: Cells, cell: string): Promise<boolean> =>
  (await isRetired(cells, cell)) || (await cells.hasToldAll(cell).catch(() => false));

const isRetired = (cells: Cells, cell: string): Promise<boolean> => cells.isRetired(cell).catch(() => false);
