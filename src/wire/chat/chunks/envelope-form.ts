/**
 * The JSON around the choices of events as the streams of a model share it: from one stream to the next only the id and the time of creation
 * differ. It is learned from the first event of a stream, which was read in full, and spares that to streams that begin alike. A form fits an
 * event only where all bytes outside of choices, id and time are the same, so the event says what the first one said.
 */
import { applyEdits, type Edit, type Member, memberOf, moved } from "../../json/json.ts";
import { copied, stands } from "../../json/latin1.ts";
import { frozen } from "../../json/values.ts";
import type { JsonObject } from "../../neutral/reader.ts";
import { type Enclosed, type Envelope, enclosedBetween, ownPair, paddingAt } from "./envelope.ts";

type Varying = "id" | "created";

/** The JSON on one side of the choices: literals, and between them the values that differ. */
interface Side {
  readonly literals: readonly string[];
  /** As they go out. */
  readonly outs: readonly string[];
  /** What differs behind each literal but the last. */
  readonly values: readonly Varying[];
}

interface EnvelopeForm {
  readonly head: Side;
  readonly tail: Side;
  readonly isPadded: boolean;
  /** The other members of the event. It is one object for all streams, and nothing in it can be changed. */
  readonly others: JsonObject;
}

/** An event that a form fits. */
export interface Opened {
  readonly envelope: Envelope;
  readonly enclosed: Enclosed;
  /** Its members but for the choices. */
  readonly members: JsonObject;
}

/** What is learned of an event that was read in full. */
export interface LearnedEvent {
  /** On one line. */
  readonly text: string;
  readonly event: JsonObject;
  readonly members: readonly Member[];
  /** Those of the event; none is inside the choices. */
  readonly edits: readonly Edit[];
  readonly isPadded: boolean;
}

/** Bytes around the choices; with more a form is not learned. */
const MOST_BYTES = 2048;
/** Forms that streams of one model may have at a time: deployments and regions of a provider differ in a member. */
const MOST_ALIKE = 4;
/** After so many forms in a row that no stream began with, no more are learned for as many streams as {@link PAUSE} says. */
const MOST_VAIN = 32;
const PAUSE = 1000;
const QUOTE = 34;
const BACKSLASH = 92;
const ZERO = 48;
const NINE = 57;

/** The forms of one model's streams. */
export class EnvelopeForms {
  readonly #forms: EnvelopeForm[] = [];
  #vain = 0;

  /** @param idJson our id of the answer. @returns undefined where no form fits */
  opened(text: string, idJson: string): Opened | undefined {
    for (const form of this.#forms) {
      const opened = openedBy(form, text, idJson);
      if (opened === undefined) continue;
      this.#vain = 0;
      return opened;
    }
    return undefined;
  }

  /** Tells of the first event of a stream, which no form fits. */
  learn(event: LearnedEvent): void {
    if (++this.#vain > MOST_VAIN) {
      if (this.#vain > PAUSE) this.#vain = 0;
      return;
    }
    const form = formOf(event);
    if (form === undefined) return;
    this.#forms.unshift(form);
    if (this.#forms.length > MOST_ALIKE) this.#forms.pop();
  }
}

/** More models than are asked at a time; their forms take a few megabytes at most. */
const MOST_MODELS = 128;

/** The forms of models, by what clients are told as their names. */
export class FormsOfModels {
  readonly #byModel = new Map<string, EnvelopeForms>();

  of(model: string): EnvelopeForms {
    let forms = this.#byModel.get(model);
    if (forms === undefined) {
      if (this.#byModel.size >= MOST_MODELS) this.#byModel.clear();
      forms = new EnvelopeForms();
      this.#byModel.set(model, forms);
    }
    return forms;
  }
}

function openedBy(
  { head, tail, isPadded, others }: EnvelopeForm,
  text: string,
  idJson: string,
): Opened | undefined {
  const end = isPadded ? paddingAt(text) : text.length;
  const told = new Told(text);
  const start = told.forwards(head);
  const close = start < 0 || end < 0 ? -1 : told.backwards(tail, end);
  const enclosed = close < 0 ? undefined : enclosedBetween(text, start, close);
  if (enclosed === undefined) return undefined;
  const { id, created } = told;
  const [headCame, tailCame] = ownPair(text.slice(0, start), text.slice(close, end));
  const [headOut, tailOut] = ownPair(outOf(head, idJson, created), outOf(tail, idJson, created));
  return {
    envelope: { head: headCame, tail: tailCame, headOut, tailOut, padded: isPadded },
    enclosed,
    members: { ...others, id, created: Number(created) },
  };
}

/** What an event tells where its form leaves it open. */
class Told {
  id = "";
  created = "";
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns the index behind a side at the beginning of the text; -1 where it is not there */
  forwards({ literals, values }: Side): number {
    let at = 0;
    for (let i = 0; i < literals.length; i++) {
      const literal = literals[i] as string;
      if (!stands(literal, this.#text, at)) return -1;
      at += literal.length;
      const value = values[i];
      if (value === undefined) continue;
      const from = at;
      at = value === "id" ? this.#idEnd(from) : this.#digitsEnd(from);
      if (!this.#take(value, from, at)) return -1;
    }
    return at;
  }

  /** @returns the index of a side that ends at `end`; -1 where it is not there */
  backwards({ literals, values }: Side, end: number): number {
    let at = end;
    for (let i = literals.length - 1; i >= 0; i--) {
      const literal = literals[i] as string;
      at -= literal.length;
      if (at < 0 || !stands(literal, this.#text, at)) return -1;
      const value = values[i - 1];
      if (value === undefined) continue;
      const to = at;
      at = value === "id" ? this.#idStart(to) : this.#digitsStart(to);
      if (!this.#take(value, at, to)) return -1;
    }
    return at;
  }

  #take(value: Varying, from: number, to: number): boolean {
    if (from < 0 || to <= from) return false;
    if (value === "id") {
      this.id = this.#text.slice(from + 1, to - 1);
      return true;
    }
    this.created = this.#text.slice(from, to);
    return to - from === 1 || this.#text.charCodeAt(from) !== ZERO;
  }

  #idEnd(from: number): number {
    if (this.#text.charCodeAt(from) !== QUOTE) return -1;
    let at = from + 1;
    while (isPlain(this.#text.charCodeAt(at))) at++;
    return this.#text.charCodeAt(at) === QUOTE ? at + 1 : -1;
  }

  #idStart(to: number): number {
    if (this.#text.charCodeAt(to - 1) !== QUOTE) return -1;
    let at = to - 2;
    while (at >= 0 && isPlain(this.#text.charCodeAt(at))) at--;
    return at >= 0 && this.#text.charCodeAt(at) === QUOTE ? at : -1;
  }

  #digitsEnd(from: number): number {
    let at = from;
    while (isDigit(this.#text.charCodeAt(at))) at++;
    return at;
  }

  #digitsStart(to: number): number {
    let at = to;
    while (at > 0 && isDigit(this.#text.charCodeAt(at - 1))) at--;
    return at;
  }
}

/** A character of a string that is the same in JSON and as text. */
const isPlain = (c: number): boolean => c >= 32 && c <= 126 && c !== QUOTE && c !== BACKSLASH;

const isDigit = (c: number): boolean => c >= ZERO && c <= NINE;

function outOf({ outs, values }: Side, idJson: string, created: string): string {
  let out = outs[0] as string;
  for (let i = 0; i < values.length; i++) out += (values[i] === "id" ? idJson : created) + outs[i + 1];
  return out;
}

/** Undefined where the streams of a model have more in their own way than id and time. */
function formOf({ text, event, members, edits, isPadded }: LearnedEvent): EnvelopeForm | undefined {
  const choices = memberOf(members, "choices");
  const id = memberOf(members, "id");
  const created = memberOf(members, "created");
  if (choices === undefined || id === undefined || created === undefined) return undefined;
  const start = choices.valueStart + 1;
  const close = choices.valueEnd - 1;
  const end = isPadded ? paddingAt(text) : text.length;
  if (end < 0 || start + end - close > MOST_BYTES) return undefined;
  // Our id goes where that of the upstream was: what else is set is the same for all streams of the model.
  const others = edits.filter((edit) => edit.start !== id.valueStart || edit.end !== id.valueEnd);
  if (others.length !== edits.length - 1) return undefined;
  const open = [id, created].sort((one, other) => one.start - other.start);
  const head = sideOf(text, 0, start, { open, edits: others });
  const tail = sideOf(text, close, end, { open, edits: others });
  if (head.patches + tail.patches !== others.length) return undefined;
  const { id: _id, created: _created, choices: _choices, ...rest } = event;
  const form = { head: head.side, tail: tail.side, isPadded, others: frozen(rest) };
  // The value of a member may be none that can differ: an id with an escape, or a time with a fraction.
  return openedBy(form, text, '""') === undefined ? undefined : form;
}

function sideOf(
  text: string,
  from: number,
  to: number,
  { open, edits }: { readonly open: readonly Member[]; readonly edits: readonly Edit[] },
): { readonly side: Side; readonly patches: number } {
  const literals: string[] = [];
  const outs: string[] = [];
  const values: Varying[] = [];
  let at = from;
  let patches = 0;
  const literal = (end: number): void => {
    const within = edits.filter((edit) => edit.start >= at && edit.end <= end);
    patches += within.length;
    literals.push(copied(text.slice(at, end)));
    outs.push(copied(applyEdits(text.slice(at, end), moved(within, -at))));
  };
  for (const { key, valueStart, valueEnd } of open) {
    if (valueStart < from || valueEnd > to) continue;
    literal(valueStart);
    values.push(key as Varying);
    at = valueEnd;
  }
  literal(to);
  return { side: { literals, outs, values }, patches };
}
