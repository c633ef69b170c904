/**
 * Reads one choice of an upstream's stream, delta by delta, into neutral events. Text, reasoning and refusals follow one
 * another; tool calls stay open until the choice ends, because servers interleave them. The choice ends at the stream's end:
 * some servers go on after a finish reason.
 */
import { fail } from "../../base/errors.ts";
import { fragmentOf } from "../neutral/fragment.ts";
import { readLogprobs } from "../neutral/logprobs.ts";
import type { Citation, Logprob, MediaReplyPart, Seal } from "../neutral/neutral.ts";
import { type Emit, isObject, type JsonObject, objectOf, stringOf } from "../neutral/reader.ts";
import type { MendedCall } from "../relay/call-edits.ts";
import { readCitations } from "./citations.ts";
import { hasSound, readImages } from "./media.ts";
import {
  continues,
  isOfCall,
  type ReadDetail,
  readDetail,
  readExtraSeal,
  reasoningText,
  thinkingText,
} from "./reasoning.ts";
import { readStop } from "./stop.ts";
import {
  argumentsOf,
  begins,
  type Call,
  grown,
  hasNothing,
  isCustomCall,
  isNamed,
  newCall,
  repeats,
  saysNothing,
} from "./tool-call.ts";

/** The bound of arguments that come before the names of their calls. Nearly all servers send the name first. */
const MAX_EARLY_BYTES = 1024 * 1024;
/** Calls beyond these are not read: no answer has so many. */
const MAX_CALLS = 256;

/** The one open part that is no tool call. */
interface OpenPart {
  readonly part: number;
  readonly kind: "text" | "reasoning" | "refusal";
  /** The index of a reasoning block. */
  readonly index: number | undefined;
  readonly isSummary: boolean;
  seal: Seal | undefined;
}

const NONE = { kind: undefined, seal: undefined };

export class ChoiceReader {
  /** As the upstream sent it; "" while the choice goes on. */
  finish = "";
  /** The calls of the last event that lack something; undefined where none does. */
  mended: MendedCall[] | undefined;
  readonly #choice: number;
  readonly #emit: Emit;
  /** The pieces of calls are passed on as they come: what begins one must have all that the client needs. */
  readonly #isSpliced: boolean;
  #parts = 0;
  #open: OpenPart | undefined;
  #stopped = false;
  /** It comes in many pieces. */
  #hasSound = false;
  readonly #calls: Call[] = [];
  /** Position in the list of calls by the upstream's `index`. */
  readonly #places = new Map<number, number>();
  /** Seals that came before their call, by the call's id. */
  readonly #callSeals = new Map<string, Seal>();
  #functionCall: Call | undefined;
  #earlyBytes = 0;
  /** Counts those that were taken. */
  #event = 0;

  constructor(choice: number, emit: Emit, isSpliced: boolean) {
    this.#choice = choice;
    this.#emit = emit;
    this.#isSpliced = isSpliced;
  }

  /** @param delta what the choice adds */
  take(choice: JsonObject, delta: JsonObject): void {
    if (this.#stopped) return;
    this.mended = undefined;
    this.#event++;
    const logprobs = isObject(choice.logprobs) ? choice.logprobs : undefined;
    this.#reasoning(delta);
    const { content, refusal, tool_calls: calls, function_call: functionCall } = delta;
    if (typeof content === "string")
      this.#append("text", content, logprobs && readLogprobs(logprobs.content));
    else if (Array.isArray(content)) for (const part of content) this.#part(objectOf(part));
    if (delta.images !== undefined || Array.isArray(content)) {
      for (const media of readImages(delta)) this.#media(media);
    }
    if (!this.#hasSound && hasSound(delta)) {
      this.#hasSound = true;
      this.#media({ type: "media", kind: "audio" });
    }
    if (typeof refusal === "string")
      this.#append("refusal", refusal, logprobs && readLogprobs(logprobs.refusal));
    if (Array.isArray(delta.annotations)) this.#cite(readCitations(delta.annotations));
    if (delta.extra_content !== undefined) this.#sealText(readExtraSeal(delta.extra_content));
    if (Array.isArray(calls)) {
      let place = 0;
      for (const value of calls) if (isObject(value)) this.#listed(value, place++);
    }
    if (isObject(functionCall)) {
      this.#functionCall ??= this.#newCall(undefined);
      this.#call(this.#functionCall, { function: functionCall });
    }
    if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") {
      this.finish = choice.finish_reason;
      this.#release();
    }
  }

  /** Calls begin with their first argument, since more of the name may come before it; those without one when something else comes. */
  #beginNamed(): void {
    for (const call of this.#calls)
      if (call.part < 0 && call.name !== "" && call.id !== "") this.#beginCall(call);
  }

  /** Writers keep a call's first piece back until the next event, which may take long to come after a finish reason. */
  #release(): void {
    this.#beginRest();
    const call = this.#calls.findLast(({ part }) => part >= 0);
    if (call === undefined) return;
    this.#emit({ type: "delta", choice: this.#choice, part: call.part, text: "" });
  }

  /** Nothing more comes that a call could be told by. */
  #beginRest(): void {
    for (const call of this.#calls)
      if (call.part < 0 && (call.name !== "" || call.early !== "")) this.#beginCall(call);
  }

  /** Nothing has come but perhaps a reason to end. */
  get isEmpty(): boolean {
    return this.#parts === 0 && this.#calls.length === 0;
  }

  /** The stream has ended: ends the open parts, then the choice. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#close();
    this.#beginRest();
    let called = false;
    for (const call of this.#calls) {
      if (call.part < 0) continue;
      called = true;
      this.#emit({ type: "end", choice: this.#choice, part: call.part });
    }
    this.#emit({ type: "stop", choice: this.#choice, stop: readStop(this.finish, called) });
  }

  #media(media: MediaReplyPart): void {
    this.#close();
    this.#emit({ type: "media", choice: this.#choice, part: this.#parts++, media });
  }

  /** Mistral's content parts. */
  #part(part: JsonObject): void {
    if (part.type === "thinking") this.#append("reasoning", thinkingText(part), undefined);
    else this.#append("text", stringOf(part.text), undefined);
  }

  #reasoning(delta: JsonObject): void {
    const bare = reasoningText(delta);
    const given = delta.reasoning_details;
    if (!Array.isArray(given) || given.length === 0) {
      if (bare !== "") this.#append("reasoning", bare, undefined);
      return;
    }
    const details = given.flatMap((item) => readDetail(item) ?? []);
    if (bare !== "" && !details.some((item) => item.text !== "")) this.#append("reasoning", bare, undefined);
    for (const item of details) this.#detail(item);
  }

  #detail(item: ReadDetail): void {
    const { seal } = item;
    if (seal !== undefined && isOfCall(item)) {
      const call = this.#calls.find(({ id }) => id === item.id);
      if (call === undefined) this.#callSeals.set(item.id, seal);
      else this.#sealCall(call, seal);
      return;
    }
    const open = this.#open;
    if (open?.kind !== "reasoning" || !continues(open, item)) {
      this.#begin("reasoning", item.index, item.isSummary, item.isRedacted);
    }
    const { part } = this.#open as OpenPart;
    if (item.text !== "") {
      this.#emit({ type: "delta", choice: this.#choice, part, text: fragmentOf(item.text) });
    }
    if (seal !== undefined) this.#seal(this.#open as OpenPart, seal);
  }

  #append(kind: OpenPart["kind"], text: string, logprobs: readonly Logprob[] | undefined): void {
    if (text === "" && logprobs === undefined) return;
    const { kind: before, seal } = this.#open ?? NONE;
    // A signature signs only the text before it.
    if (before !== kind || (kind === "reasoning" && seal !== undefined)) {
      this.#begin(kind, undefined, false, false);
    }
    const choice = this.#choice;
    const { part } = this.#open as OpenPart;
    const piece = fragmentOf(text);
    if (logprobs === undefined) this.#emit({ type: "delta", choice, part, text: piece });
    else this.#emit({ type: "delta", choice, part, text: piece, logprobs });
  }

  #begin(kind: OpenPart["kind"], index: number | undefined, isSummary: boolean, isRedacted: boolean): void {
    this.#beginNamed();
    this.#close();
    const part = this.#parts++;
    this.#open = { part, kind, index, isSummary, seal: undefined };
    const begin = { type: "begin", choice: this.#choice, part, kind } as const;
    if (!isSummary && !isRedacted) this.#emit(begin);
    else this.#emit({ ...begin, ...(isSummary && { isSummary }), ...(isRedacted && { isRedacted }) });
  }

  #close(): void {
    if (this.#open === undefined) return;
    this.#emit({ type: "end", choice: this.#choice, part: this.#open.part });
    this.#open = undefined;
  }

  #seal(open: OpenPart, seal: Seal): void {
    open.seal = seal;
    this.#emit({ type: "seal", choice: this.#choice, part: open.part, seal });
  }

  /** Google's signature of the answer's text. Without a text it is kept as a reasoning part with no text. */
  #sealText(seal: Seal | undefined): void {
    if (seal === undefined) return;
    if (this.#open === undefined || this.#open.seal !== undefined)
      this.#begin("reasoning", undefined, false, false);
    this.#seal(this.#open as OpenPart, seal);
  }

  /** Citations of the text before them, if it has not ended. */
  #cite(citations: readonly Citation[]): void {
    const open = this.#open;
    if (open?.kind !== "text") return;
    for (const citation of citations) {
      this.#emit({ type: "citation", choice: this.#choice, part: open.part, citation });
    }
  }

  /** Whether a delta says a call once more. Two in one event are two calls. */
  #isAgain(delta: JsonObject, call: Call): boolean {
    return call.namedIn !== this.#event && repeats(delta, call);
  }

  /** The call that a delta belongs to; undefined if there are too many calls. */
  #callOf(delta: JsonObject): Call | undefined {
    const { id } = delta;
    const calls = this.#calls;
    const given = typeof delta.index === "number" ? delta.index : undefined;
    if (typeof id === "string" && id !== "") {
      const known = calls.findLast((call) => call.id === id && (given === undefined || call.given === given));
      const isKnown =
        known !== undefined &&
        (this.#isAgain(delta, known) || hasNothing(known.first) || !begins(delta, known));
      if (isKnown) return known;
    }
    const last = given === undefined ? calls.at(-1) : calls[this.#places.get(given) ?? -1];
    const isNext = last?.namedIn === this.#event && given === undefined && isNamed(delta);
    if (last !== undefined && !isNext && !begins(delta, last)) return last;
    return saysNothing(delta) ? undefined : this.#newCall(given);
  }

  #newCall(given: number | undefined): Call | undefined {
    const calls = this.#calls;
    const place = calls.length;
    if (place === MAX_CALLS) return undefined;
    this.#beginNamed();
    const isFree = given !== undefined && !calls.some(({ index }) => index === given);
    const index = isFree ? given : 1 + Math.max(-1, ...calls.map((call) => call.index));
    const call = newCall(given, index);
    calls.push(call);
    if (given !== undefined) this.#places.set(given, place);
    return call;
  }

  #listed(delta: JsonObject, place: number): void {
    const call = this.#callOf(delta);
    if (call === undefined) return;
    const mended: MendedCall = { place, ...(call.index !== delta.index && { index: call.index }) };
    if (this.#isAgain(delta, call)) {
      this.#mend({ ...mended, isAgain: true });
      return;
    }
    const begins = call.part < 0;
    this.#call(call, delta);
    if (begins && call.part >= 0) call.hasMadeId = !this.#isNamed(call);
    const isMade = begins && call.hasMadeId;
    const dropsId = !begins && call.hasMadeId && Boolean(delta.id);
    const hasObject = isObject(objectOf(delta.function).arguments);
    if (mended.index === undefined && !isMade && !dropsId && !hasObject) return;
    this.#mend({
      ...mended,
      ...(isMade && { part: call.part }),
      ...(dropsId && { dropsId }),
      ...(hasObject && { hasObject }),
    });
  }

  #mend(call: MendedCall): void {
    this.mended ??= [];
    this.mended.push(call);
  }

  /** Whether a client can tell the call by its id from those before it. */
  #isNamed({ id, part }: Call): boolean {
    return id !== "" && !this.#calls.some((other) => other.id === id && other.part >= 0 && other.part < part);
  }

  #call(call: Call | undefined, delta: JsonObject): void {
    if (call === undefined) return;
    const { id, function: fn, extra_content: extra } = delta;
    if (call.part < 0 && isCustomCall(delta)) call.isCustom = true;
    const { name, arguments: args, input } = objectOf(call.isCustom ? delta.custom : fn);
    const given = call.isCustom ? input : args;
    if (call.part < 0) {
      if (typeof id === "string" && id !== "") call.id = id;
      if (typeof name === "string" && name !== "") {
        this.#kept(name);
        call.name = grown(call.name, name);
        call.namedIn = this.#event;
      }
    }
    const text = fragmentOf(argumentsOf(given));
    if (text !== "") call.hasArguments = true;
    if (call.part < 0) {
      call.early += text;
      if (call.name !== "" && (this.#isSpliced || call.early !== "")) this.#beginCall(call);
      else this.#kept(text);
    } else if (text !== "") {
      call.first = "";
      this.#emit({ type: "delta", choice: this.#choice, part: call.part, text });
    }
    const seal = extra === undefined ? undefined : readExtraSeal(extra);
    if (seal !== undefined) this.#sealCall(call, seal);
  }

  /** @throws WeirError `upstream_invalid_response` if a server sends too much of calls that have not begun */
  #kept(early: string): void {
    this.#earlyBytes += early.length;
    if (this.#earlyBytes > MAX_EARLY_BYTES) {
      throw fail("upstream_invalid_response", "The provider sent a call larger than the gateway takes.");
    }
  }

  #beginCall(call: Call): void {
    this.#close();
    const choice = this.#choice;
    const part = this.#parts++;
    call.part = part;
    const begin = { type: "begin", choice, part, kind: "tool_call", id: call.id, name: call.name } as const;
    this.#emit(call.isCustom ? { ...begin, tool: "custom" } : begin);
    if (call.early !== "") this.#emit({ type: "delta", choice, part, text: call.early });
    call.first = call.early;
    call.early = "";
    call.seal ??= this.#callSeals.get(call.id);
    if (call.seal !== undefined) this.#emit({ type: "seal", choice, part, seal: call.seal });
  }

  #sealCall(call: Call, seal: Seal): void {
    call.seal = seal;
    if (call.part >= 0) this.#emit({ type: "seal", choice: this.#choice, part: call.part, seal });
  }
}
