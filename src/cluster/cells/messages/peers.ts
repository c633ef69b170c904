/**
 * What a cell reads of another one's folder: the other sends it in parts, by messages of Redis, which neither stores them nor writes
 * them to its append-only file. Cells need no address of each other. Where the other is away there is no answer.
 */
import { randomInt } from "node:crypto";
import { Packr } from "msgpackr";
import { KEY_PREFIX } from "../redis/keys.ts";
import type { RedisListener, RedisValue } from "../redis/redis.ts";
import { within } from "../within.ts";
import type { SignalsOptions } from "./signals.ts";

/** @returns bytes from `offset`, none behind the end; undefined where there is no such file */
export type ReadPart = (name: string, offset: number) => Promise<Uint8Array | undefined>;

type Question = readonly [kind: "ask", id: number, from: string, name: string, offset: number];
type Part = readonly [kind: "part", id: number, bytes: Uint8Array | null];

/** A part that has not come after this will not come. */
const PART_MS = 5000;
/** Parts that a cell reads for others at a time. */
const MOST_READS = 16;

const packr = new Packr({ useRecords: false });

export class Peers {
  readonly #options: SignalsOptions;
  readonly #listener: RedisListener;
  readonly #asked = new Map<number, (part: Uint8Array | undefined) => void>();
  /** An answer to a question of an earlier process of this cell must not pass for one of this. */
  #questions = randomInt(2 ** 40);
  #reads = 0;
  /** By the beginning of names. */
  readonly #readers = new Map<string, ReadPart>();

  constructor(options: SignalsOptions) {
    this.#options = options;
    const { cell, url, listen } = options;
    this.#listener = listen({
      url,
      channels: [this.#channel(cell)],
      heard: (message) => this.#heard(message),
      onListening() {},
    });
  }

  /** What other cells are given of this one's folder under names that begin so. */
  serve(prefix: string, read: ReadPart): void {
    this.#readers.set(prefix, read);
  }

  /** A part of another cell's file: empty behind its end, undefined where there is none or the cell is away. */
  async part(cell: string, name: string, offset: number): Promise<Uint8Array | undefined> {
    const id = ++this.#questions;
    const question: Question = ["ask", id, this.#options.cell, name, offset];
    const { promise: part, resolve } = Promise.withResolvers<Uint8Array | undefined>();
    this.#asked.set(id, resolve);
    this.#send(cell, question).then(
      (heardBy) => heardBy === 0 && resolve(undefined),
      () => resolve(undefined),
    );
    const isHere = await within(PART_MS, part);
    this.#asked.delete(id);
    return isHere ? await part : undefined;
  }

  close(): void {
    this.#listener.close();
    for (const resolve of this.#asked.values()) resolve(undefined);
  }

  #readerOf(name: string): ReadPart | undefined {
    for (const [prefix, read] of this.#readers) if (name.startsWith(prefix)) return read;
    return undefined;
  }

  #channel(cell: string): string {
    return `${KEY_PREFIX}peer:${this.#options.datasetId}:${cell}`;
  }

  #send(cell: string, message: Question | Part): Promise<RedisValue> {
    return this.#options.link.call("PUBLISH", this.#channel(cell), packr.pack(message));
  }

  #heard(message: Buffer): void {
    let heard: Question | Part;
    try {
      heard = packr.unpack(message);
    } catch {
      return;
    }
    // Whatever else comes is of another release, or of a stranger.
    if (!Array.isArray(heard)) return;
    if (heard[0] === "part") this.#asked.get(heard[1])?.(heard[2] ?? undefined);
    else if (heard[0] === "ask") void this.#answer(heard).catch(() => {});
  }

  async #answer([, id, from, name, offset]: Question): Promise<void> {
    let bytes: Uint8Array | undefined;
    if (this.#reads < MOST_READS) {
      this.#reads++;
      bytes = await this.#readerOf(name)?.(name, offset).catch(() => undefined);
      this.#reads--;
    }
    // Redis is away: whoever asked gives up by itself.
    await this.#send(from, ["part", id, bytes ?? null]).catch(() => {});
  }
}
