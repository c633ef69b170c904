/**
 * JSON documents as callers and models write them, which a value in JavaScript cannot hold: each is a text (RFC 8259), with digits
 * beyond 2^53, other forms of numbers, names that look like indexes, equal names, escapes and white space.
 */
import fc from "fast-check";

/** Depth of values within values. */
const DEEPEST = 12;

const number = fc.oneof(
  fc.constantFrom(
    "0",
    "-0",
    "1.0",
    "1E2",
    "1e+02",
    "1e400",
    "-1E-400",
    "0.10",
    "725653563933458432",
    "9007199254740993",
    "-9223372036854775808",
    "18446744073709551616",
    "0.1234567890123456789012345",
    "3.0000000000000000000000001e0",
  ),
  fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);

/** Lone surrogates become U+FFFD by design, so none is written here. */
const character = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(..."abcxyz0189 _-$.") },
  {
    weight: 3,
    arbitrary: fc.constantFrom("é", "ß", "世", "🎉", "\u2028", "\u2029", "\u007f", "\ufeff", "/"),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '\\"',
      "\\\\",
      "\\/",
      "\\b",
      "\\f",
      "\\n",
      "\\r",
      "\\t",
      "\\u0041",
      "\\u00e9",
      "\\u0000",
      "\\u001F",
      "\\u2028",
      "\\ud83c\\udf89",
      "\\uD834\\uDD1E",
    ),
  },
);

/** What other code might take for something of its own. */
const SUSPECT = [
  "",
  "__proto__",
  "constructor",
  "toJSON",
  "hasOwnProperty",
  "<weir:0:1>",
  "<weir-json:0:1>",
  "data: [DONE]",
];

const word = fc.oneof(
  { weight: 40, arbitrary: fc.array(character, { maxLength: 12 }).map((characters) => characters.join("")) },
  { weight: 4, arbitrary: fc.constantFrom(...SUSPECT) },
  // So long that the gateway does not decode it.
  {
    weight: 1,
    arbitrary: fc
      .tuple(character, fc.integer({ min: 3000, max: 6000 }))
      .map(([one, times]) => one.repeat(times)),
  },
);
const string = word.map((text) => `"${text}"`);

/** Small names, so that some are equal and many look like indexes. */
const name = fc.oneof(
  string,
  fc.constantFrom('"10"', '"9"', '"2"', '"1"', '"01"', '"-1"', '"a"', '"\\u0061"', '"b"'),
);

const space = fc.oneof(
  { weight: 8, arbitrary: fc.constant("") },
  { weight: 2, arbitrary: fc.constantFrom(" ", "\n", "\t", "\r\n", "  ") },
);

const within = (open: string, close: string, items: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(fc.tuple(space, items, space), { maxLength: 5 }), space)
    .map(([found, empty]) =>
      found.length === 0
        ? `${open}${empty}${close}`
        : `${open}${found.map((one) => one.join("")).join(",")}${close}`,
    );

const { value, object } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: DEEPEST, depthSize: "small", withCrossShrink: true },
    { weight: 3, arbitrary: number },
    { weight: 2, arbitrary: string },
    { weight: 1, arbitrary: fc.constantFrom("true", "false", "null") },
    { weight: 3, arbitrary: tie("object") },
    { weight: 2, arbitrary: tie("list") },
  ),
  object: within(
    "{",
    "}",
    fc
      .tuple(name, space, space, tie("value"))
      .map(([key, before, after, inner]) => `${key}${before}:${after}${inner}`),
  ),
  list: within("[", "]", tie("value")),
}));

/** Bytes. Longer ones are left out: options of a provider may be 16 KB. */
const LONGEST = 16_000;

/**
 * An object, which no other of a body equals and no text around it can hold.
 * @param label its first name
 */
export const labelled = (label: string): fc.Arbitrary<string> =>
  fc
    .tuple(value, object)
    .filter(([one, other]) => Buffer.byteLength(one) + Buffer.byteLength(other) < LONGEST)
    .map(([one, other]) => `{"${label}":${one}, "1":${other} }`);

/** Writes a text as a JSON string with other escapes than it needs, as clients may. */
export const escaped = (text: string, every: number): string =>
  `"${Array.from(
    JSON.stringify(text)
      .slice(1, -1)
      .matchAll(/\\u.{4}|\\.|[\s\S]/gu),
    ([one], index) => (every > 0 && index % every === 0 ? unusual(one) : one),
  ).join("")}"`;

function unusual(one: string): string {
  if (one === "/") return "\\/";
  if (one === '\\"') return "\\u0022";
  if (one.startsWith("\\")) return one;
  const units = Array.from({ length: one.length }, (_, at) => one.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
