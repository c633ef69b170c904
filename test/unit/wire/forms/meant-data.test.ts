/** What data that are no JSON mean: bounded, whatever they hold, and never longer than they are. */
import { expect, test } from "vitest";
import { ChatStreamReader } from "../../../../src/wire/chat/reader.ts";
import { meantBy } from "../../../../src/wire/neutral/odd-events/meant-data.ts";

test.each([
  ['{"a":1}\n{"b":2}\n[DONE]', ['{"a":1}', '{"b":2}', "[DONE]"]],
  ['data: {"a":1}', ['{"a":1}']],
  ['data:{"a":1}', ['{"a":1}']],
  ['{"a":\n{"error":"x"}', ['{"a":', '{"error":"x"}']],
  ["data: data: {}", []],
  ['{\n  "a": 1,\n  "b": [\n    2\n', []],
  ["plain text", []],
  [": OPENROUTER PROCESSING", []],
  ["{}\n".repeat(100_000), []],
])("%j", (data, meant) => {
  expect(meantBy(data)).toEqual(meant);
});

test("events of megabytes without a meaning are each one that cannot be read", () => {
  for (const data of ["data: ".repeat(1_000_000), "{x}\n".repeat(1_000_000), "data:\n".repeat(1_000_000)]) {
    const reader = new ChatStreamReader(16_000_000);
    const lines = data.split("\n").map((line) => `data: ${line}\n`);
    reader.push(`${lines.join("")}\n`, () => {});
    reader.end(() => {});
    expect([reader.malformed, reader.error]).toEqual([1, undefined]);
  }
});
