/** Hostile errors of a provider keep the event loop no longer than their length accounts for. */
import { describe, expect, test } from "vitest";
import { struckOut } from "../../../../src/inference/upstream/struck-out/struck-out.ts";
import { readErrorBody } from "../../../../src/wire/neutral/upstream-error.ts";
import { leastProcessorMs } from "../../../support/processor-time.fixtures.ts";
import { SEEDS } from "../../../unit/inference/upstream/struck-out/struck-out.cases.ts";

/** Bodies and messages that could take long, `size` characters of them. */
const LARGE: readonly (readonly [name: string, of: (size: number) => unknown])[] = [
  ["a message", (size) => ({ error: { message: "a ".repeat(size / 2) } })],
  [
    "a message of what a proxy begins with",
    (size) => ({ error: { message: ". Received Model".repeat(size / 16) } }),
  ],
  ["spaces before a trace's frames", (size) => ({ detail: "\n        ".repeat(size / 9) })],
  ["a trace", (size) => ({ detail: "Traceback (most recent call last):\n  x\n".repeat(size / 40) })],
  ["quotes of Python's", (size) => ({ message: `{'a': '${"\\'".repeat(size / 2)}` })],
  ["an open string of JSON", (size) => ({ message: `{"a":"${'\\"'.repeat(size / 2)}` })],
  ["brackets", (size) => ({ message: "[".repeat(size) })],
  ["open objects", (size) => ({ message: '{"error":'.repeat(size / 9) })],
  ["words of Python's", (size) => ({ message: `{'a': (${"None, ".repeat(size / 6)})}` })],
  ["commas of Python's", (size) => ({ message: `{'a': (1${", ".repeat(size / 2)})}` })],
  ["bytes of Python's", (size) => ({ message: `b'{${"\\x41".repeat(size / 4)}}'` })],
  [
    "faults",
    (size) => ({ detail: Array.from({ length: size / 40 }, (_, i) => ({ loc: ["body", i], msg: "bad" })) }),
  ],
  [
    "fields",
    (size) => ({
      errors: Object.fromEntries(Array.from({ length: size / 20 }, (_, i) => [`f${i}`, ["bad"]])),
    }),
  ],
  [
    "fields that say nothing",
    (size) => Object.fromEntries(Array.from({ length: size / 20 }, (_, i) => [`f${i}`, [""]])),
  ],
  [
    "details",
    (size) => ({
      error: { message: "m", details: Array.from({ length: size / 20 }, () => ({ "@type": "x" })) },
    }),
  ],
  ["events", (size) => "data: {}\n\n".repeat(size / 10)],
  ["events that are errors", (size) => 'event: error\ndata: {"error":{}}\n\n'.repeat(size / 40)],
  ["lines", (size) => '{"a":1}\n'.repeat(size / 8)],
  ["a page", (size) => `<html>${"<title".repeat(size / 6)}`],
  ["zeros", (size) => `{${"\0".repeat(size)}}`],
];

const bytesOf = (value: unknown): Buffer =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

describe("an error is read in bounded time", () => {
  test.each(LARGE)("%s", (_, of) => {
    const bytes = bytesOf(of(1_000_000));
    // Most of it is what parsing a megabyte takes.
    expect(leastProcessorMs(() => readErrorBody(bytes), 3)).toBeLessThan(200);
    expect(readErrorBody(bytes).message.length).toBeLessThanOrEqual(2000);
  });
});

test("secrets are struck out of any text quickly", () => {
  const texts = SEEDS.map((seed) => seed.repeat(2_000).slice(0, 2_000));
  const cpuMs = leastProcessorMs(() => {
    for (const text of texts) struckOut(text);
  });
  expect(cpuMs / texts.length).toBeLessThan(10);
});
