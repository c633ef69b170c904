/**
 * An answer to a call that asked for a stream, until it is known to be one. Its first bytes tell, not its label: an event stream is
 * relayed as it is, JSON values that follow one another become its events, and a whole answer is collected and said again as a stream.
 */
import type { Dialect } from "../../../base/endpoint.ts";
import { WeirError } from "../../../base/errors.ts";
import type { AnswerStream } from "../../../wire/format.ts";
import { contentStart, formOf, unknownPart } from "../../../wire/forms/first-bytes.ts";
import { endsAnswer, JsonValues } from "../../../wire/forms/json-values.ts";
import type { Restating } from "../../../wire/forms/restating.ts";
import type { UpstreamError } from "../../../wire/neutral/contract.ts";
import type { RelayDeps, RelayInput } from "../relay.ts";
import { requestAt } from "../reservation/fit.ts";
import { type AnsweredAs, NOT_A_STREAM, REPLY_TOO_LARGE } from "./answered-as.ts";

const D = 0x64;
const E = 0x65;
const COLON = 0x3a;

/** Whether content that is labelled as a stream begins as nearly all streams do. What begins otherwise may be one, too. */
export function beginsAsLabelled(first: number, dialect: Dialect): boolean {
  if (dialect === "converse") return first === 0;
  return first === D || first === E || first === COLON;
}

/** What became of an answer that ended before it was known to be a stream. */
export type FormEnd =
  /** All of it was told by `push`. */
  | { readonly kind: "told" }
  | { readonly kind: "restated"; readonly stream: AnswerStream; readonly events: string }
  /** An error that came with status 200. */
  | { readonly kind: "error"; readonly error: UpstreamError }
  | { readonly kind: "fault"; readonly fault: UpstreamError };

const TOLD: FormEnd = { kind: "told" };
const NONE: FormEnd = { kind: "fault", fault: NOT_A_STREAM };
const DONE = "[DONE]";

export class StreamForm {
  /** It is a stream of the dialect: the rest needs no look. */
  isPlain = false;
  /** It is in no form that the gateway reads. */
  fault: UpstreamError | undefined;
  answeredAs: AnsweredAs | undefined;
  readonly #deps: RelayDeps;
  readonly #input: RelayInput;
  readonly #isLabelled: boolean;
  readonly #restating: Restating | undefined;
  /** The beginning of a body whose form is unknown. */
  #text = "";
  #isList = false;
  #values: JsonValues | undefined;
  /** Values that ended before another one began: one alone is a whole answer. */
  #first: string | undefined;

  /** @param isLabelled its content type is that of the dialect's streams */
  constructor(deps: RelayDeps, input: RelayInput, isLabelled: boolean) {
    this.#deps = deps;
    this.#input = input;
    this.#isLabelled = isLabelled;
    this.#restating = input.passage.restating;
  }

  /** A whole answer is being collected, as far as is known. */
  get isCollecting(): boolean {
    return this.#values !== undefined && this.answeredAs === undefined;
  }

  /** Takes one read, latin1. Returns what the dialect's reader gets now; may be empty. */
  push(read: string): string {
    if (this.#values !== undefined) return this.#guarded(read, this.#values);
    return this.#decide(this.#text + read);
  }

  /** The body has ended. */
  end(): FormEnd {
    if (this.answeredAs === "json_values") return TOLD;
    const body = this.#sole();
    return body === undefined ? NONE : asStream(this.#deps, this.#input, body);
  }

  #decide(text: string): string {
    const { dialect } = this.#input;
    const form = formOf(text);
    const isFramed = dialect === "converse";
    if (form === "unknown") {
      this.#text = unknownPart(text);
      return "";
    }
    this.#text = "";
    if (form === "json") return this.#beginJson(text);
    // A stream may begin with fields that no reader knows.
    if (form === (isFramed ? "frames" : "events") || (this.#isLabelled && !isFramed)) {
      this.isPlain = true;
      return text;
    }
    this.fault = NOT_A_STREAM;
    return "";
  }

  #beginJson(text: string): string {
    this.#isList = text[contentStart(text)] === "[";
    this.#values = new JsonValues(this.#deps.bounds.maxReplyBytes);
    return this.#guarded(text, this.#values);
  }

  #guarded(read: string, values: JsonValues): string {
    try {
      return this.#take(values.push(read), values);
    } catch (error) {
      if (!(error instanceof WeirError)) throw error;
      this.fault = REPLY_TOO_LARGE;
      return "";
    }
  }

  #take(more: readonly string[], values: JsonValues): string {
    const framed = this.#restating?.framed;
    let told = more;
    if (this.answeredAs === undefined) {
      told = this.#first === undefined ? more : [this.#first, ...more];
      // The elements of a list are a stream even if there is one, where the dialect has streams of JSON, and so is a value that another
      // one follows.
      const isListed = this.#isList && framed !== undefined;
      if (told.length === 0 || (told.length === 1 && !isListed && !values.isWithin)) {
        this.#first = told[0];
        return "";
      }
      if (framed !== undefined) this.answeredAs = "json_values";
      values.maxBytes = this.#deps.bounds.maxEventBytes;
    }
    if (framed === undefined) {
      this.fault = NOT_A_STREAM;
      return "";
    }
    let out = "";
    for (const value of told) out += framed(value);
    return values.rest.includes(DONE) ? out + framed(DONE) : out;
  }

  /** The body's only JSON value. Undefined where the body has none, or where something other than a stream's end follows the value. */
  #sole(): string | undefined {
    const values = this.#values;
    if (values === undefined || values.isWithin) return undefined;
    return endsAnswer(values.rest) ? this.#first : undefined;
  }
}

/** A whole answer as the stream that was asked for. @param json latin1 */
export function asStream(deps: RelayDeps, input: RelayInput, json: string): FormEnd {
  const { call, endpoint, passage, ownTools } = input;
  if (passage.restating === undefined) return NONE;
  const bytes = Buffer.from(json, "latin1");
  // Its events are as large as the answer.
  const identity = { ...call.identity(deps), maxEventBytes: deps.bounds.maxReplyBytes };
  const request = requestAt(call, endpoint);
  try {
    const { error } = passage.whole(bytes, request, identity, ownTools);
    if (error !== undefined) return { kind: "error", error };
    const events = passage.restating.events(bytes);
    return { kind: "restated", stream: passage.stream(request, identity, ownTools), events };
  } catch (error) {
    if (!(error instanceof WeirError)) deps.onFault(error, call.requestId);
    return NONE;
  }
}
