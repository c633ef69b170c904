/**
 * Questions between cells with answers of bytes, by Redis's PUBLISH, which keeps none of them: cells need no address of each other. An
 * answer may take its time. Asked of all, a question is answered by the first cell that has something; that none has is known once
 * each cell that may have it said so.
 */
import { randomInt } from "node:crypto";
import { Packr } from "msgpackr";
import type { CellStanding, Standings } from "../membership/standings.ts";
import { KEY_PREFIX } from "../redis/keys.ts";
import type { RedisListener } from "../redis/redis.ts";
import { within } from "../within.ts";
import type { SignalsOptions } from "./signals.ts";

export type Answered =
  | { readonly kind: "answered"; readonly content: unknown; readonly from: string }
  /** Each cell that was asked, or may have an answer, has said that it has none. */
  | { readonly kind: "nowhere" }
  /** A cell is away, does not answer in time or has too much to do, or Redis cannot be reached. */
  | { readonly kind: "unknown" };

/** What the content of a question is, its topic says: whoever answers checks it. @returns undefined: this cell has no answer */
export type AnswerQuestion = (content: unknown, from: string) => Promise<unknown>;

export interface Asking {
  /** The cell that is asked; absent: all others are. */
  readonly to?: string;
  readonly withinMs: number;
}

export interface QuestionsOptions extends Omit<SignalsOptions, "clock"> {
  readonly standings: Standings;
}

type Ask = readonly [kind: "ask", id: number, from: string, topic: string, content: unknown];
type Reply = readonly [kind: "reply", id: number, from: string, code: number, content: unknown];

/** Codes of a reply. */
const HAS = 1;
const HAS_NOT = 2;
/** It has too much to do, starts, or fails. */
const CANNOT = 3;

/** A question that has no final answer yet. */
interface Open {
  readonly to: string | undefined;
  /** Who said that it has no answer. */
  readonly without: Set<string>;
  replies: number;
  /** A cell said that it cannot say. */
  isUnsure: boolean;
  /** Whom Redis passed the question on to, this cell included where it is for all; undefined until Redis said it. */
  heardBy: number | undefined;
  readonly done: (answered: Answered | "all replied") => void;
}

/** A longer message is not sent. */
const MESSAGE_BYTES = 1_000_000;
/** Most bytes of messages that Redis has not taken yet. */
const UNDER_WAY_BYTES = 8_000_000;
/** What says only that there is no answer is sent beyond that, up to this. */
const MOST_BYTES = 9_000_000;
/** Questions of other cells that are being answered at a time, and of this cell that wait. */
const MOST_OPEN = 16_384;
/** Bytes of other cells' questions that are being answered at a time. */
const OPEN_BYTES = 8_000_000;
/** Whoever answers has so long. */
const ANSWER_MS = 30_000;
/** A cell that left has nothing any more after this: what ended in it can be read for ten minutes. Redis has what it told of. */
const LEFT_MS = 660_000;
/** How the cells stand is known within this time. */
const LOOK_MS = 250;
/** Who hears a question that is for all. */
const ALL = "";

const UNKNOWN: Answered = { kind: "unknown" };
const NOWHERE: Answered = { kind: "nowhere" };

const packr = new Packr({ useRecords: false });

export class Questions {
  readonly #options: QuestionsOptions;
  readonly #listener: RedisListener;
  readonly #topics = new Map<string, AnswerQuestion>();
  readonly #open = new Map<number, Open>();
  /** An answer to a question of an earlier process of this cell must not pass for one of this. */
  #asked = randomInt(2 ** 40);
  #answering = 0;
  #answeringBytes = 0;
  #underWayBytes = 0;
  #isClosed = false;
  readonly #first: Promise<void>;

  constructor(options: QuestionsOptions) {
    this.#options = options;
    const first = Promise.withResolvers<void>();
    this.#first = first.promise;
    const { cell, url, listen } = options;
    this.#listener = listen({
      url,
      channels: [this.#channel(ALL), this.#channel(cell)],
      heard: (message) => this.#heard(message),
      onListening: () => {
        first.resolve();
        // What was answered while nothing was heard is lost.
        this.#giveUp();
      },
    });
  }

  /** Resolves once this cell hears the others; rejects when it does not within the time. */
  async ready(withinMs: number): Promise<void> {
    const late = new Error("Redis's channels cannot be heard");
    if (!(await within(withinMs, this.#first))) throw late;
  }

  /** One a topic. Whoever asks waits for as long as it wants: an answer in time is up to them both. */
  answers(topic: string, answer: AnswerQuestion): void {
    if (this.#topics.has(topic)) throw new Error(`questions of ${topic} are answered already`);
    this.#topics.set(topic, answer);
  }

  /** Asks another cell, or all others. Never rejects. */
  async ask(topic: string, content: unknown, { to, withinMs }: Asking): Promise<Answered> {
    // Whoever asks knows what this cell has.
    if (to === this.#options.cell) return NOWHERE;
    if (this.#isClosed || this.#open.size >= MOST_OPEN || !this.#listener.isListening()) return UNKNOWN;
    const id = ++this.#asked;
    const { promise, resolve: done } = Promise.withResolvers<Answered | "all replied">();
    const open: Open = { to, without: new Set(), replies: 0, isUnsure: false, heardBy: undefined, done };
    this.#open.set(id, open);
    const cells = to === undefined ? this.#others() : undefined;
    const sent = this.#send(to ?? ALL, ["ask", id, this.#options.cell, topic, content]);
    if (sent === undefined) done(UNKNOWN);
    else
      sent.then(
        (heardBy) => {
          open.heardBy = Number(heardBy);
          look(open);
        },
        () => done(UNKNOWN),
      );
    const known = promise.then(async (said) =>
      said === "all replied" ? ((await isMissing(open, cells)) ? UNKNOWN : NOWHERE) : said,
    );
    const isInTime = await within(withinMs, known);
    this.#open.delete(id);
    return isInTime ? await known : await this.#late(open);
  }

  /**
   * The time is over. Redis counts a cell whose machine is gone among those that hear, for minutes; retired, it has nothing any more. Those
   * that may have something count, as they stand now.
   */
  async #late(open: Open): Promise<Answered> {
    if (open.to !== undefined || open.heardBy === undefined) return UNKNOWN;
    const looked = isMissing(open, this.#others());
    return (await within(LOOK_MS, looked)) && !(await looked) ? NOWHERE : UNKNOWN;
  }

  /** Questions of this cell that wait, those of others that it answers, and bytes that Redis has not taken. */
  load(): { readonly waiting: number; readonly answering: number; readonly underWayBytes: number } {
    return { waiting: this.#open.size, answering: this.#answering, underWayBytes: this.#underWayBytes };
  }

  /** Cuts the connection that hears, as a fault of the network would. For tests. */
  cut(): void {
    this.#listener.renew();
  }

  close(): void {
    this.#isClosed = true;
    this.#listener.close();
    this.#giveUp();
  }

  #giveUp(): void {
    for (const { done } of this.#open.values()) done(UNKNOWN);
  }

  /** Never rejects. */
  #others(): Promise<readonly CellStanding[] | undefined> {
    const { standings, cell } = this.#options;
    return standings.all().then(
      (all) => all.filter(({ name }) => name !== cell),
      () => undefined,
    );
  }

  #channel(cell: string): string {
    return `${KEY_PREFIX}question:${this.#options.datasetId}:${cell}`;
  }

  /** @returns undefined where it cannot be sent now */
  #send(cell: string, message: Ask | Reply): Promise<unknown> | undefined {
    const { link } = this.#options;
    if (this.#isClosed || !link.isReady()) return undefined;
    const bytes = packr.pack(message);
    const { length } = bytes;
    const most = message[0] === "reply" && message[3] !== HAS ? MOST_BYTES : UNDER_WAY_BYTES;
    if (length > MESSAGE_BYTES || this.#underWayBytes + length > most) return undefined;
    this.#underWayBytes += length;
    return link.call("PUBLISH", this.#channel(cell), bytes).finally(() => {
      this.#underWayBytes -= length;
    });
  }

  #heard(message: Buffer): void {
    let heard: unknown;
    try {
      heard = packr.unpack(message);
    } catch {
      return;
    }
    // Whatever else comes is of another release, or of a stranger.
    if (this.#isClosed || !Array.isArray(heard)) return;
    const [kind, id, from] = heard as [unknown, unknown, unknown];
    // What is for all comes back to its sender too.
    if (typeof id !== "number" || typeof from !== "string" || from === this.#options.cell) return;
    if (kind === "reply") this.#replied(heard as unknown as Reply);
    else if (kind === "ask") void this.#answer(heard as unknown as Ask, message.length);
  }

  #replied([, id, from, code, content]: Reply): void {
    const open = this.#open.get(id);
    if (open === undefined || open.without.has(from)) return;
    open.replies++;
    if (code === HAS) open.done({ kind: "answered", content, from });
    else if (code === HAS_NOT) open.without.add(from);
    else open.isUnsure = true;
    look(open);
  }

  async #answer([, id, from, topic, content]: Ask, bytes: number): Promise<void> {
    const reply = await this.#found(topic, content, from, bytes);
    const sent =
      this.#send(from, ["reply", id, this.#options.cell, ...reply]) ??
      this.#send(from, ["reply", id, this.#options.cell, CANNOT, null]);
    // Redis is away: whoever asked gives up by itself.
    await sent?.catch(() => {});
  }

  async #found(topic: string, content: unknown, from: string, bytes: number): Promise<[number, unknown]> {
    const answer = this.#topics.get(topic);
    const isFull = this.#answering >= MOST_OPEN || this.#answeringBytes + bytes > OPEN_BYTES;
    if (answer === undefined || isFull) return [CANNOT, null];
    this.#answering++;
    this.#answeringBytes += bytes;
    try {
      const found = answer(content, from);
      if (!(await within(ANSWER_MS, found))) return [CANNOT, null];
      const known = await found;
      return known === undefined ? [HAS_NOT, null] : [HAS, known];
    } catch {
      return [CANNOT, null];
    } finally {
      this.#answering--;
      this.#answeringBytes -= bytes;
    }
  }
}

/** Ends the question where no further reply will come. */
function look({ to, heardBy, replies, done }: Open): void {
  if (heardBy === undefined) return;
  const others = to === undefined ? heardBy - 1 : heardBy;
  if (replies >= others) done("all replied");
}

/** Whether a cell that may have an answer has not said that it has none. */
async function isMissing(
  { to, without, isUnsure }: Open,
  cells: Promise<readonly CellStanding[] | undefined> | undefined,
): Promise<boolean> {
  if (isUnsure) return true;
  if (to !== undefined) return !without.has(to);
  const others = await cells;
  return others === undefined || others.some((cell) => mayAnswer(cell) && !without.has(cell.name));
}

const mayAnswer = ({ status, hasToldCalls, leftMs = Number.POSITIVE_INFINITY }: CellStanding): boolean =>
  status === "alive" || status === "silent" || (status === "left" && !hasToldCalls && leftMs < LEFT_MS);
