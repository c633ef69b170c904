/**
 * Decodes an answer's content as it arrives, one coding after the other. Whoever reads too slowly pauses it, and it pauses what is before
 * it: a decoder holds some tens of kilobytes, whatever they stand for (T10).
 */
import type { Transform } from "node:stream";
import { decoderOf, isShown } from "./content-coding.ts";

/** Receives the content: `onData` any number of times, then one of the others. Nothing after {@link Decoding.stop}. */
interface DecodedSink {
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** The content cannot be decoded, or stands for too much. */
  onUndecoded(): void;
}

/** What content comes from. */
interface ContentSource {
  pause(): void;
  resume(): void;
}

/** Content to this length may be any number of times as long as what arrived. */
const FREE_BYTES = 16 * 1024 * 1024;
/** Times that larger content may be as long. Answers and streams of them are hardly ten times as long as in gzip. */
const MAX_RATIO = 200;

interface CodedContent {
  /** In the order in which they were applied; `UNNAMED` stands for one that may be there. */
  readonly codings: readonly string[];
  /** Words of any kind are expected, as a refusal has: they are never taken for a coding that has no magic number. */
  readonly mayBeText: boolean;
}

/** One for a call's answer. */
export class Decoding {
  readonly #sink: DecodedSink;
  /** In the order in which the codings were applied: content goes from the last one to the first. */
  readonly #stages: readonly Stage[];
  #arrivedBytes = 0;
  /** Pieces of the current read: each write to a decoder takes a thread's turn. */
  #arrived: Buffer[] = [];
  #isOver = false;

  constructor({ codings, mayBeText }: CodedContent, source: ContentSource, sink: DecodedSink) {
    this.#sink = sink;
    let next: DecodedSink = {
      onData: (chunk) => {
        if (!this.#isOver) sink.onData(chunk);
      },
      onEnd: () => this.#close(() => sink.onEnd()),
      onUndecoded: () => this.#fail(),
    };
    const stages: Stage[] = [];
    for (const coding of codings) {
      const stage = new Stage(coding, mayBeText, this.#bounded(next));
      const before = stages.at(-1);
      if (before !== undefined) before.source = stage;
      stages.push(stage);
      next = stage;
    }
    (stages.at(-1) as Stage).source = source;
    this.#stages = stages;
  }

  /** @param chunk is copied. It is decoded by `decode`, or at the end */
  push(chunk: Buffer): void {
    this.#arrivedBytes += chunk.length;
    this.#arrived.push(Buffer.from(chunk));
  }

  /** All content has arrived: what is left is still told. */
  end(): void {
    this.decode();
    this.#stages.at(-1)?.onEnd();
  }

  /** Decodes what has arrived by now. */
  decode(): void {
    const arrived = this.#arrived;
    if (arrived.length === 0) return;
    this.#arrived = [];
    this.#stages.at(-1)?.onData(arrived.length === 1 ? (arrived[0] as Buffer) : Buffer.concat(arrived));
  }

  pause(): void {
    this.#stages[0]?.pause();
  }

  resume(): void {
    this.#stages[0]?.resume();
  }

  stop(): void {
    this.#isOver = true;
    for (const stage of this.#stages) stage.stop();
  }

  #bounded(sink: DecodedSink): DecodedSink {
    let bytes = 0;
    return {
      onEnd: () => sink.onEnd(),
      onUndecoded: () => sink.onUndecoded(),
      onData: (chunk) => {
        bytes += chunk.length;
        if (bytes > FREE_BYTES && bytes > MAX_RATIO * this.#arrivedBytes) this.#fail();
        else sink.onData(chunk);
      },
    };
  }

  #close(tell: () => void): void {
    if (this.#isOver) return;
    this.stop();
    tell();
  }

  #fail(): void {
    this.#close(() => this.#sink.onUndecoded());
  }
}

/** One coding. Which decoder it takes, if any, its first bytes say. */
class Stage implements DecodedSink, ContentSource {
  source: ContentSource | undefined;
  readonly #coding: string;
  readonly #mayBeText: boolean;
  readonly #next: DecodedSink;
  /** The first bytes, until they are enough. */
  #head: Buffer | undefined = Buffer.alloc(0);
  #decoder: Transform | undefined;
  #isPaused = false;
  /** The decoder has as much as it takes. */
  #isFull = false;
  #isOver = false;

  constructor(coding: string, mayBeText: boolean, next: DecodedSink) {
    this.#coding = coding;
    this.#mayBeText = mayBeText;
    this.#next = next;
  }

  onData(chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#head === undefined) {
      this.#pass(chunk);
      return;
    }
    this.#head = Buffer.concat([this.#head, chunk]);
    if (isShown(this.#coding, this.#head)) this.#begin(this.#head);
  }

  onEnd(): void {
    if (this.#head !== undefined) this.#begin(this.#head);
    if (this.#isOver) return;
    if (this.#decoder === undefined) this.#next.onEnd();
    else this.#decoder.end();
  }

  onUndecoded(): void {
    this.#next.onUndecoded();
  }

  pause(): void {
    this.#isPaused = true;
    if (this.#decoder === undefined) this.source?.pause();
    else this.#decoder.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#decoder?.resume();
    if (!this.#isFull) this.source?.resume();
  }

  stop(): void {
    this.#isOver = true;
    this.#decoder?.destroy();
  }

  #begin(head: Buffer): void {
    this.#head = undefined;
    this.#decoder = decoderOf(this.#coding, head, this.#mayBeText)?.();
    this.#decoder
      ?.on("data", (chunk: Buffer) => this.#next.onData(chunk))
      .on("end", () => this.#next.onEnd())
      .on("error", () => this.#next.onUndecoded())
      .on("drain", () => this.#onDrain());
    if (this.#isPaused) this.#decoder?.pause();
    if (head.length > 0) this.#pass(head);
  }

  #pass(chunk: Buffer): void {
    if (this.#decoder === undefined) {
      this.#next.onData(chunk);
      return;
    }
    if (this.#decoder.write(chunk) || this.#isFull) return;
    this.#isFull = true;
    this.source?.pause();
  }

  #onDrain(): void {
    if (!this.#isFull || this.#isOver) return;
    this.#isFull = false;
    this.source?.resume();
  }
}
