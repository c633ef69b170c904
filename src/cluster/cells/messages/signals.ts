/**
 * Short messages from cell to cell, by Redis's PUBLISH: heard within milliseconds by each cell that is connected, and kept nowhere.
 * So whoever sends one must be right without it, only later: it asks for an answer, or says the same again.
 */
import { Packr } from "msgpackr";
import type { Clock } from "../../../base/clock.ts";
import { SILENT_MS } from "../membership/beats.ts";
import { DATASET_KEY, KEY_PREFIX } from "../redis/keys.ts";
import type { RedisClient, RedisLink, RedisListener } from "../redis/redis.ts";
import { SCRIPTS } from "../scripts/scripts.ts";
import { within } from "../within.ts";

export interface SignalsOptions {
  readonly cell: string;
  readonly datasetId: string;
  readonly url: string;
  /** Messages leave by it. */
  readonly link: RedisLink;
  readonly clock: Clock;
  readonly listen: RedisClient["listen"];
}

export interface KnownCell {
  readonly name: string;
  /** Version of the documents that it has, as it last said. */
  readonly version: number;
  /** Milliseconds since its last sign of life; undefined: it left, and not all its records are in ClickHouse. */
  readonly ageMs: number | undefined;
  /** Whether Redis passes messages on to it: not where its process or its connection is gone. */
  readonly hears: boolean;
  /** Until when its records are in ClickHouse, milliseconds since 1970; 0: not known. */
  readonly insertedMs: number;
}

export interface Asked {
  /** Every other cell with a sign of life has answered well. */
  readonly isGood: boolean;
  /** Other cells that did not, those without a sign of life too. Where Redis did not answer: all others that there were lately. */
  readonly without: readonly KnownCell[];
}

/** What the content of a message is, its own topic says: whoever hears it checks it. */
type Heard = (content: unknown, from: string) => void;
/** @returns false, or rejects: it could not be done */
type Answer = (content: unknown, from: string) => Promise<boolean>;

interface Question {
  /** Who has not answered yet. */
  readonly missing: Set<string>;
  /** Who has not answered well. */
  readonly without: Set<string>;
  readonly done: () => void;
}

/** A longer message is not sent. */
const MESSAGE_BYTES = 1_000_000;
/** Most bytes of messages that Redis has not taken yet. */
const UNDER_WAY_BYTES = 8_000_000;
const ANSWER = "answer";
/** Who hears a message that is for all. */
const ALL = "";

const packr = new Packr({ useRecords: false });

export class Signals {
  readonly #options: SignalsOptions;
  readonly #listener: RedisListener;
  readonly #topics = new Map<string, Heard>();
  readonly #questions = new Map<number, Question>();
  #asked = 0;
  /** As Redis last said. */
  #known: readonly KnownCell[] = [];
  #underWayBytes = 0;
  #isClosed = false;
  readonly #listening: (() => void)[] = [];
  readonly #first: Promise<void>;

  constructor(options: SignalsOptions) {
    this.#options = options;
    const { cell, url, listen } = options;
    const first = Promise.withResolvers<void>();
    this.#first = first.promise;
    this.#listener = listen({
      url,
      channels: [channelOf(ALL), channelOf(cell)],
      heard: (message) => this.#hear(message),
      onListening: () => {
        first.resolve();
        for (const listening of this.#listening) listening();
      },
    });
    this.on(ANSWER, (content, from) => this.#answered(content, from));
  }

  /** Resolves once this cell hears the others; rejects when it does not within the time. */
  async ready(withinMs: number): Promise<void> {
    const late = new Error("Redis's channels cannot be heard");
    if (!(await within(withinMs, this.#first))) throw late;
  }

  isListening(): boolean {
    return this.#listener.isListening();
  }

  /** Calls it each time this cell begins to hear the others: what was said before was missed. */
  onListening(listening: () => void): void {
    this.#listening.push(listening);
  }

  /** One a topic. */
  on(topic: string, heard: Heard): void {
    if (this.#topics.has(topic)) throw new Error(`signals of ${topic} are heard already`);
    this.#topics.set(topic, heard);
  }

  /** Answers what others ask; one a topic. */
  answers(topic: string, answer: Answer): void {
    this.on(topic, (asked, from) => {
      const [question, content] = asked as [number, unknown];
      const reply = (isGood: boolean) => void this.tellOne(from, ANSWER, [question, isGood]);
      answer(content, from).then(reply, () => reply(false));
    });
  }

  /** Tells all other cells. @returns false if it cannot be sent now */
  tell(topic: string, content: unknown): boolean {
    return this.tellOne(ALL, topic, content);
  }

  /** Tells one other cell. @returns false if it cannot be sent now */
  tellOne(to: string, topic: string, content: unknown): boolean {
    const { cell, link } = this.#options;
    if (this.#isClosed || !link.isReady()) return false;
    const message = packr.pack([topic, cell, content]);
    const bytes = message.length;
    if (bytes > MESSAGE_BYTES || this.#underWayBytes + bytes > UNDER_WAY_BYTES) return false;
    this.#underWayBytes += bytes;
    const ended = () => {
      this.#underWayBytes -= bytes;
    };
    link.call("PUBLISH", channelOf(to), message).then(ended, ended);
    return true;
  }

  /** Resolves once every other cell that hears it has answered, or after this time. */
  async ask(topic: string, content: unknown, withinMs: number): Promise<Asked> {
    const { clock, cell } = this.#options;
    const end = clock.monotonic() + withinMs;
    let isKnown = false;
    const found = this.cells().then(
      (cells) => {
        isKnown = true;
        this.#known = cells.filter(({ name }) => name !== cell);
      },
      () => {},
    );
    await within(withinMs, found);
    const others = this.#known;
    if (!isKnown) return { isGood: false, without: others };
    const alive = others.filter(({ ageMs }) => ageMs !== undefined && ageMs < SILENT_MS);
    const asked = alive.filter(({ hears }) => hears).map(({ name }) => name);
    const without = new Set(others.map(({ name }) => name));
    if (asked.length > 0) {
      const number = ++this.#asked;
      const { promise: answered, resolve: done } = Promise.withResolvers<void>();
      // Who answers well is taken from `without`.
      this.#questions.set(number, { missing: new Set(asked), without, done });
      if (this.tell(topic, [number, content])) await within(end - clock.monotonic(), answered);
      this.#questions.delete(number);
    }
    return {
      isGood: alive.every(({ name }) => !without.has(name)),
      without: others.filter(({ name }) => without.has(name)),
    };
  }

  /** Cells that run or may have records that are not in ClickHouse, this one with them. @throws Error of Redis */
  async cells(): Promise<KnownCell[]> {
    const { link, datasetId } = this.#options;
    const found = await link.run(SCRIPTS.alive, DATASET_KEY, datasetId);
    return (found as [Buffer, Buffer, number, number, Buffer][]).map(
      ([name, version, ageMs, hears, inserted]) => ({
        name: String(name),
        version: Number(String(version)),
        ageMs: ageMs < 0 ? undefined : ageMs,
        hears: hears === 1,
        insertedMs: Number(String(inserted)),
      }),
    );
  }

  /** Cuts the connection that hears, as a fault of the network would. For tests. */
  cut(): void {
    this.#listener.renew();
  }

  close(): void {
    this.#isClosed = true;
    this.#listener.close();
    for (const { done } of this.#questions.values()) done();
  }

  #hear(message: Buffer): void {
    let heard: unknown;
    try {
      heard = packr.unpack(message);
    } catch {
      return;
    }
    if (!Array.isArray(heard)) return;
    const [topic, from, content] = heard as [string, string, unknown];
    // What is for all comes back to its sender too.
    if (this.#isClosed || from === this.#options.cell) return;
    try {
      this.#topics.get(topic)?.(content, from);
    } catch {
      // A message of another release, or of a stranger: whoever tells something is right without it, only later.
    }
  }

  #answered(content: unknown, from: string): void {
    const [number, isGood] = content as [number, boolean];
    const question = this.#questions.get(number);
    if (question === undefined) return;
    if (isGood) question.without.delete(from);
    question.missing.delete(from);
    if (question.missing.size === 0) question.done();
  }
}

const channelOf = (cell: string): string => `${KEY_PREFIX}signals:${cell}`;
