/**
 * What an upstream says of a failure, in whatever shape it says it: an object of one of many forms, a list of faults, text, or JSON
 * within text. All of it is bounded, and what a server repeats of the request (`input`, `ctx`, `flagged_input`) is never read: no code,
 * type or reason is the caller's own.
 */
import { isObject, type JsonObject, listOf, objectOf } from "../reader.ts";
import { parsedJson } from "./json-start.ts";
import { literalAlone } from "./literal.ts";
import { unwrapped, withoutSetUp } from "./wrapped.ts";

/** Characters of a message. */
export const MESSAGE_LIMIT = 2000;
/** Characters of a code or a type. */
export const WORD_LIMIT = 200;
/** Objects, lists and JSON texts within each other. */
const MAX_DEPTH = 6;
/** Faults of a list. */
const MAX_FAULTS = 6;

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

/** Members that hold the reason, the most telling first. What providers have them is in docs/errors.md. */
const REASONS = [
  "message",
  "msg",
  "detail",
  "error_message",
  "error_msg",
  "errorMessage",
  "Message",
  "status_msg",
  "base_resp",
  "error_description",
  "faultstring",
  "fault",
  "description",
  "reason",
  "title",
  "details",
];
/** Members that name the kind of failure. */
const TYPES = ["type", "status", "error_type", "__type"];
const CODES = ["code", "error_code", "errorCode", "Code", "status_code"];
/** Members by which a fault of a list names its place in the request. */
const PLACES = ["loc", "field", "path", "param", "property", "instancePath"];

const text = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

/** LiteLLM writes Python's None as a text (anthropics/claude-code#11302). */
const word = (value: unknown): string => (value === "None" ? "" : text(value).slice(0, WORD_LIMIT));

const count = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;

/** @param value of any shape. */
export function saidBy(value: unknown, depth = 0): Said {
  if (typeof value === "string") return saidInText(value, depth);
  if (depth >= MAX_DEPTH) return NOTHING;
  if (Array.isArray(value)) return saidByAll(value, depth);
  return isObject(value) ? saidByObject(value, depth) : NOTHING;
}

/** A text, or the JSON that it is: proxies encode the body of the server behind them as a string, and may put words around it. */
function saidInText(value: string, depth: number): Said {
  const trimmed = value.trim();
  const own = unwrapped(trimmed);
  const literal = literalAlone(own);
  const inner = depth < MAX_DEPTH ? innerJson(own, literal) : undefined;
  const said = inner === undefined ? NOTHING : saidBy(inner, depth + 1);
  if (said.message !== "") return said;
  const python = literal === undefined ? undefined : pythonMessage(literal);
  const message = python ?? withoutSetUp(withoutTrace(trimmed));
  return { ...NOTHING, message: message.slice(0, MESSAGE_LIMIT) };
}

function innerJson(own: string, literal: string | undefined): unknown {
  if (literal !== undefined) return parsedJson(literal);
  return own.startsWith('"') ? parsedJson(own) : undefined;
}

/** An error as Python writes a dictionary, `{'error': {'message': "…", …`, with nothing before its message that could be a caller's. */
const PYTHON_MESSAGE =
  /^\{(?:'error': ?\{)?(?:'\w{1,30}': ?(?:'[\w .-]{0,60}'|\d{1,9}|None|\{), ?){0,4}'message': ?(?:'((?:[^'\\]|\\.){1,4000})|"((?:[^"\\]|\\.){1,4000}))/s;

function pythonMessage(value: string): string | undefined {
  const [, single, double] = PYTHON_MESSAGE.exec(value.slice(0, 5000)) ?? [];
  return (single ?? double)?.replaceAll(/\\(['"])/g, "$1");
}

const PYTHON_TRACE = "Traceback (most recent call last)";

/** A stack trace is cut down to what was thrown: the rest are files of the server's. */
function withoutTrace(message: string): string {
  const trace = message.indexOf(PYTHON_TRACE);
  if (trace >= 0) {
    const thrown = message.slice(trace).trimEnd().split("\n").at(-1)?.trim() ?? "";
    return (message.slice(0, trace) + (thrown.startsWith(PYTHON_TRACE) ? "" : thrown)).trim();
  }
  const frames = message.search(/\n\s{1,8}at \S/);
  return frames < 0 ? message : message.slice(0, frames).trimEnd();
}

/** A list of faults (FastAPI's `detail`, `errors`), or the list in which Gemini's compatible endpoint wraps its error. */
function saidByAll(values: readonly unknown[], depth: number): Said {
  const all = values
    .slice(0, MAX_FAULTS)
    .map((value) => ({ place: placeOf(value), said: saidBy(value, depth + 1) }));
  const messages = all.flatMap(({ place, said: { message } }) =>
    message === "" ? [] : [place === "" || message.includes(place) ? message : `${place}: ${message}`],
  );
  const message = messages.join("; ").slice(0, MESSAGE_LIMIT);
  const { place = "", said: first = NOTHING } = all[0] ?? {};
  // The type of a fault (pydantic's "less_than_equal") is none of the answer.
  return place === "" ? { ...first, message } : { ...NOTHING, message, param: place };
}

/** Where a fault is: `["body","temperature"]`, or a path as text. */
function placeOf(fault: unknown): string {
  const value = PLACES.map((name) => objectOf(fault)[name]).find(
    (place) => place !== undefined && place !== null,
  );
  return word(Array.isArray(value) ? value.slice(0, 12).map(word).join(".") : value);
}

function saidByObject(object: JsonObject, depth: number): Said {
  const inner = reasonIn(object, depth);
  const own = {
    code: googleReason(object.details) || firstWord(object, CODES),
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
    promptTokens: inner.promptTokens || count(object.n_prompt_tokens),
    contextTokens: inner.contextTokens || count(object.n_ctx),
  };
}

const isStatus = (code: string): boolean => /^\d{3}$/.test(code);

/** Xiaomi's MiMo says the reason in `param` (AQBot-Desktop/AQBot#93). */
const withReasonOfParam = (message: string, param: string): string =>
  param.includes(" ") && !message.includes(param) ? joined(message, param) : message;

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

/** The reason in an object: that of the server behind it, if it is told, else its own. */
function reasonIn(object: JsonObject, depth: number): Said {
  // OpenRouter's own words are "Provider returned error".
  const raw = saidBy(objectOf(object.metadata).raw, depth + 1);
  if (raw.message !== "") return raw;
  const own = ownReason(object, depth);
  const error = saidBy(object.error, depth + 1);
  const main = error.message === "" ? own : moreTelling(error, own, object.error);
  const faults = faultsIn(object.errors, depth);
  const isTold = faults.message === "" || main.message.includes(faults.message);
  const message = isTold ? main.message : joined(main.message, faults.message);
  return { ...withWordsOf(withWordsOf(withWordsOf(main, error), own), faults), message };
}

function ownReason(object: JsonObject, depth: number): Said {
  for (const name of REASONS) {
    const said = saidBy(object[name], depth + 1);
    if (said.message !== "") return said;
  }
  return NOTHING;
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

/** `errors` as a list, or as an object of lists by field (ASP.NET). */
function faultsIn(errors: unknown, depth: number): Said {
  if (!isObject(errors)) return saidBy(errors, depth + 1);
  const told = saidBy(errors, depth + 1);
  if (told.message !== "") return told;
  const fields = Object.entries(errors).slice(0, MAX_FAULTS);
  return saidByAll(
    fields.map(([field, faults]) => ({ field, message: saidBy(faults, depth + 2).message })),
    depth + 1,
  );
}

/** Google's machine-readable reason, of an ErrorInfo among the details (google.rpc). */
function googleReason(details: unknown): string {
  const info = listOf(details)
    .map(objectOf)
    .find((detail) => "reason" in detail);
  return word(info?.reason);
}
