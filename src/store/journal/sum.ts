/**
 * The sum by which a frame of the journal is known to be whole: a fifth of the instructions of CRC-32, which has no quick form in Node.
 * Damage within four bytes, wherever they begin at a multiple of four, always makes another sum; other damage makes the same one
 * once in four billion times.
 */
import { join } from "node:path";
import { exportsOf } from "../../base/wasm.ts";

/** The most bytes that are summed up at a time: a multiple of 64. */
const PART_BYTES = 65_536;

interface Summing {
  readonly memory: { readonly buffer: ArrayBuffer };
  begin(seed: number): void;
  add(length: number): void;
  end(length: number): number;
}

const { memory, begin, add, end } = exportsOf<Summing>(join(import.meta.dirname, "sum.wasm"));
const input = new Uint8Array(memory.buffer, 0, PART_BYTES);

/** @param seed a UInt32; whoever does not know it cannot know a sum. @returns a UInt32 */
export function sumOf(bytes: Uint8Array, seed: number): number {
  const { length } = bytes;
  begin(seed);
  for (let at = 0; at < length; at += PART_BYTES) {
    const size = Math.min(PART_BYTES, length - at);
    input.set(size === length ? bytes : bytes.subarray(at, at + size));
    add(size);
  }
  return end(length) >>> 0;
}
