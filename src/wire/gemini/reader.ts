/**
 * A streamGenerateContent answer (server-sent events, `alt=sse`): each event is an answer of its own that goes on from the
 * one before. Thoughts are reasoning; consecutive texts are one part until a signature closes it; calls come whole. The
 * stream has no last event: it is whole once its candidates have finished.
 */
import type { Usage } from "../../base/usage.ts";
import { geminiReport, joinedReport } from "../extras/reports.ts";
import { type OpaquePaths, opaquePaths } from "../json/opaque.ts";
import type { Report } from "../neutral/asked-extras.ts";
import type { UpstreamError } from "../neutral/contract.ts";
import { fragmentOf } from "../neutral/fragment.ts";
import { frameKeys } from "../neutral/frames/delta-frames.ts";
import type { MediaReplyPart, Stop, StreamEvent } from "../neutral/neutral.ts";
import {
  type Emit,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  SseStreamReader,
  stringOf,
} from "../neutral/reader.ts";
import { readErrorValue } from "../neutral/upstream-error.ts";
import { isBlocked, readCall, readLogprobs, readMedia } from "./candidate.ts";
import { readCitations } from "./citations.ts";
import { isErrorEvent } from "./read-reply.ts";
import { emptyReason, readStop, unusableReason } from "./stop.ts";
import { readGeminiUsage } from "./usage.ts";

interface Choice {
  readonly index: number;
  /** The part that is open, or the next one. */
  part: number;
  open: "text" | "reasoning" | undefined;
  /** The open part has its signature: its sources may still follow, but no more of its text. */
  sealed: boolean;
  calls: number;
  /** A text, a call or media came. */
  hasAnswer: boolean;
  /** The last finish reason. It is emitted at the stream's end, because some models send one in every event. */
  finish: unknown;
  /** The candidate that had it. */
  last: JsonObject;
}

/** More than the provider offers. */
const MAX_CHOICES = 128;

/** No candidate came, because the prompt was blocked. */
const PROMPT_BLOCKED = Symbol("prompt blocked");
const BLOCKED: Stop = { reason: "content_filter" };

const NOTHING: JsonObject = {};

const FRAME_KEYS = frameKeys(["text"], []);

const CARRIES = opaquePaths([["candidates", "*", "content", "parts", "*", "functionCall", "args"]]);

export class GeminiStreamReader extends SseStreamReader {
  readonly #choices = new Map<number, Choice>();
  #generated = false;
  #unusable: UpstreamError | undefined;
  #ended = false;
  report: Report | undefined;

  constructor(maxEventBytes: number) {
    super(maxEventBytes, FRAME_KEYS);
  }

  protected override get carries(): OpaquePaths {
    return CARRIES;
  }

  get complete(): boolean {
    if (this.#ended) return true;
    if (this.#choices.size === 0) return false;
    for (const { finish } of this.#choices.values()) if (finish === undefined) return false;
    return true;
  }

  override end(emit: Emit): void {
    super.end(emit);
    if (this.#ended || !this.complete || this.error !== undefined) return;
    this.error = this.#emptyError();
    if (this.error !== undefined) return;
    this.#ended = true;
    for (const choice of this.#choices.values()) {
      this.#close(choice);
      const stop = readStop(choice.finish, choice.calls) ?? BLOCKED;
      this.emit({ type: "stop", choice: choice.index, stop });
    }
  }

  /** Undefined where there is an answer, or may be none. */
  #emptyError(): UpstreamError | undefined {
    const [first, ...others] = this.#choices.values();
    if (first === undefined || first.finish === PROMPT_BLOCKED) return undefined;
    return [first, ...others].some(({ hasAnswer }) => hasAnswer) ? undefined : emptyReason(first.last);
  }

  protected take(event: JsonObject, name: string): void {
    if (isErrorEvent(event, name)) {
      this.error = readErrorValue(event);
      return;
    }
    this.report = joinedReport(this.report, geminiReport(event));
    const usage = readGeminiUsage(event.usageMetadata);
    // Before the first content: some formats send the prompt's tokens in their first event.
    if (usage !== undefined && !this.#generated && usage.inputTokens > 0) {
      this.emit({ type: "usage", usage: { ...usage, outputTokens: 0, reasoningTokens: 0 } });
    }
    for (const candidate of listOf(event.candidates)) {
      if (isObject(candidate)) this.#takeCandidate(candidate);
    }
    if (this.#choices.size === 0 && isBlocked(event)) this.#block();
    this.#report(usage);
    // After the report: what was delivered is metered by it.
    this.error = this.#unusable;
  }

  /**
   * Reports are cumulative. One without output after something was generated knows the prompt only, and would stand for
   * an answer that cost nothing if the stream broke off here.
   */
  #report(usage: Usage | undefined): void {
    if (usage === undefined || (usage.outputTokens === 0 && this.#generated && !this.complete)) return;
    this.emit({ type: "usage", usage });
  }

  #takeCandidate(candidate: JsonObject): void {
    const choice = this.#choiceOf(candidate.index ?? 0);
    if (choice === undefined) return;
    let logprobs = readLogprobs(candidate);
    for (const part of listOf(objectOf(candidate.content).parts)) {
      if (!isObject(part)) continue;
      const call = readCall(part);
      if (call !== undefined) {
        this.#call(choice, call, stringOf(part.thoughtSignature));
      } else if (typeof part.text === "string") {
        const isThought = part.thought === true;
        this.#text(choice, part, isThought ? "reasoning" : "text", isThought ? undefined : logprobs);
        if (!isThought && part.text !== "") logprobs = undefined;
      } else {
        const media = readMedia(part);
        if (media !== undefined) this.#media(choice, media);
      }
    }
    if (readStop(candidate.finishReason, choice.calls) !== undefined) {
      choice.finish = candidate.finishReason;
      choice.last = candidate;
      this.#unusable ??= unusableReason(candidate);
    }
    if (choice.open === "text") {
      for (const citation of readCitations(candidate)) {
        this.emit({ type: "citation", choice: choice.index, part: choice.part, citation });
      }
    }
  }

  #choiceOf(index: unknown): Choice | undefined {
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= MAX_CHOICES)
      return undefined;
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = {
        index,
        part: 0,
        open: undefined,
        sealed: false,
        calls: 0,
        hasAnswer: false,
        finish: undefined,
        last: NOTHING,
      };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  #text(
    choice: Choice,
    part: JsonObject,
    kind: "text" | "reasoning",
    logprobs: ReturnType<typeof readLogprobs>,
  ): void {
    const text = stringOf(part.text);
    const signature = stringOf(part.thoughtSignature);
    if (text === "" && signature === "") return;
    if (choice.open !== kind || choice.sealed) {
      this.#close(choice);
      choice.open = kind;
      this.emit({ type: "begin", choice: choice.index, part: choice.part, kind });
    }
    if (text !== "") {
      this.#generated = true;
      if (kind === "text") choice.hasAnswer = true;
      const delta: StreamEvent = {
        type: "delta",
        choice: choice.index,
        part: choice.part,
        text: fragmentOf(text),
      };
      this.emit(logprobs === undefined ? delta : { ...delta, logprobs });
    }
    if (signature === "") return;
    this.#seal(choice, signature);
    choice.sealed = true;
  }

  #call(choice: Choice, call: NonNullable<ReturnType<typeof readCall>>, signature: string): void {
    this.#close(choice);
    const { id, name } = call;
    const { index, part } = choice;
    this.#generated = choice.hasAnswer = true;
    this.emit({ type: "begin", choice: index, part, kind: "tool_call", id, name });
    // Before the arguments: formats that put it at a call's beginning then need not wait for it.
    if (signature !== "") this.#seal(choice, signature);
    this.emit({ type: "delta", choice: index, part, text: fragmentOf(call.arguments) });
    this.emit({ type: "end", choice: index, part });
    choice.part++;
    choice.calls++;
  }

  #media(choice: Choice, media: MediaReplyPart): void {
    this.#close(choice);
    this.#generated = choice.hasAnswer = true;
    this.emit({ type: "media", choice: choice.index, part: choice.part++, media });
  }

  #seal({ index, part }: Choice, data: string): void {
    this.emit({ type: "seal", choice: index, part, seal: { by: "google", data } });
  }

  #close(choice: Choice): void {
    if (choice.open === undefined) return;
    this.emit({ type: "end", choice: choice.index, part: choice.part });
    choice.open = undefined;
    choice.sealed = false;
    choice.part++;
  }

  #block(): void {
    const choice = this.#choiceOf(0);
    if (choice !== undefined) choice.finish = PROMPT_BLOCKED;
  }
}
