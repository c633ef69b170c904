/** Bytes that come in chunks are encoded as if they had come at once, in memory that threads share. */
import { expect, test } from "vitest";
import { Base64Memory } from "../../../../../src/inference/exchange/media/base64-memory.ts";

const bytes = (length: number) => Buffer.from(Array.from({ length }, (_, i) => (i * 31) % 256));

test.each([1, 2, 3, 4, 5, 64, 1000])("in chunks of %i", (size) => {
  for (const length of [0, 1, 2, 3, 4, 5, 997, 1000]) {
    const whole = bytes(length);
    const memory = new Base64Memory(1000);
    for (let from = 0; from < length; from += size) memory.add(whole.subarray(from, from + size));
    expect(memory.end().toString()).toBe(whole.toString("base64"));
  }
});

test("beyond its first memory, up to its bound", () => {
  const whole = bytes(300_000);
  const memory = new Base64Memory(whole.length);
  for (let from = 0; from < whole.length; from += 65_536) memory.add(whole.subarray(from, from + 65_536));
  const base64 = memory.end();
  expect(base64.toString() === whole.toString("base64")).toBe(true);
  expect(base64.buffer).toBeInstanceOf(SharedArrayBuffer);
});

test("not beyond its bound", () => {
  const memory = new Base64Memory(100);
  expect(() => memory.add(bytes(200))).toThrow(RangeError);
});
