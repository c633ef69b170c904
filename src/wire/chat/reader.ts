/** A chat-completions stream of an upstream, read into neutral events (OpenAI API reference, "Streaming"). */

import { laterOpenAiTiers, NO_TIERS, reportOf, tellOpenAiUses, Uses } from "../extras/reports.ts";
import { type OpaquePaths, opaquePaths } from "../json/opaque.ts";
import type { Report, TierNames } from "../neutral/asked-extras.ts";
import type { UpstreamError } from "../neutral/contract.ts";
import { frameKeys } from "../neutral/frames/delta-frames.ts";
import type { StreamEvent } from "../neutral/neutral.ts";
import { WHOLE_EVENT } from "../neutral/odd-events/whole-event.ts";
import {
  type Emit,
  type EventTap,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  SseStreamReader,
  stringOf,
} from "../neutral/reader.ts";
import { readErrorValue } from "../neutral/upstream-error.ts";
import { nothingMade, unusable } from "../neutral/upstream-errors/unusable.ts";
import type { MendedCall } from "../relay/call-edits.ts";
import { ChoiceReader } from "./choice-reader.ts";
import { isErrorEvent } from "./read-reply.ts";
import { readStop, unusableChoice } from "./stop.ts";
import { readEventUsage } from "./usage.ts";

/** Larger indexes count as the last choice: no answer has so many. */
const MAX_CHOICES = 128;

/** `text` and `summary` are members of content parts and of reasoning details. */
const FRAME_KEYS = frameKeys(
  ["content", "reasoning_content", "reasoning", "refusal", "arguments", "text", "summary"],
  ["obfuscation"],
);

const CARRIES = opaquePaths([
  ["choices", "*", "delta", "tool_calls", "*", "function", "arguments"],
  ["choices", "*", "message", "tool_calls", "*", "function", "arguments"],
  ["choices", "*", "delta", "function_call", "arguments"],
]);

export class ChatStreamReader extends SseStreamReader {
  /** By index; undefined for an index that did not come. */
  readonly #choices: (ChoiceReader | undefined)[] = [];
  readonly #forward = (event: StreamEvent) => this.emit(event);
  /** The calls of the last event that lack something; undefined where none does. */
  mended: Map<number, { readonly choice: number; readonly calls: readonly MendedCall[] }> | undefined;
  readonly #isSpliced: boolean;
  readonly #uses = new Uses();
  #tiers: TierNames = NO_TIERS;

  constructor(maxEventBytes: number, tap?: EventTap) {
    super(maxEventBytes, FRAME_KEYS, tap);
    this.#isSpliced = tap !== undefined;
  }

  get report(): Report | undefined {
    return reportOf(this.#tiers, this.#uses);
  }

  get toolUses(): number {
    return this.#uses.total;
  }

  protected override get carries(): OpaquePaths {
    return CARRIES;
  }

  /** Every choice has its finish reason, with or without `[DONE]`. */
  get complete(): boolean {
    return this.done || this.#finished;
  }

  get #finished(): boolean {
    if (this.#choices.length === 0) return false;
    for (const choice of this.#choices) if (choice === undefined || choice.finish === "") return false;
    return true;
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
    const usage = readEventUsage(event);
    // Before the first choice: some formats send the prompt's tokens in their first event.
    if (usage !== undefined && this.#choices.length === 0 && usage.inputTokens > 0) {
      this.emit({ type: "usage", usage: { ...usage, outputTokens: 0, reasoningTokens: 0 } });
    }
    this.mended = undefined;
    const choices = listOf(event.choices);
    let place = -1;
    for (const each of choices) {
      if (isObject(each)) place++;
      const value = objectOf(each);
      const delta = isObject(value.delta) ? value.delta : this.#messageOf(value);
      if (delta === undefined) return;
      const index = placeOf(value.index);
      const choice = this.#choice(index);
      choice.take(value, delta);
      if (choice.finish !== "") this.error ??= unusableChoice(value);
      if (choice.mended === undefined) continue;
      this.mended ??= new Map();
      this.mended.set(place, { choice: index, calls: choice.mended });
    }
    if (usage !== undefined) this.emit({ type: "usage", usage });
  }

  /** Some servers have messages in place of deltas. Undefined where the event is a whole answer. */
  #messageOf({ message, finish_reason: reason }: JsonObject): JsonObject | undefined {
    if (!isObject(message) || this.#choices.length > 0 || stringOf(reason) === "") return objectOf(message);
    this.error = WHOLE_EVENT;
    return undefined;
  }

  /** Undefined where there is an answer, or may be none. */
  #emptyError(): UpstreamError | undefined {
    const first = this.#choices.find((choice) => choice !== undefined);
    if (first === undefined) return unusable("no_choices");
    if (this.#choices.some((choice) => choice?.isEmpty === false)) return undefined;
    return nothingMade(readStop(first.finish, false).reason, first.finish);
  }

  #choice(at: number): ChoiceReader {
    while (this.#choices.length <= at) this.#choices.push(undefined);
    let choice = this.#choices[at];
    if (choice === undefined) {
      choice = new ChoiceReader(at, this.#forward, this.#isSpliced);
      this.#choices[at] = choice;
    }
    return choice;
  }

  #stop(): void {
    if (this.error !== undefined) return;
    if (this.#choices[0]?.isEmpty !== false) this.error = this.#emptyError();
    if (this.error !== undefined) return;
    for (const choice of this.#choices) choice?.stop();
  }
}

/** A choice's number by its `index`; an invalid index counts as 0. */
const placeOf = (index: unknown): number =>
  typeof index === "number" && Number.isInteger(index) && index >= 0 ? Math.min(index, MAX_CHOICES - 1) : 0;
