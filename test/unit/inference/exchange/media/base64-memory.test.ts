/** Base64 of chunks of any size; few bytes take a plain buffer, because each shared one takes the process's mappings, and those are bounded. */
import { describe, expect, test } from "vitest";
import { Base64Memory } from "../../../../../src/inference/exchange/media/base64-memory.ts";

const MAX = 300_000;

const encoded = (bytes: Buffer, size: number): Buffer => {
  const memory = new Base64Memory(MAX);
  for (let from = 0; from < bytes.length; from += size) memory.add(bytes.subarray(from, from + size));
  return memory.end();
};

describe.each([1, 2, 3, 4, 1000, 40_000, MAX])("chunks of %i bytes", (size) => {
  test.each([0, 1, 2, 3, 100, 4096, 49_152, 49_153, 200_000, MAX])("of %i", (length) => {
    const bytes = Buffer.alloc(length, "abcdefghijk");
    expect(encoded(bytes, size).toString("latin1") === bytes.toString("base64")).toBe(true);
  });
});

test.each([
  [0, false],
  [1, false],
  [49_152, false],
  [49_153, true],
  [MAX, true],
])("%i bytes are shared with threads: %s", (length, isShared) => {
  const { buffer } = encoded(Buffer.alloc(length), 1000);
  expect((buffer as ArrayBufferLike) instanceof SharedArrayBuffer).toBe(isShared);
  // What is sent to a thread is copied with all of its buffer.
  if (!isShared) expect(buffer.byteLength).toBeLessThanOrEqual(65_536);
});

test.each([1000, MAX + 1])("beyond the bound nothing is written, in chunks of %i bytes", (size) => {
  expect(() => encoded(Buffer.alloc(MAX + 3), size)).toThrow(RangeError);
});
