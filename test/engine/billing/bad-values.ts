/**
 * What a field of a route must refuse, made from its schema in the API description: a field that is added is tried without anybody
 * thinking of it. A kind of schema that is not known here is an error, so that somebody decides what is bad for it.
 */
import type { Schema } from "../../../src/edge/openapi/openapi-types.ts";

/** A string is long for any field but a file. */
export const LONG = 100_000;

/** As it is put into JSON, in place of the string that stands for it: no literal of ours is infinite. */
const BEYOND_NUMBERS = "<beyond numbers>";

const KINDS: readonly unknown[] = [null, true, [], {}, [500], ["a"], { $gt: 0 }];

/** @param isFile a text of any length and lines @throws Error for a kind of schema that is not known */
export function badMembers(schema: Schema, isRequired: boolean, isFile = false): unknown[] {
  const missing = isRequired ? [undefined] : [];
  switch (schema.type) {
    case "integer": {
      const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
      const around = [minimum - 1, maximum + 1, 2 ** 53, -(2 ** 53), 1e300, 0.5, minimum + 0.000_1, -1];
      const texts = ["500", "", "NaN", "Infinity", "0x10", "1e3", "5 USD", BEYOND_NUMBERS];
      const isBad = (n: number) => !Number.isSafeInteger(n) || n < minimum || n > maximum;
      return [...missing, ...KINDS, ...texts, ...around.filter(isBad)];
    }
    case "string": {
      const { maxLength = LONG, minLength = 0, enum: names } = schema;
      const short = minLength > 0 ? [""] : [];
      const wrong = names === undefined && schema.pattern === undefined ? [] : ["no such word", " "];
      const texts = ["x".repeat(maxLength + 1), "a\u0000b", "a\nb", "a\ud800", "a\u202eb", ...wrong];
      return [...missing, ...KINDS, 5, ...short, ...(isFile ? [] : texts)];
    }
    case "boolean":
      return [...missing, null, [], {}, 0, 1, "true", "yes", ""];
    default:
      throw new Error(`what is bad for ${JSON.stringify(schema)}? Say it here.`);
  }
}

/** The same for what stands in a query: texts, encoded; a pair stands for a key that is repeated. */
export function badParameters(schema: Schema): (string | readonly [string, string])[] {
  const repeated = ["1", "1"] as const;
  const { type, anyOf, minimum, maximum, enum: names } = schema;
  if (anyOf !== undefined) return anyOf.flatMap((s) => badParameters(s as Schema));
  if (type === "integer" || type === "number") {
    const outside = [minimum === undefined ? [] : [minimum - 1], maximum === undefined ? [] : [maximum + 1]];
    const texts = [
      "",
      "NaN",
      "Infinity",
      "1e999",
      "1.5",
      "-1",
      "9007199254740992",
      "abc",
      "5%20USD",
      "1,000",
    ];
    return [...texts, ...outside.flat().map(String), repeated, "%00", "null", "%5B%5D"];
  }
  if (type !== "string") throw new Error(`what is bad for ${JSON.stringify(schema)}? Say it here.`);
  const isFree = names === undefined && schema.pattern === undefined && schema.format === undefined;
  return isFree
    ? [repeated]
    : [repeated, "", "%00", "no-such-word", "2026-02-30", "x".repeat(2000), "%F0%9F%92%B8"];
}

/** Ids that nothing has; `%00` and the like are as a client may send them. */
export const BAD_IDS: readonly string[] = [
  "x",
  "0",
  "-1",
  "null",
  "undefined",
  "__proto__",
  "constructor",
  "%20",
  "%00",
  "a%00b",
  "%0d%0aset-cookie:x",
  "%F0%9F%92%B8",
  "%ED%A0%80",
  "%ff",
  "%",
  "%zz",
  "..",
  "%2e%2e",
  "..%2f..%2fetc",
  "tup_%2f",
  "a%2Fb",
  "x".repeat(101),
  "x".repeat(2_500),
  "%E2%82%B9".repeat(600),
  "tup_00000000000000000000000000",
];

/** A body as JSON text; a member that is undefined is left out. */
export const textOf = (body: object): string =>
  JSON.stringify(body).replaceAll(JSON.stringify(BEYOND_NUMBERS), "1e999");

/** What is no body of any operation. */
export const BAD_BODIES: readonly string[] = [
  "",
  "null",
  "[]",
  "[{}]",
  '"text"',
  "5",
  "true",
  "{",
  "{]",
  "NaN",
  "{'a':1}",
  '{"a":1',
  "\u0000",
  '{"amount_minor":NaN}',
  '{"amount_minor":Infinity}',
  '{"amount_minor":0500}',
  '{"amount_minor":5_000}',
];
