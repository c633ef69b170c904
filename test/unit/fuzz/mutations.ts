/**
 * Damage done to texts on purpose, by a seeded generator: to bytes and to JSON values. All
 * text is latin1, one character a byte, so that every byte can come about, also in the midst of a character.
 */
import type { Random } from "../../../src/base/clock.ts";

/** Damages a text, if need be with parts of another one. */
export type Damage = (text: string, other: string, random: Random) => string;

export const below = (random: Random, bound: number): number => Math.floor(random() * bound);

export const pick = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;

// -- bytes --

const PIECES: readonly string[] = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\n",
  "\r",
  "\r\n",
  "\n\n",
  " ",
  "\t",
  "/",
  "~",

  "null",
  "true",
  "0",
  "-1",
  "1e999",
  "1.5",
  "NaN",
  '""',
  "{}",
  "[]",
  "\u0000",
  "\u00ff",
  "\u00c3",
  "\u00f0\u009f",

  "\\u12",
  "\\ud800",
  "\\udc00",
  "\\u0000",
  "\\/",
  '\\"',
  "\u00e2\u0080\u00a8",
  "\u00ef\u00bb\u00bf",
  "<weir:0:0>",
  "data: ",
  "data:",
  "event: error\n",
  "data: [DONE]\n\n",
  ": c\n\n",
  "id: 1\n",
  "retry: 1\n",

  '"error":',
  '"type":',
  '"index":',
  '"usage":',
  '"__proto__":',
  '"content":',
  '"model":"x",',
  '"svc":{},',
];

/** One to four places cut out, doubled, flipped or written over; or the text ends early, or goes on as another. */
export function damagedText(text: string, other: string, random: Random): string {
  let out = text;
  for (let times = 1 + below(random, 4); times > 0; times--) out = damagedOnce(out, other, random);
  return out;
}

function damagedOnce(text: string, other: string, random: Random): string {
  const at = below(random, text.length + 1);
  const end = Math.min(text.length, at + Math.floor(random() ** 3 * 60));
  const head = text.slice(0, at);
  switch (below(random, 9)) {
    case 0:
      return (
        head + String.fromCharCode((text.charCodeAt(at) || 0) ^ (1 << below(random, 8))) + text.slice(at + 1)
      );
    case 1:
      return head + String.fromCharCode(below(random, 256)) + text.slice(end);
    case 2:
      return head + text.slice(at, end).repeat(2 + below(random, 3)) + text.slice(end);
    case 3:
      return head + text.slice(end);
    case 4:
      return random() < 0.3 ? head : text.slice(0, at) + text.slice(at + 1);
    case 5:
      return random() < 0.3 ? head + other.slice(below(random, other.length)) : head + text.slice(at + 1);
    case 6:
      return head + pick(random, PIECES) + text.slice(end);
    default:
      return head + pick(random, PIECES) + text.slice(at);
  }
}

// -- JSON --

/** In a string: the rest stands in the text as it is, without quotes. In a key: the rest is the key, once more. */
const RAW = "\ue000raw:";
const TWICE = "\ue000twice:";
const DEEP = "\ue000deep";
/** In any string: what no JSON string may hold. */
const BAD = "\ue000bad";

const base64 = (length: number): string => "QUJD".repeat(length / 4);

const VALUES: readonly unknown[] = [
  `{"a":${"[".repeat(6000)}${"]".repeat(6000)}}`,

  null,
  true,
  false,
  0,
  -1,
  1,
  1.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  2 ** 53 - 1,
  -(2 ** 53),
  1e21,
  ...["1e999", "-1e999", "-0", "NaN", "Infinity", "01", "1.", "0x1", "undefined", "'a'"].map(
    (text) => RAW + text,
  ),

  "",
  " ",
  "0",
  "x",
  "{",
  "{}",
  "[1]",
  "null",
  '{"a":1}',
  "\u0000",
  "\u007f",
  '"\\/\b\f\n\r\t',
  "\u2028\u2029",
  "\ud800",
  "\udc00",
  "a\udfffb",
  "\ud83d",
  "é世🎉",
  "\ufeff",
  "data: x\n\ndata: y",
  "\r\n\r\n",

  "data:",
  "data:,",
  "data:;base64,",
  "data:image/png;base64,QUJD",
  "https://h/",
  "file:///x",
  "weir.google.",
  "weir.x",

  "weir.openai.abc",
  "weir.anthropic.\ud800",
  "<weir:000000000000000000000000:0>",
  "__proto__",
  "constructor",
  ...[4095, 4096, 4097, 65_535, 65_536].map((length) => "x".repeat(length)),

  "é".repeat(2049),
  '"'.repeat(4097),
  "\\".repeat(4097),
  "\ud800".repeat(1400),
  `data:image/png;base64,${base64(8192)}`,

  `data:application/pdf;base64,${base64(4096)}`,
  base64(4100),
  `{"a":"${"y".repeat(5000)}"}`,
  "\u0000".repeat(4097),

  [],
  {},
  [[]],
  [null],
  [{}],
  [""],
  { type: "text" },
  { type: "text", text: "t" },
  { a: 1 },
  { type: null },
  JSON.parse('{"__proto__":{"polluted":1}}'),
  JSON.parse('{"constructor":{"prototype":{"polluted":1}}}'),

  { toString: 1, valueOf: null, length: -1 },
  { length: 1e9 },
  BAD,
  BAD + "y".repeat(5000),
  Array(300).fill(0),
  Array(300).fill({}),
  DEEP,
];

const KEYS: readonly string[] = [
  "k".repeat(5000),
  BAD + "k".repeat(5000),
  BAD,

  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "length",
  "",
  " ",
  "0",
  "type",
  "id",

  "error",
  "usage",
  "content",
  "index",
  "text",
  "data",
  "name",
  "é",
  "\u0000",
  "\ud800",
  "a/b~c",
  '"',
  "\\",
  "\n",
];

type Members = Record<string, unknown>;

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Sets a member whatever it is called. */
const put = (into: Members, key: string, value: unknown): void => {
  Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
};

/** Some value inside of a value. */
function inside(value: unknown, random: Random): unknown {
  let at = value;
  while (typeof at === "object" && at !== null && random() < 0.85) {
    const values: unknown[] = Object.values(at);
    if (values.length === 0) break;
    at = pick(random, values);
  }
  return at;
}

/** Any of the values inside is another, so that the deepest ones have their turn as often. */
function replacedAnywhere(value: unknown, random: Random): void {
  const places: (readonly [Members, string])[] = [];
  const look = (at: unknown): void => {
    if (typeof at !== "object" || at === null) return;
    for (const key of Object.keys(at)) {
      places.push([at as Members, key]);
      look((at as Members)[key]);
    }
  };
  look(value);
  if (places.length === 0) return;
  const [into, key] = pick(random, places);
  put(into, key, random() < 0.1 ? DEEP : pick(random, VALUES));
}

/** The value with one place in it changed: its value, or one of its keys. */
function damagedValue(value: unknown, other: unknown, random: Random): unknown {
  if (typeof value !== "object" || value === null || random() < 0.08) {
    if (typeof value === "string" && random() < 0.3) return damagedText(value, String(other), random);
    return random() < 0.8 ? pick(random, VALUES) : inside(other, random);
  }
  if (Array.isArray(value)) {
    const copy: unknown[] = [...value];
    const at = below(random, copy.length);
    const act = random();
    if (act < 0.06) copy.splice(at, 1);
    else if (act < 0.12) copy.splice(at, 0, structuredClone(copy[below(random, copy.length)]));
    else if (act < 0.18) copy.splice(at, 0, inside(other, random));
    else if (act < 0.22) copy.reverse();
    else copy[at] = damagedValue(copy[at], other, random);
    return copy;
  }
  return damagedMembers(value as Members, other, random);
}

function damagedMembers(value: Members, other: unknown, random: Random): Members {
  const entries = Object.entries(value);
  const at = below(random, entries.length);
  const [key, member] = entries[at] ?? ["x", null];
  const act = random();
  if (act < 0.05) entries.splice(at, 1);
  else if (act < 0.09) entries[at] = [pick(random, KEYS), member];
  else if (act < 0.13) entries.push([pick(random, KEYS), pick(random, VALUES)]);
  else if (act < 0.16) entries.push([TWICE + key, random() < 0.5 ? member : pick(random, VALUES)]);
  else if (act < 0.2 && isMembers(other)) entries.push(pick(random, Object.entries(other)) ?? [key, member]);
  else entries[at] = [key, damagedValue(member, other, random)];
  const out: Members = {};
  for (const [name, item] of entries) put(out, name, item);
  return out;
}

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");
export const utf8 = (text: string): string => Buffer.from(text, "latin1").toString();

const NESTED = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
const NESTED_OBJECTS = `${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`;
const NESTED_LESS = `${"[".repeat(200)}${"]".repeat(200)}`;

/** JSON text of a value, in which what no value can be stands as text. */
function written(value: unknown, random: Random): string {
  const json = JSON.stringify(value, null, random() < 0.05 ? "\t" : undefined);
  if (!json.includes("\ue000")) return json;
  return json
    .replaceAll(`"${TWICE}`, '"')
    .replaceAll(BAD, () => pick(random, ["\\x", "\n", "\u0000", "\\u12", "\\ud8"]))
    .replaceAll(`"${DEEP}"`, () => pick(random, [NESTED, NESTED_OBJECTS, NESTED_LESS]))
    .replace(new RegExp(`"${RAW}([^"]*)"`, "g"), "$1");
}

/** JSON whose value is changed in one to three places; text that is no JSON is damaged as text. */
export function damagedJson(text: string, other: string, random: Random): string {
  try {
    let value: unknown = JSON.parse(utf8(text));
    const donor: unknown = JSON.parse(utf8(other));
    if (random() < 0.3) replacedAnywhere(value, random);
    else
      for (let times = 1 + below(random, 3); times > 0; times--) value = damagedValue(value, donor, random);
    return latin1(written(value, random));
  } catch {
    // No JSON, or nested too deep to be written again.
    return damagedText(text, other, random);
  }
}

/** A body damaged in one way or the other; now and then in none. */
export function damagedBody(text: string, other: string, random: Random): string {
  const act = random();
  if (act < 0.04) return text;
  if (act < 0.3) return damagedText(text, other, random);
  const json = damagedJson(text, other, random);
  return act < 0.92 ? json : damagedText(json, other, random);
}
