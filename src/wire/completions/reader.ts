/** A completions stream of an upstream, read into neutral events (OpenAI API reference, "Completions", `stream`). */
import { isErrorEvent } from "../chat/read-reply.ts";
import { readStop, unusableChoice } from "../chat/stop.ts";
import { readEventUsage } from "../chat/usage.ts";
import { laterOpenAiTiers, NO_TIERS, reportOf, tellOpenAiUses, Uses } from "../extras/reports.ts";
import type { Report, TierNames } from "../neutral/asked-extras.ts";
import type { UpstreamError } from "../neutral/contract.ts";
import { fragmentOf } from "../neutral/fragment.ts";
import { frameKeys } from "../neutral/frames/delta-frames.ts";
import {
  type Emit,
  type EventTap,
  type JsonObject,
  listOf,
  objectOf,
  SseStreamReader,
  stringOf,
} from "../neutral/reader.ts";
import { readErrorValue } from "../neutral/upstream-error.ts";
import { nothingMade, unusable } from "../neutral/upstream-errors/unusable.ts";

/** Larger indexes count as the last choice. A list of prompts has as many choices as prompts, and more. */
const MAX_CHOICES = 4096;

const FRAME_KEYS = frameKeys(["text"], ["obfuscation"]);

export class CompletionsStreamReader extends SseStreamReader {
  /** By index: the finish reason, "" before it came; undefined for an index that did not come. */
  readonly #finishes: (string | undefined)[] = [];
  /** Choices that did not come although a later one did, or came and have no finish reason. */
  #unfinished = 0;
  #hasStopped = false;
  #hasText = false;
  readonly #uses = new Uses();
  #tiers: TierNames = NO_TIERS;

  constructor(maxEventBytes: number, tap?: EventTap) {
    super(maxEventBytes, FRAME_KEYS, tap);
  }

  get report(): Report | undefined {
    return reportOf(this.#tiers, this.#uses);
  }

  get toolUses(): number {
    return this.#uses.total;
  }

  /** Every choice has its finish reason, with or without `[DONE]`. */
  get complete(): boolean {
    return this.done || (this.#finishes.length > 0 && this.#unfinished === 0);
  }

  protected override get endsByDone(): boolean {
    return true;
  }

  protected override get beginsByDelta(): boolean {
    return true;
  }

  override read(bytes: Buffer, start: number, end: number, emit: Emit): void {
    super.read(bytes, start, end, emit);
    if (this.done) this.#stop();
  }

  override end(emit: Emit): void {
    super.end(emit);
    if (this.complete) this.#stop();
  }

  protected take(event: JsonObject, name: string): void {
    if (isErrorEvent(event, name)) {
      this.error = readErrorValue(event);
      return;
    }
    if (event.service_tier !== undefined) this.#tiers = laterOpenAiTiers(this.#tiers, event);
    tellOpenAiUses(event.usage, this.#uses);
    for (const choice of listOf(event.choices)) this.#choice(objectOf(choice));
    const usage = readEventUsage(event);
    if (usage !== undefined) this.emit({ type: "usage", usage });
  }

  #choice(choice: JsonObject): void {
    const { index, text, finish_reason: reason } = choice;
    const at = placeOf(index);
    this.#begin(at);
    if (typeof text === "string" && text !== "") {
      this.#hasText = true;
      this.emit({ type: "delta", choice: at, part: 0, text: fragmentOf(text) });
    }
    const finish = stringOf(reason);
    if (finish === "") return;
    if (this.#finishes[at] === "") this.#unfinished--;
    this.#finishes[at] = finish;
    this.error ??= unusableChoice(choice);
  }

  /** Undefined where there may be no text. */
  #emptyError(): UpstreamError | undefined {
    const first = this.#finishes.find((finish) => finish !== undefined);
    if (first === undefined) return unusable("no_choices");
    return nothingMade(readStop(first, false).reason, first);
  }

  #begin(at: number): void {
    const finishes = this.#finishes;
    while (finishes.length <= at) {
      finishes.push(undefined);
      this.#unfinished++;
    }
    if (finishes[at] !== undefined) return;
    finishes[at] = "";
    this.emit({ type: "begin", choice: at, part: 0, kind: "text" });
  }

  #stop(): void {
    if (this.error !== undefined || this.#hasStopped) return;
    if (!this.#hasText) this.error = this.#emptyError();
    if (this.error !== undefined) return;
    this.#hasStopped = true;
    for (const [choice, finish] of this.#finishes.entries()) {
      if (finish === undefined) continue;
      this.emit({ type: "end", choice, part: 0 });
      this.emit({ type: "stop", choice, stop: readStop(finish, false) });
    }
  }
}

/** A choice's number by its `index`; an invalid index counts as 0. */
export const placeOf = (index: unknown): number =>
  typeof index === "number" && Number.isInteger(index) && index >= 0 ? Math.min(index, MAX_CHOICES - 1) : 0;
