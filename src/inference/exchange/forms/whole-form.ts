/**
 * An answer to a call that asked for a whole one, and that begins as no JSON object does: it may be a stream, which is put together as it
 * comes. What is behind a whole answer, and a list of a stream's chunks, is looked at once the answer ended and could not be read.
 */
import { nextTurn } from "../../../base/clock.ts";
import type { Dialect } from "../../../base/endpoint.ts";
import type { Passage } from "../../../wire/format.ts";
import { type BodyForm, contentStart, formOf, unknownPart } from "../../../wire/forms/first-bytes.ts";
import { endsAnswer, JsonValues } from "../../../wire/forms/json-values.ts";
import type { Folding } from "../../../wire/forms/restating.ts";
import { unframed } from "../../../wire/forms/unframed.ts";
import { OPEN_OBJECT } from "../../../wire/json/characters.ts";
import type { StreamEvent } from "../../../wire/neutral/neutral.ts";
import { NeutralCapture } from "../../../wire/relay/capture.ts";
import { isContent } from "../../../wire/relay/content.ts";

/** Whether there is more than white space; whole answers begin with an object at once, which needs no search. */
export const hasText = (chunk: Buffer): boolean =>
  chunk[0] === OPEN_OBJECT || chunk.some((byte) => byte > 0x20);

/** Whether a body begins as whole answers do, behind white space. */
export const beginsAsObject = (chunk: Buffer): boolean =>
  chunk[0] === OPEN_OBJECT || chunk.find((byte) => byte > 0x20) === OPEN_OBJECT;

/** The beginning of a body that may be a stream. */
export class WholeForm {
  /** Defined once it is known to be a stream. */
  folding: Folding | undefined;
  /** It is no stream. */
  isOther = false;
  /** Content of the stream has come, as opposed to a preamble. */
  hasContent = false;
  readonly #dialect: Dialect;
  readonly #passage: Passage;
  readonly #maxEventBytes: number;
  readonly #isLabelled: boolean;
  readonly #capture = new NeutralCapture(0);
  #text = "";

  /** @param isLabelled its content type is that of the dialect's streams */
  constructor(dialect: Dialect, passage: Passage, maxEventBytes: number, isLabelled = false) {
    this.#dialect = dialect;
    this.#passage = passage;
    this.#maxEventBytes = maxEventBytes;
    this.#isLabelled = isLabelled;
  }

  /** The stream is in the middle of a text. */
  get isInText(): boolean {
    return this.#capture.isInText;
  }

  /** Takes a piece of the body. @throws WeirError `upstream_invalid_response` where an event outgrows the bound */
  push(chunk: Buffer): void {
    const text = chunk.toString("latin1");
    if (this.folding !== undefined) {
      this.folding.push(text);
      return;
    }
    this.#text += text;
    const form = formOf(this.#text);
    if (form === "unknown") {
      this.#text = unknownPart(this.#text);
      return;
    }
    if (this.#isStream(form))
      this.folding = this.#passage.restating?.folding(this.#maxEventBytes, (event) => this.#listen(event));
    this.folding?.push(this.#text.slice(form === "events" ? contentStart(this.#text) : 0));
    this.isOther = this.folding === undefined;
    this.#text = "";
  }

  /** A stream may begin with fields that no reader knows. */
  #isStream(form: BodyForm): boolean {
    const expected = streamForm(this.#dialect);
    return form === expected || (form === "other" && this.#isLabelled && expected === "events");
  }

  #listen(event: StreamEvent): void {
    if (!this.hasContent) this.hasContent = isContent(event);
    this.#capture.take(event);
  }
}

const streamForm = (dialect: Dialect): BodyForm => (dialect === "converse" ? "frames" : "events");

/** More chunks than any answer has. */
const MAX_VALUES = 100_000;

/** What a body is that could not be read as a whole answer. */
export interface OtherWhole {
  /** The only value of it. */
  readonly value?: Buffer;
  /** Its values are the chunks of a stream. */
  readonly folding?: Folding;
}

/** Bytes of a body that are looked at in one turn: 64 MB of chunks take seconds. */
const TURN_BYTES = 32 * 1024;

/**
 * A body of some length takes more than one turn.
 * @param body in one piece
 * @throws WeirError `upstream_invalid_response` where a value outgrows the bound
 */
export async function otherWhole(
  body: Buffer,
  { restating }: Passage,
  maxEventBytes: number,
): Promise<OtherWhole> {
  const begun = body.toString("latin1", 0, TURN_BYTES);
  // Only answers that are never streamed come here as events.
  if (formOf(begun) === "events") {
    const value = unframed(body);
    return value === body ? {} : { value };
  }
  const folding = restating?.framed && restating.folding(maxEventBytes);
  const fold = (value: string) => folding?.push(restating?.framed?.(value) ?? "");
  const values = new JsonValues(body.length);
  /** The first value. It is told only when a second one comes: a single value may be the whole answer, which is larger than an event may be. */
  let first = "";
  let count = 0;
  for (let at = 0; at < body.length; at += TURN_BYTES) {
    if (at > 0) await nextTurn();
    for (const value of values.push(body.toString("latin1", at, at + TURN_BYTES))) {
      if (++count > MAX_VALUES) return {};
      if (count === 1) first = value;
      else {
        if (count === 2) fold(first);
        fold(value);
      }
    }
  }
  if (values.isWithin || count === 0) return {};
  const isList = begun[contentStart(begun)] === "[";
  if (count === 1 && !isList) return endsAnswer(values.rest) ? { value: Buffer.from(first, "latin1") } : {};
  if (count === 1) fold(first);
  return folding === undefined ? {} : { folding };
}
