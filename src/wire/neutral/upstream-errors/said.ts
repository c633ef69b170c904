/**
 * What an upstream says of a failure, in whatever shape it says it: an object of one of many forms, a list of faults, text, or JSON
 * within text. All of it is bounded, and what a server repeats of the request (`input`, `ctx`, `flagged_input`) is never read: no code,
 * type or reason is the caller's own.
 */
import { countOf, isObject, type JsonObject, listOf, objectOf } from "../../json/values.ts";
import { CODES, KNOWN_PLACE, PLACES, REASONS, TYPES } from "./members.ts";
import { withoutSetUp, wrappedValue } from "./wrapped.ts";

/** Characters of a message. */
export const MESSAGE_LIMIT = 2000;
/** Characters of a text that are looked at. JSON within a longer one is not read. */
const TEXT_LIMIT = 64 * 1024;
/** Characters of a code or a type. */
export const WORD_LIMIT = 200;
/**
 * Objects, lists and texts within each other. A list that vLLM wrote as text is the sixth of Azure's error
 * (Azure-Samples/azure-search-power-skills#214), and the ninth behind LiteLLM; its faults come after it.
 */
const MAX_DEPTH = 10;
/** Faults of a list. */
const MAX_FAULTS = 6;
/** Objects, lists and texts that are looked at in all. */
const MAX_VALUES = 400;

export interface Said {
  readonly code: string;
  readonly type: string;
  readonly message: string;
  /** The member of the request that is at fault, as the provider names it. */
  readonly param: string;
  /** Tokens of a prompt that overflows the context, and the most there may be, where members say it (llama.cpp). */
  readonly promptTokens: number;
  readonly contextTokens: number;
}

export const NOTHING: Said = Object.freeze({
  code: "",
  type: "",
  message: "",
  param: "",
  promptTokens: 0,
  contextTokens: 0,
});

const text = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

/** LiteLLM writes Python's None as a text (anthropics/claude-code#11302). */
const word = (value: unknown): string => (value === "None" ? "" : text(value).slice(0, WORD_LIMIT));

/** @param value of any shape */
export function saidBy(value: unknown): Said {
  const said = new Reading().of(value, 0);
  return { ...said, message: withQuotedPlace(said) };
}

/**
 * The message, which does not begin with a name of the caller's: what rows of refusals hold against an account is told by how a message
 * begins.
 */
function withQuotedPlace({ message, param }: Said): string {
  const place = unknownMember(message) ?? param;
  if (place === "" || !message.startsWith(place) || KNOWN_PLACE.test(place)) return message;
  return `${JSON.stringify(place)}${message.slice(place.length)}`.slice(0, MESSAGE_LIMIT);
}

/** A member of the request that Anthropic does not know, where its name has signs that no field's has. */
function unknownMember(message: string): string | undefined {
  const end = message.indexOf(": Extra inputs are not permitted");
  const name = message.slice(0, Math.max(end, 0));
  return /[^\w.[\]-]/.test(name) ? name : undefined;
}

/** One walk through what a server said. */
class Reading {
  #left = MAX_VALUES;

  of(value: unknown, depth: number): Said {
    if (value === null || value === undefined || this.#left-- <= 0) return NOTHING;
    if (typeof value === "string") return this.#inText(value, depth);
    if (depth >= MAX_DEPTH) return NOTHING;
    if (Array.isArray(value)) return this.#byAll(value, depth);
    return isObject(value) ? this.#byObject(value, depth) : NOTHING;
  }

  /** A text, or the JSON that it is: proxies encode the body of the server behind them as a string, and may put words around it. */
  #inText(value: string, depth: number): Said {
    const looked = value.slice(0, TEXT_LIMIT).trim();
    const isWhole = value.length <= TEXT_LIMIT && depth < MAX_DEPTH;
    const inner = isWhole ? wrappedValue(looked) : undefined;
    const said = inner === undefined ? NOTHING : this.of(inner, depth + 1);
    if (said.message !== "") return said;
    return { ...NOTHING, message: withoutSetUp(withoutTrace(looked)).slice(0, MESSAGE_LIMIT) };
  }

  /** A list of faults (FastAPI's `detail`, `errors`), or the list in which Gemini's compatible endpoint wraps its error. */
  #byAll(values: readonly unknown[], depth: number): Said {
    const looked = values
      .slice(0, MAX_FAULTS)
      .map((value) => ({ place: placeOf(value), said: this.of(value, depth + 1) }));
    const told = looked.filter(({ said }) => said.message !== "");
    const all = told.length === 0 ? looked : told;
    const message = told
      .map(({ place, said }) => placed(place, said.message))
      .join("; ")
      .slice(0, MESSAGE_LIMIT);
    const { place = "", said: first = NOTHING } = all[0] ?? {};
    // The type of a fault (pydantic's "less_than_equal") is none of the answer.
    return place === "" ? { ...first, message } : { ...NOTHING, message, param: place };
  }

  #byObject(object: JsonObject, depth: number): Said {
    const inner = this.#reasonIn(object, depth);
    const own = {
      code: googleReason(object) || firstWord(object, CODES),
      type: typeOf(object),
      param: word(object.param),
    };
    // A status in place of a code says less than the code of the server behind.
    const isOwnCode = own.code !== "" && (inner.code === "" || !isStatus(own.code));
    return {
      code: isOwnCode ? own.code : inner.code,
      type: inner.type || own.type,
      message: withReasonOfParam(inner.message, own.param),
      param: inner.param || own.param,
      promptTokens: inner.promptTokens || countOf(object.n_prompt_tokens),
      contextTokens: inner.contextTokens || countOf(object.n_ctx),
    };
  }

  /** The reason in an object: that of the server behind it, if it is told, else its own. */
  #reasonIn(object: JsonObject, depth: number): Said {
    // The own words of OpenRouter are "Provider returned error", those of Databricks no better (databricks-demos/dbdemos#97).
    const raw = this.of(objectOf(object.metadata).raw ?? object.external_model_message, depth + 1);
    if (raw.message !== "") return raw;
    const own = this.#ownReason(object, depth);
    const error = this.of(object.error, depth + 1);
    const main = error.message === "" ? own : moreTelling(error, own, object.error);
    const faults = this.#faultsIn(object, main.message, depth);
    const isTold = faults.message === "" || main.message.includes(faults.message);
    const message = isTold ? main.message : joined(main.message, faults.message);
    return { ...withWordsOf(withWordsOf(withWordsOf(main, error), own), faults), message };
  }

  #ownReason(object: JsonObject, depth: number): Said {
    for (const name of REASONS) {
      if (!Object.hasOwn(object, name)) continue;
      const said = this.of(object[name], depth + 1);
      if (said.message !== "") return said;
    }
    return NOTHING;
  }

  /** `errors` as a list, or as an object of lists by field (ASP.NET). An object that says nothing else may be such a one (Django). */
  #faultsIn(object: JsonObject, known: string, depth: number): Said {
    const { errors } = object;
    if (!isObject(errors)) {
      const all = this.of(errors, depth + 1);
      const isAll = known + all.message !== "" || !areByField(object);
      return isAll ? all : this.#byField(object, depth);
    }
    const told = areByField(errors) ? NOTHING : this.of(errors, depth + 1);
    return told.message === "" ? this.#byField(errors, depth) : told;
  }

  #byField(fields: JsonObject, depth: number): Said {
    const faults = firstMembers(fields).map((field) => ({
      field,
      message: this.of(fields[field], depth + 2).message,
    }));
    return this.#byAll(faults, depth + 1);
  }
}

const PYTHON_TRACE = "Traceback (most recent call last)";
/** Files and lines of code are indented; the first line that is not is what was thrown. */
const PYTHON_FRAMES = /^[^\n]*\n(?:[ \t][^\n]*\n|\n)*/;

/** A stack trace is cut down to what was thrown: the rest are files of the server's. */
function withoutTrace(message: string): string {
  const trace = message.indexOf(PYTHON_TRACE);
  if (trace >= 0) {
    const [thrown = ""] = message.slice(trace).replace(PYTHON_FRAMES, "").split("\n", 1);
    return (message.slice(0, trace) + (thrown.startsWith(PYTHON_TRACE) ? "" : thrown)).trim();
  }
  const frames = message.search(/\n\s{1,8}at \S/);
  return frames < 0 ? message : message.slice(0, frames).trimEnd();
}

/** A fault's message behind its place, unless it begins with that. What it quotes of the request may stand anywhere else. */
const placed = (place: string, message: string): string =>
  place === "" || message.startsWith(place) ? message : `${place}: ${message}`;

/** Where a fault is: `["body","temperature"]`, or a path as text. */
function placeOf(fault: unknown): string {
  const value = PLACES.map((name) => objectOf(fault)[name]).find(
    (place) => place !== undefined && place !== null,
  );
  return word(Array.isArray(value) ? value.slice(0, 12).map(word).join(".") : value);
}

const isStatus = (code: string): boolean => /^\d{3}$/.test(code);

/** Xiaomi's MiMo says the reason in `param` (AQBot-Desktop/AQBot#93), behind a message. */
const withReasonOfParam = (message: string, param: string): string =>
  message !== "" && param.includes(" ") && !message.includes(param) ? joined(message, param) : message;

const joined = (one: string, other: string): string =>
  (one === "" || other === "" ? one + other : `${one}: ${other}`).slice(0, MESSAGE_LIMIT);

const firstWord = (object: JsonObject, names: readonly string[]): string =>
  names.reduce((found, name) => found || word(object[name]), "");

/** The kind of failure. AWS's `__type` has a namespace before it; `error` is the name of the envelope. */
function typeOf(object: JsonObject): string {
  const type = firstWord(object, TYPES);
  if (type !== "" && type !== "error") return type.slice(type.lastIndexOf("#") + 1);
  return word(objectOf(object.metadata).error_type) || word(object.error_type);
}

/** `{"error":"Bad Request","message":"…"}`: where the error is a text, the longer of the two is the reason. */
const moreTelling = (error: Said, own: Said, value: unknown): Said =>
  typeof value === "string" && own.message.length > error.message.length ? own : error;

const withWordsOf = (main: Said, other: Said): Said => ({
  ...main,
  code: main.code || other.code,
  type: main.type || other.type,
  param: main.param || other.param,
});

/** Whether an object is one of faults by field: each of its members is a list of texts. */
function areByField(object: JsonObject): boolean {
  const names = firstMembers(object);
  return names.length > 0 && names.every((name) => isListOfTexts(object[name]));
}

const isListOfTexts = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.slice(0, MAX_FAULTS).every((each) => typeof each === "string");

/** Names of the first members of an object, which may have any number. */
function firstMembers(object: JsonObject): string[] {
  const names: string[] = [];
  for (const name in object) {
    if (names.length === MAX_FAULTS) break;
    names.push(name);
  }
  return names;
}

/** Details that are looked at. */
const MAX_DETAILS = 20;

/** The details of Google's error (google.rpc.Status). @param error of any shape */
export const googleDetails = (error: unknown): readonly JsonObject[] =>
  listOf(objectOf(error).details).slice(0, MAX_DETAILS).map(objectOf);

/** Google's machine-readable reason, of an ErrorInfo among the details. */
const googleReason = (error: JsonObject): string =>
  word(googleDetails(error).find((detail) => "reason" in detail)?.reason);
