/** The usual chat request is read from its bytes alone: what is read of it, and what is refused, is as where its body is parsed. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { WeirError } from "../../../src/base/errors.ts";
import { plainReader } from "../../../src/wire/chat/plain-request.ts";
import { readChatRequest } from "../../../src/wire/chat/request.ts";
import { damage, damagedBy } from "../../support/wire/damage.ts";

/** So much text is not scanned, so it is parsed. */
const SPACES = " ".repeat(17_000);

const texts = fc.constantFrom(
  "",
  "Hello",
  "größer",
  'a "quote"',
  "two\nlines",
  "x".repeat(129),
  "y".repeat(4_097),
  `data:image/png;base64,${"A".repeat(5_000)}`,
  "A".repeat(300),
);
const odd = fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 129, 2 ** 53, "word", "", [], {}, [1], ["a"], {
  a: 1,
});
const message = fc.record(
  {
    role: fc.constantFrom("user", "system", "assistant"),
    content: fc.oneof({ weight: 9, arbitrary: texts }, { weight: 1, arbitrary: odd }),
    name: fc.oneof(fc.constant("Ada"), odd),
    tool_call_id: fc.constant("call_1"),
  },
  { requiredKeys: ["role", "content"] },
);
const messages = fc.array(message, { maxLength: 4 });
const count = fc.oneof(fc.constantFrom<unknown>(1, 16, 128, 4_096), odd);
const flag = fc.oneof(fc.boolean(), odd);
const usual = fc.record(
  {
    model: fc.constantFrom("vendor/model", "m"),
    messages: fc.array(fc.record({ role: fc.constant("user"), content: texts }), {
      minLength: 1,
      maxLength: 4,
    }),
    stream: fc.boolean(),
    stream_options: fc.constantFrom<unknown>({ include_usage: true }, { include_usage: false }, {}),
    max_tokens: fc.constantFrom<unknown>(1, 4_096, 0),
    n: fc.constantFrom<unknown>(1, 128, 129),
    temperature: fc.constantFrom<unknown>(0.7, 1e-7, null, "hot"),
    stop: odd,
  },
  { requiredKeys: ["model", "messages"], noNullPrototype: true },
);
const anything = fc.record(
  {
    model: fc.oneof({ weight: 9, arbitrary: fc.constantFrom("vendor/model", "m") }, odd),
    messages: fc.oneof({ weight: 9, arbitrary: messages }, odd),
    stream: flag,
    stream_options: fc.constantFrom<unknown>({ include_usage: true }, { include_usage: false }, {}, null, 1),
    max_tokens: count,
    max_completion_tokens: count,
    n: count,
    best_of: count,
    temperature: fc.constantFrom<unknown>(0.7, 1e-7, null, "hot"),
    stop: odd,
    user: texts,
    parallel_tool_calls: flag,
    service_tier: fc.constant("flex"),
    models: fc.constant(["a"]),
    svc: fc.constantFrom<unknown>({}, { metadata: { app: "a" } }),
  },
  { requiredKeys: ["model", "messages"], noNullPrototype: true },
);
const body = fc.oneof(usual, anything);
const damaged = fc
  .tuple(body, damage, fc.boolean())
  .map(([value, given, isSpread]) => damagedBy(JSON.stringify(value, null, isSpread ? 1 : 0), given));

function reading(text: string) {
  try {
    const { bytes: _, ...read } = readChatRequest(Buffer.from(text));
    return read;
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    const { kind, message: said, param } = error;
    return { kind, said, param };
  }
}

const isPlain = (text: string): boolean => plainReader(["model", "stream"])(Buffer.from(text)) !== undefined;

it("a request is read alike from its bytes, and parsed", () => {
  const seen = { plain: 0, other: 0 };
  const alike = (text: string) => {
    seen[isPlain(text) ? "plain" : "other"]++;
    expect(reading(text)).toEqual(reading(text + SPACES));
  };
  fc.assert(
    fc.property(body, (value) => void alike(JSON.stringify(value))),
    { numRuns: 500 },
  );
  expect(seen.plain).toBeGreaterThan(30);
  expect(seen.other).toBeGreaterThan(30);
});

it("a damaged one, too, but for the place that the error names", () => {
  const said = (text: string) => JSON.stringify(reading(text)).replace(/ \((?:at|near) byte \d+\)/, "");
  fc.assert(
    fc.property(damaged, (text) => void expect(said(text)).toBe(said(text + SPACES))),
    { numRuns: 700 },
  );
});

it.each([
  '{"model":"m","messages":[{"role":"user","content":"a"}]}',
  ' { "model" : "m" , "messages" : [ { "role" : "user" , "content" : "größer" } ] , "temperature" : 0.5 } ',
  '{"model":"m","n":2,"stream":true,"stream_options":{"include_usage":true},"messages":[{"content":"a"},{"role":"x"}]}',
])("%s is read from its bytes", (text) => {
  expect(isPlain(text)).toBe(true);
});

it.each([
  '{"model":"m","messages":[{"role":"user","content":"a"}],}',
  '{"model":"m",,"messages":[{"role":"user","content":"a"}]}',
  '{"model":"m","messages":[{"role":"user","content":"a"}]]',
  '{"model":"m","messages":[{"role":"user","content":"a"}]} 1',
  '{"model":"m","messages":[{"role":"user","content" "a"}]}',
  '{"model":"m","n":02,"messages":[{"role":"user","content":"a"}]}',
  '{"model":"m","model":"n","messages":[{"role":"user","content":"a"}]}',
  '{"model":"m","messages":[{"role":"user","content":[{"type":"text"}]}]}',
  '{"model":"m","messages":[{"role":"user","content":"\\u0041"}]}',
  '{"model":"m","messages":[]}',
  '{"messages":[{"role":"user","content":"a"}]}',
])("%s is left to the reader of all bodies", (text) => {
  expect(isPlain(text)).toBe(false);
});
