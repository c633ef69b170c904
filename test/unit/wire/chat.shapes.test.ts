/** An answer of a known shape is not parsed: what is read of it and sent is as if it were. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { WeirError } from "../../../src/base/errors.ts";
import { readChatRequest } from "../../../src/wire/chat/request.ts";
import { chatSplice } from "../../../src/wire/chat/splice.ts";
import { skim } from "../../../src/wire/json/json.ts";
import { Shapes } from "../../../src/wire/json/shape.ts";
import { signsOf } from "../../../src/wire/json/signs.ts";
import { damage, damagedBy } from "../../support/wire/damage.ts";
import { IDENTITY } from "./chat.fixtures.ts";

/** So much text is not scanned, so it is parsed. */
const SPACES = " ".repeat(17_000);
const REQUEST = readChatRequest(Buffer.from('{"model":"m","messages":[{"role":"user","content":"a"}]}'));
const COST = { total_micro_usd: 1, lines: [], price_version: "v" };
const SVC = { request_id: "req_1", provider: "p", endpoint_id: "e", cost: COST, warnings: [] };
const USAGE = {
  inputTokens: 1,
  outputTokens: 2,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

const word = fc.constantFrom(
  "stop",
  "length",
  "tool_calls",
  "error",
  "weird",
  "",
  "default",
  "flex",
  "größer",
  "a b",
);
const text = fc.oneof(word, fc.constantFrom("x".repeat(130), "y".repeat(5_000), 'a "quote"', "two\nlines"));
const number = fc.constantFrom(0, 1, 7, 246, 1.5, -1, -0, 1e21, 123_456_789_012_345, 2 ** 53, 1e-7);
const answer = fc
  .tuple(fc.nat(2), text, word, fc.array(number, { minLength: 4, maxLength: 4 }), fc.nat(3), fc.boolean())
  .map(([details, content, finish_reason, [created, prompt, completion, cached], more, isSpread]) => {
    const usage = {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: 9,
      ...(details > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
      ...(details > 1 && { server_tool_use: { web_search_requests: cached } }),
    };
    const message = { role: "assistant", content, ...(more === 1 && { tool_calls: [{ id: content }] }) };
    const value = {
      id: "chatcmpl-1",
      object: more === 2 ? finish_reason : "chat.completion",
      created,
      model: "sim",
      choices: [{ index: 0, message, finish_reason, ...(more === 3 && { error: { message: content } }) }],
      usage,
      service_tier: details === 0 ? null : finish_reason,
    };
    return JSON.stringify(value, null, isSpread ? 1 : 0);
  });
const damaged = fc.tuple(answer, damage).map(([json, given]) => damagedBy(json, given));

function reading(json: string) {
  try {
    const { facts, error, write } = chatSplice.whole(Buffer.from(json), REQUEST, IDENTITY);
    return { facts, error, sent: error === undefined && write(USAGE, SVC).toString().trimEnd() };
  } catch (thrown) {
    if (!(thrown instanceof WeirError)) throw thrown;
    return { kind: thrown.kind, said: thrown.message };
  }
}

it("an answer is read and sent alike by its shape, and parsed", () => {
  fc.assert(
    fc.property(answer, (json) => void expect(reading(json)).toEqual(reading(json + SPACES))),
    { numRuns: 700 },
  );
  fc.assert(
    fc.property(damaged, (json) => void expect(reading(json)).toEqual(reading(json + SPACES))),
    { numRuns: 700 },
  );
});

/** Tells the shapes of a text. @returns its value by its shape; undefined where it has none */
function told(shapes: Shapes, json: string): unknown {
  const bytes = Buffer.from(json, "latin1");
  const signs = signsOf(bytes);
  const found = shapes.of(bytes, signs);
  if (found !== undefined) return structuredClone({ value: found.value, members: found.members() });
  const { members } = skim(json, "", undefined, bytes, signs);
  shapes.learn(bytes, signs, () => JSON.parse(json), members);
  return undefined;
}

it("a shape is known from the second text on, and has its words and numbers alone", () => {
  const shapes = new Shapes(["word"], ["id"]);
  const json = (id: string, word_: string, n: string) =>
    `{"id":"${id}","n":${n},"list":["${id}",${n},null],"word":"${word_}","end":{"text":"${id}"}}`;
  expect(told(shapes, json("a", "b", "1"))).toBeUndefined();
  expect(told(shapes, json("a", "b", "1"))).toBeUndefined();
  for (const [id, word_, n] of [
    ["a longer one", "", "12"],
    ["", "b", "-0.5e3"],
    ["b", "c", "0"],
    ["b", "c", "-0"],
  ] as const) {
    const text_ = json(id, word_, n);
    expect(told(shapes, text_)).toEqual({
      value: { id: "", n: Number(n), list: ["", Number(n), null], word: word_, end: { text: "" } },
      members: skim(text_).members.filter(({ key }) => key === "id" || key === "end"),
    });
  }
  // Those are no numbers, or another structure.
  for (const n of ["01", "1.", "--1", "1e", "", "true", "1 ", "[1]"]) {
    const bytes = Buffer.from(json("a", "b", n));
    expect(shapes.of(bytes, signsOf(bytes))).toBeUndefined();
  }
});

it.each([
  '{"a":{"b":1,"b":2}}',
  '{"a":{"__proto__":1}}',
  '{"a":{"b":{"k":"v"},"b":null}}',
  '{"a":{"b":[{"k":1}],"b":3}}',
])("%s has no shape", (json) => {
  const shapes = new Shapes([], []);
  for (let i = 0; i < 4; i++) expect(told(shapes, json)).toBeUndefined();
});
